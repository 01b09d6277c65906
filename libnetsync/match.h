/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From packet events to messages: which sightings on different hosts are of
 * one packet?
 */
#ifndef NETSYNC_MATCH_H
#define NETSYNC_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "netsync.h"

struct sighting;
struct key;

struct matcher {
	uint64_t seed;		/* so that nobody can aim at one hash chain */
	struct key *key;
	size_t keys;
	size_t key_room;
	uint32_t *slot;		/* hash table of key number + 1 */
	size_t slots;
	struct sighting *sighting;
	size_t sightings;
	size_t sighting_room;
	uint64_t matched;
	uint64_t ambiguous;
};

/* Called for each message; times are on the hosts' clocks. 0 or -errno. */
typedef int (*match_fn)(void *arg, uint32_t from, uint32_t to, int64_t send,
			int64_t recv);

void matcher_init(struct matcher *m);
void matcher_release(struct matcher *m);

/* Add a TCP packet event: 0 or -ENOMEM, and then nothing has changed. */
int matcher_add(struct matcher *m, const struct netsync_packet *p);

/* Hand out the messages that have become known since the last call. */
int matcher_settle(struct matcher *m, match_fn fn, void *arg);

#endif
