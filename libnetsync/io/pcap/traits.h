/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The addresses by which the machine of a capture is recognized. All packets contain these
 * addresses, because the machine has sent or received each packet.
 */
#ifndef NETSYNC_IO_TRAITS_H
#define NETSYNC_IO_TRAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "io/packet/frame.h"

/* Size of an IP address or of a hardware address with zeros behind it (bytes). */
#define TRAIT_SIZE 16

/*
 * Maximum number of the machine's own addresses, which packets with directions report. Chosen to
 * exceed what most machines have. A machine with more addresses is not recognized by them.
 */
#define MAX_OWN_TRAITS 32

/* Addresses of one kind. */
struct trait_addresses {
	bool any; /* whether a packet was added */
	/* Addresses that are the sender or the receiver of every packet. */
	unsigned int num_common;
	uint8_t common[2][TRAIT_SIZE];
	/*
	 * Number of different senders and of different receivers, except multicast. 2 means two or
	 * more.
	 */
	unsigned int num_from, num_to;
	uint8_t from[TRAIT_SIZE], to[TRAIT_SIZE];
};

struct traits {
	struct trait_addresses macs;
	struct trait_addresses ips;
	unsigned int num_own; /* if this exceeds MAX_OWN_TRAITS, the addresses are not known */
	uint8_t own[MAX_OWN_TRAITS][TRAIT_SIZE];
	uint16_t link; /* link type of the first packet */
};

enum likeness {
	TRAITS_DIFFER, /* no single machine can have sent or received all packets */
	TRAITS_UNKNOWN,
	TRAITS_AGREE, /* the captures may belong to the same machine */
};

/* Add a packet of this link type. */
void traits_add(struct traits *traits, uint16_t type, const struct captured_frame *frame,
		const struct frame_link *link);
/* Compare two captures by their addresses: check whether they may belong to the same machine. */
enum likeness traits_compare(const struct traits *a, const struct traits *b);
/* Return whether the machine of a capture may have sent (@out) or received all of its packets. */
bool traits_are_one_way(const struct traits *traits, bool out);
/* Merge the traits of another capture of the same machine into those of the machine. */
void traits_merge(struct traits *traits, const struct traits *more);

#endif
