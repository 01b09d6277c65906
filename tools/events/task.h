/* SPDX-License-Identifier: GPL-2.0-only */
/* The threads that scheduler events name, as LTTng and ftrace call their fields. */
#ifndef NETSYNC_EVENTS_TASK_H
#define NETSYNC_EVENTS_TASK_H

#include "event.h"

enum task_role {
	TASK_SUBJECT, /* of sched_waking, sched_process_free and such */
	TASK_FROM,    /* sched_switch: which ran until then */
	TASK_TO,      /* which runs from then on */
	TASK_CHILD,   /* sched_process_fork */
	TASK_DUMPED,  /* lttng_statedump_process_state */
};

/* False: the event names none, or with a number that no thread has. */
bool task_of(const struct event *event, enum task_role role,
	     struct event_task *task);

/* A sched_switch. */
struct task_switch {
	struct event_task from, to;
	int64_t state; /* the kernel's bits of what the first one does now */
};

/* False: the event does not say all of it. */
bool task_switch_of(const struct event *event, struct task_switch *change);

#endif
