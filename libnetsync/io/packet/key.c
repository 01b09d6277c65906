// SPDX-License-Identifier: LGPL-2.1-or-later
/* A packet event -> a number that is the same for all sightings of the packet. */
#include <netinet/in.h>
#include <string.h>

#include "io/packet/key.h"
#include "io/packet/siphash.h"

/* Segmentation changes these flags of TCP: PSH, FIN and CWR. */
#define CHANGED_FLAGS 0x0089

uint64_t packet_key(const struct netsync_packet *pkt)
{
	struct {
		uint8_t addr[2][16];
		uint64_t digest;
		uint32_t word[3];
		uint16_t ports[2];
		uint16_t id;
		uint16_t flags;
		uint8_t protocol;
	} key;

	memset(&key, 0, sizeof(key));
	memcpy(key.addr[0], pkt->saddr, 16);
	memcpy(key.addr[1], pkt->daddr, 16);
	key.ports[0] = pkt->sport;
	key.ports[1] = pkt->dport;
	key.id = pkt->ip_id;
	key.protocol = pkt->protocol;
	key.word[2] = pkt->len;
	switch (pkt->protocol) {
	case IPPROTO_TCP:
		key.word[0] = pkt->tcp.seq;
		key.word[1] = pkt->tcp.ack;
		key.flags = pkt->tcp.flags & (uint16_t)~CHANGED_FLAGS;
		break;
	case IPPROTO_SCTP:
		key.word[0] = pkt->sctp.vtag;
		key.word[1] = pkt->sctp.tsn;
		key.flags = pkt->sctp.chunk;
		break;
	case IPPROTO_UDP:
		key.digest = pkt->udp.digest;
		break;
	default:
		key.word[0] = (uint32_t)pkt->icmp.id << 16 | pkt->icmp.seq;
		key.flags = pkt->icmp.type;
		break;
	}
	return siphash_1_3((const uint8_t *)&key, sizeof(key));
}

/*
 * Routers leave sequence numbers alone, which are random from the start, and what
 * is in a datagram, but not addresses, ports and the ids of echoes.
 */
uint64_t packet_key_inside(const struct netsync_packet *pkt)
{
	struct {
		uint64_t digest;
		uint32_t word[3];
		uint16_t flags;
		uint16_t protocol;
	} key;

	memset(&key, 0, sizeof(key));
	if (!(pkt->fields & NETSYNC_HAS_LEN))
		return 0;
	key.protocol = pkt->protocol;
	key.word[2] = pkt->len;
	if (pkt->protocol == IPPROTO_TCP) {
		key.word[0] = pkt->tcp.seq;
		key.word[1] = pkt->tcp.ack;
		key.flags = pkt->tcp.flags & (uint16_t)~CHANGED_FLAGS;
	} else if (pkt->protocol == IPPROTO_UDP &&
		   (pkt->fields & NETSYNC_HAS_DIGEST)) {
		key.digest = pkt->udp.digest;
		key.word[0] = pkt->ip_id;
	} else {
		return 0;
	}
	return siphash_1_3((const uint8_t *)&key, sizeof(key));
}
