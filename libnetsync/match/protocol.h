/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protocols that are matched, each in a row of protocol.c. The row, and the protocol's
 * part of struct packet_record, contain all protocol-specific code of matching, except
 * for segmentation (segment.c), which only TCP and UDP have.
 */
#ifndef NETSYNC_MATCH_PROTOCOL_H
#define NETSYNC_MATCH_PROTOCOL_H

#include "match/record.h"

struct protocol {
	/* Fields that a packet must have (enum netsync_packet_fields). */
	uint32_t needs;
	/*
	 * The key contains no address or port, and therefore also finds translated
	 * packets. Other protocols have a second key.
	 */
	bool translation_keeps_key;
	/*
	 * Set the record's key, the protocol's part of the record, and the fields that
	 * the protocol uses.
	 */
	void (*fill)(struct packet_record *r, const struct netsync_packet *p);
	/*
	 * Do two records with one key agree in all other fields that both know and
	 * segmentation does not change, not counting addresses, ports, IP id and length?
	 */
	bool (*agree)(const struct packet_record *a, const struct packet_record *b);
	/* Do the records also agree in the fields that segmentation changes? */
	bool (*agree_whole)(const struct packet_record *a, const struct packet_record *b);
	/*
	 * Return a number that is equal for all records that can belong to one packet, or
	 * to one transmission, and that begin @behind bytes (UDP: datagrams) after the
	 * beginning of @r. See shard.h.
	 */
	uint64_t (*shard)(const struct packet_record *r, uint32_t behind);
	/*
	 * If both records agree, do they know enough fields, besides addresses, to be
	 * certainly of one packet?
	 */
	bool (*identified)(const struct packet_record *a, const struct packet_record *b);
};

/* Protocols by IP protocol number. NULL if the protocol is not matched. */
extern const struct protocol *const protocols[256];

static inline const struct protocol *protocol_find(uint8_t number)
{
	return protocols[number];
}

/*
 * Do the records have neither a TCP timestamp nor an IP id, which distinguish a
 * repetition from the first packet?
 */
bool protocol_lacks_id(const struct packet_record *a, const struct packet_record *b);

#endif
