/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocols whose packets are read: a file for each, and a row of protocol.c.
 * What the readers know of a protocol is there, but for the columns of text.
 */
#ifndef NETSYNC_IO_PROTOCOL_H
#define NETSYNC_IO_PROTOCOL_H

#include "io/packet/event.h"
#include "io/packet/frame.h"

/* What an IP header says, and where the transport header lies. */
struct transport {
	const uint8_t *data; /* of the frame */
	size_t captured;
	size_t start;	      /* of the transport header */
	size_t end;	      /* of the packet; behind it may be padding */
	const uint8_t *addrs; /* source and destination, one after the other */
	size_t addr_len;
	uint8_t protocol; /* of the transport header */
	bool is_part;	  /* the first of several fragments */
};

/* What is the same wherever a packet is seen; by protocol, 0 where it has none. */
struct packet_key {
	uint64_t digest;
	uint32_t word[2];
	uint16_t flags;
};

struct packet_protocol {
	uint64_t wanted; /* fields that an event of this protocol alone must have */
	void (*read_event)(const struct event_values *v,
			   struct netsync_packet *pkt);
	/*
	 * An event of a device has the fields of TCP, whatever the packet is of:
	 * the table in module/netsync-events.h says what they hold then. This
	 * gives them their own names; NULL: they have these.
	 */
	void (*name_fields)(struct event_values *v);
	enum frame_result (*read_frame)(const struct transport *p,
					struct netsync_packet *pkt);
	void (*fill_key)(struct packet_key *key,
			 const struct netsync_packet *pkt);
	/*
	 * The same of what translation of addresses does not change. False, or
	 * NULL: there is nothing like that in it.
	 */
	bool (*fill_key_inside)(struct packet_key *key,
				const struct netsync_packet *pkt);
};

extern const struct packet_protocol packet_tcp, packet_udp, packet_icmp,
	packet_sctp;

/* By IP's number; NULL: it is not matched. */
const struct packet_protocol *packet_protocol(uint8_t number);

/* ---- for the protocols' files ------------------------------------------- */

/* Fields of each event that tells its packet's addresses. */
#define EVENT_ENDS (BIT(SADDR) | BIT(DADDR) | BIT(FAMILY))

static inline bool values_have(const struct event_values *v, uint64_t mask)
{
	return (v->has & mask) == mask;
}

static inline uint64_t value_of(const struct event_values *v,
				enum meaning meaning)
{
	return v->has & BIT(meaning) ? v->number[meaning] : 0;
}

static inline void value_set(struct event_values *v, enum meaning meaning,
			     uint64_t value)
{
	v->number[meaning] = value;
	v->has |= BIT(meaning);
}

static inline uint16_t be16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t be32(const uint8_t *bytes)
{
	return (uint32_t)be16(bytes) << 16 | be16(bytes + 2);
}

/* Was so much of it captured? */
static inline bool transport_has(const struct transport *p, size_t at,
				 size_t bytes)
{
	return at + bytes <= p->captured;
}

static inline void transport_ports(struct netsync_packet *pkt,
				   const uint8_t *header)
{
	pkt->sport = be16(header);
	pkt->dport = be16(header + 2);
	pkt->fields |= NETSYNC_HAS_PORTS;
}

static inline void transport_len(struct netsync_packet *pkt, size_t len)
{
	pkt->len = (uint32_t)len;
	pkt->fields |= NETSYNC_HAS_LEN;
}

#endif
