/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contexts on the CPUs of a host, which cause what happens there: a thread, or an
 * interrupt.
 */
#ifndef NETSYNC_PATH_CAUSES_H
#define NETSYNC_PATH_CAUSES_H

#include "events/event.h"
#include "graph.h"

enum context_kind {
	CONTEXT_IRQ, /* from a device, or another CPU */
	CONTEXT_SOFTIRQ,
	CONTEXT_TIMER, /* called by a timer */
};

/*
 * Maximum nested contexts: interrupts interrupt softirqs, softirqs interrupt threads, and
 * each can call timers; NMIs are not traced. Chosen: twice the possible number.
 */
#define MAX_CONTEXTS 8

struct context {
	uint8_t kind; /* enum context_kind */
	uint32_t number;
	int64_t since_ns;
	bool has_disk; /* a request was completed in it */
	uint32_t disk; /* its device */
};

struct cpu_contexts {
	struct context stack[MAX_CONTEXTS]; /* the innermost one is last */
	uint8_t num;
	uint32_t last_run;	   /* record of the thread that ran on it last, or NO_RECORD */
	int64_t in_ns[NUM_PLACES]; /* the last packet; INT64_MIN if none */
	uint32_t local;		   /* the record of its sending, if this host sent it */
};

/*
 * Packets that a host sent, by a hash of their fields, to recognize them when the same host
 * receives them. Each slot keeps the last packet. Chosen: more slots than packets in transit
 * within one host.
 */
#define NUM_SENDS 4096

struct causes {
	struct cpu_contexts *cpus; /* EVENT_MAX_CPUS */
	const struct sched *sched;
	struct {
		uint64_t key;
		uint32_t record;
	} sends[NUM_SENDS];
};

/* Return false if out of memory. */
bool causes_open(struct causes *causes, const struct sched *sched);

void causes_enter(struct causes *causes, uint32_t cpu, enum context_kind kind, uint32_t number,
		  int64_t time_ns);
void causes_leave(struct causes *causes, uint32_t cpu, enum context_kind kind);
/* The CPU switched threads, or events were lost: no interrupt is active. */
void causes_reset(struct causes *causes, uint32_t cpu);
/* A disk request was completed. */
void causes_disk(struct causes *causes, uint32_t cpu, uint32_t device);
/* A packet arrived, or was sent by the record. */
void causes_receive(struct causes *causes, const struct event *event, enum packet_place place,
		    int64_t time_ns);
void causes_send(struct causes *causes, const struct event *event, uint32_t record);

/* The cause of an event on a CPU now; the number of a record is its .before. */
struct graph_record causes_now(const struct causes *causes, uint32_t cpu, int64_t time_ns);

#endif
