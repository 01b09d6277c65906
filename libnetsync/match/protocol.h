/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocols that are matched, each a row of protocol.c. All protocol-specific code of
 * matching is in the row and in the protocol's part of struct packet_record, except for
 * segmentation (segment.c), which only TCP and UDP have.
 */
#ifndef NETSYNC_MATCH_PROTOCOL_H
#define NETSYNC_MATCH_PROTOCOL_H

#include "match/record.h"

struct protocol {
	/* Fields (enum netsync_packet_fields) that a packet must have. */
	uint32_t needs;
	/*
	 * The key has no address or port, and therefore finds translated packets. Other
	 * protocols have a second key.
	 */
	bool translation_keeps_key;
	/* Set the key, the protocol's part and the fields that it uses. */
	void (*fill)(struct packet_record *r, const struct netsync_packet *p);
	/*
	 * Do two records of one key agree in all that both know, beyond addresses, ports,
	 * IP id and length, and that segmentation does not change?
	 */
	bool (*agree)(const struct packet_record *a, const struct packet_record *b);
	/* The same for fields that segmentation does change. */
	bool (*agree_whole)(const struct packet_record *a, const struct packet_record *b);
	/*
	 * A number that is equal for all records that can belong to one packet, or to one
	 * transmission, and that begin @behind bytes (UDP: datagrams) after the beginning of
	 * @r. See shard.h.
	 */
	uint64_t (*shard)(const struct packet_record *r, uint32_t behind);
	/*
	 * Do both records, if they agree, know enough fields beyond addresses to be
	 * certainly of one packet?
	 */
	bool (*identified)(const struct packet_record *a, const struct packet_record *b);
};

/* Protocols by their IP protocol number; NULL if the protocol is not matched. */
extern const struct protocol *const protocols[256];

static inline const struct protocol *protocol_by_number(uint8_t number)
{
	return protocols[number];
}

/*
 * Can a repetition be distinguished from the first packet neither by a TCP timestamp nor by an
 * IP id?
 */
bool protocol_lacks_id(const struct packet_record *a, const struct packet_record *b);

#endif
