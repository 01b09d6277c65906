/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packet ring: the records of all hosts, in the order in which they were
 * pushed, and by key.
 *
 * New records are written at its tail and old ones fall off at its end, so that
 * memory is touched in order. All records of one hash value are a chain from the
 * newest to the oldest; nothing is ever taken out of a chain, it ends where the
 * first one is met that fell off.
 *
 * A record has a number that counts up and wraps. In the ring are
 *
 *	freed ... decided ... tail
 *
 * where those before "decided" were dealt with and are there only to be found
 * by others.
 */
#ifndef NETSYNC_MATCH_RING_H
#define NETSYNC_MATCH_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "match/protocol.h"
#include "match/record.h"
#include "util/hash.h"

/* What matching knows only a digest of, for those who want to be told of it. */
struct addresses {
	uint8_t source[16];
	uint8_t destination[16];
};

struct packet_ring {
	uint64_t seed; /* so that nobody can aim at one chain */
	struct packet_record *record;
	struct addresses *addresses; /* beside each of these; or NULL */
	bool keep_addresses;	     /* from the next one on */
	uint32_t *chain;	     /* number of the newest, by hash value */
	uint32_t *second;	     /* the same, of second keys */
	uint32_t room;		     /* power of two, of both; or 0 */
	uint32_t freed;
	uint32_t decided;
	uint32_t tail;
};

/* The most that a log holds: 96 bytes each, and 8 for chains, 832 MiB. */
#define RING_MAX (UINT32_C(1) << 23)

void ring_init(struct packet_ring *l);
void ring_release(struct packet_ring *l);

/* Make room for @num more: 0 or -ENOMEM; the caller keeps below RING_MAX. */
int ring_reserve(struct packet_ring *l, uint32_t num);

/* Add one, for which room was made; return where it is now. */
struct packet_record *ring_add(struct packet_ring *l,
			       const struct packet_record *s);

static inline uint32_t ring_count(const struct packet_ring *l)
{
	return l->tail - l->freed;
}

static inline struct packet_record *ring_at(const struct packet_ring *l,
					    uint32_t number)
{
	return &l->record[number & (l->room - 1)];
}

/* The addresses of one that is in the ring; NULL: they were not kept. */
static inline struct addresses *ring_addresses(const struct packet_ring *l,
					       const struct packet_record *s)
{
	return l->addresses ? &l->addresses[s - l->record] : NULL;
}

/* Did the record of a number not yet fall off? */
static inline bool ring_has(const struct packet_ring *l, uint32_t number)
{
	return l->tail - number - 1 < l->tail - l->freed;
}

/* The newest of a key's chain, which holds others, too. */
static inline uint32_t *ring_chain(const struct packet_ring *l, uint32_t kind,
				   uint32_t a, uint32_t b)
{
	uint64_t v = hash_mix(l->seed ^ ((uint64_t)a << 32 | b) ^
			      (uint64_t)kind << 17);

	return &l->chain[v & (l->room - 1)];
}

/* Records that address translation gives another key have a second one. */
static inline bool has_second_key(const struct packet_record *r)
{
	return !protocol_of(r->protocol)->translation_keeps_key && !r->block;
}

/*
 * What is left of a key where the first one differs on the way: with the
 * addresses, which were translated; or because one source knows of the payload
 * what another one does not.
 */
static inline uint32_t *ring_second_chain(const struct packet_ring *l,
					  const struct packet_record *s)
{
	uint64_t v = hash_mix(
		l->seed ^ (uint64_t)s->protocol << 32 ^
		(counts_ids(s) ? s->ip_id : ~(uint64_t)s->key[0]));

	return &l->second[(v ^ hash_mix(s->len)) & (l->room - 1)];
}

/*
 * log2 of the bytes of a block, 64 KiB: as much as most offloads put into one
 * segment, which then lies in two blocks at most. Chosen.
 */
#define BLOCK_SHIFT 16
/* Added to the protocol of a block index entry: above all of IP's. */
#define BLOCK_INDEX 256

/* The block or id under which an alias is filed. */
static inline uint32_t block_number(const struct packet_record *s)
{
	if (s->protocol == UDP)
		return (uint16_t)(s->ip_id + s->block);
	return ((s->tcp.seq >> BLOCK_SHIFT) + s->block - 1) &
	       (UINT32_MAX >> BLOCK_SHIFT);
}

/* What it is filed under beside that: all parts have it in common. */
static inline uint32_t block_rest(const struct packet_record *s)
{
	return s->protocol == UDP ? s->udp.ports : s->tcp.ack;
}

#endif
