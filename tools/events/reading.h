/* SPDX-License-Identifier: GPL-2.0-only */
/* What reading the events of a host has of any format. */
#ifndef NETSYNC_EVENTS_READING_H
#define NETSYNC_EVENTS_READING_H

#include "babeltrace/map.h"
#include "common/now.h"
#include "groups.h"

struct reading {
	const struct timebase *base;
	const struct timebase_host *host;
	const struct event_listener *listener;
	struct group_state *state; /* for who waits for it */
	struct map types;	   /* by what the format's reader has for each */
	int64_t now_ns;		   /* of the last event; corrected */
	bool is_cut;		   /* there are some after the window */
};

enum reading_next {
	READING_TAKE,	/* the event is at now_ns */
	READING_PASS,	/* it has no corrected time */
	READING_ENOUGH, /* it is after the window */
};

struct reading reading_of(const struct event_group *group, const struct timebase *base,
			  const struct event_listener *listener,
			  struct group_state *state);

/* What to do with an event that the host's clock has at that time. */
enum reading_next reading_go_on(struct reading *reading, int64_t time_ns);

/* NULL: there is not enough memory. It lasts until the process ends. */
struct event_type *reading_type(struct reading *reading, const void *key,
				const char *name);

/* Until when what is known by then lasts. */
int64_t reading_until(const struct reading *reading);

#endif
