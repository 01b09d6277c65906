/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All events of a host, in any format, in order of corrected time. A reader passes each
 * event to a listener, which requests the fields that it needs.
 *
 *	groups.c	start a process that reads each host
 *	read.c		read the events of a host, with libnetsync-io
 *	task.c		find the threads that scheduler events name
 *	thread-state.c	find the states of threads from these events
 */
#ifndef NETSYNC_EVENTS_EVENT_H
#define NETSYNC_EVENTS_EVENT_H

#include "args.h"

/* Maximum number of CPUs. NR_CPUS is at most 8192 on all architectures. */
#define EVENT_MAX_CPUS 8192
#define EVENT_NO_CPU UINT32_MAX
/* Maximum thread id, which is PID_MAX_LIMIT of 64-bit kernels. */
#define EVENT_MAX_TID (4 * 1024 * 1024)

/*
 * Maximum number of field names whose positions are stored. Chosen: no command requests as many
 * fields.
 */
#define EVENT_NUM_PLACES 32

/* Properties shared by all events that have the same name and layout. */
struct event_type {
	const char *name; /* such as "sched_switch"; valid until the process ends */
	void *own;	  /* data of the listener; NULL at first */

	/* Positions of requested fields in a hash table, which the reader uses. */
	struct event_place {
		const char *name; /* NULL if the slot is free */
		uint32_t field;	  /* number of the field, or UINT32_MAX if absent */
	} places[EVENT_NUM_PLACES];
};

struct event {
	struct event_type *type;
	int64_t time_ns; /* corrected time, which is not before that of the previous event */
	int64_t host_ns; /* time on the clock of the host */
	uint32_t cpu;	 /* EVENT_NO_CPU if unknown */

	/* The reader uses the following members. */
	const struct event_fields *fields;
	const void *source;
};

/* A thread, identified by number and name. The name is NULL if it is unknown. */
struct event_task {
	uint32_t tid; /* 0 for the idle thread of a CPU */
	const char *name;
};

/*
 * Functions that read fields. Results of these functions are valid until the listener returns.
 * Names passed to them must be valid until the process ends.
 */
struct event_fields {
	/* Get an integer of any kind. Return false if there is none. */
	bool (*integer)(const struct event *event, const char *name, int64_t *value);
	/* Return a string, or NULL if there is none. */
	const char *(*text)(const struct event *event, const char *name);
	/* Get any field without members. Return false if there is none. */
	bool (*value)(const struct event *event, const char *name, struct arg *value);
	/*
	 * Get at most @room bytes of a byte array. Return the size of the array, or 0 if the event
	 * has no such array.
	 */
	size_t (*bytes)(const struct event *event, const char *name, uint8_t *bytes, size_t room);
	/* Append all fields without members to @args. Return false if out of memory. */
	bool (*all)(const struct event *event, struct args *args);
	/* Get the thread from the event's context. Return false if it is unknown. */
	bool (*task)(const struct event *event, struct event_task *task);
};

/* The tracer lost events between the last event and the next one. */
struct event_loss {
	int64_t time_ns; /* corrected time of the last event */
	uint32_t cpu;	 /* EVENT_NO_CPU if unknown */
	bool has_number; /* the number of lost events is known */
	uint64_t number;
};

/* Functions that receive the events. To stop reading with an error, they return false. */
struct event_listener {
	bool (*event)(void *data, const struct event *event);
	bool (*lost)(void *data, const struct event_loss *loss);
	void *data;
};

#endif
