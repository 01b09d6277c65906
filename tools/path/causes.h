/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contexts on the CPUs of a host. A context is a thread or an interrupt, and is the cause of what
 * happens on its CPU.
 */
#ifndef NETSYNC_PATH_CAUSES_H
#define NETSYNC_PATH_CAUSES_H

#include "events/event.h"
#include "graph.h"

enum context_kind {
	CONTEXT_IRQ, /* interrupt from a device or another CPU */
	CONTEXT_SOFTIRQ,
	CONTEXT_TIMER, /* function called by a timer */
};

/*
 * Maximum number of nested contexts. Interrupts interrupt softirqs, softirqs interrupt threads, and
 * each of these can call timers. NMIs are not traced. Chosen to be twice the possible number.
 */
#define MAX_CONTEXTS 8

struct context {
	uint8_t kind; /* enum context_kind */
	uint32_t number;
	int64_t since_ns;
	bool has_disk; /* whether a disk request was completed in the context */
	uint32_t disk; /* device of the disk request */
};

struct cpu_contexts {
	struct context stack[MAX_CONTEXTS]; /* nested contexts; the innermost one is last */
	uint8_t num;
	uint32_t last_run;	   /* record of the last thread that ran on the CPU, or NO_RECORD */
	int64_t in_ns[NUM_PLACES]; /* time of the last packet at each place, or INT64_MIN */
	uint32_t local;		   /* record of sending this packet, if this host sent the packet */
};

/*
 * Number of slots for packets that a host has sent, by a hash of their fields. By these slots,
 * packets are recognized that the same host receives. Each slot has the last packet. Chosen to
 * exceed the number of packets in transit within one host.
 */
#define NUM_SENDS 4096

struct causes {
	struct cpu_contexts *cpus; /* contexts of each CPU; EVENT_MAX_CPUS elements */
	const struct sched *sched;
	struct {
		uint64_t key;
		uint32_t record;
	} sends[NUM_SENDS];
};

/* Initialize the contexts of a host. Return false if out of memory. */
bool causes_open(struct causes *causes, const struct sched *sched);

void causes_enter_context(struct causes *causes, uint32_t cpu, enum context_kind kind,
			  uint32_t number, int64_t time_ns);
void causes_leave_context(struct causes *causes, uint32_t cpu, enum context_kind kind);
/* Record that no interrupt is active, because the CPU switched threads or events were lost. */
void causes_reset_cpu(struct causes *causes, uint32_t cpu);
/* Record that a disk request was completed. */
void causes_note_disk(struct causes *causes, uint32_t cpu, uint32_t device);
/* Record that a packet arrived, or that @record has sent a packet. */
void causes_note_received(struct causes *causes, const struct event *event, enum packet_place place,
			  int64_t time_ns);
void causes_note_sent(struct causes *causes, const struct event *event, uint32_t record);

/*
 * Return the cause of an event that occurs now on a CPU. The cause's member @before is the number
 * of the previous record.
 */
struct graph_record causes_get_current(const struct causes *causes, uint32_t cpu, int64_t time_ns);

#endif
