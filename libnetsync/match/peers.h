/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the matcher knows about hosts and pairs of hosts: the time up to which each host's events
 * were added (progress.c), rough clock offsets, and counts of events.
 *
 * A record can be given up when no host can have another record of the same packet. The caller
 * promises each host's progress (matcher_advance()), on the host's own clock. A rough offset is
 * enough to compare this progress with times on another clock. For a pair, this is the median of
 * the last few differences between receive and send time; for other hosts, it is the sum along a
 * chain of pairs. The offset is accurate to a packet's delay. If no messages connect two hosts,
 * their offset is not known, and no record is given up.
 *
 * The progress of a host may pause (matcher_pause()), because the host has no packets or its reader
 * is late. Records are then decided without waiting for this host, but kept for longer, so that a
 * late record finds its counterparts.
 */
#ifndef NETSYNC_MATCH_PEERS_H
#define NETSYNC_MATCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/histogram.h"
#include "netsync.h"
#include "util/pair-table.h"

/* Counts of events, by outcome. */
struct match_counts {
	uint64_t matched;
	uint64_t nat; /* matched although addresses were translated; included in matched */
	uint64_t ambiguous;
	uint64_t unmatched;
};

static inline void match_counts_add(struct match_counts *sum, const struct match_counts *c)
{
	sum->matched += c->matched;
	sum->nat += c->nat;
	sum->ambiguous += c->ambiguous;
	sum->unmatched += c->unmatched;
}

/*
 * Longest time that a packet spends in a network, ns. A reader may also break its promise of a
 * host's progress by this much. Chosen.
 */
#define PEER_LIFETIME INT64_C(4000000000)

/*
 * While a host pauses, records are kept for longer by this time (ns). Chosen: a connection that
 * stalls, or a program that writes few packets in large blocks, rarely delays them by more.
 */
#define PEER_PAUSE INT64_C(300000000000)

/*
 * Number of offsets whose median is used. It is odd. With more offsets, the median would take
 * longer to follow a step of a clock. Chosen.
 */
#define PEER_SAMPLES 15

struct peer_pair {
	uint32_t host[2]; /* numbers of the hosts; host[0] < host[1] */
	uint32_t samples; /* number of entries in offset[], which is a ring */
	uint32_t next_sample;
	struct match_counts past; /* counts of records that were matched or have been dropped */
	/* Counts of the other records, which are in the rings. Settling updates these counts. */
	struct match_counts live;
	int64_t offset[PEER_SAMPLES]; /* time on host[1] minus time on host[0] */
};

struct peer_host {
	int64_t until;	/* events before this time were added, ns */
	bool paused;	/* whether others do not wait for the host; @until is of no use */
	int64_t decide; /* all counterparts of records before this time have been added, ns */
	int64_t free;	/* records before this time are not needed any more, ns */
	bool joined;	/* whether the host belongs to the largest group of connected hosts */
	/* Times that packets spend in the host's stack, by direction, or NULL if not known. */
	struct histogram *stack[2];
};

/* The pairs of one part: get_pair_part() returns the number of this part for all of them. */
struct peers_part {
	struct peer_pair *pair;
	size_t pairs;
	size_t room;
	struct pair_table table;
};

struct peers {
	struct peer_host *host;
	size_t hosts;
	size_t host_room;
	struct peers_part part[PAIR_PARTS];
	bool connected; /* whether offsets are known, so that records can be given up */
};

void peers_release(struct peers *ps);

/* Add a host. Return 0 or -ENOMEM. */
int peers_add_host(struct peers *ps);

/* Return the number of pairs that exchanged messages. */
size_t peers_count_pairs(const struct peers *ps);

/*
 * Add a message. Return its pair, or NULL if out of memory. Several threads may call this
 * function at the same time for pairs of different parts.
 */
struct peer_pair *peers_add_message(struct peers *ps, uint32_t from, uint32_t to, int64_t send,
				    int64_t recv);

/*
 * Add the time that a packet spent in a host's stack, in ns. Return 0 or -ENOMEM. Several threads
 * may call this function at the same time if their hosts differ.
 */
int peers_add_passage(struct peers *ps, uint32_t host, enum netsync_dir dir, int64_t ns);

/*
 * Add the counts of events between the hosts a < b that another process has matched. Return 0 or
 * -ENOMEM.
 */
int peers_add_counts(struct peers *ps, uint32_t a, uint32_t b, const struct match_counts *counts);

/* Add the times in a host's stack that another process has measured. Return 0 or -ENOMEM. */
int peers_add_stack(struct peers *ps, uint32_t host, enum netsync_dir dir,
		    const struct histogram *times);

/* Set @stack[dir] to a summary of the times that packets spent in a host's stack. */
void peers_summarize(const struct peers *ps, uint32_t host, struct netsync_stack stack[2]);

/* Return the pair of two hosts that exchanged messages, or NULL if the pair does not exist. */
struct peer_pair *peers_find(const struct peers *ps, uint32_t a, uint32_t b);

/* Update the limits of all hosts. Return 0 or -ENOMEM. */
int peers_update(struct peers *ps);

#endif
