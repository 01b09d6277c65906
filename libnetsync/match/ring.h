/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packet ring contains the records of all hosts in the order in which they were pushed. Records
 * are chained by their key. New records are written at the tail, and old ones are dropped at the
 * other end, so that memory is accessed in order. All records with one hash value form a chain from
 * the newest to the oldest. Records are never removed from a chain, which ends at the first dropped
 * record.
 *
 * Each record has a number, which counts up and wraps around. The ring holds
 *
 *	freed ... decided ... tail
 *
 * Records before "decided" are only kept so that other records can find them.
 */
#ifndef NETSYNC_MATCH_RING_H
#define NETSYNC_MATCH_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "match/protocol.h"
#include "match/record.h"
#include "util/hash.h"

/* Full addresses, for callers that need them. Records contain only digests of addresses. */
struct addresses {
	uint8_t source[16];
	uint8_t destination[16];
};

struct packet_ring {
	uint64_t seed; /* random seed, so that no input can fill a single chain */
	struct packet_record *record;
	struct addresses *addresses; /* addresses of each record, or NULL if they are not stored */
	bool keep_addresses;	     /* whether to store the addresses of records from now on */
	uint32_t *chain;	     /* number of the newest record for each hash value */
	/* Number of the newest record for each hash value of second keys. */
	uint32_t *second;
	uint32_t room; /* capacity of each array: 0 or a power of two */
	uint32_t freed;
	uint32_t decided;
	uint32_t tail;
};

/* Maximum number of records in a ring. At 96 bytes each, plus 8 for chains, they take 832 MiB. */
#define RING_MAX (UINT32_C(1) << 23)

void ring_release(struct packet_ring *l);

/*
 * Allocate space for @num more records. Return 0 or -ENOMEM. The caller must not exceed RING_MAX.
 */
int ring_grow(struct packet_ring *l, uint32_t num);

/* Add a record. Space for it must have been reserved. Return its copy in the ring. */
struct packet_record *ring_add(struct packet_ring *l, const struct packet_record *s);

static inline uint32_t ring_count(const struct packet_ring *l)
{
	return l->tail - l->freed;
}

/* Reserve space for @num more records. Return 0 or -ENOMEM. */
static inline int ring_reserve(struct packet_ring *l, uint32_t num)
{
	if (l->room >= ring_count(l) + num && l->keep_addresses == !!l->addresses)
		return 0;
	return ring_grow(l, num);
}

static inline struct packet_record *ring_at(const struct packet_ring *l, uint32_t number)
{
	return &l->record[number & (l->room - 1)];
}

/* Return the addresses of a record in the ring, or NULL if addresses were not stored. */
static inline struct addresses *ring_addresses(const struct packet_ring *l,
					       const struct packet_record *s)
{
	return l->addresses ? &l->addresses[s - l->record] : NULL;
}

/* Return whether the record with this number is still in the ring. */
static inline bool ring_has(const struct packet_ring *l, uint32_t number)
{
	return l->tail - number - 1 < l->tail - l->freed;
}

/*
 * Return the head of a key's chain, which is the number of its newest record. The chain also
 * contains records with other keys.
 */
static inline uint32_t *ring_get_chain(const struct packet_ring *l, uint32_t kind, uint32_t a,
				       uint32_t b)
{
	uint64_t v = hash_mix(l->seed ^ ((uint64_t)a << 32 | b) ^ (uint64_t)kind << 17);

	return &l->chain[v & (l->room - 1)];
}

/* Return whether the record has a second key, because address translation changes its first key. */
static inline bool has_second_key(const struct packet_record *r)
{
	return !protocol_find(r->protocol)->translation_keeps_key && record_is_own(r);
}

/*
 * Return the head of the second key's chain. The second key consists of fields that remain equal if
 * the first key changes along the path: addresses may be translated, or one source may report a
 * property of the payload that another one does not.
 */
static inline uint32_t *ring_get_second_chain(const struct packet_ring *l,
					      const struct packet_record *s)
{
	uint64_t v = hash_mix(l->seed ^ (uint64_t)s->protocol << 32 ^
			      (record_counts_ip_ids(s) ? s->ip_id : ~(uint64_t)s->key[0]));

	return &l->second[(v ^ hash_mix(s->len)) & (l->room - 1)];
}

/* Added to the protocol when a block index entry is hashed. The value exceeds all IP protocol
 * numbers. */
#define BLOCK_INDEX 256

/* Return the block, or the IP id, of a block index entry. */
static inline uint32_t get_block_number(const struct packet_record *s)
{
	if (s->protocol == UDP)
		return (uint16_t)(s->ip_id + s->block);
	return ((s->tcp.seq >> BLOCK_SHIFT) + s->block - 1) & (UINT32_MAX >> BLOCK_SHIFT);
}

/* Return the rest of a block index entry's key, which is equal for all parts. */
static inline uint32_t get_block_rest(const struct packet_record *s)
{
	return s->protocol == UDP ? s->udp.ports : s->tcp.ack;
}

#endif
