/* SPDX-License-Identifier: GPL-2.0-only */
/* Read the events of all hosts. A child process reads the events of each host. */
#ifndef NETSYNC_EVENTS_GROUPS_H
#define NETSYNC_EVENTS_GROUPS_H

#include <stdio.h>

#include "common/now.h"
#include "event.h"
#include "timebase.h"

/* The traces of one host. */
struct event_group {
	uint32_t host;
	bool is_tracefs; /* the traces are trace.dat or perf.data files, not CTF */
	struct netsync_io_source *sources;
	uint32_t num;
	uint64_t bytes;	  /* size of their files */
	int64_t first_ns; /* window to read, in corrected time */
	int64_t last_ns;
};

/* Progress that a child process reports. */
struct group_state {
	int64_t now_ns;	   /* corrected time that was reached */
	uint64_t number;   /* a number whose meaning the reader determines */
	uint32_t num_cpus; /* number of the host's CPUs, according to its events; 0 if unknown */
};

/* All hosts, for groups_reader.host. */
#define GROUPS_ALL_HOSTS UINT32_MAX

struct groups_reader {
	const struct timebase *base;
	uint32_t host;	    /* number of the only host to read, or GROUPS_ALL_HOSTS */
	const char *action; /* name of the work in messages, such as "writing" */
	FILE *out;	    /* file that child processes write to */
	/* Write all buffered output to @out. NULL if output is not buffered. */
	void (*flush)(void *data);
	/*
	 * Called in the child process. The function must call group_read_events(), and may write
	 * output before and after this call. If the function returns false, its output to @out is
	 * removed, and the group is read again without damaged traces.
	 */
	bool (*read)(void *data, const struct event_group *group, struct group_state *state);
	/* Called in the parent process after the group was read. */
	void (*done)(void *data, const struct event_group *group, const struct group_state *state);
	void *data;
};

/* Read all groups. If writing to @out fails, set errno and return false. */
bool groups_read(const struct groups_reader *reader);

/*
 * Read all events of a group up to the end of the window. Set @until_ns to the time of the last
 * event, or to the end of the window if events follow, or to INT64_MIN if there were no events.
 * Return false if the events cannot be read to the end or the listener returned false.
 */
bool group_read_events(const struct event_group *group, const struct timebase *base,
		       const struct event_listener *listener, struct group_state *state,
		       int64_t *until_ns);

#endif
