/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collective operations of a rank, of which a trace reports not the start and the end, but limits:
 * a time before the start, and a time after the end.
 *
 *	lower limit	  start		    end		 upper limit
 *	     |-------------[=================]-----------------|
 *
 * No rank ends before every rank has started, so the upper limit of each rank follows the lower
 * limit of every rank. An upper limit of a start, or a lower limit of an end, says nothing about
 * the clocks.
 */
#ifndef NETSYNC_IO_SPANS_OPERATIONS_H
#define NETSYNC_IO_SPANS_OPERATIONS_H

#include "io/io.h"
#include "io/names.h"

/* Maximum number of operations of a trace that are kept. Chosen: 110 bytes each. */
#define OPERATIONS_MAX (4 << 20)

struct rank_operation {
	int64_t start_ns; /* at or before the start */
	int64_t end_ns;	  /* at or after the end; @start_ns if unknown */
	uint64_t key[2];
	uint64_t check, group_id;
	const struct name *group, *what; /* in rank_operations.names */
	uint32_t member, members;
	uint32_t role; /* as in struct span_part; 0 if the operation is not used */
};

/* Why operations are not used. */
enum operation_unused {
	OPERATION_UNKNOWN_KIND,
	OPERATION_NO_ROOT,
	OPERATION_EMPTY_PARTS,
	OPERATION_NO_GROUP,
	OPERATION_BAD_TIME,
	OPERATION_REPEATED,
	OPERATION_NUM_UNUSED,
};

struct rank_operations {
	struct rank_operation *operation;
	size_t num, room;
	size_t next; /* index of the next one that is passed on */
	struct name_table names;
	uint64_t omitted; /* number of operations beyond OPERATIONS_MAX */
	uint64_t unused[OPERATION_NUM_UNUSED];
	char example[OPERATION_NUM_UNUSED][SPAN_NAME_SIZE]; /* name of the first one */
};

/* Add an operation with copies of its names, which come from a file. Return 0 or -ENOMEM. */
int operations_add(struct rank_operations *operations, const struct rank_operation *operation,
		   const char *group, const char *what);
/* Count an operation that is not used. */
void operations_skip(struct rank_operations *operations, enum operation_unused why,
		     const char *what);
/*
 * Why are operations of this name not used, whatever their sizes are? Return OPERATION_NUM_UNUSED
 * if they may be used: each rank waits for every other rank.
 */
enum operation_unused operations_find_kind(const char *what, bool *has_sizes);
/*
 * Remove the operations without a role, sort the others by start, find the range of all times, and
 * warn of what is not used.
 */
void operations_finish(struct trace *trace, struct rank_operations *operations);
/* Pass on the operations that start up to a time, as the function read() of a reader. */
int operations_read(struct trace *trace, struct rank_operations *operations, int64_t until_ns);
void operations_release(struct rank_operations *operations);

#endif
