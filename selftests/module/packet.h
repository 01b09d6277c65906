/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The textual form of a packet, one line. The text is the same whether the packet is read from a
 * tracer's output or from the network, so that sort and diff can compare them.
 */
#ifndef PACKET_H
#define PACKET_H

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

struct packet {
	const char *dir;  /* "in" or "out" */
	uint32_t ifindex; /* 0 if the packet was not seen at a device */
	uint16_t vlan;
	uint32_t netns, len;
	uint16_t sport, dport, id, gso_segs, gso_size;
	uint8_t protocol; /* IP protocol number; the number of ICMP also means ICMPv6 */
	uint8_t family;
	uint8_t saddr[16], daddr[16];
	union {
		struct {
			uint32_t seq, ack_seq, tsval, tsecr;
			uint16_t check, window, flags;
			uint8_t has_ts;
		} tcp;
		struct {
			uint64_t digest;
			uint16_t check;
			uint8_t check_final;
		} udp;
		struct {
			uint16_t id, seq;
			uint8_t type;
		} icmp;
		struct {
			uint32_t vtag, tsn;
			uint8_t chunk, has_tsn;
		} sctp;
	};
};

static inline void packet_print(const struct packet *p)
{
	char saddr[INET6_ADDRSTRLEN], daddr[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, p->saddr, saddr, sizeof(saddr));
	inet_ntop(AF_INET6, p->daddr, daddr, sizeof(daddr));
	if (p->ifindex)
		printf("dev=%" PRIu32 " vlan=%u ", p->ifindex, p->vlan);
	printf("%s netns=%" PRIu32 " family=%u %s %u -> %s %u ", p->dir, p->netns, p->family, saddr,
	       p->sport, daddr, p->dport);
	switch (p->protocol) {
	case IPPROTO_TCP:
		printf("seq=%" PRIu32 " ack_seq=%" PRIu32 " check=%04x window=%u flags=%04x",
		       p->tcp.seq, p->tcp.ack_seq, p->tcp.check, p->tcp.window, p->tcp.flags);
		break;
	case IPPROTO_UDP:
		printf("udp check=%04x,%u digest=%016" PRIx64, p->udp.check, p->udp.check_final,
		       p->udp.digest);
		break;
	case IPPROTO_ICMP:
		printf("icmp type=%u echo=%u,%u", p->icmp.type, p->icmp.id, p->icmp.seq);
		break;
	case IPPROTO_SCTP:
		printf("sctp vtag=%08" PRIx32 " chunk=%u tsn=%u,%" PRIu32, p->sctp.vtag,
		       p->sctp.chunk, p->sctp.has_tsn, p->sctp.tsn);
		break;
	}
	printf(" id=%u len=%" PRIu32 " gso=%ux%u", p->id, p->len, p->gso_segs, p->gso_size);
	if (p->protocol == IPPROTO_TCP)
		printf(" ts=%u,%" PRIu32 ",%" PRIu32, p->tcp.has_ts, p->tcp.tsval, p->tcp.tsecr);
	putchar('\n');
}

#endif /* PACKET_H */
