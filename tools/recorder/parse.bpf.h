/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decide whether a packet in the kernel is recorded, and how many of its bytes. Later, the recorder
 * decides which of these bytes to keep (cut.c). It never keeps more than the bytes copied here.
 */
#ifndef NETSYNC_RECORDER_PARSE_BPF_H
#define NETSYNC_RECORDER_PARSE_BPF_H

#include "select.bpf.h"

/*
 * Maximum numbers of consecutive VLAN tags and IPv6 extension headers. Chosen, as in module/ and
 * cut.c.
 */
#define MOST_TAGS 4
#define MOST_EXTENSIONS 8

/* The verdict on a packet, of which @kept bytes are headers. */
enum verdict { PACKET_UNWANTED, PACKET_WANTED, PACKET_TOO_SHORT };

/* Find the network header. Return false if it was not copied. */
static __always_inline bool find_frame_network(struct seen_packet *p)
{
	struct probe_frame *frame = &p->frame;
	const __u8 *type;
	__u32 at = 12;

	p->network = frame->link_length;
	if (frame->device_type != ARPHRD_ETHER && frame->device_type != ARPHRD_LOOPBACK)
		return true;
	for (int i = 0; i <= MOST_TAGS; i++) {
		type = get_copied_bytes(p, at, 2);
		if (!type)
			return false;
		frame->protocol = get_u16(type);
		if (frame->protocol != ETH_P_8021Q && frame->protocol != ETH_P_8021AD)
			break;
		at += 4;
	}
	p->network = at + 2;
	return true;
}

/*
 * Return the offset of a packet's end, computed from the length in its header. This length is 0
 * if it does not fit into the header.
 */
static __always_inline __u32 find_packet_end(const struct seen_packet *p, __u32 base, __u16 len)
{
	return !len && p->length > base + 0xffff ? p->length : base + len;
}

static __always_inline bool read_ipv4(struct seen_packet *p)
{
	const __u8 *ip = get_copied_bytes(p, p->network, 20);

	if (!ip)
		return false;
	p->is_ipv4 = true;
	p->addresses = p->network + 12;
	p->end = find_packet_end(p, p->network, get_u16(ip + 2));
	p->protocol = ip[9];
	p->kept = p->network + (ip[0] & 15) * 4;
	p->transport = get_u16(ip + 6) & 0x1fff ? 0 : p->kept;
	return true;
}

/* Return the length of an extension header, or 0 if the header is of another type. */
static __always_inline __u32 measure_extension(const __u8 *bytes, __u8 type)
{
	switch (type) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
		return ((__u32)bytes[1] + 1) * 8;
	case IPPROTO_AH:
		return ((__u32)bytes[1] + 2) * 4;
	case IPPROTO_FRAGMENT:
		return 8;
	default:
		return 0;
	}
}

/*
 * Follow the IPv6 extension headers, starting at @transport. Return false if a header was not
 * copied.
 */
__noinline int skip_extensions(__u32 number)
{
	struct seen_packet *p = get_packet(number);

	if (!p)
		return false;
	for (int i = 0; i < MOST_EXTENSIONS; i++) {
		const __u8 *next = get_copied_bytes(p, p->transport, 8);
		__u32 len;

		/* The payload after the last header may be shorter. */
		if (!next)
			return p->protocol != IPPROTO_HOPOPTS && p->protocol != IPPROTO_ROUTING &&
			       p->protocol != IPPROTO_DSTOPTS && p->protocol != IPPROTO_AH &&
			       p->protocol != IPPROTO_FRAGMENT;
		len = measure_extension(next, p->protocol);
		if (!len)
			return true;
		p->kept = p->transport + len;
		if (p->protocol == IPPROTO_FRAGMENT && get_u16(next + 2) & 0xfff8) {
			p->transport = 0;
			return true;
		}
		p->protocol = next[0];
		p->transport = p->kept;
	}
	return true;
}

static __always_inline bool read_ipv6(struct seen_packet *p, __u32 number)
{
	const __u8 *ip = get_copied_bytes(p, p->network, 40);

	if (!ip)
		return false;
	p->is_ipv4 = false;
	p->addresses = p->network + 8;
	p->protocol = ip[6];
	p->transport = p->network + 40;
	p->kept = p->transport;
	p->end = find_packet_end(p, p->transport, get_u16(ip + 4));
	return skip_extensions(number);
}

/* Return the length of a transport header that is kept, or 0 for an unknown transport. */
static __always_inline __u32 measure_transport(const __u8 *bytes, __u8 protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return bytes[12] >> 4 > 5 ? (__u32)(bytes[12] >> 4) * 4 : 20;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return 8;
	case IPPROTO_SCTP:
		return 12 + 16;
	case IPPROTO_DCCP:
		return 16 + 8;
	default:
		return 0;
	}
}

static __always_inline bool are_ports_wanted(const struct seen_packet *p, const __u8 *bytes,
					     const volatile struct probe_settings *s)
{
	const __u16 from = get_u16(bytes), to = get_u16(bytes + 2);

	if (!has_ports(p))
		return !s->num_ports;
	return (!s->num_ports || is_port_wanted(from, to)) &&
	       !(p->protocol == IPPROTO_TCP && is_own_connection(s, from, to));
}

/* Return the port of this end. For ICMP echo requests and replies, return the identifier. */
static __always_inline __u16 get_local_port(const struct seen_packet *p, const __u8 *bytes)
{
	if (has_ports(p))
		return get_u16(bytes + (p->frame.is_out ? 0 : 2));
	return p->protocol == IPPROTO_ICMP || p->protocol == IPPROTO_ICMPV6 ? get_u16(bytes + 4) :
									      0;
}

/* Examine the transport header. */
__noinline int select_transport(__u32 number)
{
	struct seen_packet *p = get_packet(number);
	const __u8 *bytes;

	if (!p)
		return PACKET_UNWANTED;
	bytes = get_copied_bytes(p, p->transport, p->protocol == IPPROTO_TCP ? 20 : 8);
	p->kept = p->length;
	if (!bytes)
		return PACKET_TOO_SHORT;
	p->kept = p->transport + measure_transport(bytes, p->protocol);
	if (p->kept > p->transport)
		p->kept += settings.payload;
	if (!are_ports_wanted(p, bytes, &settings) ||
	    (settings.cgroup && !is_group_wanted(p, get_local_port(p, bytes))))
		return PACKET_UNWANTED;
	if (!settings.sampling)
		return PACKET_WANTED;
	/* The payload that is digested must have been copied. */
	if (p->protocol == IPPROTO_UDP && p->copied < p->length &&
	    p->transport + 8 + DIGEST_BYTES > p->copied)
		return PACKET_TOO_SHORT;
	return sample_packet(number, settings.sampling) ? PACKET_WANTED : PACKET_UNWANTED;
}

/* Are only packets of certain ports, addresses or groups recorded? */
static __always_inline bool is_selective(const volatile struct probe_settings *s)
{
	return s->num_addresses || s->num_ports || s->cgroup;
}

/*
 * Decide on a packet. The result PACKET_TOO_SHORT means that a header was not copied; @kept is
 * then the size of the headers before it.
 */
__noinline int parse_packet(__u32 number)
{
	struct seen_packet *p = get_packet(number);

	if (!p)
		return PACKET_UNWANTED;
	p->kept = p->length;
	if (!find_frame_network(p))
		return PACKET_TOO_SHORT;
	p->kept = p->network;
	if (p->frame.protocol != ETH_P_IP && p->frame.protocol != ETH_P_IPV6) {
		if (p->frame.protocol == ETH_P_ARP)
			p->kept = p->length;
		return is_selective(&settings) ? PACKET_UNWANTED : PACKET_WANTED;
	}
	if (p->frame.protocol == ETH_P_IP ? !read_ipv4(p) : !read_ipv6(p, number))
		return PACKET_TOO_SHORT;
	if (settings.num_addresses && !is_address_wanted(number))
		return PACKET_UNWANTED;
	if (!p->transport)
		return settings.num_ports || settings.cgroup ? PACKET_UNWANTED : PACKET_WANTED;
	return select_transport(number);
}

#endif
