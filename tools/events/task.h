/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads named by scheduler events, with the field names of LTTng and ftrace. */
#ifndef NETSYNC_EVENTS_TASK_H
#define NETSYNC_EVENTS_TASK_H

#include "event.h"

enum task_role {
	TASK_SUBJECT, /* subject of sched_waking, sched_process_free and other events */
	TASK_FROM,    /* thread that ran before a sched_switch */
	TASK_TO,      /* thread that runs after a sched_switch */
	TASK_CHILD,   /* new thread of sched_process_fork */
	TASK_DUMPED,  /* thread of lttng_statedump_process_state */
};

/*
 * Get a thread that an event names. Return false if the event names no thread or its number is
 * invalid.
 */
bool task_read(const struct event *event, enum task_role role, struct event_task *task);

/* Data of a sched_switch event. */
struct task_switch {
	struct event_task from, to;
	int64_t state; /* new state of the thread @from, as bits of the kernel */
};

/* Get the data of a sched_switch event. Return false if the event lacks some of it. */
bool task_switch_read(const struct event *event, struct task_switch *change);

#endif
