/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert the events of a host into spans of its objects by the rules of definitions. */
#ifndef NETSYNC_STATES_MACHINE_H
#define NETSYNC_STATES_MACHINE_H

#include "definition.h"
#include "events/groups.h"
#include "spans.h"

/*
 * Write all spans of a host to a file. Return false if the events cannot be read to the end, or
 * if out of memory.
 */
bool machine_run(const struct definition *definitions, size_t num, const struct timebase *base,
		 const struct event_group *group, struct group_state *state, FILE *out);

#endif
