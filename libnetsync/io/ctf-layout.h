/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the fields of network events are, and what they mean.
 *
 * Two shapes of events are known. *Flat* ones have a field for each header
 * field: netsync's own, and those of the lttng-addons module, which have the
 * first few only. *Nested* ones are LTTng's network events: a variant holds an
 * IPv4 or IPv6 header, and in that another variant holds a TCP header.
 *
 * All names are looked up once for each event class. Options of variants are
 * told apart by the fields inside them and not by their labels or by what
 * selects them, since these changed from one version to the next.
 */
#ifndef NETSYNC_CTF_LAYOUT_H
#define NETSYNC_CTF_LAYOUT_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "netsync.h"

/* What a field means. Each bit of a layout's mask is one of these. */
enum meaning {
	SEQ, ACK, FLAGS, WINDOW, SPORT, DPORT, SADDR, DADDR, FAMILY, IP_ID, LEN,
	HAS_TS, TSVAL, TSECR, DATA_OFFSET, RESERVED, IHL, FRAG_OFF, SKB, DEVICE,
	NETWORK, TRANSPORT, GSO_SIZE, GSO_SEGS, NETNS, CHECKSUM, IS_FINAL,
	DIGEST, TYPE, ECHO_ID, ECHO_SEQ, PROTOCOL, IFINDEX, VTAG, CHUNK,
	HAS_TSN, TSN,
	NUM_MEANINGS
};

#define BIT(meaning) (UINT64_C(1) << (meaning))

/* Where the members of a structure are. */
struct layout {
	uint64_t has;		/* a bit for each meaning */
	uint64_t is_signed;
	uint8_t at[NUM_MEANINGS];
};

/* LTTng's variants have up to four options. */
#define MAX_OPTIONS 8

struct transport {
	uint8_t protocol;	/* 0: none that is known */
	struct layout layout;
};

struct header {
	int family;		/* AF_UNSPEC: not an IP header, or without TCP */
	struct layout ip;
	struct transport transport[MAX_OPTIONS];
};

/* Flat events of several protocols, which a field tells. */
#define ANY_PROTOCOL 255

struct event_kind {
	const char *name;
	const char *point;	/* events that are made by one tracepoint */
	enum netsync_dir dir;
	uint8_t protocol;	/* of flat events; 0: it is a nested one */
};

/* How the events of one event class look. */
struct event_layout {
	const struct event_kind *kind;
	struct layout fields;
	struct header headers[MAX_OPTIONS];	/* by what the variant selects */
};

/* What events of a name are; NULL: none of ours. */
const struct event_kind *ctf_event_kind(const char *name);

/* False: the fields are not those of any known version. */
bool ctf_find_layout(struct event_layout *layout, const bt_event_class *class);

static inline bool has_all(const struct layout *layout, uint64_t wanted)
{
	return (layout->has & wanted) == wanted;
}

#endif
