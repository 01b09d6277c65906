// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the actions of a host's scheduler, one for each event, for a format with scheduling tables.
 * Viewers derive the running thread of each CPU and the state of each thread from these actions.
 * CPUs are numbered across all hosts of the file.
 */
#include "perfetto.h"

/* State bits that have the same meaning in all kernels, up to EXIT_ZOMBIE. */
#define COMMON_STATES 0x3f

bool scheduling_can_add_host(const struct threads *threads)
{
	return threads->timeline->format->sched &&
	       (threads->timeline->is_machine || threads->host < TIMELINE_MAX_THREAD_HOSTS) &&
	       threads->first_cpu < TIMELINE_MAX_CPUS;
}

/* Return whether the tables can contain an event on this CPU at this time. */
static bool can_put_sched_event(struct threads *threads, uint32_t cpu, int64_t time_ns)
{
	if (!threads->show_states || !threads->timeline->format->sched || cpu >= EVENT_MAX_CPUS ||
	    !timebase_contains(threads->export->base, time_ns))
		return false;
	if (threads->num_cpus <= cpu)
		threads->num_cpus = cpu + 1;
	return scheduling_can_add_host(threads) && threads->first_cpu + cpu < TIMELINE_MAX_CPUS;
}

/* Describe a thread. If @thread is NULL, describe the idle thread. */
static struct timeline_task describe_task(struct threads *threads, struct sched_thread *thread)
{
	return (struct timeline_task){
		.number = thread ? threads_get_number(threads, thread) : 0,
		.name = thread ? thread->name : "swapper",
	};
}

static void put_sched_event(struct threads *threads, struct timeline_sched event, uint32_t cpu,
			    int64_t time_ns)
{
	event.host = threads->host;
	event.cpu = threads->first_cpu + cpu;
	event.time_ns = time_ns;
	if (threads->timeline->is_machine &&
	    !timebase_find_host_time(&threads->export->base->hosts[threads->host], time_ns,
				     &event.time_ns))
		return;
	threads->timeline->format->sched(threads->timeline, &event);
}

static void put_sched_change(struct threads *threads, struct timeline_sched event, uint32_t cpu,
			     int64_t time_ns, struct sched_thread *from, struct sched_thread *to)
{
	if (!can_put_sched_event(threads, cpu, time_ns))
		return;
	event.from = describe_task(threads, from);
	event.to = describe_task(threads, to);
	put_sched_event(threads, event, cpu, time_ns);
}

static void put_sched_switch(struct threads *threads, uint32_t cpu, int64_t time_ns,
			     struct sched_thread *from, struct sched_thread *to, int64_t state)
{
	const struct timeline_sched event = { .kind = TIMELINE_SWITCH, .state = state };

	put_sched_change(threads, event, cpu, time_ns, from, to);
}

static void put_sched_waking(struct threads *threads, uint32_t cpu, int64_t time_ns,
			     struct sched_thread *from, struct sched_thread *to)
{
	const struct timeline_sched event = { .kind = TIMELINE_WAKING };

	put_sched_change(threads, event, cpu, time_ns, from, to);
}

/*
 * Imply that a thread is running or runnable. A sleeping state cannot be implied, because only a
 * switch could do this, and a switch needs a CPU.
 */
void scheduling_put_implied(struct threads *threads, struct sched_thread *thread, int64_t since_ns)
{
	if (thread->state == SCHED_RUNNING)
		put_sched_switch(threads, thread->cpu, since_ns, NULL, thread, 0);
	else if (thread->state == SCHED_RUNNABLE)
		put_sched_waking(threads, thread->cpu, since_ns, NULL, thread);
}

/*
 * If another thread ran on the CPU than the one that the event switches from, an earlier switch was
 * lost. Put the lost switch, because the tables assume that each switch is from the running thread.
 * The tables cannot express that the other thread's state has not been known since then. Sleeping
 * is the closest state, because a sleeping thread neither uses a CPU nor waits for one.
 */
void scheduling_put_missed_switch(struct threads *threads, uint32_t cpu,
				  const struct task_switch *change)
{
	struct sched_thread *ran = sched_get_running(threads->sched, cpu);
	struct sched_thread *from = sched_find_thread(threads->sched, change->from);

	/*
	 * The switch implies since when the thread has been running. scheduling_put_implied() puts
	 * this state.
	 */
	if (from && from->state == SCHED_UNKNOWN)
		from = NULL;
	if (ran != from)
		put_sched_switch(threads, cpu, threads->now_ns, ran, from,
				 SCHED_TASK_INTERRUPTIBLE);
}

void scheduling_put_switch(struct threads *threads, uint32_t cpu, const struct task_switch *change)
{
	struct sched_thread *from = sched_find_thread(threads->sched, change->from);
	int64_t state = change->state & COMMON_STATES;

	/* Parked and idle kernel threads have states with kernel-dependent bits. */
	if (!state && from && from->state == SCHED_SLEEPING)
		state = SCHED_TASK_INTERRUPTIBLE;
	put_sched_switch(threads, cpu, threads->now_ns, from,
			 sched_get_running(threads->sched, cpu), state);
}

void scheduling_put_waking(struct threads *threads, uint32_t cpu, struct event_task task)
{
	struct sched_thread *thread = sched_find_thread(threads->sched, task);

	if (thread)
		put_sched_waking(threads, cpu, threads->now_ns,
				 sched_get_running(threads->sched, cpu), thread);
}

/*
 * The tables cannot express that the running thread is not known. Make the CPU idle, so that no
 * thread seems to run until the next switch, and put a loss of events.
 */
void scheduling_put_loss(struct threads *threads, uint32_t cpu)
{
	const struct timeline_sched event = { .kind = TIMELINE_LOST };
	struct sched_thread *thread = sched_get_running(threads->sched, cpu);

	if (!can_put_sched_event(threads, cpu, threads->now_ns))
		return;
	put_sched_event(threads, event, cpu, threads->now_ns);
	if (thread)
		put_sched_switch(threads, cpu, threads->now_ns, thread, NULL,
				 SCHED_TASK_INTERRUPTIBLE);
}
