// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse the packet in a captured frame by the same rules as module/parse.c. */
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "io/packet/address.h"
#include "io/packet/protocol.h"

/* Link types of libpcap that can carry IP (tcpdump.org/linktypes.html). */
enum {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_RAW_BSD = 12,
	LINK_RAW_OPENBSD = 14,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_SLL = 113,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_SLL2 = 276
};

/*
 * Maximum number of VLAN tags in a frame. Networks use up to two (802.1ad). Chosen as in the
 * module.
 */
#define MAX_VLAN_TAGS 4
#define ETHERTYPE_QINQ 0x88a8
#define ETHERTYPE_QINQ_OLD 0x9100

/* ---- links ------------------------------------------------------------- */

bool frame_is_link_known(uint16_t link)
{
	switch (link) {
	case LINK_NULL:
	case LINK_ETHERNET:
	case LINK_RAW_BSD:
	case LINK_RAW_OPENBSD:
	case LINK_RAW:
	case LINK_LOOP:
	case LINK_SLL:
	case LINK_IPV4:
	case LINK_IPV6:
	case LINK_SLL2:
		return true;
	default:
		return false;
	}
}

/*
 * Return the size of the link header (bytes). If there is no link header, return 1, which stands
 * for the first byte of the IP header. This byte contains the IP version.
 */
static size_t get_link_header_size(uint16_t link)
{
	switch (link) {
	case LINK_ETHERNET:
		return ETHER_HDR_LEN;
	case LINK_SLL:
		return 16;
	case LINK_SLL2:
		return 20;
	case LINK_NULL:
	case LINK_LOOP:
		return 4;
	default:
		return 1;
	}
}

/*
 * Return the EtherType for an address family of BSD's loopback devices. IPv6 is 10 on Linux, 24
 * on NetBSD and OpenBSD, 28 on FreeBSD, and 30 on macOS (LINKTYPE_NULL).
 */
static uint16_t get_family_protocol(uint32_t family)
{
	switch (family) {
	case 2:
		return ETHERTYPE_IP;
	case 10:
	case 24:
	case 28:
	case 30:
		return ETHERTYPE_IPV6;
	default:
		return 0;
	}
}

/*
 * Return the direction for a packet type of packet(7). PACKET_OUTGOING is 4. Received packets have
 * 0 to 3.
 */
static enum frame_mark find_frame_mark(unsigned int packet_type)
{
	return packet_type == 4 ? FRAME_OUT : packet_type < 4 ? FRAME_IN : FRAME_UNMARKED;
}

static enum frame_result skip_frame_vlan_tags(const struct captured_frame *frame,
					      struct frame_link *is)
{
	for (int i = 0; i < MAX_VLAN_TAGS; i++) {
		if (is->protocol != ETHERTYPE_VLAN && is->protocol != ETHERTYPE_QINQ &&
		    is->protocol != ETHERTYPE_QINQ_OLD)
			break;
		if (frame->captured < is->network + 4)
			return FRAME_CUT;
		is->protocol = load_be16(frame->data + is->network + 2);
		is->network += 4;
	}
	return is->protocol == ETHERTYPE_IP || is->protocol == ETHERTYPE_IPV6 ? FRAME_PACKET :
										FRAME_OTHER;
}

enum frame_result frame_read_link(const struct captured_frame *frame, uint16_t link, bool swapped,
				  struct frame_link *is)
{
	const uint8_t *data = frame->data;
	uint32_t family;

	*is = (struct frame_link){ .mark = FRAME_UNMARKED };
	if (frame->captured < get_link_header_size(link))
		return FRAME_CUT;
	switch (link) {
	case LINK_ETHERNET:
		is->to = data;
		is->from = data + MAC_SIZE;
		is->protocol = load_be16(data + 2 * MAC_SIZE);
		is->network = ETHER_HDR_LEN;
		break;
	case LINK_SLL:
		is->mark = find_frame_mark(load_be16(data));
		is->protocol = load_be16(data + 14);
		is->network = 16;
		break;
	case LINK_SLL2:
		is->protocol = load_be16(data);
		is->device = load_be32(data + 4);
		is->mark = find_frame_mark(data[10]);
		is->network = 20;
		break;
	case LINK_NULL:
	case LINK_LOOP:
		/*
		 * LINK_NULL has the byte order of the capturing host. LINK_LOOP has network order.
		 */
		memcpy(&family, data, sizeof(family));
		if (link == LINK_LOOP)
			family = load_be32(data);
		else if (swapped)
			family = __builtin_bswap32(family);
		is->protocol = get_family_protocol(family);
		is->network = 4;
		break;
	default:
		is->protocol = data[0] >> 4 == 4 ? ETHERTYPE_IP :
			       data[0] >> 4 == 6 ? ETHERTYPE_IPV6 :
						   0;
		break;
	}
	return skip_frame_vlan_tags(frame, is);
}

/* ---- IP ---------------------------------------------------------------- */

/*
 * Find the end of a packet, which is @base plus the length field in @bytes. If the field is 0 (BIG
 * TCP, or because the device had to fill in the field), use the end of the frame. If the frame was
 * shorter than its packet even on the wire, return 0.
 */
static size_t find_frame_packet_end(const struct captured_frame *frame, size_t base, size_t bytes)
{
	if (!bytes)
		return frame->original;
	return base + bytes <= frame->original ? base + bytes : 0;
}

static enum frame_result read_frame_ipv4(const struct captured_frame *frame, size_t at,
					 struct transport *p, struct netsync_packet *pkt)
{
	const uint8_t *ip = frame->data + at;

	if (!transport_has_bytes(p, at, 20))
		return FRAME_CUT;
	p->start = at + (ip[0] & 15) * 4u;
	p->end = find_frame_packet_end(frame, at, load_be16(ip + 2));
	p->addrs = ip + 12;
	p->addr_len = 4;
	p->protocol = ip[9];
	p->is_part = load_be16(ip + 6) & 0x2000;
	pkt->ip_id = load_be16(ip + 4);
	pkt->fields |= NETSYNC_HAS_IP_ID;
	if (ip[0] >> 4 != 4 || p->start < at + 20 || p->end < p->start ||
	    load_be16(ip + 6) & 0x1fff)
		return FRAME_OTHER;
	return FRAME_PACKET;
}

/* Skip IPv6 extension headers (RFC 8200, 4). Non-first fragments have no transport header. */
static enum frame_result skip_ipv6_extensions(struct transport *p)
{
	for (;;) {
		const uint8_t *header = p->data + p->start;
		bool is_header = p->protocol == IPPROTO_HOPOPTS || p->protocol == IPPROTO_ROUTING ||
				 p->protocol == IPPROTO_DSTOPTS ||
				 p->protocol == IPPROTO_FRAGMENT || p->protocol == IPPROTO_AH;

		if (!is_header)
			return FRAME_PACKET;
		if (p->end < p->start || p->end - p->start < 8)
			return FRAME_OTHER;
		if (!transport_has_bytes(p, p->start, 8))
			return FRAME_CUT;
		if (p->protocol == IPPROTO_FRAGMENT) {
			if (load_be16(header + 2) & 0xfff8)
				return FRAME_OTHER;
			p->is_part = header[3] & 1;
			p->start += 8;
		} else if (p->protocol == IPPROTO_AH) {
			p->start += (header[1] + 2u) * 4;
		} else {
			p->start += (header[1] + 1u) * 8;
		}
		p->protocol = header[0];
	}
}

static enum frame_result read_frame_ipv6(const struct captured_frame *frame, size_t at,
					 struct transport *p)
{
	const uint8_t *ip = frame->data + at;
	enum frame_result result;

	if (!transport_has_bytes(p, at, 40))
		return FRAME_CUT;
	p->start = at + 40;
	p->end = find_frame_packet_end(frame, p->start, load_be16(ip + 4));
	p->addrs = ip + 8;
	p->addr_len = 16;
	p->protocol = ip[6];
	if (ip[0] >> 4 != 6 || p->end < p->start)
		return FRAME_OTHER;
	result = skip_ipv6_extensions(p);
	return p->end < p->start ? FRAME_OTHER : result;
}

bool frame_read_addresses(const struct captured_frame *frame, const struct frame_link *link,
			  uint8_t from[16], uint8_t to[16])
{
	const bool is_v4 = link->protocol == ETHERTYPE_IP;
	const size_t len = is_v4 ? 4 : 16, at = link->network + (is_v4 ? 12 : 8);

	if ((!is_v4 && link->protocol != ETHERTYPE_IPV6) || frame->captured < at + 2 * len)
		return false;
	address_copy(from, frame->data + at, len);
	address_copy(to, frame->data + at + len, len);
	return true;
}

enum frame_result frame_read_packet(const struct captured_frame *frame,
				    const struct frame_link *link, struct netsync_packet *pkt)
{
	struct transport p = { .data = frame->data, .captured = frame->captured };
	const struct packet_protocol *protocol;
	enum frame_result result;

	memset(pkt, 0, sizeof(*pkt));
	if (link->protocol == ETHERTYPE_IP)
		result = read_frame_ipv4(frame, link->network, &p, pkt);
	else
		result = read_frame_ipv6(frame, link->network, &p);
	if (result != FRAME_PACKET)
		return result;
	pkt->protocol = p.protocol;
	address_copy(pkt->saddr, p.addrs, p.addr_len);
	address_copy(pkt->daddr, p.addrs + p.addr_len, p.addr_len);
	pkt->fields |= NETSYNC_HAS_ADDRS;
	protocol = packet_find_protocol(p.protocol);
	return protocol ? protocol->read_frame(&p, pkt) : FRAME_OTHER;
}
