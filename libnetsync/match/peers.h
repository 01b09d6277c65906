/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hosts and pairs of hosts, as matching knows them: up to when each host's events were
 * pushed (progress.c), rough clock offsets, and counts of events.
 *
 * A record can be given up when no host will bring another one of the same packet. The
 * caller promises each host's progress (matcher_advance()), on the host's own clock.
 * Comparing it with times of another clock needs only a rough offset: the median
 * difference of the last few times sent and received of a pair, if need be over several
 * pairs, is right to a packet's delay. Between hosts that no messages connect nothing is
 * known, and nothing is given up.
 */
#ifndef NETSYNC_MATCH_PEERS_H
#define NETSYNC_MATCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/histogram.h"
#include "netsync.h"
#include "util/pair-table.h"

/* Counts of events by outcome. */
struct match_counts {
	uint64_t matched;
	uint64_t nat; /* of the matched ones */
	uint64_t ambiguous;
	uint64_t unmatched;
};

static inline void match_counts_add(struct match_counts *sum,
				    const struct match_counts *c)
{
	sum->matched += c->matched;
	sum->nat += c->nat;
	sum->ambiguous += c->ambiguous;
	sum->unmatched += c->unmatched;
}

/*
 * The longest time of a packet in a network, and the most that readers of a host's events
 * break their promise by, ns. Chosen.
 */
#define PEER_LIFETIME INT64_C(4000000000)

/*
 * Offsets of which the median is taken: an odd number; more would follow a clock that is
 * set later. Chosen.
 */
#define PEER_SAMPLES 15

struct peer_pair {
	uint32_t host[2]; /* host[0] < host[1] */
	uint32_t samples; /* entries of offset[], which is a ring */
	uint32_t next_sample;
	struct match_counts past;     /* of records that were matched, or dropped */
	struct match_counts live;     /* of others in the rings, by settling */
	int64_t offset[PEER_SAMPLES]; /* time on host[1] - on host[0] */
};

struct peer_host {
	int64_t until;	/* events before it were pushed, ns */
	int64_t decide; /* records before it have all counterparts, ns */
	int64_t free;	/* records before it are needed by none, ns */
	bool joined;	/* in the largest group of connected hosts */
	/* By direction: times of packets in the host's stack; NULL: unknown. */
	struct histogram *stack[2];
};

/* The pairs of which pair_part() is the same. */
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
	bool connected; /* records can be given up */
};

void peers_release(struct peers *ps);

/* Add a host: 0 or -ENOMEM. */
int peers_add_host(struct peers *ps);

/* The number of pairs that exchanged messages. */
size_t peers_pairs(const struct peers *ps);

/*
 * Note a message, and return its pair; NULL: there is no memory. Other threads may do so
 * at the same time for pairs of other parts.
 */
struct peer_pair *peers_message(struct peers *ps, uint32_t from, uint32_t to,
				int64_t send, int64_t recv);

/*
 * Note a packet's time in a host's stack, ns: 0 or -ENOMEM. Other threads may do so at
 * the same time for other hosts.
 */
int peers_passed(struct peers *ps, uint32_t host, enum netsync_dir dir,
		 int64_t ns);

/* Add counts of events of two hosts, a < b, that were matched elsewhere: 0 or -ENOMEM. */
int peers_count(struct peers *ps, uint32_t a, uint32_t b,
		const struct match_counts *counts);

/* Add times in a host's stack that were noted elsewhere: 0 or -ENOMEM. */
int peers_add_stack(struct peers *ps, uint32_t host, enum netsync_dir dir,
		    const struct histogram *times);

/* Set @stack[dir] to what is known of packets' times in a host's stack. */
void peers_summarize(const struct peers *ps, uint32_t host,
		     struct netsync_stack stack[2]);

/* The pair of two hosts that exchanged messages, or NULL. */
struct peer_pair *peers_find(const struct peers *ps, uint32_t a, uint32_t b);

/* Bring the hosts' limits up to date: 0 or -ENOMEM. */
int peers_update(struct peers *ps);

#endif
