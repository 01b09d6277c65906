/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of reading a host's events that is independent of the format. */
#ifndef NETSYNC_EVENTS_READING_H
#define NETSYNC_EVENTS_READING_H

#include "babeltrace/map.h"
#include "common/now.h"
#include "groups.h"

struct reading {
	const struct timebase *base;
	const struct timebase_host *host;
	const struct event_listener *listener;
	struct group_state *state; /* for the waiting parent */
	struct map types;	   /* by a key of the format's reader */
	int64_t now_ns;		   /* of the last event; corrected */
	bool is_cut;		   /* there are events after the window */
};

enum reading_next {
	READING_TAKE,	/* use the event at now_ns */
	READING_PASS,	/* skip: it has no corrected time */
	READING_ENOUGH, /* stop: it is after the window */
};

struct reading reading_of(const struct event_group *group, const struct timebase *base,
			  const struct event_listener *listener, struct group_state *state);

/* What to do with an event at that time on the host's clock. */
enum reading_next reading_go_on(struct reading *reading, int64_t time_ns);

/* Return NULL if out of memory. The type is valid until the process ends. */
struct event_type *reading_type(struct reading *reading, const void *key, const char *name);

/* The time until which the state after the last event lasts. */
int64_t reading_until(const struct reading *reading);

#endif
