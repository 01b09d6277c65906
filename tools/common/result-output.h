/* SPDX-License-Identifier: GPL-2.0-only */
/* Write a result and judge its quality. */
#ifndef NETSYNC_RESULT_OUTPUT_H
#define NETSYNC_RESULT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <netsync-io.h>
#include <netsync.h>

#include "output.h"

struct remote_traces;
struct utc_result;

enum outcome_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_BT2_ARGS };

/* The origin of the traces. Advice depends on it. */
enum outcome_source { SOURCE_ANY, SOURCE_RECORD, SOURCE_RECORD_BEACON, NUM_SOURCES };

/* Where and in which format a result is written, and how its quality is judged. */
struct outcome {
	struct destination output;
	unsigned int format; /* enum outcome_format */
	const char *method;  /* name of the method */
	/* The largest bound that is accepted, or a negative value to accept any bound. */
	int64_t max_bound_ns;
	unsigned int source; /* enum outcome_source */
	/* Other hosts whose traces should have been read, or NULL. */
	const struct remote_traces *remote;
	/*
	 * Whether several processes read the traces, so that none knows everything that was read.
	 */
	bool is_shared;
	const struct utc_result *utc; /* how far the common time is from UTC, or NULL */
};

#define OUTCOME_DEFAULT                              \
	{                                            \
		.method = "auto", .max_bound_ns = -1 \
	}

/* Like output_check() and output_write(), but for a result. */
bool outcome_check_output(const struct outcome *outcome);
bool outcome_write(const struct outcome *outcome, const struct netsync *ns,
		   const struct netsync_io *io);
/*
 * Warn about hosts that are not corrected, or whose correction is inaccurate. Return the
 * exit status.
 */
int outcome_explain(const struct outcome *outcome, const struct netsync *ns);

#endif
