/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet record: what matching keeps of a packet event. */
#ifndef NETSYNC_MATCH_RECORD_H
#define NETSYNC_MATCH_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"

/* What is known of the match, by now. */
enum {
	RECORD_MATCHED = 1,	  /* with a record of another host */
	RECORD_AMBIGUOUS = 2,	  /* could be of several packets, for good */
	RECORD_AMBIGUOUS_YET = 4, /* the same, by what was pushed so far */
	RECORD_EXAMINED = 8,	  /* all records of its key were compared */
	RECORD_EMITTED = 16,	  /* its message was handed out */
	RECORD_TRANSLATED = 32,	  /* matched under other addresses (NAT) */
	RECORD_TIMED = 64,	  /* its time in the host's stack was counted */
	RECORD_DECIDED = RECORD_MATCHED | RECORD_AMBIGUOUS |
			 RECORD_AMBIGUOUS_YET,
};

#define NO_PEER UINT32_MAX

/* IP's numbers of the protocols that are matched. */
enum { ICMP = 1, TCP = 6, UDP = 17, ICMPV6 = 58, SCTP = 132 };

struct packet_record {
	int64_t time;
	uint64_t skb;
	/*
	 * By protocol. The key is what all sources know, and what neither
	 * segmentation nor address translation changes, but for ports.
	 */
	union {
		uint32_t key[2];
		struct {
			uint32_t seq;
			uint32_t ack;
			uint32_t tsval;
			uint32_t tsecr;
			uint16_t window;
			uint16_t flags; /* data offset, reserved, flags */
		} tcp;
		struct {
			uint32_t ports;
			uint32_t id;	 /* IP id, or of the payload */
			uint64_t digest; /* of the payload */
			uint16_t checksum;
			uint16_t datagrams; /* that it stands for (offload) */
		} udp;
		struct {
			uint32_t id_seq;
			uint32_t type;
		} icmp;
		struct {
			uint32_t tag; /* verification tag */
			uint32_t tsn; /* or IP id, or length and chunk type */
			uint16_t chunks; /* type of the first; 256: has DATA */
		} sctp;
	};
	uint32_t addr[2]; /* digests of source and destination address */
	uint32_t host;
	uint32_t peer; /* the host that it was matched with */
	uint32_t point;
	uint32_t netns;
	uint32_t next;	      /* older one of the same hash value */
	uint32_t next_second; /* older one of the same second hash value */
	uint32_t len;
	uint16_t sport;
	uint16_t dport;
	uint16_t ip_id;
	uint16_t gso_size;
	uint16_t fields; /* enum netsync_packet_fields */
	uint8_t protocol;
	uint8_t dir;
	uint8_t state;
	/*
	 * 0, or this is a block index entry: the record so many numbers before
	 * is filed once more, under a block of the bytes that it carries (UDP:
	 * under an IP id that is that much higher).
	 */
	uint8_t block;
};

/* Both know the field. */
static inline bool both(const struct packet_record *a,
			const struct packet_record *b, int field)
{
	return a->fields & b->fields & field;
}

/*
 * Does the sender count IP ids? These stay when addresses are translated. An id
 * of 0 is that of all packets which must not be cut.
 */
static inline bool counts_ids(const struct packet_record *r)
{
	return (r->fields & NETSYNC_HAS_IP_ID) && r->ip_id;
}

static inline bool same_addresses(const struct packet_record *a,
				  const struct packet_record *b)
{
	return a->addr[0] == b->addr[0] && a->addr[1] == b->addr[1];
}

/* A TCP segment that is known to carry data. */
static inline bool has_data(const struct packet_record *r)
{
	return r->protocol == TCP && (r->fields & NETSYNC_HAS_LEN) && r->len;
}

/* Can it have been cut into parts, or put together of some? */
static inline bool may_be_segmented(const struct packet_record *r)
{
	return r->protocol == UDP || has_data(r);
}

/* Same kind of key, same key; neither is a block index entry. */
static inline bool same_key(const struct packet_record *a,
			    const struct packet_record *b)
{
	return a->key[0] == b->key[0] && a->key[1] == b->key[1] &&
	       a->protocol == b->protocol && !a->block && !b->block;
}

#endif
