/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The execution graph of a host, as records of one size: what states its threads were in,
 * each with the one before it; what ended their waiting; what packets were sent, and by
 * whom. The process that reads a host appends them to a file without a name, in the order
 * of its clock, as soon as they are over, so that memory grows with its threads, not with
 * the trace; whoever walks the graph backward follows the numbers of records.
 */
#ifndef NETSYNC_PATH_GRAPH_H
#define NETSYNC_PATH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "events/thread-state.h"

/* In place of the number of a record, or of a thread. */
#define NO_RECORD UINT32_MAX
#define NO_THREAD UINT32_MAX

enum record_kind {
	RECORD_STATE,	/* a thread left a state */
	RECORD_CAUSE,	/* a thread was woken */
	RECORD_SEND,	/* a packet was sent: also a cause, of what it wakes elsewhere */
	RECORD_THREAD,	/* all of a thread */
	RECORD_HOST,	/* all of the host; the last record */
};

/* By what a thread was woken, or why a packet was sent then. */
enum cause_kind {
	CAUSE_UNKNOWN,
	CAUSE_THREAD,	 /* by what ran on the CPU */
	CAUSE_DISK,	 /* a request that was completed */
	CAUSE_TIMER,
	CAUSE_PACKET,	 /* one that came in */
	CAUSE_INTERRUPT, /* another one */
};

/* Events of packets that come in, from the wire upward. */
enum packet_place { PLACE_QUEUE, PLACE_DEVICE, PLACE_SOCKET, NUM_PLACES };

/* Longer ago than all that fits into 32 bits of ns. */
#define NEVER UINT32_MAX

struct record_state {
	int64_t begin_ns; /* host's clock; INT64_MIN: before all events */
	uint32_t thread;
	uint32_t before;     /* its state before this one */
	uint32_t cause;	     /* of the end of its waiting, or of its being at all */
	uint32_t cpu_before; /* what ran before on the CPU of this or the next state */
};

struct record_cause {
	int64_t begin_ns; /* CAUSE_THREAD: since when it runs */
	uint32_t thread;  /* CAUSE_THREAD: which one */
	uint32_t before;  /* and its state before */
	uint32_t detail;  /* CAUSE_DISK: device; CAUSE_INTERRUPT: number */
	uint32_t local;	  /* CAUSE_PACKET: this host sent it itself, by that record */
	uint32_t ago_ns[NUM_PLACES]; /* CAUSE_PACKET: when it was seen there */
};

struct record_thread {
	uint32_t number;
	uint32_t tid;
	uint32_t last;	 /* its last state */
	uint32_t before; /* the record of another thread */
	char name[20];	 /* more than TASK_COMM_LEN, 16 bytes */
};

/* What of the events that the graph is made of was there at all. */
enum seen {
	SEEN_SWITCH = 1,
	SEEN_WAKING = 2, /* where the waker is: sched_waking */
	SEEN_WAKEUP = 4, /* or where what is woken is */
	SEEN_INTERRUPT = 8,
	SEEN_PACKET = 16,
};

struct record_host {
	uint32_t losses; /* places where events were lost */
	uint32_t threads; /* the last record of one */
	uint32_t num_threads;
	uint32_t seen; /* bits of enum seen */
};

struct graph_record {
	int64_t at_ns; /* when it was written, host's clock: does not decrease */
	uint8_t kind;  /* enum record_kind */
	uint8_t what;  /* enum sched_state, or enum cause_kind */
	union {
		struct record_state state;
		struct record_cause cause;
		struct record_thread thread;
		struct record_host host;
	};
};

/* ---- writing, in the process that reads a host --------------------------- */

struct graph_writer {
	FILE *out;
	uint32_t num;
	bool failed; /* there are more than numbers for them */
};

/* Return: its number. */
uint32_t graph_put(struct graph_writer *writer, const struct graph_record *record);

/* ---- reading -------------------------------------------------------------- */

struct graph_host {
	const struct graph_record *records; /* NULL: nothing is known of it */
	uint32_t num;
	int64_t begin; /* bytes before these in the file */
	const struct graph_record **threads; /* by number */
	uint32_t num_threads;
};

struct exec_graph {
	FILE *file;
	struct graph_host *hosts;
	uint32_t num_hosts;
	int64_t written; /* bytes of the file that have a host */
	void *map;
	size_t size;
};

/* A file in $TMPDIR for so many hosts, to be closed in any case. False: that was said. */
bool graph_open(struct exec_graph *graph, uint32_t num_hosts);
void graph_close(struct exec_graph *graph);
/* What was written last is of this host. */
void graph_set(struct exec_graph *graph, uint32_t host);
/* All was written, and is to be read. False: that was said. */
bool graph_load(struct exec_graph *graph);

/* NULL: there is none of that number. */
const struct graph_record *graph_get(const struct exec_graph *graph, uint32_t host,
				     uint32_t number);
/* NULL: nothing is known of it. */
const struct record_host *graph_info(const struct exec_graph *graph, uint32_t host);
/* A packet that was sent at that time of the host's clock. NULL: none was. */
const struct graph_record *graph_send(const struct exec_graph *graph, uint32_t host,
				      int64_t time_ns);

#endif
