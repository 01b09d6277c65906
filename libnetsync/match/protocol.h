/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocols that are matched. Each protocol has a row in protocol.c. All protocol-specific code
 * of matching is in these rows and in the protocol's part of struct packet_record, except for
 * segmentation (segment.c), which only TCP and UDP have.
 */
#ifndef NETSYNC_MATCH_PROTOCOL_H
#define NETSYNC_MATCH_PROTOCOL_H

#include "match/record.h"

struct protocol {
	/* Fields that a packet must have (enum netsync_packet_fields). */
	uint32_t needs;
	/*
	 * Whether the key contains no address or port, so that it also finds translated packets.
	 * All other protocols have a second key.
	 */
	bool translation_keeps_key;
	/*
	 * Set the record's key, the protocol's part of the record, and which fields the protocol
	 * uses.
	 */
	void (*fill)(struct packet_record *r, const struct netsync_packet *p);
	/*
	 * Return whether two records with equal keys agree in all other fields that both have and
	 * that segmentation does not change. Addresses, ports, IP id and length are not compared.
	 */
	bool (*agree)(const struct packet_record *a, const struct packet_record *b);
	/* Return whether the records also agree in the fields that segmentation changes. */
	bool (*agree_whole)(const struct packet_record *a, const struct packet_record *b);
	/*
	 * Return a number that is equal for all records that can belong to one packet or one
	 * transmission and that begin @behind bytes (UDP: datagrams) after the beginning of @r. See
	 * shard.h.
	 */
	uint64_t (*shard)(const struct packet_record *r, uint32_t behind);
	/*
	 * If two records agree, return whether they have enough fields, besides addresses, to
	 * certainly belong to one packet.
	 */
	bool (*identified)(const struct packet_record *a, const struct packet_record *b);
};

/* Protocols by their IP protocol number. NULL if the protocol is not matched. */
extern const struct protocol *const protocols[256];

static inline const struct protocol *protocol_find(uint8_t number)
{
	return protocols[number];
}

/*
 * Return whether the records have neither a TCP timestamp nor an IP id, by which a repetition can
 * be distinguished from the first packet.
 */
bool protocol_lacks_id(const struct packet_record *a, const struct packet_record *b);

#endif
