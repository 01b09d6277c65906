/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The execution graph of a host, as records of equal size: the states of its threads, each with
 * the previous state; the causes that ended waits; and sent packets, with their senders. The
 * process that reads a host appends records to an unnamed file, in the order of the host's
 * clock, as soon as they are complete. Memory therefore grows with the number of threads, not
 * with the trace. The graph is followed backward by the numbers of records.
 */
#ifndef NETSYNC_PATH_GRAPH_H
#define NETSYNC_PATH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "events/thread-state.h"

/* Replaces the number of a record, or of a thread. */
#define NO_RECORD UINT32_MAX
#define NO_THREAD UINT32_MAX

enum record_kind {
	RECORD_STATE,  /* a thread left a state */
	RECORD_CAUSE,  /* a thread was woken */
	RECORD_SEND,   /* a packet was sent: also the cause of a wakeup elsewhere */
	RECORD_THREAD, /* summary of a thread */
	RECORD_HOST,   /* summary of the host; the last record */
};

/* What woke a thread, or why a packet was sent. */
enum cause_kind {
	CAUSE_UNKNOWN,
	CAUSE_THREAD, /* the context that ran on the CPU */
	CAUSE_DISK,   /* a completed request */
	CAUSE_TIMER,
	CAUSE_PACKET,	 /* a received packet */
	CAUSE_INTERRUPT, /* another interrupt */
};

/* Events of received packets, from the wire upward. */
enum packet_place { PLACE_QUEUE, PLACE_DEVICE, PLACE_SOCKET, NUM_PLACES };

/* Longer ago than fits into 32 bits of ns. */
#define NEVER UINT32_MAX

struct record_state {
	int64_t begin_ns; /* host's clock; INT64_MIN: before all events */
	uint32_t thread;
	uint32_t before;     /* its previous state */
	uint32_t cause;	     /* of the end of its wait, or of its creation */
	uint32_t cpu_before; /* what ran before on the CPU of this or the next state */
};

struct record_cause {
	int64_t begin_ns;	     /* CAUSE_THREAD: since when it runs */
	uint32_t thread;	     /* CAUSE_THREAD: the thread */
	uint32_t before;	     /* and its previous state */
	uint32_t detail;	     /* CAUSE_DISK: device; CAUSE_INTERRUPT: number */
	uint32_t local;		     /* CAUSE_PACKET: this host sent it, by this record */
	uint32_t ago_ns[NUM_PLACES]; /* CAUSE_PACKET: since it was seen there */
};

struct record_thread {
	uint32_t number;
	uint32_t tid;
	uint32_t last;	 /* its last state */
	uint32_t before; /* the record of the previous thread */
	char name[20];	 /* more than TASK_COMM_LEN, 16 bytes */
};

/* Which events the graph is built from occurred at all. */
enum seen {
	SEEN_SWITCH = 1,
	SEEN_WAKING = 2, /* in the waker's context: sched_waking */
	SEEN_WAKEUP = 4, /* in the woken thread's context */
	SEEN_INTERRUPT = 8,
	SEEN_PACKET = 16,
};

struct record_host {
	uint32_t losses;  /* gaps where events were lost */
	uint32_t threads; /* the last RECORD_THREAD */
	uint32_t num_threads;
	uint32_t seen; /* bits of enum seen */
};

struct graph_record {
	int64_t at_ns; /* when it was written, host's clock: never decreases */
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
	bool failed; /* too many records for their numbers */
};

/* Return the number of the record. */
uint32_t graph_put(struct graph_writer *writer, const struct graph_record *record);

/* ---- reading -------------------------------------------------------------- */

struct graph_host {
	const struct graph_record *records; /* NULL if no information */
	uint32_t num;
	int64_t begin;			     /* offset of the records in the file */
	const struct graph_record **threads; /* by number */
	uint32_t num_threads;
};

struct exec_graph {
	FILE *file;
	struct graph_host *hosts;
	uint32_t num_hosts;
	int64_t written; /* bytes of the file that belong to a host */
	void *map;
	size_t size;
};

/*
 * Create a file in $TMPDIR for this many hosts; close it in any case. On failure, print a
 * message and return false.
 */
bool graph_open(struct exec_graph *graph, uint32_t num_hosts);
void graph_close(struct exec_graph *graph);
/* Assign the records written since the last call to this host. */
void graph_set(struct exec_graph *graph, uint32_t host);
/* Map everything that was written, for reading. On failure, print a message and return false. */
bool graph_load(struct exec_graph *graph);

/* Return NULL if there is no such record. */
const struct graph_record *graph_get(const struct exec_graph *graph, uint32_t host,
				     uint32_t number);
/* Return NULL if there is no information. */
const struct record_host *graph_info(const struct exec_graph *graph, uint32_t host);
/* Find a packet that was sent at this time of the host's clock. Return NULL if there is none. */
const struct graph_record *graph_send(const struct exec_graph *graph, uint32_t host,
				      int64_t time_ns);

#endif
