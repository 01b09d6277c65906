/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packet events -> batches of records, each in the list of the shard that will match it.
 * The caller's thread fills one batch while others match the one before.
 */
#ifndef NETSYNC_MATCH_BATCH_H
#define NETSYNC_MATCH_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "match/ring.h"

/*
 * Records of a batch, at most. So many that handing a batch to threads costs little
 * beside matching it, some ms, and so few that they stay in a processor's cache. Chosen.
 */
#define BATCH_RECORDS 4096

/*
 * Numbers of records that are decided at a time, when many become complete at once:
 * outcomes stay few, and messages of one time are found at about the same time. Chosen.
 */
#define DECIDED_AT_ONCE (2 * BATCH_RECORDS)

/* Records that are made of one event at most: it belongs to so many shards. */
#define BATCH_OF_EVENT 3

/* In place of the index of a record: there is none. */
#define BATCH_END UINT32_MAX

struct batch {
	/*
	 * NULL: there is no memory yet. Of each record, next is the next one of its shard,
	 * and next_second the number of its block index entries.
	 */
	struct packet_record *record;
	struct addresses *addresses;  /* of each record; NULL: not wanted */
	uint32_t num;
	uint32_t first[NETSYNC_SHARDS]; /* of each shard; or BATCH_END */
	uint32_t last[NETSYNC_SHARDS];
	/* As of when it is complete: */
	uint32_t end;	/* number of the record after its last one */
	uint32_t limit; /* records older than so many numbers are dropped */
	uint32_t oldest; /* number of the oldest record that is not decided */
	bool sample;	/* look for clock offsets */
};

/* Make room, and for addresses if @addresses: 0 or -ENOMEM. */
int batch_reserve(struct batch *b, bool addresses);

void batch_clear(struct batch *b);
void batch_release(struct batch *b);

/* Put the record behind the last one, which was filled in, into the list of a shard. */
static inline void batch_add(struct batch *b, uint32_t shard)
{
	const uint32_t at = b->num++;

	b->record[at].next = BATCH_END;
	if (b->first[shard] == BATCH_END)
		b->first[shard] = at;
	else
		b->record[b->last[shard]].next = at;
	b->last[shard] = at;
}

#endif
