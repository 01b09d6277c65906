// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Set the protocol part of a packet event for ICMP and ICMPv6 echoes. The source is an event's
 * fields or captured bytes.
 */
#include <netinet/in.h>

#include "io/packet/protocol.h"

/* ---- events ------------------------------------------------------------ */

void event_set_echo(struct netsync_packet *pkt, uint8_t type, uint16_t id, uint16_t seq)
{
	pkt->icmp.type = type;
	pkt->icmp.id = id;
	pkt->icmp.seq = seq;
	pkt->fields |= NETSYNC_HAS_ECHO;
}

static void icmp_read_event(const struct event_values *v, struct netsync_packet *pkt)
{
	event_set_echo(pkt, values_get(v, TYPE), values_get(v, ECHO_ID), values_get(v, ECHO_SEQ));
}

/* In device events, echoes have no ports, and use TCP's fields as follows. */
static void icmp_name_fields(struct event_values *v)
{
	values_set(v, TYPE, values_get(v, FLAGS));
	values_set(v, ECHO_ID, values_get(v, ACK));
	values_set(v, ECHO_SEQ, values_get(v, SEQ));
	v->has &= ~(BIT(SPORT) | BIT(DPORT));
}

/* ---- frames ------------------------------------------------------------ */

/*
 * In ICMP and ICMPv6, echo requests and replies have the same header of 8 bytes (RFC 792, RFC
 * 4443): type 8 and 0, or 128 and 129; code 0; checksum; identifier; number.
 */
static enum frame_result icmp_read_frame(const struct transport *p, struct netsync_packet *pkt)
{
	const uint8_t *icmp = p->data + p->start;
	const bool v6 = p->protocol == IPPROTO_ICMPV6;

	if (p->end - p->start < 8 || v6 != (p->addr_len == 16))
		return FRAME_OTHER;
	if (!transport_has_bytes(p, p->start, 8))
		return FRAME_CUT;
	if (icmp[1] || (v6 ? icmp[0] != 128 && icmp[0] != 129 : icmp[0] != 8 && icmp[0] != 0))
		return FRAME_OTHER;
	event_set_echo(pkt, icmp[0], load_be16(icmp + 4), load_be16(icmp + 6));
	transport_set_len(pkt, p->end - p->start - 8);
	return FRAME_PACKET;
}

/* ---- keys -------------------------------------------------------------- */

static void icmp_fill_key(struct packet_key *key, const struct netsync_packet *pkt)
{
	key->word[0] = (uint32_t)pkt->icmp.id << 16 | pkt->icmp.seq;
	key->flags = pkt->icmp.type;
}

const struct packet_protocol packet_icmp = {
	.wanted = EVENT_ENDS | BIT(TYPE) | BIT(ECHO_ID) | BIT(ECHO_SEQ),
	.read_event = icmp_read_event,
	.name_fields = icmp_name_fields,
	.read_frame = icmp_read_frame,
	.fill_key = icmp_fill_key,
};
