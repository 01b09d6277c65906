// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Set the protocol part of a packet event for SCTP (RFC 9260). The source is an event's fields or
 * captured bytes.
 */
#include "io/packet/protocol.h"

/* ---- events ------------------------------------------------------------ */

static void sctp_read_event(const struct event_values *v, struct netsync_packet *pkt)
{
	pkt->sctp.vtag = values_get(v, VTAG);
	pkt->sctp.chunk = values_get(v, CHUNK);
	pkt->sctp.tsn = values_get(v, TSN);
	pkt->fields |= NETSYNC_HAS_SCTP;
	if (values_get(v, HAS_TSN))
		pkt->fields |= NETSYNC_HAS_TSN;
}

/*
 * Rename the fields of device events. The field flags contains the chunk type. Bit 8 of flags is
 * set if there is a TSN.
 */
static void sctp_name_fields(struct event_values *v)
{
	values_set(v, CHUNK, values_get(v, FLAGS));
	values_set(v, HAS_TSN, values_get(v, FLAGS) >> 8);
	values_set(v, VTAG, values_get(v, ACK));
	values_set(v, TSN, values_get(v, SEQ));
}

/* ---- frames ------------------------------------------------------------ */

/* Maximum number of chunks in which a TSN is searched. Chosen as in the module. */
#define MAX_CHUNKS 64
/* Chunk types (RFC 9260, RFC 8260). CHUNK_NONE means that there is no chunk. */
enum { CHUNK_DATA = 0, CHUNK_I_DATA = 64, CHUNK_NONE = 255 };

/*
 * Read the common header of 12 bytes (ports, verification tag, checksum), the type of the first
 * chunk, and the TSN of the first chunk that has data.
 */
static enum frame_result sctp_read_frame(const struct transport *p, struct netsync_packet *pkt)
{
	size_t at = p->start + 12;

	if (p->end < at)
		return FRAME_OTHER;
	if (!transport_has_bytes(p, p->start, 12))
		return FRAME_CUT;
	transport_set_ports(pkt, p->data + p->start);
	transport_set_len(pkt, p->end - at);
	pkt->sctp.vtag = load_be32(p->data + p->start + 4);
	pkt->sctp.chunk = CHUNK_NONE;
	pkt->fields |= NETSYNC_HAS_SCTP;
	for (int i = 0; i < MAX_CHUNKS && p->end - at >= 4; i++) {
		const uint8_t *chunk = p->data + at;
		size_t len;

		if (!transport_has_bytes(p, at, 4))
			return FRAME_CUT;
		if (!i)
			pkt->sctp.chunk = chunk[0];
		if (chunk[0] == CHUNK_DATA || chunk[0] == CHUNK_I_DATA) {
			if (p->end - at < 8)
				break;
			if (!transport_has_bytes(p, at, 8))
				return FRAME_CUT;
			pkt->sctp.tsn = load_be32(chunk + 4);
			pkt->fields |= NETSYNC_HAS_TSN;
			break;
		}
		len = (load_be16(chunk + 2) + 3u) & ~3u;
		if (len < 4 || len > p->end - at)
			break;
		at += len;
	}
	return FRAME_PACKET;
}

/* ---- keys -------------------------------------------------------------- */

static void sctp_fill_key(struct packet_key *key, const struct netsync_packet *pkt)
{
	key->word[0] = pkt->sctp.vtag;
	key->word[1] = pkt->sctp.tsn;
	key->flags = pkt->sctp.chunk;
}

const struct packet_protocol packet_sctp = {
	.wanted = EVENT_ENDS | BIT(VTAG) | BIT(CHUNK) | BIT(HAS_TSN) | BIT(TSN),
	.read_event = sctp_read_event,
	.name_fields = sctp_name_fields,
	.read_frame = sctp_read_frame,
	.fill_key = sctp_fill_key,
};
