/* SPDX-License-Identifier: GPL-2.0-only */
/* Times that objects were in their states, summed by host, name and state. */
#ifndef NETSYNC_STATES_TOTALS_H
#define NETSYNC_STATES_TOTALS_H

#include "spans.h"

struct total {
	uint32_t host, definition;
	uint32_t name,
		state; /* numbers of texts of the host; NO_TEXT as name stands for all names */
	/* Number of objects with this name. For the sum over all names, number of names. */
	uint64_t objects;
	uint64_t times; /* number of spans */
	uint64_t total_ns;
	int64_t shortest_ns, longest_ns;
	uint64_t open, doubtful; /* numbers of open and of doubtful spans */
};

struct totals {
	struct total *list;
	size_t num; /* number of totals, which totals_sort() sorts */
	size_t room;
	uint32_t *slots; /* index of a total plus 1, or 0 if the slot is free */
	size_t num_slots;
};

/* Add a span to its total. Return false if out of memory. */
bool totals_add(struct totals *totals, const struct state_span *span);
/* Sum over names, so that each host, definition and state has only one total. */
bool totals_sum(struct totals *sums, const struct totals *totals);
/* Sort by definition, host and total time. No span can be added afterwards. */
void totals_sort(struct totals *totals);
void totals_release(struct totals *totals);

#endif
