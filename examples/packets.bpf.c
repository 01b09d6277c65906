// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write each TCP packet that a device sends or receives to a ring buffer. The packets
 * come from the kernel's own tracepoints net_dev_queue and netif_receive_skb, so that no
 * module needs to be loaded.
 *
 *	clang -O2 -g -target bpf -I/usr/include/$(uname -m)-linux-gnu -c \
 *		-o packets.bpf.o packets.bpf.c
 *
 * Debian has asm/types.h in the directory given by -I. Other distributions need no -I.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "packets.h"

char LICENSE[] SEC("license") = "GPL";

/* Members of kernel structures that this program reads; libbpf relocates them. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
};

struct sk_buff {
	struct net_device *dev;
	unsigned char *head;
	unsigned char *data;
	__u16 network_header;
	__be16 protocol;
};
#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} packets SEC(".maps");

/* Read an IPv4 or IPv6 header without its options. Return false for protocols other than TCP. */
static bool read_ip(struct packet *packet, const void *header, __be16 protocol, __u32 *size,
		    __u32 *total)
{
	struct ipv6hdr ip6;
	struct iphdr ip4;

	if (protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_probe_read_kernel(&ip4, sizeof(ip4), header) ||
		    ip4.protocol != IPPROTO_TCP || ip4.frag_off & bpf_htons(0x3fff))
			return false;
		packet->saddr[10] = packet->saddr[11] = 0xff;
		packet->daddr[10] = packet->daddr[11] = 0xff;
		__builtin_memcpy(packet->saddr + 12, &ip4.saddr, 4);
		__builtin_memcpy(packet->daddr + 12, &ip4.daddr, 4);
		*size = ip4.ihl * 4;
		*total = bpf_ntohs(ip4.tot_len);
		return true;
	}
	if (protocol != bpf_htons(ETH_P_IPV6) || bpf_probe_read_kernel(&ip6, sizeof(ip6), header) ||
	    ip6.nexthdr != IPPROTO_TCP)
		return false;
	__builtin_memcpy(packet->saddr, &ip6.saddr, 16);
	__builtin_memcpy(packet->daddr, &ip6.daddr, 16);
	*size = sizeof(ip6);
	*total = sizeof(ip6) + bpf_ntohs(ip6.payload_len);
	return true;
}

static int see(struct sk_buff *skb, const void *header, bool is_in)
{
	struct packet packet = { .time_ns = bpf_ktime_get_ns(), .is_in = is_in };
	struct tcphdr tcp;
	__u32 size, total;
	__be16 flags;

	if (!read_ip(&packet, header, skb->protocol, &size, &total) ||
	    bpf_probe_read_kernel(&tcp, sizeof(tcp), header + size) ||
	    bpf_probe_read_kernel(&flags, sizeof(flags), header + size + 12))
		return 0;
	packet.netns = skb->dev->nd_net.net->ns.inum;
	packet.ifindex = skb->dev->ifindex;
	packet.sport = bpf_ntohs(tcp.source);
	packet.dport = bpf_ntohs(tcp.dest);
	packet.seq = bpf_ntohl(tcp.seq);
	packet.ack = bpf_ntohl(tcp.ack_seq);
	packet.flags = bpf_ntohs(flags);
	packet.window = bpf_ntohs(tcp.window);
	packet.len = total - size - tcp.doff * 4;
	bpf_ringbuf_output(&packets, &packet, sizeof(packet), 0);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(sent, struct sk_buff *skb)
{
	return see(skb, skb->head + skb->network_header, false);
}

/* In received packets, data points to the byte after the link header. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(received, struct sk_buff *skb)
{
	return see(skb, skb->data, true);
}
