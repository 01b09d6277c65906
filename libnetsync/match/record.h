/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet record contains what the matcher stores of a packet event. */
#ifndef NETSYNC_MATCH_RECORD_H
#define NETSYNC_MATCH_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"

/* States of a record, as bits. */
enum {
	RECORD_MATCHED = 1,	  /* matched with another host's record */
	RECORD_AMBIGUOUS = 2,	  /* finally ambiguous between several packets */
	RECORD_AMBIGUOUS_YET = 4, /* ambiguous, judging by the records so far */
	RECORD_EXAMINED = 8,	  /* all records with its key were compared */
	RECORD_EMITTED = 16,	  /* its message was reported */
	RECORD_TRANSLATED = 32,	  /* matched under other addresses (NAT) */
	RECORD_TIMED = 64,	  /* the time in its host's stack was counted */
	RECORD_COPY = 128,	  /* decided and counted in another shard */
	RECORD_DECIDED = RECORD_MATCHED | RECORD_AMBIGUOUS | RECORD_AMBIGUOUS_YET,
};

#define NO_PEER UINT32_MAX

/* IP protocol numbers of the protocols that are matched. */
enum { ICMP = 1, TCP = 6, UDP = 17, ICMPV6 = 58, SCTP = 132 };

struct packet_record {
	int64_t time;
	uint64_t skb;
	/*
	 * The part of each protocol. The first 8 bytes are the key. The key consists of fields that
	 * all sources report and that segmentation does not change. Address translation changes
	 * none of them but the ports.
	 */
	union {
		uint32_t key[2];
		struct {
			uint32_t seq;
			uint32_t ack;
			uint32_t tsval;
			uint32_t tsecr;
			uint16_t window;
			uint16_t flags; /* data offset, reserved bits and flags */
		} tcp;
		struct {
			uint32_t ports;
			uint32_t id;	 /* IP id; without an id, the digest or the length */
			uint64_t digest; /* digest of the payload */
			uint16_t checksum;
			uint16_t datagrams; /* number of datagrams; more than 1 with offload */
		} udp;
		struct {
			uint32_t id_seq;
			uint32_t type;
		} icmp;
		struct {
			uint32_t tag; /* verification tag */
			uint32_t tsn; /* TSN or IP id; without both, length and chunk type */
			/* Type of the first chunk. If the packet has DATA, 256 is added. */
			uint16_t chunks;
		} sctp;
	};
	uint32_t addr[2]; /* digests of the source and destination addresses */
	uint32_t host;
	uint32_t peer; /* host whose record this record matches */
	uint32_t point;
	uint32_t netns;
	uint32_t next;	      /* number of the next older record in this chain */
	uint32_t next_second; /* number of the next older record in the second chain */
	uint32_t number;      /* counts the records of all shards in the order of events; wraps */
	uint32_t len;
	uint16_t sport;
	uint16_t dport;
	uint16_t ip_id;
	uint16_t gso_size;
	uint16_t fields; /* which fields are known (enum netsync_packet_fields) */
	uint8_t protocol;
	uint8_t dir;
	uint8_t state;
	/*
	 * 0 for a record. Otherwise, this is a block index entry for the record whose number is
	 * lower by @block. The entry files this record again, under a block of its bytes (UDP:
	 * under an IP id that is higher by @block).
	 */
	uint8_t block;
};

/* Return whether both records have the field. */
static inline bool record_both_have(const struct packet_record *a, const struct packet_record *b,
				    int field)
{
	return a->fields & b->fields & field;
}

/*
 * Return whether the sender counts IP ids, which address translation does not change. All packets
 * that must not be fragmented have the id 0.
 */
static inline bool record_counts_ip_ids(const struct packet_record *r)
{
	return (r->fields & NETSYNC_HAS_IP_ID) && r->ip_id;
}

static inline bool have_same_addresses(const struct packet_record *a, const struct packet_record *b)
{
	return a->addr[0] == b->addr[0] && a->addr[1] == b->addr[1];
}

/* Return whether the record is a TCP segment that is known to carry data. */
static inline bool has_tcp_data(const struct packet_record *r)
{
	return r->protocol == TCP && (r->fields & NETSYNC_HAS_LEN) && r->len;
}

/* Return whether the record may have been segmented, or merged from several. */
static inline bool may_be_segmented(const struct packet_record *r)
{
	return r->protocol == UDP || has_tcp_data(r);
}

/*
 * Return whether the record is decided and counted in this shard. Block index entries and copies
 * are not decided. These entries only serve to find records that begin inside of a segment.
 */
static inline bool record_is_own(const struct packet_record *r)
{
	return !r->block && !(r->state & RECORD_COPY);
}

/* Return whether two records have the same key. Block index entries have no key. */
static inline bool have_same_key(const struct packet_record *a, const struct packet_record *b)
{
	return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->protocol == b->protocol &&
	       !a->block && !b->block;
}

/*
 * log2 of the size of a block (64 KiB). Most offloads put at most 64 KiB into one segment, so that
 * the segment is in at most two blocks. Chosen.
 */
#define BLOCK_SHIFT 16

/* The shards that match a record; see netsync_packet_shards(). */
struct shards {
	uint32_t home; /* the shard that decides and counts the record */
	uint32_t all;  /* bit mask of home, and of the shards of parts that begin later */
};

#define ALL_SHARDS ((UINT32_C(1) << NETSYNC_SHARDS) - 1)

/* Create the record for a packet event of a supported protocol. Do not fill in its addresses. */
void record_fill(struct packet_record *s, const struct netsync_packet *p);

/*
 * Return the number of block index entries (blocks, or IP ids) for a record. With these entries, a
 * search finds records that begin inside of the segment.
 */
uint32_t record_count_blocks(const struct packet_record *s);

/* Return the shards that match a record. @blocks is the result of record_count_blocks(). */
struct shards record_find_shards(const struct packet_record *s, uint32_t blocks);

#endif
