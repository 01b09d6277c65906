/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The supported transport protocols. Each protocol is a struct packet_protocol in a file of its
 * own, and a row in protocol.c. Only the code that reads the columns of text formats is
 * elsewhere, in io/text/.
 */
#ifndef NETSYNC_IO_PROTOCOL_H
#define NETSYNC_IO_PROTOCOL_H

#include "io/packet/event.h"
#include "io/packet/frame.h"

/*
 * A packet in a frame as its IP header describes it. Offsets are in bytes from the start of the
 * frame.
 */
struct transport {
	const uint8_t *data;  /* the frame */
	size_t captured;      /* number of bytes captured */
	size_t start;	      /* offset of the transport header */
	size_t end;	      /* offset of the first byte after the packet; padding may follow */
	const uint8_t *addrs; /* source address, directly followed by the destination address */
	size_t addr_len;      /* size of each address: 4 or 16 bytes */
	uint8_t protocol;     /* IPPROTO_... */
	bool is_part;	      /* whether the packet is the first of several fragments */
};

/*
 * Fields that no router changes. The protocol determines which of these fields are used; the others
 * are 0.
 */
struct packet_key {
	uint64_t digest;
	uint32_t word[2];
	uint16_t flags;
};

struct packet_protocol {
	/* Fields that an event of this protocol must have, unless it is a device event. */
	uint64_t wanted;
	/* Set the protocol's part of a packet from the fields of an event. */
	void (*read_event)(const struct event_values *v, struct netsync_packet *pkt);
	/*
	 * Rename the fields of a device event for this protocol. Device events have the names of
	 * TCP's fields for all protocols. The table in module/netsync-events.h gives their
	 * meanings. NULL for TCP.
	 */
	void (*name_fields)(struct event_values *v);
	/* Set ports, length and the protocol's part of a packet from captured bytes. */
	enum frame_result (*read_frame)(const struct transport *p, struct netsync_packet *pkt);
	void (*fill_key)(struct packet_key *key, const struct netsync_packet *pkt);
	/*
	 * Fill in only the fields that address translation (NAT) does not change. Return false if
	 * these fields are too few to distinguish packets. The function is NULL if they are always
	 * enough.
	 */
	bool (*fill_key_inside)(struct packet_key *key, const struct netsync_packet *pkt);
};

extern const struct packet_protocol packet_tcp, packet_udp, packet_icmp, packet_sctp;

/* Return the row for an IP protocol number. If the protocol is not supported, return NULL. */
const struct packet_protocol *packet_find_protocol(uint8_t number);

/* ---- for the protocols' files ------------------------------------------- */

/* Fields with addresses, which TCP events of lttng-addons lack. */
#define EVENT_ENDS (BIT(SADDR) | BIT(DADDR) | BIT(FAMILY))

static inline bool values_have(const struct event_values *v, uint64_t mask)
{
	return (v->has & mask) == mask;
}

static inline uint64_t values_get(const struct event_values *v, enum meaning meaning)
{
	return v->has & BIT(meaning) ? v->number[meaning] : 0;
}

static inline void values_set(struct event_values *v, enum meaning meaning, uint64_t value)
{
	v->number[meaning] = value;
	v->has |= BIT(meaning);
}

static inline uint16_t load_be16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t load_be32(const uint8_t *bytes)
{
	return (uint32_t)load_be16(bytes) << 16 | load_be16(bytes + 2);
}

/* Return whether @bytes from offset @at on were captured. */
static inline bool transport_has_bytes(const struct transport *p, size_t at, size_t bytes)
{
	return at + bytes <= p->captured;
}

static inline void transport_set_ports(struct netsync_packet *pkt, const uint8_t *header)
{
	pkt->sport = load_be16(header);
	pkt->dport = load_be16(header + 2);
	pkt->fields |= NETSYNC_HAS_PORTS;
}

static inline void transport_set_len(struct netsync_packet *pkt, size_t len)
{
	pkt->len = (uint32_t)len;
	pkt->fields |= NETSYNC_HAS_LEN;
}

#endif
