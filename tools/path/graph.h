/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The execution graph of a host consists of records of equal size: the states of its threads, each
 * with the thread's previous state; the causes that ended waits; and sent packets with their
 * senders.
 *
 * The process that reads a host appends complete records to an unnamed file, in the order of the
 * host's clock. Memory use therefore grows with the number of threads, and not with the trace.
 * Numbers of records lead backward through the graph.
 */
#ifndef NETSYNC_PATH_GRAPH_H
#define NETSYNC_PATH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "events/thread-state.h"

/* Used in place of the number of a record or thread if there is none. */
#define NO_RECORD UINT32_MAX
#define NO_THREAD UINT32_MAX

enum record_kind {
	RECORD_STATE,  /* a thread left a state */
	RECORD_CAUSE,  /* a thread was woken */
	RECORD_SEND,   /* a packet was sent, which can cause a wakeup on another host */
	RECORD_THREAD, /* summary of a thread */
	RECORD_HOST,   /* summary of the host, which is the last record */
};

/* The cause of a wakeup or a packet. */
enum cause_kind {
	CAUSE_UNKNOWN,
	CAUSE_THREAD, /* the thread that ran on the CPU */
	CAUSE_DISK,   /* a completed disk request */
	CAUSE_TIMER,
	CAUSE_PACKET,	 /* the receipt of a packet */
	CAUSE_INTERRUPT, /* another interrupt */
};

/* Places at which events of received packets occur, from the network device upward. */
enum packet_place { PLACE_QUEUE, PLACE_DEVICE, PLACE_SOCKET, NUM_PLACES };

/* No packet was seen at this place, or its age does not fit into 32 bits of ns. */
#define NEVER UINT32_MAX

struct record_state {
	int64_t begin_ns; /* on the host's clock; INT64_MIN if it began before all events */
	uint32_t thread;
	uint32_t before; /* record of the thread's previous state */
	uint32_t cause;	 /* record of the cause that ended its wait, or of its creation */
	/* Record of what ran on the CPU before this state, or before the next state. */
	uint32_t cpu_before;
};

struct record_cause {
	int64_t begin_ns; /* CAUSE_THREAD: time since which the thread has been running */
	uint32_t thread;  /* CAUSE_THREAD: number of the thread */
	uint32_t before;  /* CAUSE_THREAD: record of the thread's previous state */
	uint32_t detail;  /* CAUSE_DISK: device; CAUSE_INTERRUPT: number */
	uint32_t local;	  /* CAUSE_PACKET: record of sending the packet, if this host sent it */
	/* CAUSE_PACKET: time since the packet was seen at each place */
	uint32_t ago_ns[NUM_PLACES];
};

struct record_thread {
	uint32_t number;
	uint32_t tid;
	uint32_t last;	 /* record of its last state */
	uint32_t before; /* record of the previous thread's summary */
	char name[20];	 /* more than TASK_COMM_LEN (16 bytes) */
};

/*
 * Bits for the kinds of events from which the graph is built. A bit is set if such an event
 * occurred.
 */
enum seen {
	SEEN_SWITCH = 1,
	SEEN_WAKING = 2, /* sched_waking, which occurs in the waker's context */
	SEEN_WAKEUP = 4, /* sched_wakeup, which occurs in the woken thread's context */
	SEEN_INTERRUPT = 8,
	SEEN_PACKET = 16,
};

struct record_host {
	uint32_t losses;  /* number of gaps in which events were lost */
	uint32_t threads; /* last record of kind RECORD_THREAD */
	uint32_t num_threads;
	uint32_t seen; /* bits of enum seen */
};

struct graph_record {
	int64_t at_ns; /* time of writing, on the host's clock; never decreases */
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
	bool failed; /* whether there are more records than numbers for them */
};

/* Write a record. Return its number, or NO_RECORD if there are too many records. */
uint32_t graph_put_record(struct graph_writer *writer, const struct graph_record *record);

/* ---- reading -------------------------------------------------------------- */

struct graph_host {
	const struct graph_record *records; /* NULL if nothing is known about the host */
	uint32_t num;
	int64_t begin;			     /* offset of the records in the file */
	const struct graph_record **threads; /* summaries of threads, indexed by thread number */
	uint32_t num_threads;
};

struct exec_graph {
	FILE *file;
	struct graph_host *hosts;
	uint32_t num_hosts;
	int64_t written; /* size of the part of the file that was assigned to hosts, bytes */
	void *map;
	size_t size;
};

/*
 * Create a file in $TMPDIR for this many hosts. On failure, print a message and return false. Close
 * the graph even then.
 */
bool graph_open(struct exec_graph *graph, uint32_t num_hosts);
void graph_close(struct exec_graph *graph);
/* Assign all records that were written since the last call to this host. */
void graph_set_host(struct exec_graph *graph, uint32_t host);
/* Map the whole file for reading. On failure, print a message and return false. */
bool graph_load(struct exec_graph *graph);

/* Return the record with a number, or NULL if there is none. */
const struct graph_record *graph_get_record(const struct exec_graph *graph, uint32_t host,
					    uint32_t number);
/* Return the summary of a host, or NULL if nothing is known about the host. */
const struct record_host *graph_get_host(const struct exec_graph *graph, uint32_t host);
/*
 * Find a packet that was sent at this time on the host's clock. Return NULL if there is no such
 * packet.
 */
const struct graph_record *graph_find_sent(const struct exec_graph *graph, uint32_t host,
					   int64_t time_ns);

#endif
