/* SPDX-License-Identifier: GPL-2.0-only */
/* One packet -> one flat record. Reads memory only, changes nothing. */
#ifndef NETSYNC_PARSE_H
#define NETSYNC_PARSE_H

#include <linux/in6.h>
#include <linux/types.h>

struct sk_buff;

/*
 * One TCP segment, all integers in host byte order. netsync-events.h says what
 * each field means; tracers copy them as they are.
 */
struct netsync_tcp {
	u64 sk;
	u32 seq;
	u32 ack_seq;
	u16 check;
	u16 window;
	u16 flags;
	struct in6_addr saddr;
	struct in6_addr daddr;
	u16 sport;
	u16 dport;
	u8 family;
	u16 id;
	u32 len;
	u16 gso_segs;
	u16 gso_size;
	u32 netns;
	u8 has_ts;
	u32 tsval;
	u32 tsecr;
};

/**
 * netsync_parse_tcp() - read the headers of a packet
 * @skb: the packet; its network header is set, its data may lie anywhere
 * @family: AF_INET or AF_INET6
 * @seg: filled in, but for netns, which a packet does not know
 *
 * Return: true if the packet holds a whole TCP header. If not, what @seg holds
 * is undefined.
 */
bool netsync_parse_tcp(const struct sk_buff *skb, u8 family,
		       struct netsync_tcp *seg);

#endif /* NETSYNC_PARSE_H */
