/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the threads of one host did: from its scheduler events, in the order of time,
 * the states of every thread and which one runs on every CPU.
 *
 *                    wakeup             switch to it
 *        SLEEPING ----------> RUNNABLE -------------> RUNNING
 *        BLOCKED                 ^                       |
 *        STOPPED                 '-----------------------+ switch from it, runnable
 *           ^                                            |
 *           '--------------------------------------------' switch from it, else
 *
 * A state is told when the thread leaves it. Where a thread, or a CPU, is seen for the
 * first time, the state before is told as far as the event implies it.
 */
#ifndef NETSYNC_EVENTS_THREAD_STATE_H
#define NETSYNC_EVENTS_THREAD_STATE_H

#include "task.h"

enum sched_state {
	SCHED_UNKNOWN,
	SCHED_RUNNING,
	SCHED_RUNNABLE,		/* woken or preempted; it waits for a CPU */
	SCHED_SLEEPING,		/* a signal would wake it */
	SCHED_BLOCKED,		/* no signal does: mostly disks and locks */
	SCHED_STOPPED,		/* by a signal, or a debugger */
	SCHED_DEAD,
};

/* More than the kernel's TASK_COMM_LEN, 16 bytes. */
#define SCHED_NAME_SIZE 32

struct sched_thread {
	uint32_t tid;
	char name[SCHED_NAME_SIZE];	/* empty: unknown */
	enum sched_state state;
	int64_t since_ns;	/* INT64_MIN: since before all events */
	bool is_implied;	/* no event says that it began; the one that ended it does */
	uint32_t cpu;		/* where it runs, or ran last */
	void *own;		/* the listener's; NULL at first */
	struct sched_thread *next;	/* in its bucket */
};

struct sched_listener {
	/* A thread was in its state, thread->state, from then (INT64_MIN: before all
	 * events) to then. */
	void (*left)(void *data, struct sched_thread *thread, int64_t from_ns,
		     int64_t to_ns);
	/* It is about to be forgotten, and its .own is to be released. */
	void (*gone)(void *data, struct sched_thread *thread);
	void *data;
};

struct sched;

/* NULL: there is not enough memory. */
struct sched *sched_new(const struct sched_listener *listener);
void sched_free(struct sched *sched);

/* Some memory was missing: what was told is not all. */
bool sched_failed(const struct sched *sched);

/* What a thread does when it is switched from: the kernel's bits of task_state. */
#define SCHED_TASK_INTERRUPTIBLE 0x001
#define SCHED_TASK_UNINTERRUPTIBLE 0x002
#define SCHED_TASK_STOPPED 0x004
#define SCHED_TASK_TRACED 0x008
#define SCHED_TASK_DEAD 0x010
#define SCHED_TASK_ZOMBIE 0x020
#define SCHED_TASK_PARKED 0x040
#define SCHED_TASK_IDLE 0x080

/*
 * Events. What no kernel has, CPUs from EVENT_MAX_CPUS on and threads beyond
 * EVENT_MAX_TID, is ignored.
 */
void sched_switch(struct sched *sched, int64_t time_ns, uint32_t cpu,
		  const struct task_switch *change);
/* Return: is it runnable from now on? */
bool sched_wakeup(struct sched *sched, int64_t time_ns, struct event_task task);
void sched_fork(struct sched *sched, int64_t time_ns, struct event_task child);
void sched_release(struct sched *sched, int64_t time_ns, uint32_t tid);
/* The tracer lost events of a CPU. */
void sched_lost(struct sched *sched, int64_t time_ns, uint32_t cpu);
/* There are no more: leave all states. */
void sched_end(struct sched *sched, int64_t time_ns);

/* A thread, which is made if it is new; NULL: there is none of this number. */
struct sched_thread *sched_thread(struct sched *sched, struct event_task task);
/* Which one runs; NULL: none, or unknown. */
struct sched_thread *sched_running(const struct sched *sched, uint32_t cpu);

/* For people. */
const char *sched_state_name(enum sched_state state);

#endif
