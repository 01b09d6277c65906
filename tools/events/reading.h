/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of reading a host's events, for any format. */
#ifndef NETSYNC_EVENTS_READING_H
#define NETSYNC_EVENTS_READING_H

#include "babeltrace/map.h"
#include "common/now.h"
#include "groups.h"

struct reading {
	const struct timebase *base;
	const struct timebase_host *host;
	const struct event_listener *listener;
	struct group_state *state; /* state that the waiting parent process displays */
	struct map types;	   /* types of events, by a key of the format's reader */
	int64_t now_ns;		   /* corrected time of the last event */
	bool is_cut;		   /* whether there are events after the window */
};

enum reading_next {
	READING_TAKE,	/* use the event at now_ns */
	READING_PASS,	/* skip the event, which has no corrected time */
	READING_ENOUGH, /* stop, because the event is after the window */
};

struct reading reading_make(const struct event_group *group, const struct timebase *base,
			    const struct event_listener *listener, struct group_state *state);

/* Decide what to do with an event at a time on the host's clock. */
enum reading_next reading_advance(struct reading *reading, int64_t time_ns);

/*
 * Return the type of an event, or NULL if out of memory. The type is valid until the
 * process ends.
 */
struct event_type *reading_find_type(struct reading *reading, const void *key, const char *name);

/* Return the time until which the state after the last event lasts. */
int64_t reading_get_until(const struct reading *reading);

#endif
