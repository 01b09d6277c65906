// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat.h"
#include "parse.h"

/* Where the transport header starts and the packet ends, as skb offsets. */
struct extent {
	unsigned int start;
	unsigned int end;
};

/*
 * The end of a packet, @len bytes (as its length field says) after @base.
 * Behind it there may be padding, which is not part of the packet. The field
 * of a packet larger than it can say is zero (BIG TCP, jumbograms). Return: 0
 * if the packet is cut short.
 */
static unsigned int packet_end(const struct sk_buff *skb, unsigned int base,
			       __be16 len)
{
	unsigned int there = skb->len - base;

	if (!len && there > U16_MAX)
		return skb->len;
	return ntohs(len) <= there ? base + ntohs(len) : 0;
}

static bool parse_ipv4(const struct sk_buff *skb, struct netsync_tcp *seg,
		       struct extent *ext)
{
	unsigned int nhoff = skb_network_offset(skb);
	const struct iphdr *ip;
	struct iphdr copy;

	ip = skb_header_pointer(skb, nhoff, sizeof(copy), &copy);
	if (!ip || ip->version != 4 || ip->ihl < 5 ||
	    ip->protocol != IPPROTO_TCP || (ip->frag_off & htons(IP_OFFSET)))
		return false;
	ext->start = nhoff + ip->ihl * 4;
	ext->end = packet_end(skb, nhoff, ip->tot_len);
	ipv6_addr_set_v4mapped(ip->saddr, &seg->saddr);
	ipv6_addr_set_v4mapped(ip->daddr, &seg->daddr);
	seg->id = ntohs(ip->id);
	return true;
}

static bool parse_ipv6(const struct sk_buff *skb, struct netsync_tcp *seg,
		       struct extent *ext)
{
	unsigned int nhoff = skb_network_offset(skb);
	const struct ipv6hdr *ip;
	struct ipv6hdr copy;
	u8 nexthdr;

	ip = skb_header_pointer(skb, nhoff, sizeof(copy), &copy);
	if (!ip || ip->version != 6)
		return false;
	ext->start = nhoff + sizeof(*ip);
	ext->end = packet_end(skb, ext->start, ip->payload_len);
	seg->saddr = ip->saddr;
	seg->daddr = ip->daddr;
	seg->id = 0;
	nexthdr = ip->nexthdr;
	if (nexthdr != IPPROTO_TCP) {
		__be16 frag_off;
		int start;

		/* Ends at the fragment header of all but first fragments. */
		start = ipv6_skip_exthdr(skb, ext->start, &nexthdr, &frag_off);
		if (start < 0 || nexthdr != IPPROTO_TCP)
			return false;
		ext->start = start;
	}
	return true;
}

/* Options that make no sense end the search, as they do in the TCP stack. */
static void parse_options(const u8 *opt, unsigned int len,
			  struct netsync_tcp *seg)
{
	while (len && *opt != TCPOPT_EOL) {
		unsigned int size = 1;

		if (*opt != TCPOPT_NOP) {
			if (len < 2 || opt[1] < 2 || opt[1] > len)
				return;
			size = opt[1];
		}
		if (*opt == TCPOPT_TIMESTAMP && size == TCPOLEN_TIMESTAMP) {
			seg->has_ts = 1;
			seg->tsval = get_unaligned_be32(opt + 2);
			seg->tsecr = get_unaligned_be32(opt + 6);
			return;
		}
		opt += size;
		len -= size;
	}
}

bool netsync_parse_tcp(const struct sk_buff *skb, u8 family,
		       struct netsync_tcp *seg)
{
	unsigned int header, room;
	const struct tcphdr *th;
	struct tcphdr copy;
	struct extent ext;

	if (family == AF_INET ? !parse_ipv4(skb, seg, &ext) :
				!parse_ipv6(skb, seg, &ext))
		return false;
	if (ext.end < ext.start + sizeof(*th))
		return false;
	room = ext.end - ext.start;
	th = skb_header_pointer(skb, ext.start, sizeof(copy), &copy);
	if (!th)
		return false;
	header = th->doff * 4;
	if (header < sizeof(*th) || header > room)
		return false;

	seg->sk = (unsigned long)skb->sk;
	seg->seq = ntohl(th->seq);
	seg->ack_seq = ntohl(th->ack_seq);
	seg->check = ntohs((__force __be16)th->check);
	seg->window = ntohs(th->window);
	/* Bit-fields of tcphdr come and go; the word stays. */
	seg->flags = ntohl(tcp_flag_word(th)) >> 16;
	seg->sport = ntohs(th->source);
	seg->dport = ntohs(th->dest);
	seg->family = family;
	seg->len = room - header;
	seg->gso_segs = skb_shinfo(skb)->gso_segs;
	seg->gso_size = skb_shinfo(skb)->gso_size;
	seg->has_ts = 0;
	seg->tsval = 0;
	seg->tsecr = 0;
	if (header > sizeof(*th)) {
		u8 room_for_options[MAX_TCP_OPTION_SPACE];
		const u8 *opt;

		opt = skb_header_pointer(skb, ext.start + sizeof(*th),
					 header - sizeof(*th),
					 room_for_options);
		if (!opt)
			return false;
		parse_options(opt, header - sizeof(*th), seg);
	}
	return true;
}
