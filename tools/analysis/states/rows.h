/* SPDX-License-Identifier: GPL-2.0-only */
/* Assign numbers to the rows of a chart. Each host, definition, name and lane has a row. */
#ifndef NETSYNC_STATES_ROWS_H
#define NETSYNC_STATES_ROWS_H

#include "spans.h"

struct row {
	uint32_t host, definition;
	uint32_t name, lane;
};

struct rows {
	struct row *list; /* rows, indexed by their number - 1 */
	uint32_t num;
	uint32_t *slots; /* hash table of row numbers; 0 if a slot is free */
	size_t room;	 /* a power of two, more than twice the number of rows */
};

static inline struct row make_state_row(const struct state_span *span)
{
	return (struct row){ span->host, span->definition, span->name, span->lane };
}

/*
 * Set @number to the number of a row, which counts from 1. Set @is_new if the row was added. Return
 * false if out of memory.
 */
bool rows_find_or_add(struct rows *rows, const struct row *row, uint32_t *number, bool *is_new);
void rows_release(struct rows *rows);

#endif
