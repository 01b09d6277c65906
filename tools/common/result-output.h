/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing and judging a result. */
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
	unsigned int format;  /* enum outcome_format */
	const char *method;   /* its name */
	int64_t max_bound_ns; /* the largest bound that is not a failure; negative: any */
	unsigned int source;  /* enum outcome_source */
	const struct remote_traces *remote; /* hosts that were to be read; NULL if none */
	bool is_shared; /* several processes read: none knows everything that was read */
};

#define OUTCOME_DEFAULT                              \
	{                                            \
		.method = "auto", .max_bound_ns = -1 \
	}

/* output_check() and output_write() for a result. */
bool outcome_check(const struct outcome *outcome);
bool outcome_write(const struct outcome *outcome, const struct netsync *ns,
		   const struct netsync_io *io);
/* Warn about hosts that are not corrected, or only badly. Return the exit status. */
int outcome_explain(const struct outcome *outcome, const struct netsync *ns);

#endif
