// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Set the protocol part of a packet event for TCP (RFC 9293). The source is an event's fields or
 * captured bytes.
 */
#include "io/packet/protocol.h"

/* ---- events ------------------------------------------------------------ */

/*
 * Return the word of the TCP header with data offset and flags, in its order on the wire. Some
 * versions of lttng-addons reverse flags and bytes. Reversed words are recognized by the data
 * offset, which is at least 5, and the reserved bits, which are 0:
 *
 *	bit		15-12		11-9		8-0
 *	on the wire	data offset	reserved	flags (0: FIN)
 *	reversed	flags (15: FIN, 8: CWR)		3-0: data offset
 */
static uint16_t normalize_tcp_flags(uint16_t word)
{
	uint16_t flags = 0;

	if (word >> 12 >= 5 && !(word & 0x0e00))
		return word;
	for (int bit = 0; bit < 8; bit++)
		if (word & (0x8000 >> bit))
			flags |= 1 << bit;
	return (word & 0x0f) << 12 | flags;
}

static void tcp_read_event(const struct event_values *v, struct netsync_packet *pkt)
{
	pkt->tcp.seq = values_get(v, SEQ);
	pkt->tcp.ack = values_get(v, ACK);
	pkt->tcp.flags = normalize_tcp_flags(values_get(v, FLAGS));
	if (values_have(v, BIT(WINDOW))) {
		pkt->tcp.window = values_get(v, WINDOW);
		pkt->fields |= NETSYNC_HAS_WINDOW;
	}
	if (values_have(v, BIT(HAS_TS) | BIT(TSVAL) | BIT(TSECR))) {
		pkt->tcp.tsval = values_get(v, TSVAL);
		pkt->tcp.tsecr = values_get(v, TSECR);
		pkt->fields |= values_get(v, HAS_TS) ? NETSYNC_HAS_TSTAMP : NETSYNC_HAS_NO_TSTAMP;
	}
}

/* ---- frames ------------------------------------------------------------ */

/*
 * Read the timestamps option (RFC 7323: kind 8, 10 bytes). As in Linux (tcp_parse_options()), a
 * malformed option ends the search.
 */
static void read_tcp_options(const uint8_t *option, size_t len, struct netsync_packet *pkt)
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
			pkt->tcp.tsval = load_be32(option + 2);
			pkt->tcp.tsecr = load_be32(option + 6);
			pkt->fields ^= NETSYNC_HAS_NO_TSTAMP | NETSYNC_HAS_TSTAMP;
			return;
		}
		option += size;
		len -= size;
	}
}

/* Read a header of 20 bytes. If its options were captured, read them, too. */
static enum frame_result tcp_read_frame(const struct transport *p, struct netsync_packet *pkt)
{
	const uint8_t *tcp = p->data + p->start;
	size_t room = p->end - p->start, size;

	if (room < 20)
		return FRAME_OTHER;
	if (!transport_has_bytes(p, p->start, 20))
		return FRAME_CUT;
	size = (tcp[12] >> 4) * 4u;
	if (size < 20 || size > room)
		return FRAME_OTHER;
	transport_set_ports(pkt, tcp);
	pkt->tcp.seq = load_be32(tcp + 4);
	pkt->tcp.ack = load_be32(tcp + 8);
	pkt->tcp.flags = load_be16(tcp + 12);
	pkt->tcp.window = load_be16(tcp + 14);
	pkt->fields |= NETSYNC_HAS_WINDOW;
	transport_set_len(pkt, room - size);
	if (transport_has_bytes(p, p->start, size))
		read_tcp_options(tcp + 20, size - 20, pkt);
	return FRAME_PACKET;
}

/* ---- keys -------------------------------------------------------------- */

/* The PSH, FIN and CWR bits (RFC 9293, 3.1), which segmentation offload changes. */
#define CHANGED_FLAGS 0x0089

static void tcp_fill_key(struct packet_key *key, const struct netsync_packet *pkt)
{
	key->word[0] = pkt->tcp.seq;
	key->word[1] = pkt->tcp.ack;
	key->flags = pkt->tcp.flags & (uint16_t)~CHANGED_FLAGS;
}

/*
 * Address translation does not change sequence numbers. The random start of sequence numbers
 * distinguishes connections.
 */
static bool tcp_fill_nat_key(struct packet_key *key, const struct netsync_packet *pkt)
{
	tcp_fill_key(key, pkt);
	return true;
}

const struct packet_protocol packet_tcp = {
	.wanted = BIT(SEQ) | BIT(ACK) | BIT(FLAGS),
	.read_event = tcp_read_event,
	.read_frame = tcp_read_frame,
	.fill_key = tcp_fill_key,
	.fill_key_inside = tcp_fill_nat_key,
};
