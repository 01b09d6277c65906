/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the critical path of a thread, that is, what it waited for, from events. The files
 * have these tasks:
 *
 *	causes.h       find the thread or interrupt that causes something on a CPU
 *	follow.h       build the execution graph from events, in a process for each host
 *	graph.h        store the records of the execution graph in a file
 *	messages.h     find packets from host to host
 *	walk.c         walk backward through the graph, and find pieces and charges
 *	find.c         call all of these functions
 *
 * netsync path (analysis/path/) and netsync report print the path.
 */
#ifndef NETSYNC_PATH_H
#define NETSYNC_PATH_H

#include "events/timebase.h"
#include "graph.h"
#include "messages.h"

enum piece_kind {
	PIECE_RUNNING,
	PIECE_PREEMPTED, /* runnable while another thread ran or the CPU woke up */
	PIECE_DISK,
	PIECE_TIMER,
	PIECE_NETWORK,	 /* a packet was in transit */
	PIECE_INTERRUPT, /* waiting for another interrupt */
	PIECE_UNKNOWN,
	NUM_PIECES,
};

/* The reason for which an activity is unknown. */
enum piece_reason {
	REASON_NONE,
	REASON_WAITS,  /* the thread was still waiting at the end of the events */
	REASON_UNSEEN, /* no event reports the cause, or events were lost */
	REASON_WAKER,  /* the waker is unknown */
	REASON_SENDER, /* no trace contains the event of sending the packet */
	REASON_CIRCLE, /* clocks are inconsistent, so that the path returns to the same time */
	NUM_REASONS,
};

/* A thread on a host. Work that is not done for any thread has the thread NO_THREAD. */
struct actor {
	uint32_t host;
	uint32_t thread;
};

/* A piece of the path: one activity of one thread, or one wait for a device or packet. */
struct path_piece {
	struct actor who;
	/* For PIECE_PREEMPTED, the running thread. For PIECE_NETWORK, the sender. */
	struct actor other;
	bool has_other;
	uint8_t kind;		  /* enum piece_kind */
	uint8_t reason;		  /* enum piece_reason */
	bool is_uncertain;	  /* PIECE_NETWORK: within the bounds, it may take no time */
	uint32_t detail;	  /* PIECE_DISK: device; PIECE_INTERRUPT: number */
	uint32_t charge;	  /* index of the thread to which the time is charged */
	int64_t begin_ns, end_ns; /* corrected times */
	int64_t bound_ns;	  /* PIECE_NETWORK: error of its duration, or NETSYNC_UNKNOWN */
};

#define NO_CHARGE UINT32_MAX

/* A thread for which another thread waits. The first charge is the thread of the path. */
struct charge {
	struct actor who;
	uint32_t parent;      /* charge of the thread that waits for it, or NO_CHARGE */
	uint32_t child, next; /* first one that it waits for; next one with the same parent */
	uint32_t depth;
	uint64_t ns[NUM_PIECES];
};

struct critical_path {
	const struct timebase *base;
	struct exec_graph graph;
	struct messages messages;
	struct actor who;
	int64_t begin_ns, end_ns;
	struct path_piece *pieces; /* in order of time; each piece ends where the next one begins */
	size_t num_pieces, room;
	struct charge *charges;
	uint32_t num_charges;
};

/* The thread whose path is requested. One member is given, and the other one is NULL. */
struct path_thread_name {
	char *thread;  /* HOST:TID or HOST:NAME */
	char *command; /* NAME of a thread on any host */
};

/*
 * Find the path in the events of all hosts of path->base, which must be set, and in the messages
 * from traffic_spool_messages(). If there is no path, print a message and return false. Release the
 * path even then.
 */
bool path_find(struct critical_path *path, struct spool *messages,
	       const struct path_thread_name *of);
/* Print which events were missing for a better path. */
void path_explain(const struct critical_path *path);
void path_release(struct critical_path *path);

/*
 * Follow the path of path->who within the window of path->base. If the thread does nothing in the
 * window, the path has no pieces. Return false if out of memory.
 */
bool path_walk(struct critical_path *path);

/* Return the name of a kind or of a reason, for people. */
const char *path_get_kind_name(enum piece_kind kind);
const char *path_get_reason_text(enum piece_reason reason);
/* Return a thread, or NULL if there is no such thread or nothing is known about it. */
const struct record_thread *path_find_thread(const struct critical_path *path, struct actor who);

#endif
