/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocols that are matched, a row of protocol.c each. All that matching knows of a
 * protocol is in its row and in its part of struct packet_record, but for segmentation
 * (segment.c), which only TCP and UDP have.
 */
#ifndef NETSYNC_MATCH_PROTOCOL_H
#define NETSYNC_MATCH_PROTOCOL_H

#include "match/record.h"

struct protocol {
	/* Fields (enum netsync_packet_fields) that a packet must have. */
	uint32_t needs;
	/*
	 * The key contains no address or port, so that it finds translated packets. Other
	 * protocols have a second key.
	 */
	bool translation_keeps_key;
	/* Set the key, the protocol's part and the fields that it uses. */
	void (*fill)(struct packet_record *r, const struct netsync_packet *p);
	/*
	 * Do two records of one key agree in all that both know, beyond addresses, ports,
	 * IP id and length, and that segmentation does not change?
	 */
	bool (*agree)(const struct packet_record *a,
		      const struct packet_record *b);
	/* The same for what segmentation does change. */
	bool (*agree_whole)(const struct packet_record *a,
			    const struct packet_record *b);
	/*
	 * A number that is the same for all records that can be of one packet, or of
	 * one transmission, and begin so many bytes (UDP: datagrams) behind the
	 * beginning of @r. See shard.h.
	 */
	uint64_t (*shard)(const struct packet_record *r, uint32_t behind);
	/*
	 * Do both records know enough beyond addresses to be certainly of one packet, if
	 * they agree?
	 */
	bool (*identified)(const struct packet_record *a,
			   const struct packet_record *b);
};

/* Protocols by their IP protocol number. NULL: the protocol is not matched. */
extern const struct protocol *const protocols[256];

static inline const struct protocol *protocol_by_number(uint8_t number)
{
	return protocols[number];
}

/*
 * Can a repetition be distinguished from the first packet neither by a TCP timestamp nor by an
 * IP id?
 */
bool protocol_lacks_id(const struct packet_record *a,
		       const struct packet_record *b);

#endif
