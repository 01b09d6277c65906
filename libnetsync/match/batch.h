/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A batch collects the records of packet events. Each record is in the list of the shard that will
 * match it. The caller's thread fills one batch while other threads match the previous batch. Lists
 * do not share cache lines, so that records move between processors only if necessary.
 */
#ifndef NETSYNC_MATCH_BATCH_H
#define NETSYNC_MATCH_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "match/ring.h"
#include "util/cache.h"

/*
 * Maximum number of records of one shard in a batch. A batch takes some ms to match.
 * Compared with that, it costs little to hand the batch to threads, and for threads to
 * fetch each other's changes. Measured with bench --threads: with a third of this number,
 * two threads can be slower than one if their processors share no cache; with twice the
 * number, one thread is slower by a quarter.
 */
#define BATCH_OF_SHARD 1024

/*
 * Minimum number of records in a batch that is passed to threads. For a batch of 160 records, as
 * with rare packets, passing it to threads takes longer than matching it. Chosen.
 */
#define BATCH_OF_THREADS 2048

/* Maximum number of records in a batch. */
#define BATCH_RECORDS (NETSYNC_SHARDS * BATCH_OF_SHARD)

/*
 * Range of record numbers that is decided at a time if many records become complete at once. The
 * range limits the number of outcomes. The range also ensures that messages with close times are
 * found at close times. Chosen.
 */
#define DECIDED_AT_ONCE (2 * BATCH_RECORDS)

/*
 * Maximum number of records that one event creates. There is one for each shard to which the event
 * belongs.
 */
#define BATCH_OF_EVENT 3

struct record_batch {
	/*
	 * BATCH_OF_SHARD slots for the first shard, then for the next shard, and so on. NULL if not
	 * allocated yet. In these records, next_second is the number of the record's block index
	 * entries.
	 */
	struct packet_record *record;
	struct addresses *addresses;  /* addresses of each record, or NULL if nobody needs them */
	uint32_t num[NETSYNC_SHARDS]; /* number of records of each shard */
	uint32_t all;		      /* number of records of all shards */
	bool full;		      /* the list of a shard is full */
	/* The following members are valid when the batch is complete. */
	uint32_t end; /* number after that of the last record */
	/* Records whose numbers are lower than the newest number by more than this are dropped. */
	uint32_t limit;
	uint32_t oldest;	   /* number of the oldest undecided record */
	bool sample;		   /* sample records to find clock offsets */
	uint8_t apart[CACHE_LINE]; /* padding against false sharing with another thread's data */
};

/* Allocate slots for records and, if @addresses, for their addresses. Return 0 or -ENOMEM. */
int batch_reserve(struct record_batch *b, bool addresses);

void batch_clear(struct record_batch *b);
void batch_release(struct record_batch *b);

/* Return the index of a shard's record @number, which may be the next one to be added. */
static inline uint32_t batch_at(uint32_t shard, uint32_t number)
{
	return shard * BATCH_OF_SHARD + number;
}

/*
 * Prefetch a slot that will be written soon. Another processor has read the slot, so that writing
 * to it, and many reads in the meantime, would have to wait for its cache line.
 */
static inline void batch_fetch(const struct record_batch *b, uint32_t at)
{
	const char *place = (const char *)&b->record[at];

	__builtin_prefetch(place, 1);
	__builtin_prefetch(place + sizeof(*b->record) - 1, 1);
}

/* Count the record that was just written to a shard's next slot. */
static inline void batch_add(struct record_batch *b, uint32_t shard)
{
	b->num[shard]++;
	b->all++;
	b->full |= b->num[shard] == BATCH_OF_SHARD;
}

#endif
