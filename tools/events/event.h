/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All events of a host, of whatever format, in the order of corrected time: a reader
 * tells a listener of each, who asks it for the fields that it wants.
 *
 *	groups.c   the hosts, each read by a process of its own
 *	read.c     its events, by libnetsync-io
 *	task.c     the threads that scheduler events name
 *	thread-state.c what its threads do, by these
 */
#ifndef NETSYNC_EVENTS_EVENT_H
#define NETSYNC_EVENTS_EVENT_H

#include "args.h"

/* NR_CPUS is 8192 at most on all architectures. */
#define EVENT_MAX_CPUS 8192
#define EVENT_NO_CPU UINT32_MAX
/* PID_MAX_LIMIT of 64-bit kernels. */
#define EVENT_MAX_TID (4 * 1024 * 1024)

/* Names of fields whose places are kept. Chosen: more than a command asks for. */
#define EVENT_NUM_PLACES 32

/* What all events of a name and layout have in common. */
struct event_type {
	const char *name; /* "sched_switch"; for as long as the process lives */
	void *own;	  /* the listener's; NULL at first */

	/* The reader's: where the fields were that were asked for, by a hash. */
	struct event_place {
		const char *name; /* NULL: free */
		uint32_t field;	  /* its number; UINT32_MAX: there is none */
	} places[EVENT_NUM_PLACES];
};

struct event {
	struct event_type *type;
	int64_t time_ns; /* corrected; not before that of the event before it */
	int64_t host_ns; /* the same on the clock of its host */
	uint32_t cpu;	 /* where; EVENT_NO_CPU: unknown */

	/* The reader's. */
	const struct event_fields *fields;
	const void *source;
};

/* A thread, by number and name; NULL: the name is not known. */
struct event_task {
	uint32_t tid; /* 0: the idle thread of a CPU */
	const char *name;
};

/*
 * How fields are read; what they give holds until the listener returns. The name that is
 * asked for has to last as long as the process.
 */
struct event_fields {
	/* One that is an integer of any kind. False: there is none. */
	bool (*integer)(const struct event *event, const char *name,
			int64_t *value);
	/* A string; NULL: there is none. */
	const char *(*text)(const struct event *event, const char *name);
	/* Any that has no parts. False: there is none. */
	bool (*value)(const struct event *event, const char *name,
		      struct arg *value);
	/* Up to @room bytes of one that is an array of bytes. Return: how many there
	 * are; 0: there is none. */
	size_t (*bytes)(const struct event *event, const char *name,
			uint8_t *bytes, size_t room);
	/* All that have no parts, behind what @args has. False: not enough memory. */
	bool (*all)(const struct event *event, struct args *args);
	/* The thread that its context tells. False: none is told. */
	bool (*task)(const struct event *event, struct event_task *task);
};

/* The tracer lost events there, between the last event and the next one. */
struct event_loss {
	int64_t time_ns; /* of the last event; corrected */
	uint32_t cpu;	 /* EVENT_NO_CPU: unknown */
	bool has_number; /* else nobody knows how many */
	uint64_t number;
};

/* False: reading is to stop, and failed. */
struct event_listener {
	bool (*event)(void *data, const struct event *event);
	bool (*lost)(void *data, const struct event_loss *loss);
	void *data;
};

#endif
