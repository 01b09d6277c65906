/* SPDX-License-Identifier: GPL-2.0-only */
/* On which grounds what happens on the CPUs of a host happens: a thread, or which interrupt. */
#ifndef NETSYNC_PATH_CAUSES_H
#define NETSYNC_PATH_CAUSES_H

#include "events/event.h"
#include "graph.h"

enum context_kind {
	CONTEXT_IRQ,	 /* of a device, or of another CPU */
	CONTEXT_SOFTIRQ,
	CONTEXT_TIMER,	 /* what a timer calls */
};

/* Interrupts interrupt softirqs, these threads, and each can call timers; NMIs are not
 * told of. Chosen: twice of what there can be. */
#define MAX_CONTEXTS 8

struct context {
	uint8_t kind; /* enum context_kind */
	uint32_t number;
	int64_t since_ns;
	bool has_disk; /* a request was completed in it */
	uint32_t disk; /* its device */
};

struct cpu_contexts {
	struct context stack[MAX_CONTEXTS]; /* the innermost one is the last */
	uint8_t num;
	uint32_t last_run;	     /* what ran on it last: a record, or NO_RECORD */
	int64_t in_ns[NUM_PLACES];   /* the last packet; INT64_MIN: none */
	uint32_t local;		     /* the record by which the host sent it */
};

/* Packets that a host sent, by what is in them, to be known when it receives them itself:
 * the last ones of so many keys. Chosen: more than there are on their way in one host. */
#define NUM_SENDS 4096

struct causes {
	struct cpu_contexts *cpus; /* EVENT_MAX_CPUS */
	const struct sched *sched;
	struct {
		uint64_t key;
		uint32_t record;
	} sends[NUM_SENDS];
};

/* False: there is not enough memory. */
bool causes_open(struct causes *causes, const struct sched *sched);

void causes_enter(struct causes *causes, uint32_t cpu, enum context_kind kind,
		  uint32_t number, int64_t time_ns);
void causes_leave(struct causes *causes, uint32_t cpu, enum context_kind kind);
/* It was switched to another thread, or events were lost: no interrupt goes on. */
void causes_reset(struct causes *causes, uint32_t cpu);
/* A request was completed. */
void causes_disk(struct causes *causes, uint32_t cpu, uint32_t device);
/* A packet came in, or was sent by that record. */
void causes_receive(struct causes *causes, const struct event *event,
		    enum packet_place place, int64_t time_ns);
void causes_send(struct causes *causes, const struct event *event,
		 uint32_t record);

/* Why something happens there now; the number of a record is its .before. */
struct graph_record causes_now(const struct causes *causes, uint32_t cpu,
			       int64_t time_ns);

#endif
