/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What matching knows of hosts and of pairs of hosts: how far each host's
 * events were pushed (progress.c), roughly how far clocks are apart, and where
 * events went.
 *
 * A record can be given up when no host will bring another one of the same
 * packet. Each host's progress is promised by the caller (matcher_advance()), on
 * the host's own clock. To compare it with a time on another one's clock takes
 * no more than what messages show: the median difference of the last few
 * times sent and received of a pair, if need be over several pairs, is right
 * to a packet's delay. Where hosts are not connected by messages nothing is
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

/* Where events went. */
struct match_counts {
	uint64_t matched;
	uint64_t nat; /* of the matched ones */
	uint64_t ambiguous;
	uint64_t unmatched;
};

/*
 * No packet stays longer in a network than this (ns), nor are readers of a
 * host's events further out of step than they promised. Chosen.
 */
#define PEER_LIFETIME INT64_C(4000000000)

/*
 * An odd number, for the median; more would follow a clock that is set later.
 * Chosen.
 */
#define PEER_SAMPLES 15

struct peer_pair {
	uint32_t host[2]; /* host[0] < host[1] */
	uint32_t samples; /* so many of them, then in turn */
	uint32_t next_sample;
	struct match_counts past;     /* of records that fell off */
	struct match_counts live;     /* of those that are there, by settling */
	int64_t offset[PEER_SAMPLES]; /* time on host[1] - on host[0] */
};

struct peer_host {
	int64_t until;	/* all before it was pushed */
	int64_t decide; /* what is before it has all its counterparts */
	int64_t free;	/* nothing asks for what is before it */
	bool joined;	/* with more hosts than there are elsewhere */
	/* By direction: how long packets took through it; NULL: unknown. */
	struct histogram *stack[2];
};

struct peers {
	struct peer_host *host;
	size_t hosts;
	size_t host_room;
	struct peer_pair *pair;
	size_t pairs;
	size_t pair_room;
	struct pair_table table;
	bool connected; /* something can be given up */
};

void peers_release(struct peers *ps);

/* Add a host: 0 or -ENOMEM. */
int peers_add_host(struct peers *ps);

/* A message was found: 0 or -ENOMEM. */
int peers_message(struct peers *ps, uint32_t from, uint32_t to, int64_t send,
		  int64_t recv);

/* A packet took so long (ns) through a host: 0 or -ENOMEM. */
int peers_passed(struct peers *ps, uint32_t host, enum netsync_dir dir,
		 int64_t ns);

/* The pair of two hosts that exchanged messages, or NULL. */
struct peer_pair *peers_find(const struct peers *ps, uint32_t a, uint32_t b);

/* Bring the hosts' limits up to date: 0 or -ENOMEM. */
int peers_update(struct peers *ps);

#endif
