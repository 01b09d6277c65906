// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "common/now.h"
#include "events/task.h"
#include "follow.h"

struct thread_follower {
	const struct timebase *base;
	const struct timebase_host *host;
	struct graph_writer writer;
	struct sched *sched;
	struct causes causes;
	struct record_host info;
	uint32_t cpu;	/* CPU of the current event */
	bool is_switch; /* whether the current event reports which thread runs on the CPU */
	int64_t now_ns; /* time on the host's clock, before shift_ns is added */
	bool failed;	/* memory is exhausted */
};

/* How events of a type are used. Most types are not used. */
struct event_use {
	bool (*take)(struct thread_follower *reader, const struct event_use *use,
		     const struct event *event);
	uint32_t number; /* parameter, whose meaning depends on the function */
};

/* ---- threads -------------------------------------------------------------- */

/* Return the state of a thread in the graph, or NULL if out of memory. */
static struct followed *find_followed_thread(struct thread_follower *reader,
					     struct sched_thread *thread)
{
	struct followed *followed = thread->own;

	if (followed)
		return followed;
	followed = malloc(sizeof(*followed));
	if (!followed) {
		reader->failed = true;
		return NULL;
	}
	*followed = (struct followed){ reader->info.num_threads++, NO_RECORD, NO_RECORD };
	thread->own = followed;
	return followed;
}

static uint32_t put_graph_record(struct thread_follower *reader, const struct graph_record *record)
{
	int64_t time_ns;

	/*
	 * Records before the window are never read. The beginning of the window need not be exact
	 * here.
	 */
	if (reader->base->begin_ns != INT64_MIN &&
	    (!timebase_correct_time(reader->host, record->at_ns, &time_ns) ||
	     time_ns < reader->base->begin_ns))
		return NO_RECORD;
	return graph_put_record(&reader->writer, record);
}

/* Record the state that a thread leaves. */
static void record_left_state(void *data, struct sched_thread *thread, int64_t from_ns,
			      int64_t to_ns)
{
	struct thread_follower *reader = data;
	struct followed *followed = find_followed_thread(reader, thread);
	const bool runs = thread->state == SCHED_RUNNING;
	const uint32_t cpu = runs || !reader->is_switch ? thread->cpu : reader->cpu;
	struct cpu_contexts *on = &reader->causes.cpus[cpu];
	struct graph_record record = {
		.at_ns = to_ns,
		.kind = RECORD_STATE,
		.what = thread->state,
		.state = { .begin_ns = from_ns, .cpu_before = on->last_run },
	};

	if (!followed)
		return;
	record.state.thread = followed->number;
	record.state.before = followed->last;
	record.state.cause = NO_RECORD;
	if (!runs && thread->state != SCHED_RUNNABLE) {
		record.state.cause = followed->cause;
		followed->cause = NO_RECORD;
	}
	followed->last = put_graph_record(reader, &record);
	if (runs)
		on->last_run = followed->last;
}

static void put_thread_record(struct thread_follower *reader, const struct sched_thread *thread)
{
	const struct followed *followed = thread->own;
	struct graph_record record = {
		.at_ns = reader->now_ns,
		.kind = RECORD_THREAD,
		.thread = { .number = followed->number,
			    .tid = thread->tid,
			    .last = followed->last,
			    .before = reader->info.threads },
	};

	snprintf(record.thread.name, sizeof(record.thread.name), "%.*s",
		 (int)sizeof(record.thread.name) - 1, thread->name);
	reader->info.threads = graph_put_record(&reader->writer, &record);
}

static void record_gone_thread(void *data, struct sched_thread *thread)
{
	struct thread_follower *reader = data;

	if (find_followed_thread(reader, thread))
		put_thread_record(reader, thread);
	free(thread->own);
}

static bool follow_switch(struct thread_follower *reader, const struct event_use *use,
			  const struct event *event)
{
	struct sched_thread *thread;
	struct task_switch change;

	(void)use;
	if (!task_switch_read(event, &change))
		return true;
	reader->info.seen |= SEEN_SWITCH;
	reader->is_switch = true;
	sched_switch(reader->sched, reader->now_ns, event->cpu, &change);
	reader->is_switch = false;
	causes_reset_cpu(&reader->causes, event->cpu);
	thread = sched_get_running(reader->sched, event->cpu);
	return !thread || find_followed_thread(reader, thread);
}

static bool is_thread_waiting(const struct sched_thread *thread)
{
	return thread->state != SCHED_RUNNING && thread->state != SCHED_RUNNABLE;
}

/*
 * Record what woke a thread. sched_waking occurs in the waker's context. sched_wakeup occurs later,
 * possibly on the CPU of the woken thread. sched_wakeup is only used if there is no sched_waking. A
 * thread can be woken while it is about to sleep.
 */
static bool follow_wakeup(struct thread_follower *reader, const struct event_use *use,
			  const struct event *event)
{
	const bool is_waking = use->number == SEEN_WAKING;
	struct sched_thread *thread;
	struct followed *followed;
	struct event_task task;
	struct graph_record cause;

	if (!task_read(event, TASK_SUBJECT, &task))
		return true;
	thread = sched_find_thread(reader->sched, task);
	followed = thread ? find_followed_thread(reader, thread) : NULL;
	if (!followed)
		return !reader->failed;
	reader->info.seen |= use->number;
	if (is_waking || followed->cause == NO_RECORD) {
		cause = causes_get_current(&reader->causes, event->cpu, reader->now_ns);
		/* Ignore a sched_wakeup if the thread is not waiting. */
		if (is_thread_waiting(thread) || is_waking)
			followed->cause = put_graph_record(reader, &cause);
	}
	if (is_thread_waiting(thread))
		sched_wakeup(reader->sched, reader->now_ns, task);
	else if (!is_waking)
		followed->cause = NO_RECORD;
	return !reader->failed;
}

/* The first record of a new thread names its creator. */
static bool follow_fork(struct thread_follower *reader, const struct event_use *use,
			const struct event *event)
{
	const struct graph_record cause = causes_get_current(&reader->causes, event->cpu,
							     reader->now_ns);
	struct graph_record born = {
		.at_ns = reader->now_ns,
		.kind = RECORD_STATE,
		.what = SCHED_UNKNOWN,
		.state = { reader->now_ns, 0, NO_RECORD, NO_RECORD, NO_RECORD },
	};
	struct sched_thread *thread;
	struct event_task child;
	struct followed *followed;

	(void)use;
	if (!task_read(event, TASK_CHILD, &child))
		return true;
	sched_fork(reader->sched, reader->now_ns, child);
	thread = sched_find_thread(reader->sched, child);
	followed = thread ? find_followed_thread(reader, thread) : NULL;
	if (!followed)
		return !reader->failed;
	born.state.thread = followed->number;
	born.state.cause = put_graph_record(reader, &cause);
	followed->last = put_graph_record(reader, &born);
	return true;
}

static bool follow_free(struct thread_follower *reader, const struct event_use *use,
			const struct event *event)
{
	const struct sched_thread *running = sched_get_running(reader->sched, event->cpu);
	struct event_task task;

	(void)use;
	if (task_read(event, TASK_SUBJECT, &task) && (!running || running->tid != task.tid))
		sched_release(reader->sched, reader->now_ns, task.tid);
	return true;
}

static bool follow_statedump(struct thread_follower *reader, const struct event_use *use,
			     const struct event *event)
{
	struct event_task task;

	(void)use;
	if (task_read(event, TASK_DUMPED, &task))
		sched_find_thread(reader->sched, task);
	return true;
}

/* ---- interrupts, disks, packets ------------------------------------------- */

static bool follow_entry(struct thread_follower *reader, const struct event_use *use,
			 const struct event *event)
{
	int64_t number = 0;

	if (use->number != CONTEXT_TIMER) {
		reader->info.seen |= SEEN_INTERRUPT;
		event->fields->integer(event, use->number == CONTEXT_IRQ ? "irq" : "vec", &number);
	}
	causes_enter_context(&reader->causes, event->cpu, use->number, number, reader->now_ns);
	return true;
}

static bool follow_exit(struct thread_follower *reader, const struct event_use *use,
			const struct event *event)
{
	causes_leave_context(&reader->causes, event->cpu, use->number);
	return true;
}

static bool follow_disk_completion(struct thread_follower *reader, const struct event_use *use,
				   const struct event *event)
{
	int64_t device = 0;

	(void)use;
	event->fields->integer(event, "dev", &device);
	causes_note_disk(&reader->causes, event->cpu, device);
	return true;
}

static bool follow_received_packet(struct thread_follower *reader, const struct event_use *use,
				   const struct event *event)
{
	reader->info.seen |= SEEN_PACKET;
	causes_note_received(&reader->causes, event, use->number, reader->now_ns);
	return true;
}

static bool follow_sent_packet(struct thread_follower *reader, const struct event_use *use,
			       const struct event *event)
{
	struct graph_record send = causes_get_current(&reader->causes, event->cpu, reader->now_ns);

	(void)use;
	reader->info.seen |= SEEN_PACKET;
	send.kind = RECORD_SEND;
	causes_note_sent(&reader->causes, event, put_graph_record(reader, &send));
	return true;
}

/* ---- events --------------------------------------------------------------- */

/* Names of events in LTTng and ftrace. */
static const struct {
	const char *name;
	struct event_use use;
} uses[] = {
	{ "sched_switch", { follow_switch, 0 } },
	{ "sched_waking", { follow_wakeup, SEEN_WAKING } },
	{ "sched_wakeup", { follow_wakeup, SEEN_WAKEUP } },
	{ "sched_wakeup_new", { follow_wakeup, SEEN_WAKEUP } },
	{ "sched_process_fork", { follow_fork, 0 } },
	{ "sched_process_free", { follow_free, 0 } },
	{ "lttng_statedump_process_state", { follow_statedump, 0 } },
	{ "irq_handler_entry", { follow_entry, CONTEXT_IRQ } },
	{ "irq_handler_exit", { follow_exit, CONTEXT_IRQ } },
	{ "irq_softirq_entry", { follow_entry, CONTEXT_SOFTIRQ } },
	{ "irq_softirq_exit", { follow_exit, CONTEXT_SOFTIRQ } },
	{ "softirq_entry", { follow_entry, CONTEXT_SOFTIRQ } },
	{ "softirq_exit", { follow_exit, CONTEXT_SOFTIRQ } },
	{ "timer_hrtimer_expire_entry", { follow_entry, CONTEXT_TIMER } },
	{ "timer_hrtimer_expire_exit", { follow_exit, CONTEXT_TIMER } },
	{ "hrtimer_expire_entry", { follow_entry, CONTEXT_TIMER } },
	{ "hrtimer_expire_exit", { follow_exit, CONTEXT_TIMER } },
	{ "timer_expire_entry", { follow_entry, CONTEXT_TIMER } },
	{ "timer_expire_exit", { follow_exit, CONTEXT_TIMER } },
	{ "block_rq_complete", { follow_disk_completion, 0 } },
	{ "inet_sock_local_in", { follow_received_packet, PLACE_SOCKET } },
	{ "inet_udp_local_in", { follow_received_packet, PLACE_SOCKET } },
	{ "inet_icmp_local_in", { follow_received_packet, PLACE_SOCKET } },
	{ "inet_sctp_local_in", { follow_received_packet, PLACE_SOCKET } },
	{ "inet_dev_receive", { follow_received_packet, PLACE_DEVICE } },
	{ "net_if_receive_skb", { follow_received_packet, PLACE_QUEUE } },
	{ "netif_receive_skb", { follow_received_packet, PLACE_QUEUE } },
	{ "inet_sock_local_out", { follow_sent_packet, 0 } },
	{ "inet_udp_local_out", { follow_sent_packet, 0 } },
	{ "inet_icmp_local_out", { follow_sent_packet, 0 } },
	{ "inet_sctp_local_out", { follow_sent_packet, 0 } },
	{ "inet_dev_xmit", { follow_sent_packet, 0 } },
	{ "net_dev_queue", { follow_sent_packet, 0 } },
};

static bool ignore_event(struct thread_follower *reader, const struct event_use *use,
			 const struct event *event)
{
	(void)reader;
	(void)use;
	(void)event;
	return true;
}

static bool ends_with_text(const char *text, const char *end)
{
	const size_t length = strlen(text), least = strlen(end);

	return length >= least && !strcmp(text + length - least, end);
}

static const struct event_use *find_event_use(const char *name)
{
	static const struct event_use nothing = { ignore_event, 0 },
				      entries[] = { { follow_entry, CONTEXT_IRQ },
						    { follow_entry, CONTEXT_TIMER } },
				      exits[] = { { follow_exit, CONTEXT_IRQ },
						  { follow_exit, CONTEXT_TIMER } };
	const char *colon = strchr(name, ':');
	const char *plain = colon ? colon + 1 : name;
	/* In this interrupt, the kernel calls timers, possibly without events of their own. */
	const bool is_timer = strstr(plain, "local_timer_");

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (!strcmp(plain, uses[i].name))
			return &uses[i].use;
	/* LTTng has x86_irq_vectors_local_timer_entry; ftrace has irq_vectors:... */
	if (!strstr(name, "irq_vectors"))
		return &nothing;
	return ends_with_text(name, "_entry") ? &entries[is_timer] :
	       ends_with_text(name, "_exit")  ? &exits[is_timer] :
						&nothing;
}

static bool follow_event(void *data, const struct event *event)
{
	struct thread_follower *reader = data;
	const struct event_use *use = event->type->own;
	const int64_t host_ns = event->host_ns - reader->host->shift_ns;

	if (!use)
		event->type->own = (void *)(use = find_event_use(event->type->name));
	if (host_ns > reader->now_ns)
		reader->now_ns = host_ns;
	if (event->cpu == EVENT_NO_CPU)
		return true;
	reader->cpu = event->cpu;
	return use->take(reader, use, event) && !reader->failed && !reader->writer.failed &&
	       !ferror(reader->writer.out);
}

static bool follow_loss(void *data, const struct event_loss *loss)
{
	struct thread_follower *reader = data;

	reader->info.losses++;
	if (loss->cpu == EVENT_NO_CPU || reader->now_ns == INT64_MIN)
		return true;
	sched_note_loss(reader->sched, reader->now_ns, loss->cpu);
	causes_reset_cpu(&reader->causes, loss->cpu);
	reader->causes.cpus[loss->cpu].last_run = NO_RECORD;
	return true;
}

/* ---- the whole host --------------------------------------------------------- */

/* Extend all states to the end of the window, or of the events. */
static void extend_states_until(struct thread_follower *reader, int64_t until_ns)
{
	int64_t time_ns;

	/* Here, the difference between the clocks' rates does not matter. */
	if (reader->now_ns != INT64_MIN &&
	    timebase_correct_time(reader->host, reader->now_ns, &time_ns) && until_ns > time_ns)
		reader->now_ns += until_ns - time_ns;
}

static void close_followed_graph(struct thread_follower *reader)
{
	struct graph_record record = { .kind = RECORD_HOST };

	sched_end(reader->sched, reader->now_ns);
	sched_free(reader->sched);
	record.at_ns = reader->now_ns;
	record.host = reader->info;
	graph_put_record(&reader->writer, &record);
}

bool follow_group(const struct event_group *group, const struct timebase *base,
		  struct group_state *state, FILE *out)
{
	/* The tables of causes are too large for the stack. */
	struct thread_follower *reader = calloc(1, sizeof(*reader));
	const struct event_listener listener = { follow_event, follow_loss, reader };
	const struct sched_listener threads = { record_left_state, record_gone_thread, reader };
	int64_t until_ns;

	if (!reader)
		return false;
	reader->base = base;
	reader->host = &base->hosts[group->host];
	reader->writer.out = out;
	reader->info.threads = NO_RECORD;
	reader->now_ns = INT64_MIN;
	reader->sched = sched_new(&threads);
	/* All memory is released when the process ends. */
	if (!reader->sched || !causes_open(&reader->causes, reader->sched) ||
	    !group_read_events(group, base, &listener, state, &until_ns))
		return false;
	reader->failed |= sched_has_failed(reader->sched);
	extend_states_until(reader, until_ns);
	close_followed_graph(reader);
	state->number = reader->info.seen & SEEN_SWITCH;
	return !reader->failed && !reader->writer.failed;
}
