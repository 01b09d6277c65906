/* SPDX-License-Identifier: GPL-2.0-only */
/* The rank that started last in each operation of all ranks, and its delay after the others. */
#ifndef NETSYNC_ANALYSIS_STRAGGLERS_ARRIVALS_H
#define NETSYNC_ANALYSIS_STRAGGLERS_ARRIVALS_H

#include "common/spool.h"
#include "events/timebase.h"

/* Operations that are counted together. */
struct operation_kind {
	uint32_t group, what; /* indices of names */
	int32_t step;	      /* -1 if steps are not distinguished, or the step is unknown */
};

/* Operations in which one rank started last. */
struct straggler {
	struct operation_kind kind;
	uint32_t rank;
	uint32_t host;
	uint64_t operations; /* number of all operations of this kind, whoever was last */
	uint64_t last;	     /* number of these in which this rank started last */
	/*
	 * Number of these operations in which the rank certainly started last, whatever the errors
	 * of the clocks.
	 */
	uint64_t certain;
	/*
	 * How much later than the rank before it (ns): median, and the limits that contain the
	 * true median of these operations; INT64_MIN and INT64_MAX if unknown.
	 */
	int64_t late_ns, late_lo_ns, late_hi_ns;
	int64_t sum_ns; /* of all these operations */
};

/* An operation, and the rank that started last. */
struct arrival {
	struct operation_kind kind;
	uint32_t rank;
	uint32_t host;
	bool is_certain;
	int64_t late_ns, late_lo_ns, late_hi_ns;
};

struct stragglers {
	const struct timebase *base;
	bool by_step;
	struct spool starts; /* struct rank_start of all operations, adjacent for each operation */
	const char **names;  /* by number; their texts belong to the tree */
	uint32_t num_names;
	void *name_tree; /* tsearch() tree of struct straggler_name, by text */
	bool no_memory;
	uint64_t read;	      /* number of operations that were read */
	uint64_t incomplete;  /* number of these that lack the span of a rank */
	uint64_t enclosed;    /* number of operations of which the starts are only limited */
	uint64_t uncorrected; /* number of these with a host that is not corrected */
	struct arrival *arrival;
	size_t num_arrivals;
	/* Sorted by step, group and operation; ranks that were last most often come first. */
	struct straggler *row;
	size_t num_rows;
};

/* Keep the operations that @io reads from now on. On failure, print a message, return false. */
bool stragglers_watch(struct stragglers *stragglers, struct netsync_io *io);
/* Find the stragglers after the clocks were found. On failure, print a message, return false. */
bool stragglers_find(struct stragglers *stragglers);
void stragglers_release(struct stragglers *stragglers);

/* The bound on the error of the median, or NETSYNC_UNKNOWN. */
int64_t straggler_get_bound(const struct straggler *straggler);

/* output.c: write all rows. Return false and set errno on failure. */
bool stragglers_print_table(FILE *out, const struct stragglers *stragglers, unsigned int limit);
bool stragglers_write_csv(FILE *out, const struct stragglers *stragglers);
bool stragglers_write_json(FILE *out, const struct stragglers *stragglers);

#endif
