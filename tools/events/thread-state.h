/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The activity of one host's threads: from its scheduler events, in order of time, the
 * states of every thread and the running thread of every CPU.
 *
 *                    wakeup             switch to it
 *        SLEEPING ----------> RUNNABLE -------------> RUNNING
 *        BLOCKED                 ^                       |
 *        STOPPED                 '-----------------------+ switch from it, runnable
 *           ^                                            |
 *           '--------------------------------------------' switch from it, else
 *
 * A state is reported when the thread leaves it. When a thread, or a CPU, first appears,
 * its previous state is reported as far as the event implies it.
 */
#ifndef NETSYNC_EVENTS_THREAD_STATE_H
#define NETSYNC_EVENTS_THREAD_STATE_H

#include "task.h"

enum sched_state {
	SCHED_UNKNOWN,
	SCHED_RUNNING,
	SCHED_RUNNABLE, /* woken or preempted; waits for a CPU */
	SCHED_SLEEPING, /* can be woken by a signal */
	SCHED_BLOCKED,	/* cannot be woken by a signal: usually waits for disks and locks */
	SCHED_STOPPED,	/* by a signal, or a debugger */
	SCHED_DEAD,
};

/* More than the kernel's TASK_COMM_LEN, 16 bytes. */
#define SCHED_NAME_SIZE 32

struct sched_thread {
	uint32_t tid;
	char name[SCHED_NAME_SIZE]; /* empty: unknown */
	enum sched_state state;
	int64_t since_ns; /* INT64_MIN: since before all events */
	bool is_implied;  /* no event reports its begin; the event that ended it implies it */
	uint32_t cpu;	  /* where it runs, or last ran */
	void *own;	  /* for the listener; initially NULL */
	struct sched_thread *next; /* in its bucket */
};

struct sched_listener {
	/*
	 * A thread was in a state, thread->state, between these times (INT64_MIN: since
	 * before all events).
	 */
	void (*left)(void *data, struct sched_thread *thread, int64_t from_ns, int64_t to_ns);
	/* The thread is about to be released; release its .own. */
	void (*gone)(void *data, struct sched_thread *thread);
	void *data;
};

struct sched;

/* Return NULL if out of memory. */
struct sched *sched_new(const struct sched_listener *listener);
void sched_free(struct sched *sched);

/* Some memory was missing: the reports are incomplete. */
bool sched_failed(const struct sched *sched);

/* State of a thread that is switched from: the kernel's bits of task_state. */
#define SCHED_TASK_INTERRUPTIBLE 0x001
#define SCHED_TASK_UNINTERRUPTIBLE 0x002
#define SCHED_TASK_STOPPED 0x004
#define SCHED_TASK_TRACED 0x008
#define SCHED_TASK_DEAD 0x010
#define SCHED_TASK_ZOMBIE 0x020
#define SCHED_TASK_PARKED 0x040
#define SCHED_TASK_IDLE 0x080

/*
 * Events. CPUs from EVENT_MAX_CPUS on, and threads above EVENT_MAX_TID, which no kernel
 * has, are ignored.
 */
void sched_switch(struct sched *sched, int64_t time_ns, uint32_t cpu,
		  const struct task_switch *change);
/* Return true if the thread became runnable. */
bool sched_wakeup(struct sched *sched, int64_t time_ns, struct event_task task);
void sched_fork(struct sched *sched, int64_t time_ns, struct event_task child);
void sched_release(struct sched *sched, int64_t time_ns, uint32_t tid);
/* The tracer lost events of a CPU. */
void sched_lost(struct sched *sched, int64_t time_ns, uint32_t cpu);
/* There are no more events: leave all states. */
void sched_end(struct sched *sched, int64_t time_ns);

/* Find a thread, or add it. Return NULL if the number is invalid. */
struct sched_thread *sched_thread(struct sched *sched, struct event_task task);
/* Return the running thread, or NULL if there is none or it is unknown. */
struct sched_thread *sched_running(const struct sched *sched, uint32_t cpu);

/* The name of a state, for people. */
const char *sched_state_name(enum sched_state state);

#endif
