// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thread-state.h"

struct sched_cpu {
	struct sched_thread *thread; /* running thread; NULL if none or not known */
	int64_t since_ns;	     /* last change of @thread; INT64_MIN if none */
};

struct sched {
	struct sched_listener listener;
	struct sched_cpu *cpus;
	uint32_t num_cpus;
	struct sched_thread **buckets; /* hash table of threads by tid */
	size_t num_buckets;	       /* number of buckets, a power of two */
	size_t num_threads;
	bool failed;
};

/*
 * Initial number of buckets, which is enough for a small machine. The number is doubled when there
 * are as many threads.
 */
#define FIRST_BUCKETS 1024

struct sched *sched_new(const struct sched_listener *listener)
{
	struct sched *sched = calloc(1, sizeof(*sched));

	if (!sched)
		return NULL;
	sched->listener = *listener;
	sched->num_buckets = FIRST_BUCKETS;
	sched->buckets = calloc(FIRST_BUCKETS, sizeof(struct sched_thread *));
	if (sched->buckets)
		return sched;
	free(sched);
	return NULL;
}

bool sched_has_failed(const struct sched *sched)
{
	return sched->failed;
}

/* ---- threads ------------------------------------------------------------ */

static struct sched_thread **find_thread_bucket(const struct sched *sched, uint32_t tid)
{
	return &sched->buckets[tid & (sched->num_buckets - 1)];
}

static void grow_thread_buckets(struct sched *sched)
{
	struct sched_thread **before = sched->buckets;
	const size_t num = sched->num_buckets;

	sched->buckets = calloc(num * 2, sizeof(struct sched_thread *));
	if (!sched->buckets) {
		sched->buckets = before;
		return;
	}
	sched->num_buckets = num * 2;
	for (size_t i = 0; i < num; i++) {
		struct sched_thread *thread = before[i];

		while (thread) {
			struct sched_thread *next = thread->next;
			struct sched_thread **to = find_thread_bucket(sched, thread->tid);

			thread->next = *to;
			*to = thread;
			thread = next;
		}
	}
	free(before);
}

static struct sched_thread *find_thread_by_tid(const struct sched *sched, uint32_t tid)
{
	struct sched_thread *thread = *find_thread_bucket(sched, tid);

	while (thread && thread->tid != tid)
		thread = thread->next;
	return thread;
}

static struct sched_thread *make_thread(struct sched *sched, uint32_t tid)
{
	struct sched_thread *thread = calloc(1, sizeof(*thread));
	struct sched_thread **first;

	if (!thread) {
		sched->failed = true;
		return NULL;
	}
	if (sched->num_threads++ >= sched->num_buckets)
		grow_thread_buckets(sched);
	first = find_thread_bucket(sched, tid);
	thread->tid = tid;
	thread->since_ns = INT64_MIN;
	thread->next = *first;
	*first = thread;
	return thread;
}

struct sched_thread *sched_find_thread(struct sched *sched, struct event_task task)
{
	struct sched_thread *thread;

	if (!task.tid || task.tid > EVENT_MAX_TID)
		return NULL;
	thread = find_thread_by_tid(sched, task.tid);
	if (!thread)
		thread = make_thread(sched, task.tid);
	/* Copy the name only if it changed, which is rare. */
	if (thread && task.name && *task.name && strcmp(thread->name, task.name))
		snprintf(thread->name, sizeof(thread->name), "%s", task.name);
	return thread;
}

/* ---- CPUs --------------------------------------------------------------- */

static struct sched_cpu *find_or_add_sched_cpu(struct sched *sched, uint32_t number)
{
	struct sched_cpu *more;

	if (number >= EVENT_MAX_CPUS)
		return NULL;
	if (number < sched->num_cpus)
		return &sched->cpus[number];
	more = realloc(sched->cpus, (number + 1) * sizeof(*more));
	if (!more) {
		sched->failed = true;
		return NULL;
	}
	sched->cpus = more;
	while (sched->num_cpus <= number)
		more[sched->num_cpus++] = (struct sched_cpu){ .since_ns = INT64_MIN };
	return &more[number];
}

struct sched_thread *sched_get_running(const struct sched *sched, uint32_t cpu)
{
	return cpu < sched->num_cpus ? sched->cpus[cpu].thread : NULL;
}

/* ---- states ------------------------------------------------------------- */

static void enter_thread_state(struct sched *sched, struct sched_thread *thread,
			       enum sched_state state, int64_t time_ns)
{
	struct sched_cpu *cpu = thread->state == SCHED_RUNNING ?
					find_or_add_sched_cpu(sched, thread->cpu) :
					NULL;

	if (thread->state != SCHED_UNKNOWN)
		sched->listener.left(sched->listener.data, thread, thread->since_ns, time_ns);
	if (cpu && cpu->thread == thread)
		*cpu = (struct sched_cpu){ NULL, time_ns };
	thread->state = state;
	thread->since_ns = time_ns;
	thread->is_implied = false;
}

/* Set the previous state of a thread. The previous state was not known, but an event implies it. */
static void set_implied_state(struct sched_thread *thread, enum sched_state state)
{
	thread->state = state;
	thread->is_implied = true;
}

static void forget_thread(struct sched *sched, struct sched_thread *thread, int64_t time_ns)
{
	struct sched_thread **at = find_thread_bucket(sched, thread->tid);

	enter_thread_state(sched, thread, SCHED_UNKNOWN, time_ns);
	while (*at != thread)
		at = &(*at)->next;
	*at = thread->next;
	sched->num_threads--;
	sched->listener.gone(sched->listener.data, thread);
	free(thread);
}

/*
 * Find a thread that has not ended. If a thread has ended, its number may belong to another thread
 * now.
 */
static struct sched_thread *find_living_thread(struct sched *sched, struct event_task task,
					       int64_t time_ns)
{
	struct sched_thread *thread = sched_find_thread(sched, task);

	if (!thread || thread->state != SCHED_DEAD)
		return thread;
	forget_thread(sched, thread, time_ns);
	return sched_find_thread(sched, task);
}

static enum sched_state get_thread_state(uint64_t task_state)
{
	if (task_state & (SCHED_TASK_DEAD | SCHED_TASK_ZOMBIE))
		return SCHED_DEAD;
	if (task_state & (SCHED_TASK_STOPPED | SCHED_TASK_TRACED))
		return SCHED_STOPPED;
	if (task_state & SCHED_TASK_UNINTERRUPTIBLE)
		return SCHED_BLOCKED;
	/* Parked and idle kernel threads are not a load, and neither are sleeping threads. */
	if (task_state & (SCHED_TASK_INTERRUPTIBLE | SCHED_TASK_PARKED | SCHED_TASK_IDLE))
		return SCHED_SLEEPING;
	return SCHED_RUNNABLE;
}

static void switch_from_thread(struct sched *sched, struct sched_cpu *cpu, uint32_t number,
			       struct sched_thread *thread, enum sched_state state, int64_t time_ns)
{
	/* If another thread was running, a switch between the two was lost. */
	if (cpu->thread && cpu->thread != thread)
		enter_thread_state(sched, cpu->thread, SCHED_UNKNOWN, time_ns);
	if (!thread)
		return;
	/*
	 * The thread was running, but not since before the time at which the CPU's state became
	 * known.
	 */
	if (thread->state == SCHED_UNKNOWN) {
		if (thread->since_ns < cpu->since_ns)
			thread->since_ns = cpu->since_ns;
		set_implied_state(thread, SCHED_RUNNING);
		thread->cpu = number;
	}
	enter_thread_state(sched, thread, state, time_ns);
}

void sched_switch(struct sched *sched, int64_t time_ns, uint32_t number,
		  const struct task_switch *change)
{
	struct sched_cpu *cpu = find_or_add_sched_cpu(sched, number);
	struct sched_thread *next;

	if (!cpu)
		return;
	switch_from_thread(sched, cpu, number, sched_find_thread(sched, change->from),
			   get_thread_state(change->state), time_ns);
	next = find_living_thread(sched, change->to, time_ns);
	if (next) {
		enter_thread_state(sched, next, SCHED_RUNNING, time_ns);
		next->cpu = number;
	}
	*cpu = (struct sched_cpu){ next, time_ns };
}

bool sched_wakeup(struct sched *sched, int64_t time_ns, struct event_task task)
{
	struct sched_thread *thread = find_living_thread(sched, task, time_ns);

	if (!thread || thread->state == SCHED_RUNNING || thread->state == SCHED_RUNNABLE)
		return false;
	/* Only a waiting thread can be woken. */
	if (thread->state == SCHED_UNKNOWN)
		set_implied_state(thread, SCHED_SLEEPING);
	enter_thread_state(sched, thread, SCHED_RUNNABLE, time_ns);
	return true;
}

void sched_fork(struct sched *sched, int64_t time_ns, struct event_task child)
{
	struct sched_thread *thread = NULL;

	if (child.tid && child.tid <= EVENT_MAX_TID)
		thread = find_thread_by_tid(sched, child.tid);
	if (thread)
		forget_thread(sched, thread, time_ns);
	thread = sched_find_thread(sched, child);
	/* A new thread does not run before it is woken. */
	if (thread) {
		thread->state = SCHED_RUNNABLE;
		thread->since_ns = time_ns;
	}
}

void sched_release(struct sched *sched, int64_t time_ns, uint32_t tid)
{
	struct sched_thread *thread = find_thread_by_tid(sched, tid);

	if (thread)
		forget_thread(sched, thread, time_ns);
}

void sched_note_loss(struct sched *sched, int64_t time_ns, uint32_t number)
{
	struct sched_cpu *cpu = find_or_add_sched_cpu(sched, number);

	if (!cpu)
		return;
	if (cpu->thread)
		enter_thread_state(sched, cpu->thread, SCHED_UNKNOWN, time_ns);
	*cpu = (struct sched_cpu){ NULL, time_ns };
}

void sched_end(struct sched *sched, int64_t time_ns)
{
	for (size_t i = 0; i < sched->num_buckets; i++)
		for (struct sched_thread *t = sched->buckets[i]; t; t = t->next)
			enter_thread_state(sched, t, SCHED_UNKNOWN, time_ns);
}

void sched_free(struct sched *sched)
{
	if (!sched)
		return;
	for (size_t i = 0; i < sched->num_buckets; i++) {
		while (sched->buckets[i]) {
			struct sched_thread *thread = sched->buckets[i];

			sched->buckets[i] = thread->next;
			sched->listener.gone(sched->listener.data, thread);
			free(thread);
		}
	}
	free(sched->buckets);
	free(sched->cpus);
	free(sched);
}

const char *sched_get_state_name(enum sched_state state)
{
	static const char *const names[] = {
		[SCHED_UNKNOWN] = "unknown",   [SCHED_RUNNING] = "running",
		[SCHED_RUNNABLE] = "runnable", [SCHED_SLEEPING] = "sleeping",
		[SCHED_BLOCKED] = "blocked",   [SCHED_STOPPED] = "stopped",
		[SCHED_DEAD] = "dead",
	};

	return names[state];
}
