/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packet events -> batches of records, each in the list of the shard that will match it.
 * The caller's thread fills one batch while others match the one before. Lists do not
 * share cache lines: so records go from one processor to another only if they must.
 */
#ifndef NETSYNC_MATCH_BATCH_H
#define NETSYNC_MATCH_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "match/ring.h"
#include "util/cache.h"

/*
 * Records of a shard in a batch, at most: a batch takes some ms, beside which it costs
 * little to hand it to threads, and to fetch from one another what they changed. By bench
 * --threads: with a third of it, two threads can be slower than one, where their
 * processors share no cache; with twice as much, one thread is slower by a quarter.
 */
#define BATCH_OF_SHARD 1024

/*
 * Records of a batch that threads are worth: to hand over one of 160, as of rare packets,
 * takes longer than to match it. Chosen.
 */
#define BATCH_OF_THREADS 2048

/* Records of a batch, at most. */
#define BATCH_RECORDS (NETSYNC_SHARDS * BATCH_OF_SHARD)

/*
 * Numbers of records that are decided at a time, when many become complete at once:
 * outcomes stay few, and messages of one time are found at about the same time. Chosen.
 */
#define DECIDED_AT_ONCE (2 * BATCH_RECORDS)

/* Limit of the records of one event, one for each shard that it belongs to. */
#define BATCH_OF_EVENT 3

struct record_batch {
	/*
	 * Room for BATCH_OF_SHARD of the first shard, then of the next one, ...; NULL:
	 * there is no memory yet. Of each record, next_second is the number of its block
	 * index entries.
	 */
	struct packet_record *record;
	struct addresses *addresses; /* of each record; NULL: not wanted */
	uint32_t num[NETSYNC_SHARDS]; /* of each shard */
	uint32_t all;		      /* of all shards */
	bool full;		      /* the list of a shard is */
	/* As of when it is complete: */
	uint32_t end;	/* number of the record after its last one */
	uint32_t limit; /* records older than so many numbers are dropped */
	uint32_t oldest; /* number of the oldest record that is not decided */
	bool sample;	/* look for clock offsets */
	uint8_t apart[CACHE_LINE]; /* from what is filled meanwhile */
};

/* Make room, and for addresses if @addresses: 0 or -ENOMEM. */
int batch_reserve(struct record_batch *b, bool addresses);

void batch_clear(struct record_batch *b);
void batch_release(struct record_batch *b);

/* The place of a shard's record of a number, which may be the next one to be added. */
static inline uint32_t batch_at(uint32_t shard, uint32_t number)
{
	return shard * BATCH_OF_SHARD + number;
}

/*
 * Have a place brought near that will be written to soon. Another processor has read it;
 * what is written waits for that, and so does much of what is read meanwhile.
 */
static inline void batch_fetch(const struct record_batch *b, uint32_t at)
{
	const char *place = (const char *)&b->record[at];

	__builtin_prefetch(place, 1);
	__builtin_prefetch(place + sizeof(*b->record) - 1, 1);
}

/* Count the record at the next place of a shard, which was filled in. */
static inline void batch_add(struct record_batch *b, uint32_t shard)
{
	b->num[shard]++;
	b->all++;
	b->full |= b->num[shard] == BATCH_OF_SHARD;
}

#endif
