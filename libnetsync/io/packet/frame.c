// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes of a captured frame -> the packet in it, as the module reads one. */
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "io/packet/address.h"
#include "io/packet/event.h"
#include "io/packet/frame.h"
#include "io/packet/siphash.h"

/* Those of libpcap's link types that carry IP (tcpdump.org/linktypes.html). */
enum { LINK_NULL = 0, LINK_ETHERNET = 1, LINK_RAW_BSD = 12, LINK_RAW_OPENBSD = 14,
       LINK_RAW = 101, LINK_LOOP = 108, LINK_SLL = 113, LINK_IPV4 = 228,
       LINK_IPV6 = 229, LINK_SLL2 = 276 };

/* More tags, one in the other, than a network could have a reason for. As in the module. */
#define MAX_VLAN_TAGS 4
#define ETHERTYPE_QINQ 0x88a8
#define ETHERTYPE_QINQ_OLD 0x9100

static uint16_t be16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t be32(const uint8_t *bytes)
{
	return (uint32_t)be16(bytes) << 16 | be16(bytes + 2);
}

/* ---- links ------------------------------------------------------------- */

bool frame_knows_link(uint16_t link)
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

/* What a header of this link has at least; the IP header where there is none. */
static size_t link_bytes(uint16_t link)
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

/* The number of a family differs between systems, that of IPv6. */
static uint16_t protocol_of_family(uint32_t family)
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

/* As Linux' packet sockets say: 4 is what the host itself sent. */
static enum frame_mark mark_of(unsigned int packet_type)
{
	return packet_type == 4 ? FRAME_OUT :
	       packet_type < 4 ? FRAME_IN : FRAME_UNMARKED;
}

static enum frame_result skip_tags(const struct frame *frame,
				   struct frame_link *is)
{
	for (int i = 0; i < MAX_VLAN_TAGS; i++) {
		if (is->protocol != ETHERTYPE_VLAN &&
		    is->protocol != ETHERTYPE_QINQ &&
		    is->protocol != ETHERTYPE_QINQ_OLD)
			break;
		if (frame->captured < is->network + 4)
			return FRAME_CUT;
		is->protocol = be16(frame->data + is->network + 2);
		is->network += 4;
	}
	return is->protocol == ETHERTYPE_IP || is->protocol == ETHERTYPE_IPV6 ?
	       FRAME_PACKET : FRAME_OTHER;
}

enum frame_result frame_read_link(const struct frame *frame, uint16_t link,
				  bool swapped, struct frame_link *is)
{
	const uint8_t *data = frame->data;
	uint32_t family;

	*is = (struct frame_link){ .mark = FRAME_UNMARKED };
	if (frame->captured < link_bytes(link))
		return FRAME_CUT;
	switch (link) {
	case LINK_ETHERNET:
		is->to = data;
		is->from = data + MAC_SIZE;
		is->protocol = be16(data + 2 * MAC_SIZE);
		is->network = ETHER_HDR_LEN;
		break;
	case LINK_SLL:
		is->mark = mark_of(be16(data));
		is->protocol = be16(data + 14);
		is->network = 16;
		break;
	case LINK_SLL2:
		is->protocol = be16(data);
		is->device = be32(data + 4);
		is->mark = mark_of(data[10]);
		is->network = 20;
		break;
	case LINK_NULL:
	case LINK_LOOP:
		/* In the byte order of the host, or in network order. */
		memcpy(&family, data, sizeof(family));
		if (link == LINK_LOOP)
			family = be32(data);
		else if (swapped)
			family = __builtin_bswap32(family);
		is->protocol = protocol_of_family(family);
		is->network = 4;
		break;
	default:
		is->protocol = data[0] >> 4 == 4 ? ETHERTYPE_IP :
			       data[0] >> 4 == 6 ? ETHERTYPE_IPV6 : 0;
		break;
	}
	return skip_tags(frame, is);
}

/* ---- IP ---------------------------------------------------------------- */

/* What an IP header says, and where the transport header lies. */
struct packet {
	const uint8_t *data;	/* of the frame */
	size_t captured;
	size_t start;		/* of the transport header */
	size_t end;		/* of the packet; behind it may be padding */
	const uint8_t *addrs;	/* source and destination, one after the other */
	size_t addr_len;
	uint8_t protocol;	/* of the transport header */
	bool is_part;		/* the first of several fragments */
};

static bool has(const struct packet *p, size_t at, size_t bytes)
{
	return at + bytes <= p->captured;
}

/*
 * The end of a packet, @bytes (as its length field says) after @base. The
 * field is 0 where a packet is larger than it can say, or where the device was
 * to fill it in. 0: the packet is cut short, and was so on the wire.
 */
static size_t packet_end(const struct frame *frame, size_t base, size_t bytes)
{
	if (!bytes)
		return frame->original;
	return base + bytes <= frame->original ? base + bytes : 0;
}

static enum frame_result read_ipv4(const struct frame *frame, size_t at,
				   struct packet *p, struct netsync_packet *pkt)
{
	const uint8_t *ip = frame->data + at;

	if (!has(p, at, 20))
		return FRAME_CUT;
	p->start = at + (ip[0] & 15) * 4u;
	p->end = packet_end(frame, at, be16(ip + 2));
	p->addrs = ip + 12;
	p->addr_len = 4;
	p->protocol = ip[9];
	p->is_part = be16(ip + 6) & 0x2000;
	pkt->ip_id = be16(ip + 4);
	pkt->fields |= NETSYNC_HAS_IP_ID;
	if (ip[0] >> 4 != 4 || p->start < at + 20 || p->end < p->start ||
	    be16(ip + 6) & 0x1fff)
		return FRAME_OTHER;
	return FRAME_PACKET;
}

/* Headers before that of the transport. Later fragments have none of that. */
static enum frame_result skip_extensions(struct packet *p)
{
	for (;;) {
		const uint8_t *header = p->data + p->start;
		bool is_header = p->protocol == IPPROTO_HOPOPTS ||
				 p->protocol == IPPROTO_ROUTING ||
				 p->protocol == IPPROTO_DSTOPTS ||
				 p->protocol == IPPROTO_FRAGMENT ||
				 p->protocol == IPPROTO_AH;

		if (!is_header)
			return FRAME_PACKET;
		if (p->end < p->start || p->end - p->start < 8)
			return FRAME_OTHER;
		if (!has(p, p->start, 8))
			return FRAME_CUT;
		if (p->protocol == IPPROTO_FRAGMENT) {
			if (be16(header + 2) & 0xfff8)
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

static enum frame_result read_ipv6(const struct frame *frame, size_t at,
				   struct packet *p)
{
	const uint8_t *ip = frame->data + at;
	enum frame_result result;

	if (!has(p, at, 40))
		return FRAME_CUT;
	p->start = at + 40;
	p->end = packet_end(frame, p->start, be16(ip + 4));
	p->addrs = ip + 8;
	p->addr_len = 16;
	p->protocol = ip[6];
	if (ip[0] >> 4 != 6 || p->end < p->start)
		return FRAME_OTHER;
	result = skip_extensions(p);
	return p->end < p->start ? FRAME_OTHER : result;
}

/* ---- transport --------------------------------------------------------- */

/* Options that make no sense end the search, as they do in the TCP stack. */
static void read_tcp_options(const uint8_t *option, size_t len,
			     struct netsync_packet *pkt)
{
	pkt->fields |= NETSYNC_HAS_NO_TSTAMP;
	while (len && *option) {
		size_t size = 1;

		if (*option != 1) {
			if (len < 2 || option[1] < 2 || option[1] > len)
				return;
			size = option[1];
		}
		if (*option == 8 && size == 10) {
			pkt->tcp.tsval = be32(option + 2);
			pkt->tcp.tsecr = be32(option + 6);
			pkt->fields ^= NETSYNC_HAS_NO_TSTAMP |
				       NETSYNC_HAS_TSTAMP;
			return;
		}
		option += size;
		len -= size;
	}
}

static void set_ports(struct netsync_packet *pkt, const uint8_t *header)
{
	pkt->sport = be16(header);
	pkt->dport = be16(header + 2);
	pkt->fields |= NETSYNC_HAS_PORTS;
}

static void set_len(struct netsync_packet *pkt, size_t len)
{
	pkt->len = (uint32_t)len;
	pkt->fields |= NETSYNC_HAS_LEN;
}

/* Where only the options are cut off it is not known whether they have times. */
static enum frame_result read_tcp(const struct packet *p,
				  struct netsync_packet *pkt)
{
	const uint8_t *tcp = p->data + p->start;
	size_t room = p->end - p->start, size;

	if (room < 20)
		return FRAME_OTHER;
	if (!has(p, p->start, 20))
		return FRAME_CUT;
	size = (tcp[12] >> 4) * 4u;
	if (size < 20 || size > room)
		return FRAME_OTHER;
	set_ports(pkt, tcp);
	pkt->tcp.seq = be32(tcp + 4);
	pkt->tcp.ack = be32(tcp + 8);
	pkt->tcp.flags = be16(tcp + 12);
	pkt->tcp.window = be16(tcp + 14);
	pkt->fields |= NETSYNC_HAS_WINDOW;
	set_len(pkt, room - size);
	if (has(p, p->start, size))
		read_tcp_options(tcp + 20, size - 20, pkt);
	return FRAME_PACKET;
}

static uint32_t add_words(uint32_t sum, const uint8_t *bytes, size_t len)
{
	for (; len > 1; len -= 2, bytes += 2) {
		sum += be16(bytes);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return len ? sum + (uint32_t)(*bytes << 8) : sum;
}

/*
 * With offload a checksum is that of a part only when a packet leaves. It is
 * final if it is right. @len: header and payload
 */
static bool is_final(const struct packet *p, size_t len)
{
	const uint8_t *udp = p->data + p->start;
	uint32_t sum;

	if (!be16(udp + 6))
		return p->addr_len == 4;
	if (p->is_part || len > p->end - p->start || !has(p, p->start, len))
		return false;
	sum = add_words((uint32_t)(IPPROTO_UDP + (len & 0xffff) + (len >> 16)),
			p->addrs, 2 * p->addr_len);
	sum = add_words(sum, udp, len);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/* Of the payload so much is digested: as in the module (netsync-events(5)). */
#define DIGEST_BYTES 64

static enum frame_result read_udp(const struct packet *p,
				  struct netsync_packet *pkt)
{
	const uint8_t *udp = p->data + p->start;
	size_t room = p->end - p->start, len, digested;

	if (room < 8)
		return FRAME_OTHER;
	if (!has(p, p->start, 8))
		return FRAME_CUT;
	len = be16(udp + 4);
	/* Of a packet larger than the field can say. */
	if (!len && (room > UINT16_MAX || p->addr_len == 16))
		len = room;
	if (len < 8 || (len > room && !p->is_part))
		return FRAME_OTHER;
	set_ports(pkt, udp);
	set_len(pkt, len - 8);
	pkt->udp.checksum = be16(udp + 6);
	if (is_final(p, len))
		pkt->fields |= NETSYNC_HAS_CHECKSUM;
	digested = len - 8 < DIGEST_BYTES ? len - 8 : DIGEST_BYTES;
	if (digested > room - 8 || !has(p, p->start + 8, digested))
		return FRAME_PACKET;
	pkt->udp.digest = siphash_1_3(udp + 8, digested);
	if (pkt->udp.digest)
		pkt->fields |= NETSYNC_HAS_DIGEST;
	return FRAME_PACKET;
}

/* Requests and replies. Their headers begin alike in both versions. */
static enum frame_result read_icmp(const struct packet *p,
				   struct netsync_packet *pkt)
{
	const uint8_t *icmp = p->data + p->start;
	const bool v6 = p->protocol == IPPROTO_ICMPV6;

	if (p->end - p->start < 8 || v6 != (p->addr_len == 16))
		return FRAME_OTHER;
	if (!has(p, p->start, 8))
		return FRAME_CUT;
	if (icmp[1] || (v6 ? icmp[0] != 128 && icmp[0] != 129 :
			     icmp[0] != 8 && icmp[0] != 0))
		return FRAME_OTHER;
	event_set_echo(pkt, icmp[0], be16(icmp + 4), be16(icmp + 6));
	set_len(pkt, p->end - p->start - 8);
	return FRAME_PACKET;
}

/* More chunks than a sender could have a reason for. As in the module. */
#define MAX_CHUNKS 64
/* Types of chunks (RFC 9260, RFC 8260); what stands for none. */
enum { CHUNK_DATA = 0, CHUNK_I_DATA = 64, CHUNK_NONE = 255 };

static enum frame_result read_sctp(const struct packet *p,
				   struct netsync_packet *pkt)
{
	size_t at = p->start + 12;

	if (p->end < at)
		return FRAME_OTHER;
	if (!has(p, p->start, 12))
		return FRAME_CUT;
	set_ports(pkt, p->data + p->start);
	set_len(pkt, p->end - at);
	pkt->sctp.vtag = be32(p->data + p->start + 4);
	pkt->sctp.chunk = CHUNK_NONE;
	pkt->fields |= NETSYNC_HAS_SCTP;
	for (int i = 0; i < MAX_CHUNKS && p->end - at >= 4; i++) {
		const uint8_t *chunk = p->data + at;
		size_t len;

		if (!has(p, at, 4))
			return FRAME_CUT;
		if (!i)
			pkt->sctp.chunk = chunk[0];
		if (chunk[0] == CHUNK_DATA || chunk[0] == CHUNK_I_DATA) {
			if (p->end - at < 8)
				break;
			if (!has(p, at, 8))
				return FRAME_CUT;
			pkt->sctp.tsn = be32(chunk + 4);
			pkt->fields |= NETSYNC_HAS_TSN;
			break;
		}
		len = (be16(chunk + 2) + 3u) & ~3u;
		if (len < 4 || len > p->end - at)
			break;
		at += len;
	}
	return FRAME_PACKET;
}

static enum frame_result read_transport(const struct packet *p,
					struct netsync_packet *pkt)
{
	switch (p->protocol) {
	case IPPROTO_TCP:
		return read_tcp(p, pkt);
	case IPPROTO_UDP:
		return read_udp(p, pkt);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return read_icmp(p, pkt);
	case IPPROTO_SCTP:
		return read_sctp(p, pkt);
	default:
		return FRAME_OTHER;
	}
}

enum frame_result frame_read_packet(const struct frame *frame,
				    const struct frame_link *link,
				    struct netsync_packet *pkt)
{
	struct packet p = { .data = frame->data, .captured = frame->captured };
	enum frame_result result;

	memset(pkt, 0, sizeof(*pkt));
	if (link->protocol == ETHERTYPE_IP)
		result = read_ipv4(frame, link->network, &p, pkt);
	else
		result = read_ipv6(frame, link->network, &p);
	if (result != FRAME_PACKET)
		return result;
	pkt->protocol = p.protocol;
	address_set(pkt->saddr, p.addrs, p.addr_len);
	address_set(pkt->daddr, p.addrs + p.addr_len, p.addr_len);
	pkt->fields |= NETSYNC_HAS_ADDRS;
	return read_transport(&p, pkt);
}
