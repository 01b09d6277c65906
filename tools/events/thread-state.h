/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Activity of one host's threads. The states of every thread, and the running thread of
 * every CPU, follow from the host's scheduler events in order of time.
 *
 *                    wakeup             switch to it
 *        SLEEPING ----------> RUNNABLE -------------> RUNNING
 *        BLOCKED                 ^                       |
 *        STOPPED                 '-----------------------+ switch from it, runnable
 *           ^                                            |
 *           '--------------------------------------------' switch from it, else
 *
 * A state is reported when the thread leaves it. When a thread, or a CPU, first appears,
 * its previous state is reported if the event implies it.
 */
#ifndef NETSYNC_EVENTS_THREAD_STATE_H
#define NETSYNC_EVENTS_THREAD_STATE_H

#include "task.h"

enum sched_state {
	SCHED_UNKNOWN,
	SCHED_RUNNING,
	SCHED_RUNNABLE, /* woken or preempted, and waiting for a CPU */
	SCHED_SLEEPING, /* waiting, and can be woken by a signal */
	SCHED_BLOCKED,	/* waiting, usually for disks or locks, and cannot be woken by a signal */
	SCHED_STOPPED,	/* stopped by a signal or a debugger */
	SCHED_DEAD,
};

/* Size of a thread's name in bytes, more than the kernel's TASK_COMM_LEN (16). */
#define SCHED_NAME_SIZE 32

struct sched_thread {
	uint32_t tid;
	char name[SCHED_NAME_SIZE]; /* empty if unknown */
	enum sched_state state;
	int64_t since_ns; /* INT64_MIN if the state began before all events */
	/*
	 * Whether only the event that ended the state implies it, because no event reported its
	 * start.
	 */
	bool is_implied;
	uint32_t cpu;		   /* CPU on which the thread runs, or last ran */
	void *own;		   /* data of the listener; NULL at first */
	struct sched_thread *next; /* next thread in the hash bucket */
};

struct sched_listener {
	/*
	 * Called when a thread has left the state thread->state, which it had between the two
	 * times. @from_ns is INT64_MIN if the state began before all events.
	 */
	void (*left)(void *data, struct sched_thread *thread, int64_t from_ns, int64_t to_ns);
	/* Called before a thread is released. Release its member own. */
	void (*gone)(void *data, struct sched_thread *thread);
	void *data;
};

struct sched;

/* Create the state of a host. Return NULL if out of memory. */
struct sched *sched_new(const struct sched_listener *listener);
void sched_free(struct sched *sched);

/* Return whether the states are incomplete because memory was exhausted. */
bool sched_has_failed(const struct sched *sched);

/* Bits of the kernel's task_state for the thread that a CPU switches from. */
#define SCHED_TASK_INTERRUPTIBLE 0x001
#define SCHED_TASK_UNINTERRUPTIBLE 0x002
#define SCHED_TASK_STOPPED 0x004
#define SCHED_TASK_TRACED 0x008
#define SCHED_TASK_DEAD 0x010
#define SCHED_TASK_ZOMBIE 0x020
#define SCHED_TASK_PARKED 0x040
#define SCHED_TASK_IDLE 0x080

/*
 * Process an event. No kernel has CPUs from EVENT_MAX_CPUS on or threads above EVENT_MAX_TID.
 * Events with higher numbers are ignored.
 */
void sched_switch(struct sched *sched, int64_t time_ns, uint32_t cpu,
		  const struct task_switch *change);
/* Process a wakeup. Return true if the thread became runnable. */
bool sched_wakeup(struct sched *sched, int64_t time_ns, struct event_task task);
void sched_fork(struct sched *sched, int64_t time_ns, struct event_task child);
void sched_release(struct sched *sched, int64_t time_ns, uint32_t tid);
/* Process a loss of events on a CPU. */
void sched_note_loss(struct sched *sched, int64_t time_ns, uint32_t cpu);
/* End all states, because there are no more events. */
void sched_end(struct sched *sched, int64_t time_ns);

/* Find a thread, or add it. Return NULL if the number is invalid. */
struct sched_thread *sched_find_thread(struct sched *sched, struct event_task task);
/* Return the thread that is running on a CPU, or NULL if there is none or it is unknown. */
struct sched_thread *sched_get_running(const struct sched *sched, uint32_t cpu);

/* Return the name of a state, for people. */
const char *sched_get_state_name(enum sched_state state);

#endif
