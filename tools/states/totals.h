/* SPDX-License-Identifier: GPL-2.0-only */
/* How long objects were in their states, added up by host, name and state. */
#ifndef NETSYNC_STATES_TOTALS_H
#define NETSYNC_STATES_TOTALS_H

#include "spans.h"

struct total {
	uint32_t host, definition;
	uint32_t name, state;	/* texts of the host; of all objects: NO_TEXT */
	uint64_t objects;	/* of that name; of all objects: names */
	uint64_t times;
	uint64_t total_ns;
	int64_t shortest_ns, longest_ns;
	uint64_t open, doubtful;	/* of the times */
};

struct totals {
	struct total *list;
	size_t num;		/* in order after totals_sort() */
	size_t room;
	uint32_t *slots;	/* number + 1; 0: free */
	size_t num_slots;
};

/* False: there is not enough memory. */
bool totals_add(struct totals *totals, const struct span *span);
/* Those of all objects of a definition on a host, by state. */
bool totals_sum(struct totals *sums, const struct totals *totals);
/* By definition, host, and how long. No more can be added then. */
void totals_sort(struct totals *totals);
void totals_release(struct totals *totals);

#endif
