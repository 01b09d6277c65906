// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Set the protocol part of a packet event for UDP (RFC 768). The source is an event's fields or
 * captured bytes.
 */
#include <netinet/in.h>

#include "io/packet/protocol.h"
#include "io/packet/siphash.h"

/* ---- events ------------------------------------------------------------ */

/*
 * Read the UDP fields of an event. If a parameter of the module disables digests, the digest is 0.
 */
static void udp_read_event(const struct event_values *v, struct netsync_packet *pkt)
{
	pkt->udp.checksum = values_get(v, CHECKSUM);
	if (values_get(v, IS_FINAL))
		pkt->fields |= NETSYNC_HAS_CHECKSUM;
	pkt->udp.digest = values_get(v, DIGEST);
	if (pkt->udp.digest)
		pkt->fields |= NETSYNC_HAS_DIGEST;
}

static void udp_name_fields(struct event_values *v)
{
	values_set(v, IS_FINAL, values_get(v, FLAGS));
	values_set(v, DIGEST, values_get(v, TSVAL) << 32 | values_get(v, TSECR));
}

/* ---- frames ------------------------------------------------------------ */

/* Add words to a sum of the Internet checksum (RFC 1071). */
static uint32_t add_checksum_words(uint32_t sum, const uint8_t *bytes, size_t len)
{
	for (; len > 1; len -= 2, bytes += 2) {
		sum += load_be16(bytes);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return len ? sum + (uint32_t)(*bytes << 8) : sum;
}

/*
 * Return whether the checksum is the one on the wire. With checksum offload, captures at the sender
 * contain only the sum of the pseudo-header. @len is the number of header and payload bytes.
 */
static bool is_checksum_final(const struct transport *p, size_t len)
{
	const uint8_t *udp = p->data + p->start;
	uint32_t sum;

	if (!load_be16(udp + 6))
		return p->addr_len == 4;
	if (p->is_part || len > p->end - p->start || !transport_has_bytes(p, p->start, len))
		return false;
	sum = add_checksum_words((uint32_t)(IPPROTO_UDP + (len & 0xffff) + (len >> 16)), p->addrs,
				 2 * p->addr_len);
	sum = add_checksum_words(sum, udp, len);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/* Number of payload bytes for the digest, as in the module (netsync-events(5)). */
#define DIGEST_BYTES 64

static enum frame_result udp_read_frame(const struct transport *p, struct netsync_packet *pkt)
{
	const uint8_t *udp = p->data + p->start;
	size_t room = p->end - p->start, len, digested;

	if (room < 8)
		return FRAME_OTHER;
	if (!transport_has_bytes(p, p->start, 8))
		return FRAME_CUT;
	len = load_be16(udp + 4);
	/*
	 * The length is 0 in jumbograms (RFC 2675), and in packets that segmentation offload has
	 * not split yet.
	 */
	if (!len && (room > UINT16_MAX || p->addr_len == 16))
		len = room;
	if (len < 8 || (len > room && !p->is_part))
		return FRAME_OTHER;
	transport_set_ports(pkt, udp);
	transport_set_len(pkt, len - 8);
	pkt->udp.checksum = load_be16(udp + 6);
	if (is_checksum_final(p, len))
		pkt->fields |= NETSYNC_HAS_CHECKSUM;
	digested = len - 8 < DIGEST_BYTES ? len - 8 : DIGEST_BYTES;
	if (digested > room - 8 || !transport_has_bytes(p, p->start + 8, digested))
		return FRAME_PACKET;
	pkt->udp.digest = siphash_1_3(udp + 8, digested);
	if (pkt->udp.digest)
		pkt->fields |= NETSYNC_HAS_DIGEST;
	return FRAME_PACKET;
}

/* ---- keys -------------------------------------------------------------- */

static void udp_fill_key(struct packet_key *key, const struct netsync_packet *pkt)
{
	key->digest = pkt->udp.digest;
}

/* Address translation changes neither the payload nor the IPv4 identification field. */
static bool udp_fill_nat_key(struct packet_key *key, const struct netsync_packet *pkt)
{
	key->digest = pkt->udp.digest;
	key->word[0] = pkt->ip_id;
	return pkt->fields & NETSYNC_HAS_DIGEST;
}

const struct packet_protocol packet_udp = {
	.wanted = EVENT_ENDS | BIT(SPORT) | BIT(DPORT) | BIT(IP_ID) | BIT(LEN),
	.read_event = udp_read_event,
	.name_fields = udp_name_fields,
	.read_frame = udp_read_frame,
	.fill_key = udp_fill_key,
	.fill_key_inside = udp_fill_nat_key,
};
