/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log of sightings: what the hosts saw, in the order in which it was
 * pushed, and by key.
 *
 * It is a ring. New sightings are written at its tail and old ones fall off at
 * its end, so that memory is touched in order. All sightings of one hash value
 * are a chain from the newest to the oldest; nothing is ever taken out of a
 * chain, it ends where the first one is met that fell off.
 *
 * A sighting has a number that counts up and wraps. In the ring are
 *
 *	freed ... decided ... tail
 *
 * where those before "decided" were dealt with and are there only to be found
 * by others.
 */
#ifndef NETSYNC_SIGHTING_H
#define NETSYNC_SIGHTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"

enum {
	SEEN_USED = 1,		/* found again on another host */
	SEEN_AMBIGUOUS = 2,	/* and it stays so */
	SEEN_UNCLEAR = 4,	/* ambiguous by what is known so far */
	SEEN_LOOKED = 8,	/* its key was looked at */
	SEEN_EMITTED = 16,	/* its message was handed out */
	SEEN_NAT = 32,		/* found under other addresses */
	SEEN_PASSED = 64,	/* its time through the host was counted */
	SEEN_DONE = SEEN_USED | SEEN_AMBIGUOUS | SEEN_UNCLEAR,
};

#define NO_PEER UINT32_MAX

/* IP's numbers of the protocols that are matched. */
enum { ICMP = 1, TCP = 6, UDP = 17, ICMPV6 = 58, SCTP = 132 };

struct sighting {
	int64_t time;
	uint64_t skb;
	uint32_t addr[2];	/* digests of source and destination address */
	/* TCP: sequence and acknowledgment number; else: see match.c */
	uint32_t seq;
	uint32_t ack;
	uint32_t tsval;		/* UDP: digest of the payload */
	uint32_t tsecr;
	uint32_t host;
	uint32_t peer;		/* the host where it was found again */
	uint32_t point;
	uint32_t netns;
	uint32_t next;		/* older one of the same hash value */
	uint32_t next_second;	/* older one of the same second hash value */
	uint32_t len;
	uint16_t sport;
	uint16_t dport;
	uint16_t window;	/* UDP: checksum */
	uint16_t ip_id;
	/* UDP: how many datagrams this stands for; SCTP: what chunks it has */
	uint16_t flags;
	uint16_t gso_size;
	uint16_t fields;
	uint8_t protocol;
	uint8_t dir;
	uint8_t state;
	/*
	 * 0, or this is no sighting of its own: the one so many numbers before
	 * is filed once more, under a block of the bytes that it carries (UDP:
	 * under an id that is that much higher).
	 */
	uint8_t alias;
};

/* What matching knows only a digest of, for those who want to be told of it. */
struct addresses {
	uint8_t source[16];
	uint8_t destination[16];
};

struct log {
	uint64_t seed;		/* so that nobody can aim at one chain */
	struct sighting *ring;
	struct addresses *addresses;	/* beside each of these; or NULL */
	bool keep_addresses;	/* from the next one on */
	uint32_t *chain;	/* number of the newest, by hash value */
	uint32_t *second;	/* the same, of second keys */
	uint32_t room;		/* power of two, of both; or 0 */
	uint32_t freed;
	uint32_t decided;
	uint32_t tail;
};

/* The most that a log holds: 96 bytes each, and 8 for chains, 832 MiB. */
#define LOG_MAX (UINT32_C(1) << 23)

void log_init(struct log *l);
void log_release(struct log *l);

/* Make room for @num more: 0 or -ENOMEM; the caller keeps below LOG_MAX. */
int log_reserve(struct log *l, uint32_t num);

/* Add one, for which room was made; return where it is now. */
struct sighting *log_add(struct log *l, const struct sighting *s);

static inline uint32_t log_live(const struct log *l)
{
	return l->tail - l->freed;
}

static inline struct sighting *log_at(const struct log *l, uint32_t number)
{
	return &l->ring[number & (l->room - 1)];
}

/* The addresses of one that is in the ring; NULL: they were not kept. */
static inline struct addresses *log_addresses(const struct log *l,
					      const struct sighting *s)
{
	return l->addresses ? &l->addresses[s - l->ring] : NULL;
}

/* Did the sighting of a number not yet fall off? */
static inline bool log_has(const struct log *l, uint32_t number)
{
	return l->tail - number - 1 < l->tail - l->freed;
}

static inline uint64_t log_mix(uint64_t v)
{
	v *= UINT64_C(0x9e3779b97f4a7c15);
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 29;
}

/* The newest of a key's chain, which holds others, too. */
static inline uint32_t *log_chain(const struct log *l, uint32_t kind,
				  uint32_t a, uint32_t b)
{
	uint64_t v = log_mix(l->seed ^ ((uint64_t)a << 32 | b) ^
			     (uint64_t)kind << 17);

	return &l->chain[v & (l->room - 1)];
}

/*
 * Whole datagrams and pings have. The numbers of TCP and SCTP are known to all
 * sources, and no address translation changes them.
 */
static inline bool has_second_key(const struct sighting *s)
{
	return s->protocol != TCP && s->protocol != SCTP && !s->alias;
}

/*
 * Does the sender count IP ids? These stay when addresses are translated. An id
 * of 0 is that of all packets which must not be cut.
 */
static inline bool counts_ids(const struct sighting *s)
{
	return (s->fields & NETSYNC_HAS_IP_ID) && s->ip_id;
}

/*
 * What is left of a key where the first one differs on the way: with the
 * addresses, which were translated; or because one source knows of the payload
 * what another one does not.
 */
static inline uint32_t *log_second(const struct log *l, const struct sighting *s)
{
	uint64_t v = log_mix(l->seed ^ (uint64_t)s->protocol << 32 ^
			     (counts_ids(s) ? s->ip_id : ~(uint64_t)s->seq));

	return &l->second[(v ^ log_mix(s->len)) & (l->room - 1)];
}

#define BLOCK_SHIFT 16
#define BLOCK_KIND 256		/* not a protocol */

/* The block or id under which an alias is filed. */
static inline uint32_t alias_block(const struct sighting *s)
{
	if (s->protocol == UDP)
		return (uint16_t)(s->ip_id + s->alias);
	return ((s->seq >> BLOCK_SHIFT) + s->alias - 1) &
	       (UINT32_MAX >> BLOCK_SHIFT);
}

/* What it is filed under beside that: all parts have it in common. */
static inline uint32_t alias_rest(const struct sighting *s)
{
	return s->protocol == UDP ? s->seq : s->ack;
}

/* Same kind of key, same key; neither is an alias. */
static inline bool same_key(const struct sighting *a, const struct sighting *b)
{
	return a->seq == b->seq && a->ack == b->ack &&
	       a->protocol == b->protocol && !a->alias && !b->alias;
}

#endif
