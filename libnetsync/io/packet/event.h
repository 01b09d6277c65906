/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packet events by their names and the names of their fields, whichever tracer
 * recorded them; and from the fields of *flat* ones to struct netsync_packet, or,
 * of netsync_clock, to struct clock_event.
 *
 * Flat events have a field for each header field: netsync's own, and those of
 * the lttng-addons module, which have the first few only. *Nested* ones are
 * LTTng's network events, which only CTF has (ctf/layout.h).
 */
#ifndef NETSYNC_IO_EVENT_H
#define NETSYNC_IO_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "io/io.h"

/* What a field means. Each bit of a mask is one of these. */
enum meaning {
	SEQ, ACK, FLAGS, WINDOW, SPORT, DPORT, SADDR, DADDR, FAMILY, IP_ID, LEN,
	HAS_TS, TSVAL, TSECR, DATA_OFFSET, RESERVED, IHL, FRAG_OFF, SKB, DEVICE,
	NETWORK, TRANSPORT, GSO_SIZE, GSO_SEGS, NETNS, CHECKSUM, IS_FINAL,
	DIGEST, TYPE, ECHO_ID, ECHO_SEQ, PROTOCOL, IFINDEX, VTAG, CHUNK,
	HAS_TSN, TSN,
	MONO, RAW, OFFS_BOOT, OFFS_TAI, MULT, RAW_MULT,
	NUM_MEANINGS
};

#define BIT(meaning) (UINT64_C(1) << (meaning))

struct field_name {
	const char *name;	/* NULL after the last one */
	enum meaning meaning;
};

/* The fields of all flat events: a name means the same in each. */
extern const struct field_name event_fields[];

/* Flat events of several protocols, which a field tells. */
#define ANY_PROTOCOL 255
/* It tells of no packet, but of the clock. */
#define NO_PROTOCOL 254

/* Of the network stack. Events that are made by one tracepoint are of one place. */
enum place {
	PLACE_TCP_IN, PLACE_TCP_OUT, PLACE_UDP_IN, PLACE_UDP_OUT, PLACE_ICMP_IN,
	PLACE_ICMP_OUT, PLACE_SCTP_IN, PLACE_SCTP_OUT, PLACE_DEVICE_IN,
	PLACE_DEVICE_OUT, PLACE_QUEUE_OUT, PLACE_QUEUE_IN, PLACE_NONE,
};

struct event_kind {
	const char *name;
	enum place place;
	enum netsync_dir dir;
	uint8_t protocol;	/* of flat events; 0: it is a nested one */
};

/* What events of a name are; NULL: none of ours. */
const struct event_kind *event_kind(const char *name);

/* Do these fields make a flat event of this kind that can be used? */
bool event_is_whole(const struct event_kind *kind, uint64_t has);

/* What the fields of one event hold. */
struct event_values {
	uint64_t has;			/* a bit for each meaning */
	uint64_t number[NUM_MEANINGS];	/* of those that it has */
	uint8_t saddr[16];		/* network order; IPv4 as ::ffff:a.b.c.d */
	uint8_t daddr[16];
};

/*
 * Fill in @seen, which is all 0, from a flat event, but for host and time. False:
 * it is of a protocol that is not matched, or tells of a clock that is none.
 */
bool event_decode(const struct event_kind *kind, struct event_values *v,
		  struct event_seen *seen);

/*
 * Say when it was, as printed, and as the trace's clock counts from its own zero.
 * Return: whether it is of use: what tells of another clock than the trace's is not.
 */
bool event_set_time(struct event_seen *seen, int64_t printed_ns, int64_t clock_ns);

/* It is an echo request or reply. */
void event_set_echo(struct netsync_packet *pkt, uint8_t type, uint16_t id,
		    uint16_t seq);

#endif
