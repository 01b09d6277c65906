/* SPDX-License-Identifier: GPL-2.0-only */
/* The threads that scheduler events name, by the field names of LTTng and ftrace. */
#ifndef NETSYNC_EVENTS_TASK_H
#define NETSYNC_EVENTS_TASK_H

#include "event.h"

enum task_role {
	TASK_SUBJECT, /* of sched_waking, sched_process_free and such */
	TASK_FROM,    /* sched_switch: the thread that ran */
	TASK_TO,      /* sched_switch: the thread that runs next */
	TASK_CHILD,   /* sched_process_fork */
	TASK_DUMPED,  /* lttng_statedump_process_state */
};

/* Return false if the event names no thread, or has an invalid number. */
bool task_of(const struct event *event, enum task_role role, struct event_task *task);

/* A sched_switch. */
struct task_switch {
	struct event_task from, to;
	int64_t state; /* the kernel's bits of the first one's new state */
};

/* Return false if the event lacks some of the data. */
bool task_switch_of(const struct event *event, struct task_switch *change);

#endif
