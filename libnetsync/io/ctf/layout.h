/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The members of a CTF event class that contain packet fields. Events are flat
 * (io/packet/event.h), or *nested* like LTTng's network events:
 *
 *	skbaddr, len, name
 *	network_header: variant		IPv4 or IPv6 header:
 *		saddr, daddr, ...
 *		transport_header: variant	TCP, UDP or ICMP header:
 *			source_port, dest_port, ...
 *
 * Names are looked up once for each class. Options of variants are distinguished by their fields,
 * because labels and tags differ between versions of LTTng.
 */
#ifndef NETSYNC_CTF_LAYOUT_H
#define NETSYNC_CTF_LAYOUT_H

#include <babeltrace2/babeltrace.h>

#include "io/packet/event.h"

/* The members of a structure, by their meanings (enum meaning). */
struct layout {
	uint64_t has;	    /* a bit for each meaning that is the meaning of a member */
	uint64_t is_signed; /* a bit for each meaning whose member is a signed integer */
	/* A bit for each meaning whose member is an address of eight 16-bit words. */
	uint64_t has_units;
	uint8_t at[NUM_MEANINGS]; /* index of the member */
};

/*
 * Maximum number of options of a variant that are examined. Chosen; variants of LTTng have at most
 * four.
 */
#define MAX_OPTIONS 8

struct transport_layout {
	uint8_t protocol; /* IPPROTO_..., or 0 if not known */
	struct layout layout;
};

struct header {
	int family; /* AF_UNSPEC if it is not an IP header or has no TCP option */
	struct layout ip;
	struct transport_layout transport[MAX_OPTIONS]; /* one for each option of the variant */
};

/* The layout of the events that belong to one class. */
struct event_layout {
	const struct event_kind *kind;
	struct layout fields;
	struct header headers[MAX_OPTIONS]; /* nested events: one for each option */
};

/* Fill in a layout. Return false if no known version of the tracer has an event like this. */
bool ctf_find_layout(struct event_layout *layout, const bt_event_class *class);

static inline bool layout_has_all(const struct layout *layout, uint64_t wanted)
{
	return (layout->has & wanted) == wanted;
}

#endif
