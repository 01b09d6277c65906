/* SPDX-License-Identifier: GPL-2.0-only */
/* Write and judge a result. */
#ifndef NETSYNC_RESULT_OUTPUT_H
#define NETSYNC_RESULT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <netsync-io.h>
#include <netsync.h>

#include "output.h"

struct remote_traces;

enum outcome_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_BT2_ARGS };

/* The origin of the traces, on which advice depends. */
enum outcome_source { SOURCE_ANY, SOURCE_RECORD, SOURCE_RECORD_BEACON, NUM_SOURCES };

/* Where and in which format a result is written, and how it is judged. */
struct outcome {
	struct destination output;
	unsigned int format; /* format of the output, enum outcome_format */
	const char *method;  /* name of the method */
	/* Largest bound that is not a failure; negative to accept any bound. */
	int64_t max_bound_ns;
	unsigned int source; /* source of the traces, enum outcome_source */
	/* Other hosts whose traces were to be read; NULL if none. */
	const struct remote_traces *remote;
	/* Several processes read the traces, and none knows everything that was read. */
	bool is_shared;
};

#define OUTCOME_DEFAULT                              \
	{                                            \
		.method = "auto", .max_bound_ns = -1 \
	}

/* Like output_check() and output_write(), for a result. */
bool outcome_check_output(const struct outcome *outcome);
bool outcome_write(const struct outcome *outcome, const struct netsync *ns,
		   const struct netsync_io *io);
/*
 * Warn about hosts that are not corrected, or whose correction is inaccurate. Return the
 * exit status.
 */
int outcome_explain(const struct outcome *outcome, const struct netsync *ns);

#endif
