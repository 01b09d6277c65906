/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the fields of packet events are in CTF.
 *
 * Two shapes of events are known: flat ones (event.h), and *nested* ones, which
 * are LTTng's network events: a variant holds an IPv4 or IPv6 header, and in that
 * another variant holds a TCP header.
 *
 * All names are looked up once for each event class. Options of variants are
 * told apart by the fields inside them and not by their labels or by what
 * selects them, since these changed from one version to the next.
 */
#ifndef NETSYNC_CTF_LAYOUT_H
#define NETSYNC_CTF_LAYOUT_H

#include <babeltrace2/babeltrace.h>

#include "io/packet/event.h"

/* Where the members of a structure are. */
struct layout {
	uint64_t has;		/* a bit for each meaning */
	uint64_t is_signed;
	uint64_t has_units;	/* addresses of 8 units of 16 bits */
	uint8_t at[NUM_MEANINGS];
};

/* Chosen: LTTng's variants have up to four options. */
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

/* How the events of one event class look. */
struct event_layout {
	const struct event_kind *kind;
	struct layout fields;
	struct header headers[MAX_OPTIONS];	/* by what the variant selects */
};

/* False: the fields are not those of any known version. */
bool ctf_find_layout(struct event_layout *layout, const bt_event_class *class);

static inline bool has_all(const struct layout *layout, uint64_t wanted)
{
	return (layout->has & wanted) == wanted;
}

#endif
