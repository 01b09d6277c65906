/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packet ring: the records of all hosts, in the order in which they were pushed, and
 * chained by key.
 *
 * New records are written at the tail and old ones are dropped at the other end, so that
 * memory is accessed in order. All records of one hash value form a chain from the newest
 * to the oldest. No record is ever removed from a chain; the chain ends at the first
 * dropped record.
 *
 * A record has a number that counts up and wraps. The ring holds
 *
 *	freed ... decided ... tail
 *
 * where records before "decided" are kept only so that others can find them.
 */
#ifndef NETSYNC_MATCH_RING_H
#define NETSYNC_MATCH_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "match/protocol.h"
#include "match/record.h"
#include "util/hash.h"

/* Full addresses, for callers that want them. Records contain only digests of addresses. */
struct addresses {
	uint8_t source[16];
	uint8_t destination[16];
};

struct packet_ring {
	uint64_t seed; /* protects against input that fills one chain */
	struct packet_record *record;
	struct addresses *addresses; /* addresses of each record; NULL if not kept */
	bool keep_addresses;	     /* keep the addresses of records from now on */
	uint32_t *chain;	     /* number of the newest record for each hash value */
	/* Number of the newest record for each hash value of the second key. */
	uint32_t *second;
	uint32_t room; /* capacity of each array: 0 or a power of two */
	uint32_t freed;
	uint32_t decided;
	uint32_t tail;
};

/* Maximum number of records in a ring. With 96 bytes each, plus 8 for chains, they take 832 MiB. */
#define RING_MAX (UINT32_C(1) << 23)

void ring_release(struct packet_ring *l);

/* Allocate space for @num more records. Return 0 or -ENOMEM. Callers stay below RING_MAX. */
int ring_grow(struct packet_ring *l, uint32_t num);

/* Add a record, for which space must have been reserved. Return its copy in the ring. */
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

/* Return the addresses of a record in the ring, or NULL if addresses were not kept. */
static inline struct addresses *ring_addresses(const struct packet_ring *l,
					       const struct packet_record *s)
{
	return l->addresses ? &l->addresses[s - l->record] : NULL;
}

/* Is the record with this number still in the ring? */
static inline bool ring_has(const struct packet_ring *l, uint32_t number)
{
	return l->tail - number - 1 < l->tail - l->freed;
}

/*
 * Return the head of a key's chain, the number of its newest record. The chain also holds
 * records with other keys.
 */
static inline uint32_t *ring_get_chain(const struct packet_ring *l, uint32_t kind, uint32_t a,
				       uint32_t b)
{
	uint64_t v = hash_mix(l->seed ^ ((uint64_t)a << 32 | b) ^ (uint64_t)kind << 17);

	return &l->chain[v & (l->room - 1)];
}

/* Does the record have a second key, because address translation changes its first one? */
static inline bool has_second_key(const struct packet_record *r)
{
	return !protocol_find(r->protocol)->translation_keeps_key && record_is_own(r);
}

/*
 * Return the head of the second key's chain. The second key consists of fields that stay
 * equal if the first key differs along the path, because addresses are translated, or
 * because one source knows a property of the payload that another one does not.
 */
static inline uint32_t *ring_get_second_chain(const struct packet_ring *l,
					      const struct packet_record *s)
{
	uint64_t v = hash_mix(l->seed ^ (uint64_t)s->protocol << 32 ^
			      (record_counts_ip_ids(s) ? s->ip_id : ~(uint64_t)s->key[0]));

	return &l->second[(v ^ hash_mix(s->len)) & (l->room - 1)];
}

/* Added to the protocol in the hash of a block index entry; above all IP protocol numbers. */
#define BLOCK_INDEX 256

/* Return the block, or IP id, of a block index entry. */
static inline uint32_t get_block_number(const struct packet_record *s)
{
	if (s->protocol == UDP)
		return (uint16_t)(s->ip_id + s->block);
	return ((s->tcp.seq >> BLOCK_SHIFT) + s->block - 1) & (UINT32_MAX >> BLOCK_SHIFT);
}

/* Return the rest of a block index entry's key, which all parts have in common. */
static inline uint32_t get_block_rest(const struct packet_record *s)
{
	return s->protocol == UDP ? s->udp.ports : s->tcp.ack;
}

#endif
