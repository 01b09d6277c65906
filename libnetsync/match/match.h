/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From packet events to messages: which records on different hosts are of
 * one packet, or carry the same bytes? internal.h names the files.
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
 * Called for each message: where it was sent, and where it was received. 0 or
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
	uint32_t limit; /* of what the ring may hold; at most RING_MAX */
	uint32_t since; /* pushed since the limits were brought up */
	bool unclear;	/* what is decided now is not final */
	struct match_counts past;
	struct match_counts live;
	uint64_t evicted; /* of past.unmatched: at the limit */
};

void matcher_init(struct matcher *m, match_fn found, void *arg);
void matcher_release(struct matcher *m);

/* Add a host, with the next number: 0 or -ENOMEM. */
int matcher_add_host(struct matcher *m);

/* Are packets of this kind matched? */
bool matcher_supports(const struct netsync_packet *p);

/*
 * Add a packet event: 0; -ENOMEM, and then nothing has changed; or what
 * found() failed with, called for what had to make room.
 */
int matcher_add(struct matcher *m, const struct netsync_packet *p);

/* All events of a host before a time were added; INT64_MAX: all, so far. */
int matcher_advance(struct matcher *m, uint32_t host, int64_t time);

/* Hand out the messages that are known by now, and count. */
int matcher_settle(struct matcher *m);

#endif
