/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A TCP segment as a line of text, the same whether it was read from a
 * tracer's output or from the packet itself, so that sort and diff compare.
 */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

struct segment {
	const char *dir;	/* "in" or "out" */
	uint32_t netns, seq, ack_seq, len, tsval, tsecr;
	uint16_t check, window, flags, sport, dport, id, gso_segs, gso_size;
	uint8_t family, has_ts;
	uint8_t saddr[16], daddr[16];
};

static inline void segment_print(const struct segment *seg)
{
	char saddr[INET6_ADDRSTRLEN], daddr[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, seg->saddr, saddr, sizeof(saddr));
	inet_ntop(AF_INET6, seg->daddr, daddr, sizeof(daddr));
	printf("%s netns=%" PRIu32 " family=%u %s %u -> %s %u seq=%" PRIu32
	       " ack_seq=%" PRIu32 " check=%04x window=%u flags=%04x id=%u"
	       " len=%" PRIu32 " gso=%ux%u ts=%u,%" PRIu32 ",%" PRIu32 "\n",
	       seg->dir, seg->netns, seg->family, saddr, seg->sport, daddr,
	       seg->dport, seg->seq, seg->ack_seq, seg->check, seg->window,
	       seg->flags, seg->id, seg->len, seg->gso_segs, seg->gso_size,
	       seg->has_ts, seg->tsval, seg->tsecr);
}

#endif /* SEGMENT_H */
