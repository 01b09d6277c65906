// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the scheduler of a host did, event by event, for a format that has tables of
 * scheduling: who runs on each CPU, and in what state each thread is, follows from these.
 * CPUs are numbered through all hosts.
 */
#include "perfetto.h"

/* The kernel's bits of states that have meant the same in all kernels: up to EXIT_ZOMBIE. */
#define COMMON_STATES 0x3f

bool scheduling_has_room(const struct threads *threads)
{
	return threads->timeline->format->sched &&
	       threads->host < TIMELINE_MAX_THREAD_HOSTS &&
	       threads->first_cpu < TIMELINE_MAX_CPUS;
}

/* Is what happens at a time on a CPU to be in the tables? */
static bool is_in_tables(struct threads *threads, uint32_t cpu, int64_t time_ns)
{
	if (!threads->show_states || !threads->timeline->format->sched ||
	    cpu >= EVENT_MAX_CPUS || !timebase_shows(threads->export->base, time_ns))
		return false;
	if (threads->num_cpus <= cpu)
		threads->num_cpus = cpu + 1;
	return scheduling_has_room(threads) && threads->first_cpu + cpu < TIMELINE_MAX_CPUS;
}

/* @thread: NULL: the idle one */
static struct timeline_task describe_task(struct threads *threads, struct sched_thread *thread)
{
	return (struct timeline_task){
		.number = thread ? threads_number(threads, thread) : 0,
		.name = thread ? thread->name : "swapper",
	};
}

static void put_sched_event(struct threads *threads, struct timeline_sched event, uint32_t cpu,
			    int64_t time_ns)
{
	event.host = threads->host;
	event.cpu = threads->first_cpu + cpu;
	event.time_ns = time_ns;
	threads->timeline->format->sched(threads->timeline, &event);
}

static void put_sched_switch(struct threads *threads, uint32_t cpu, int64_t time_ns,
			     struct sched_thread *from, struct sched_thread *to, int64_t state)
{
	struct timeline_sched event = { .kind = TIMELINE_SWITCH, .state = state };

	if (!is_in_tables(threads, cpu, time_ns))
		return;
	event.from = describe_task(threads, from);
	event.to = describe_task(threads, to);
	put_sched_event(threads, event, cpu, time_ns);
}

static void put_sched_waking(struct threads *threads, uint32_t cpu, int64_t time_ns,
			     struct sched_thread *from, struct sched_thread *to)
{
	struct timeline_sched event = { .kind = TIMELINE_WAKING };

	if (!is_in_tables(threads, cpu, time_ns))
		return;
	event.from = describe_task(threads, from);
	event.to = describe_task(threads, to);
	put_sched_event(threads, event, cpu, time_ns);
}

/* A thread that sleeps cannot be said to: only a switch says so, and that needs a CPU. */
void scheduling_imply(struct threads *threads, struct sched_thread *thread,
		      int64_t since_ns)
{
	if (thread->state == SCHED_RUNNING)
		put_sched_switch(threads, thread->cpu, since_ns, NULL, thread, 0);
	else if (thread->state == SCHED_RUNNABLE)
		put_sched_waking(threads, thread->cpu, since_ns, NULL, thread);
}

/*
 * Put the switch that nobody saw, if another thread ran on the CPU than the one that is
 * switched from: the tables take each switch to be from what ran. What the thread that ran
 * does since then is unknown, for which they have no state; sleeping takes no CPU, and
 * waits for none.
 */
void scheduling_missed(struct threads *threads, uint32_t cpu,
		       const struct task_switch *change)
{
	struct sched_thread *ran = sched_running(threads->sched, cpu);
	struct sched_thread *from = sched_thread(threads->sched, change->from);

	/* The switch implies since when it ran, of which scheduling_imply() tells. */
	if (from && from->state == SCHED_UNKNOWN)
		from = NULL;
	if (ran != from)
		put_sched_switch(threads, cpu, threads->now_ns, ran, from,
				 SCHED_TASK_INTERRUPTIBLE);
}

void scheduling_switch(struct threads *threads, uint32_t cpu,
		       const struct task_switch *change)
{
	struct sched_thread *from = sched_thread(threads->sched, change->from);
	int64_t state = change->state & COMMON_STATES;

	/* By bits that depend on the kernel: parked and idle kernel threads. */
	if (!state && from && from->state == SCHED_SLEEPING)
		state = SCHED_TASK_INTERRUPTIBLE;
	put_sched_switch(threads, cpu, threads->now_ns, from, sched_running(threads->sched, cpu),
			 state);
}

void scheduling_waking(struct threads *threads, uint32_t cpu, struct event_task task)
{
	struct sched_thread *thread = sched_thread(threads->sched, task);

	if (thread)
		put_sched_waking(threads, cpu, threads->now_ns, sched_running(threads->sched, cpu),
				 thread);
}

/*
 * The tables have no CPU of which nobody knows what runs there: let it be idle, so that no
 * thread seems to run until the next switch, and say that events were lost.
 */
void scheduling_lost(struct threads *threads, uint32_t cpu)
{
	const struct timeline_sched event = { .kind = TIMELINE_LOST };
	struct sched_thread *thread = sched_running(threads->sched, cpu);

	if (!is_in_tables(threads, cpu, threads->now_ns))
		return;
	put_sched_event(threads, event, cpu, threads->now_ns);
	if (thread)
		put_sched_switch(threads, cpu, threads->now_ns, thread, NULL,
				 SCHED_TASK_INTERRUPTIBLE);
}
