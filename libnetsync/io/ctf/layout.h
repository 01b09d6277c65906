/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A class of events in CTF -> the members that hold the fields of packets. Events are flat
 * (io/packet/event.h), or *nested*, as LTTng's network events are:
 *
 *	skbaddr, len, name
 *	network_header: variant		IPv4 or IPv6 header:
 *		saddr, daddr, ...
 *		transport_header: variant	TCP, UDP or ICMP header:
 *			source_port, dest_port, ...
 *
 * Names are looked up once for each class. Options of variants are told apart by the
 * fields in them: labels and tags differ between versions of LTTng.
 */
#ifndef NETSYNC_CTF_LAYOUT_H
#define NETSYNC_CTF_LAYOUT_H

#include <babeltrace2/babeltrace.h>

#include "io/packet/event.h"

/* The members of a structure, by their meanings (enum meaning). */
struct layout {
	uint64_t has;		  /* a bit for each meaning that has a member, */
	uint64_t is_signed;	  /* which is a signed integer, */
	uint64_t has_units;	  /* or an address of 8 words of 16 bits */
	uint8_t at[NUM_MEANINGS]; /* index of the member */
};

/* Options of a variant that are looked at. Chosen: LTTng's have up to four. */
#define MAX_OPTIONS 8

struct transport_layout {
	uint8_t protocol; /* IPPROTO_...; 0 if not known */
	struct layout layout;
};

struct header {
	int family; /* AF_UNSPEC: not an IP header, or none with TCP in it */
	struct layout ip;
	struct transport_layout transport[MAX_OPTIONS]; /* by option of the variant */
};

/* The layout of the events of one class. */
struct event_layout {
	const struct event_kind *kind;
	struct layout fields;
	struct header headers[MAX_OPTIONS]; /* nested: by option of the variant */
};

/* Fill in a layout. Return false if no known version of the tracer has such an event. */
bool ctf_find_layout(struct event_layout *layout, const bt_event_class *class);

static inline bool layout_has_all(const struct layout *layout, uint64_t wanted)
{
	return (layout->has & wanted) == wanted;
}

#endif
