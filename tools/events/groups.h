/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of all hosts, those of each read by a child process. */
#ifndef NETSYNC_EVENTS_GROUPS_H
#define NETSYNC_EVENTS_GROUPS_H

#include <stdio.h>

#include "common/now.h"
#include "event.h"
#include "timebase.h"

/* The traces of a host. */
struct event_group {
	uint32_t host;
	bool is_tracefs;	/* trace.dat or perf.data; else they are CTF */
	struct netsync_io_source *sources;
	uint32_t num;
	uint64_t bytes;	  /* of their files */
	int64_t first_ns; /* from when to when they are read, corrected */
	int64_t last_ns;
};

/* What a child process tells. */
struct group_state {
	int64_t now_ns;	 /* it has come so far */
	uint64_t number; /* whatever is counted */
	uint32_t num_cpus; /* of the host, as far as its events say; or 0 */
};

struct groups_reader {
	const struct timebase *base;
	const char *action; /* "writing" */
	FILE *out;	    /* what child processes write to */
	/* All that was written before is to be in @out; NULL: it is. */
	void (*flush)(void *data);
	/* In the child: group_events(), and what is before and behind it. False: what
	 * it wrote to @out is taken back, and it is tried without what is damaged. */
	bool (*read)(void *data, const struct event_group *group,
		     struct group_state *state);
	/* In the parent: it was read. */
	void (*done)(void *data, const struct event_group *group,
		     const struct group_state *state);
	void *data;
};

/* False: errno says why @out cannot be written to. */
bool groups_read(const struct groups_reader *reader);

/*
 * Of a group all events that are not after the end of the window. @until_ns: the time
 * of the last one, or the end of the window where some are after it; INT64_MIN: there
 * was none. False: they cannot be read to the end, or the listener said so.
 */
bool group_events(const struct event_group *group, const struct timebase *base,
		  const struct event_listener *listener,
		  struct group_state *state, int64_t *until_ns);

#endif
