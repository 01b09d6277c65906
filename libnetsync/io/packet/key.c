// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compute a 64-bit key of a packet event by SipHash-1-3. The key is equal in all records of the
 * packet.
 */
#include <string.h>

#include "io/packet/key.h"
#include "io/packet/protocol.h"
#include "io/packet/siphash.h"

uint64_t packet_compute_key(const struct netsync_packet *pkt)
{
	const struct packet_protocol *protocol = packet_find_protocol(pkt->protocol);
	struct packet_key part = { 0 };
	struct {
		uint8_t addr[2][16];
		uint64_t digest;
		uint32_t word[3];
		uint16_t ports[2];
		uint16_t id;
		uint16_t flags;
		uint8_t protocol;
	} key;

	if (protocol)
		protocol->fill_key(&part, pkt);
	memset(&key, 0, sizeof(key));
	memcpy(key.addr[0], pkt->saddr, 16);
	memcpy(key.addr[1], pkt->daddr, 16);
	key.digest = part.digest;
	key.word[0] = part.word[0];
	key.word[1] = part.word[1];
	key.word[2] = pkt->len;
	key.ports[0] = pkt->sport;
	key.ports[1] = pkt->dport;
	key.id = pkt->ip_id;
	key.flags = part.flags;
	key.protocol = pkt->protocol;
	return siphash_1_3((const uint8_t *)&key, sizeof(key));
}

/*
 * Address translation changes addresses, ports and echo identifiers. The key therefore does not
 * include them.
 */
uint64_t packet_compute_nat_key(const struct netsync_packet *pkt)
{
	const struct packet_protocol *protocol = packet_find_protocol(pkt->protocol);
	struct packet_key part = { 0 };
	struct {
		uint64_t digest;
		uint32_t word[3];
		uint16_t flags;
		uint16_t protocol;
	} key;

	if (!(pkt->fields & NETSYNC_HAS_LEN) || !protocol || !protocol->fill_key_inside ||
	    !protocol->fill_key_inside(&part, pkt))
		return 0;
	memset(&key, 0, sizeof(key));
	key.digest = part.digest;
	key.word[0] = part.word[0];
	key.word[1] = part.word[1];
	key.word[2] = pkt->len;
	key.flags = part.flags;
	key.protocol = pkt->protocol;
	return siphash_1_3((const uint8_t *)&key, sizeof(key));
}
