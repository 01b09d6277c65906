/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A shard contains the records of some packets, which are matched only with each other. A shard
 * reads the state of all hosts, but changes only its own state. The shard adds its results to lists
 * of outcomes. The result of a batch therefore does not depend on which shards run at the same
 * time.
 */
#ifndef NETSYNC_MATCH_SHARD_H
#define NETSYNC_MATCH_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "match/batch.h"
#include "match/outcome.h"
#include "match/owners.h"
#include "match/peers.h"
#include "match/ring.h"

struct shard {
	struct packet_ring ring;
	const struct peers *peers;
	const struct address_owners *owners;
	struct outcomes outcomes[PAIR_PARTS]; /* outcomes of this round of work */
	uint32_t round;
	/* Messages to report, if they were requested (ring.keep_addresses). */
	struct netsync_message *matched;
	size_t num_matched;
	size_t matched_room;
	uint32_t shard;	  /* number of this shard */
	uint32_t next;	  /* index in the shard's list of the next record to add from the batch */
	uint32_t since;	  /* number of records since clock offsets were last sampled */
	uint32_t settled; /* number of the next record to settle */
	bool more;	  /* whether more records are ready to be decided or dropped */
	bool unclear;	  /* while settling: whether ambiguity is not final */
	struct match_counts past;
	struct match_counts live;
	/* Records that were dropped because of the limit. past.unmatched includes them. */
	uint64_t evicted;
	uint8_t apart[CACHE_LINE]; /* padding against false sharing with another thread's shard */
};

void shard_init(struct shard *m, uint32_t shard, const struct peers *peers,
		const struct address_owners *owners, uint64_t seed);
void shard_release(struct shard *m);

/* If @round is new, forget the outcomes of the previous round. */
void shard_begin(struct shard *m, uint32_t round);

/*
 * Add the records of a batch, beginning at the member next. Decide and drop records that are ready.
 * If some of these are left for later, set the member more. Return 0 or -ENOMEM. After -ENOMEM, the
 * next call resumes.
 */
int shard_add_batch(struct shard *m, const struct record_batch *b);

/*
 * Find the messages that can be found so far: begin, settle until the shard is settled, and end.
 * Each call of shard_settle() examines records with some numbers from @oldest on. It returns 0 or
 * -ENOMEM.
 */
void shard_begin_settling(struct shard *m);
int shard_settle(struct shard *m, uint32_t oldest);
bool shard_is_settled(const struct shard *m);
void shard_end_settling(struct shard *m);

/* Count a record according to its state. */
void shard_count_state(struct match_counts *counts, uint32_t state);

/* Return the other host of a record's pair, or NO_PEER if it is not known. */
uint32_t shard_find_peer(const struct shard *m, const struct packet_record *s);

#endif
