/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The critical path of a thread, from events to what was waited for:
 *
 *	causes.h       why something happens on a CPU: a thread, or which interrupt
 *	follow.h       events -> execution graph, in a process for each host
 *	graph.h        its records, in a file
 *	messages.h     packets from host to host
 *	walk.c         backward through the graph -> pieces, and who is charged for them
 *	find.c         all of these together
 *
 * netsync path (analysis/path/) and netsync report write it.
 */
#ifndef NETSYNC_PATH_H
#define NETSYNC_PATH_H

#include "events/timebase.h"
#include "graph.h"
#include "messages.h"

enum piece_kind {
	PIECE_RUNNING,
	PIECE_PREEMPTED, /* it could have run, but another thread did, or none yet */
	PIECE_DISK,
	PIECE_TIMER,
	PIECE_NETWORK, /* a packet is on its way */
	PIECE_INTERRUPT, /* it waits for another one */
	PIECE_UNKNOWN,
	NUM_PIECES,
};

/* Why more is not known. */
enum piece_reason {
	REASON_NONE,
	REASON_WAITS,  /* it still waits when the events end */
	REASON_UNSEEN, /* there is no event of it, or events were lost */
	REASON_WAKER,  /* nobody knows who woke it */
	REASON_SENDER, /* the packet is none that a trace shows being sent */
	REASON_CIRCLE, /* clocks contradict each other: the graph comes back */
	NUM_REASONS,
};

/* A thread of a host; what runs on no thread's behalf is NO_THREAD. */
struct actor {
	uint32_t host;
	uint32_t thread;
};

/* What the path was at a time. */
struct path_piece {
	struct actor who;
	/* PIECE_PREEMPTED: what ran instead; PIECE_NETWORK: who sent it. */
	struct actor other;
	bool has_other;
	uint8_t kind;	/* enum piece_kind */
	uint8_t reason; /* enum piece_reason */
	bool is_uncertain; /* PIECE_NETWORK: within the bound it took no time at all */
	uint32_t detail; /* PIECE_DISK: device; PIECE_INTERRUPT: number */
	uint32_t charge; /* for whom: index */
	int64_t begin_ns, end_ns; /* corrected */
	int64_t bound_ns; /* PIECE_NETWORK: error of its duration; NETSYNC_UNKNOWN */
};

#define NO_CHARGE UINT32_MAX

/* A thread while another one waits for it; the first one is that of the path. */
struct charge {
	struct actor who;
	uint32_t parent; /* who waits; NO_CHARGE */
	uint32_t child, next; /* the first that it waits for; of the same parent */
	uint32_t depth;
	uint64_t ns[NUM_PIECES];
};

struct critical_path {
	const struct timebase *base;
	struct exec_graph graph;
	struct messages messages;
	struct actor who;
	int64_t begin_ns, end_ns;
	struct path_piece *pieces; /* in the order of time, each ends where the next begins */
	size_t num_pieces, room;
	struct charge *charges;
	uint32_t num_charges;
};

/* Whose path: one of these, the other one NULL. */
struct path_thread_name {
	char *thread;  /* HOST:TID or HOST:NAME */
	char *command; /* NAME, of any host */
};

/*
 * From the events of all hosts of path->base, which is set, and messages that
 * traffic_keep() kept. False: there is none, which was said. To be released in any case.
 */
bool path_find(struct critical_path *path, struct spool *messages,
	       const struct path_thread_name *of);
/* Say what was missing for more. */
void path_explain(const struct critical_path *path);
void path_release(struct critical_path *path);

/* Of path->who, in the window of path->base; no pieces: it does nothing there. False: not
 * enough memory. */
bool path_walk(struct critical_path *path);

/* For people. */
const char *path_kind(enum piece_kind kind);
const char *path_reason(enum piece_reason reason);
/* NULL: there is none, or nothing is known of it. */
const struct record_thread *path_thread(const struct critical_path *path,
					struct actor who);

#endif
