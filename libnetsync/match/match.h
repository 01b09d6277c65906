/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packet events -> messages: which records of different hosts are of one packet, or carry
 * the same bytes? internal.h lists the files.
 */
#ifndef NETSYNC_MATCH_MATCH_H
#define NETSYNC_MATCH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"
#include "match/owners.h"
#include "match/peers.h"
#include "match/ring.h"

/*
 * Called for each message with the records of its sending and its receiving. Return: 0 or
 * -errno.
 */
typedef int (*match_fn)(void *arg, const struct packet_record *from,
			const struct packet_record *to);

struct matcher {
	struct packet_ring ring;
	struct peers peers;
	struct address_owners owners;
	match_fn found;
	void *arg;
	uint32_t limit; /* records in the ring; at most RING_MAX */
	uint32_t kept;	/* bit mask of the shards that are matched here */
	uint32_t since; /* records since limits were updated */
	bool unclear;	/* settling: ambiguity is not final */
	struct match_counts past;
	struct match_counts live;
	uint64_t evicted; /* of past.unmatched: dropped at limit */
};

void matcher_init(struct matcher *m, match_fn found, void *arg);
void matcher_release(struct matcher *m);

/* Add a host, with the next number: 0 or -ENOMEM. */
int matcher_add_host(struct matcher *m);

/* Are packets of this kind matched? */
bool matcher_supports(const struct netsync_packet *p);

/* The shards of a packet event; of one that is not matched any one. */
struct shards matcher_shards(const struct netsync_packet *p);

/*
 * Add a packet event that belongs to a kept shard: 0; -ENOMEM, with nothing changed; or the error of found() for a
 * record that was decided to make room.
 */
int matcher_add(struct matcher *m, const struct netsync_packet *p);

/* All events of a host before @time were added; INT64_MAX: all events, so far. */
int matcher_advance(struct matcher *m, uint32_t host, int64_t time);

/* Hand out the messages that are known by now, and update counts. */
int matcher_settle(struct matcher *m);

#endif
