/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocols that are matched: a row of protocol.c for each. What matching
 * knows of a protocol is in its row and in its part of struct packet_record;
 * segmentation (segment.c) is TCP's and UDP's alone.
 */
#ifndef NETSYNC_MATCH_PROTOCOL_H
#define NETSYNC_MATCH_PROTOCOL_H

#include "match/record.h"

struct protocol {
	/* Fields (enum netsync_packet_fields) that a packet must have. */
	uint32_t needs;
	/*
	 * The key is in no part of addresses or ports: translated packets are
	 * found by it. Others have a second key.
	 */
	bool translation_keeps_key;
	/* Set the key, the protocol's part and the fields that it uses. */
	void (*fill)(struct packet_record *r, const struct netsync_packet *p);
	/*
	 * Do two records of one key agree in what both know, beyond addresses,
	 * ports, IP id and length, and what segmentation does not change?
	 */
	bool (*agree)(const struct packet_record *a,
		      const struct packet_record *b);
	/* The same, in what segmentation does change. */
	bool (*agree_whole)(const struct packet_record *a,
			    const struct packet_record *b);
	/*
	 * Do both know enough beyond the addresses to leave no doubt that they
	 * are of one packet, if they agree?
	 */
	bool (*identified)(const struct packet_record *a,
			   const struct packet_record *b);
};

/* NULL: it is not matched. */
const struct protocol *protocol_of(uint8_t number);

/* Neither a TCP timestamp nor an IP id tells a repetition from the first one. */
bool protocol_lacks_id(const struct packet_record *a,
		       const struct packet_record *b);

#endif
