/* SPDX-License-Identifier: GPL-2.0-only */
/* Build the execution graph of a host from its events. */
#ifndef NETSYNC_PATH_FOLLOW_H
#define NETSYNC_PATH_FOLLOW_H

#include "events/groups.h"
#include "graph.h"

/* Numbers that identify a thread and its state in the graph. */
struct followed {
	uint32_t number;
	uint32_t last;	/* record of its last state, or NO_RECORD */
	uint32_t cause; /* record of the cause that ends its current state, or NO_RECORD */
};

/*
 * Write the execution graph of a host to a file, in the process that reads the host. Return false
 * if out of memory, or if the events cannot be read.
 */
bool follow_group(const struct event_group *group, const struct timebase *base,
		  struct group_state *state, FILE *out);

#endif
