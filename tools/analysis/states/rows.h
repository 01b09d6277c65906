/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of a chart: a number for each host, definition, name and lane. */
#ifndef NETSYNC_STATES_ROWS_H
#define NETSYNC_STATES_ROWS_H

#include "spans.h"

struct row {
	uint32_t host, definition;
	uint32_t name, lane;
};

struct rows {
	struct row *list; /* by number - 1 */
	uint32_t num;
	uint32_t *slots; /* a hash table of numbers; 0: free */
	size_t room;	 /* a power of two, more than twice the number of rows */
};

static inline struct row make_state_row(const struct state_span *span)
{
	return (struct row){ span->host, span->definition, span->name, span->lane };
}

/* The number of a row, from 1. Return false if out of memory. */
bool rows_find(struct rows *rows, const struct row *row, uint32_t *number, bool *is_new);
void rows_release(struct rows *rows);

#endif
