/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of all hosts; a child process reads those of each host. */
#ifndef NETSYNC_EVENTS_GROUPS_H
#define NETSYNC_EVENTS_GROUPS_H

#include <stdio.h>

#include "common/now.h"
#include "event.h"
#include "timebase.h"

/* The traces of a host. */
struct event_group {
	uint32_t host;
	bool is_tracefs; /* trace.dat or perf.data; else they are CTF */
	struct netsync_io_source *sources;
	uint32_t num;
	uint64_t bytes;	  /* of their files */
	int64_t first_ns; /* the window to read, corrected */
	int64_t last_ns;
};

/* Progress that a child process reports. */
struct group_state {
	int64_t now_ns;	   /* position reached */
	uint64_t number;   /* a count, of anything */
	uint32_t num_cpus; /* CPUs of the host, according to its events; or 0 */
};

struct groups_reader {
	const struct timebase *base;
	const char *action; /* "writing" */
	FILE *out;	    /* file that child processes write to */
	/* Write all buffered output to @out. NULL if no output is buffered. */
	void (*flush)(void *data);
	/*
	 * In the child process, call group_events(), and write the output before and after it.
	 * After false, its output to @out is removed, and the group is read again without
	 * damaged traces.
	 */
	bool (*read)(void *data, const struct event_group *group, struct group_state *state);
	/* In the parent: the group was read. */
	void (*done)(void *data, const struct event_group *group, const struct group_state *state);
	void *data;
};

/* Return false and set errno if writing to @out fails. */
bool groups_read(const struct groups_reader *reader);

/*
 * Read all events of a group up to the end of the window. Set @until_ns to the time of the last
 * event, to the end of the window if events follow it, or to INT64_MIN if there were no events.
 * Return false if the events cannot be read to the end, or if the listener returned false.
 */
bool group_events(const struct event_group *group, const struct timebase *base,
		  const struct event_listener *listener, struct group_state *state,
		  int64_t *until_ns);

#endif
