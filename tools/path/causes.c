// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "follow.h"

/* Numbers of softirqs in events (include/linux/interrupt.h). */
enum softirq {
	SOFTIRQ_TIMER = 1,
	SOFTIRQ_NET_TX = 2,
	SOFTIRQ_NET_RX = 3,
	SOFTIRQ_BLOCK = 4,
	SOFTIRQ_HRTIMER = 8,
};

bool causes_open(struct causes *causes, const struct sched *sched)
{
	causes->sched = sched;
	causes->cpus = calloc(EVENT_MAX_CPUS, sizeof(*causes->cpus));
	if (!causes->cpus)
		return false;
	for (uint32_t i = 0; i < EVENT_MAX_CPUS; i++) {
		causes->cpus[i].last_run = NO_RECORD;
		causes_reset_cpu(causes, i);
	}
	return true;
}

void causes_reset_cpu(struct causes *causes, uint32_t cpu)
{
	struct cpu_contexts *one = &causes->cpus[cpu];

	one->num = 0;
	one->local = NO_RECORD;
	for (size_t i = 0; i < NUM_PLACES; i++)
		one->in_ns[i] = INT64_MIN;
}

void causes_enter_context(struct causes *causes, uint32_t cpu, enum context_kind kind,
			  uint32_t number, int64_t time_ns)
{
	struct cpu_contexts *one = &causes->cpus[cpu];

	if (one->num < MAX_CONTEXTS)
		one->stack[one->num++] = (struct context){ kind, number, time_ns, false, 0 };
}

void causes_leave_context(struct causes *causes, uint32_t cpu, enum context_kind kind)
{
	struct cpu_contexts *one = &causes->cpus[cpu];
	uint8_t at = one->num;

	while (at && one->stack[at - 1].kind != kind)
		at--;
	if (at)
		one->num = at - 1;
}

void causes_note_disk(struct causes *causes, uint32_t cpu, uint32_t device)
{
	struct cpu_contexts *one = &causes->cpus[cpu];

	if (!one->num)
		return;
	one->stack[one->num - 1].has_disk = true;
	one->stack[one->num - 1].disk = device;
}

/* ---- packets -------------------------------------------------------------- */

/* Add bytes to an FNV-1a hash with 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
static uint64_t add_key_bytes(uint64_t key, const void *bytes, size_t num)
{
	for (size_t i = 0; i < num; i++)
		key = (key ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
	return key;
}

/*
 * Return a hash of the fields that are equal at a packet's sender and receiver, or 0 if the event
 * has no such fields.
 */
static uint64_t make_cause_key(const struct event *event)
{
	static const char *const numbers[] = { "sport",	  "dport",    "seq", "digest",
					       "echo_id", "echo_seq", "tsn" };
	static const char *const addresses[] = { "saddr", "daddr" };
	uint64_t key = UINT64_C(14695981039346656037);
	bool any = false;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int64_t value = 0;

		any |= event->fields->integer(event, numbers[i], &value);
		key = add_key_bytes(key, &value, sizeof(value));
	}
	for (size_t i = 0; i < 2 && any; i++) {
		uint8_t bytes[16] = { 0 };

		event->fields->bytes(event, addresses[i], bytes, sizeof(bytes));
		key = add_key_bytes(key, bytes, sizeof(bytes));
	}
	return any ? key : 0;
}

void causes_note_sent(struct causes *causes, const struct event *event, uint32_t record)
{
	const uint64_t key = make_cause_key(event);

	if (!key)
		return;
	causes->sends[key % NUM_SENDS].key = key;
	causes->sends[key % NUM_SENDS].record = record;
}

void causes_note_received(struct causes *causes, const struct event *event, enum packet_place place,
			  int64_t time_ns)
{
	struct cpu_contexts *one = &causes->cpus[event->cpu];
	const uint64_t key = make_cause_key(event);

	one->in_ns[place] = time_ns;
	if (key)
		one->local = causes->sends[key % NUM_SENDS].key == key ?
				     causes->sends[key % NUM_SENDS].record :
				     NO_RECORD;
}

/* ---- causes --------------------------------------------------------------- */

/* Return whether a packet arrived on this CPU at @since_ns or later. */
static bool has_packet_since(const struct cpu_contexts *cpu, int64_t since_ns)
{
	for (size_t i = 0; i < NUM_PLACES; i++)
		if (cpu->in_ns[i] != INT64_MIN && cpu->in_ns[i] >= since_ns)
			return true;
	return false;
}

static void set_packet_cause(struct graph_record *record, const struct cpu_contexts *cpu,
			     int64_t since_ns)
{
	record->what = CAUSE_PACKET;
	record->cause.local = cpu->local;
	for (size_t i = 0; i < NUM_PLACES; i++) {
		const int64_t in_ns = cpu->in_ns[i];

		if (in_ns != INT64_MIN && in_ns >= since_ns && record->at_ns - in_ns < NEVER)
			record->cause.ago_ns[i] = record->at_ns - in_ns;
	}
}

static void set_interrupt_cause(struct graph_record *record, const struct cpu_contexts *cpu)
{
	const struct context *in = &cpu->stack[cpu->num - 1];
	const bool is_soft = in->kind == CONTEXT_SOFTIRQ;

	/* Disk drivers may use a timer to poll for the completion of requests. */
	if (in->has_disk || (is_soft && in->number == SOFTIRQ_BLOCK))
		record->what = CAUSE_DISK;
	else if (in->kind == CONTEXT_TIMER ||
		 (is_soft && (in->number == SOFTIRQ_TIMER || in->number == SOFTIRQ_HRTIMER)))
		record->what = CAUSE_TIMER;
	else if (is_soft && (in->number == SOFTIRQ_NET_RX || in->number == SOFTIRQ_NET_TX))
		set_packet_cause(record, cpu, in->since_ns);
	else
		record->what = CAUSE_INTERRUPT;
	if (record->what == CAUSE_DISK)
		record->cause.detail = in->disk;
	else if (record->what == CAUSE_INTERRUPT)
		record->cause.detail = in->number;
}

/*
 * Set the cause to the running thread. If this thread handles network interrupts, set the cause to
 * a packet.
 */
static void set_thread_cause(struct graph_record *record, const struct cpu_contexts *cpu,
			     const struct sched_thread *thread)
{
	const struct followed *followed = thread->own;

	if (!strncmp(thread->name, "napi/", 5) && has_packet_since(cpu, thread->since_ns)) {
		set_packet_cause(record, cpu, thread->since_ns);
		return;
	}
	record->what = CAUSE_THREAD;
	record->cause.begin_ns = thread->since_ns;
	record->cause.thread = followed ? followed->number : NO_THREAD;
	record->cause.before = followed ? followed->last : NO_RECORD;
}

struct graph_record causes_get_current(const struct causes *causes, uint32_t cpu, int64_t time_ns)
{
	const struct cpu_contexts *one = &causes->cpus[cpu];
	const struct sched_thread *thread = sched_get_running(causes->sched, cpu);
	struct graph_record record = {
		.at_ns = time_ns,
		.kind = RECORD_CAUSE,
		.what = CAUSE_UNKNOWN,
		.cause = { INT64_MIN, NO_THREAD, NO_RECORD, 0, NO_RECORD, { NEVER, NEVER, NEVER } },
	};

	if (one->num)
		set_interrupt_cause(&record, one);
	else if (thread)
		set_thread_cause(&record, one, thread);
	return record;
}
