/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decode the fields of an event of any tracer, by their names, to struct netsync_packet, or to
 * struct clock_event if it is a netsync_clock event.
 *
 * *Flat* events have a field for each header field. Flat events are netsync's own events
 * (netsync-events(5)), and those of the module lttng-addons, which have only the first of these
 * fields. *Nested* events are LTTng's network events, which exist only in CTF (ctf/layout.h).
 */
#ifndef NETSYNC_IO_EVENT_H
#define NETSYNC_IO_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "io/io.h"

/*
 * The meaning of a field. The value is also the field's bit number in masks of fields; see
 * event_fields.
 */
enum meaning {
	SEQ,
	ACK,
	FLAGS,
	WINDOW,
	SPORT,
	DPORT,
	SADDR,
	DADDR,
	FAMILY,
	IP_ID,
	LEN,
	HAS_TS,
	TSVAL,
	TSECR,
	DATA_OFFSET,
	RESERVED,
	IHL,
	FRAG_OFF,
	SKB,
	DEVICE,
	NETWORK,
	TRANSPORT,
	GSO_SIZE,
	GSO_SEGS,
	NETNS,
	CHECKSUM,
	IS_FINAL,
	DIGEST,
	TYPE,
	ECHO_ID,
	ECHO_SEQ,
	PROTOCOL,
	IFINDEX,
	VTAG,
	CHUNK,
	HAS_TSN,
	TSN,
	MONO,
	RAW,
	OFFS_BOOT,
	OFFS_TAI,
	MULT,
	RAW_MULT,
	NUM_MEANINGS
};

#define BIT(meaning) (UINT64_C(1) << (meaning))

struct field_name {
	const char *name; /* name, or NULL after the last field */
	enum meaning meaning;
};

/* The names of fields in flat events. A name has the same meaning in all events. */
extern const struct field_name event_fields[];

/*
 * Value of event_kind.protocol for flat events that have the protocol in a field (reserved by
 * IANA).
 */
#define ANY_PROTOCOL 255
/*
 * Value of event_kind.protocol for clock events, which have no packet (for experiments, RFC
 * 3692).
 */
#define NO_PROTOCOL 254

/* Places in the network stack. All events of a tracepoint come from one place. */
enum place {
	PLACE_TCP_IN,
	PLACE_TCP_OUT,
	PLACE_UDP_IN,
	PLACE_UDP_OUT,
	PLACE_ICMP_IN,
	PLACE_ICMP_OUT,
	PLACE_SCTP_IN,
	PLACE_SCTP_OUT,
	PLACE_DEVICE_IN,
	PLACE_DEVICE_OUT,
	PLACE_QUEUE_OUT,
	PLACE_QUEUE_IN,
	PLACE_NONE,
};

struct event_kind {
	const char *name;
	enum place place;
	enum netsync_dir dir;
	uint8_t protocol; /* IPPROTO_... for flat events, 0 for nested events */
};

/* Return the kind of the events with this name. If such events are not used, return NULL. */
const struct event_kind *event_find_kind(const char *name);

/* Return whether a flat event of this kind has all fields that are needed. */
bool event_has_wanted_fields(const struct event_kind *kind, uint64_t has);

/* Values of the fields of one event. */
struct event_values {
	uint64_t has;		       /* a bit for each meaning that has a value */
	uint64_t number[NUM_MEANINGS]; /* indexed by meaning; valid if the meaning's bit is set */
	uint8_t saddr[16];	       /* in network order; IPv4 as ::ffff:a.b.c.d */
	uint8_t daddr[16];
};

/*
 * Fill in @seen, which must be all zero, from a flat event, except the host and the time. Return
 * false if packets of this protocol are not matched or the clock's rate is impossible.
 */
bool event_decode(const struct event_kind *kind, struct event_values *v, struct event_seen *seen);

/*
 * Set the time of an event, in ns as printed, and in ns since the zero of the trace's clock. Return
 * false if the event cannot be used, because it has no reading of the trace's clock.
 */
bool event_set_time(struct event_seen *seen, int64_t printed_ns, int64_t clock_ns);

/* Set the fields of an echo request or reply. */
void event_set_echo(struct netsync_packet *pkt, uint8_t type, uint16_t id, uint16_t seq);

#endif
