/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The addresses by which the machine of a capture is recognized: those that all packets have in
 * common, because the machine sent or received each packet.
 */
#ifndef NETSYNC_IO_TRAITS_H
#define NETSYNC_IO_TRAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "io/packet/frame.h"

/* Size of a hardware address (padded with 0) or IP address (bytes). */
#define TRAIT_SIZE 16

/*
 * Maximum number of the machine's own addresses, as marked packets report them. Chosen: more
 * than most machines have; a machine with more is not recognized by its addresses.
 */
#define MAX_OWN_TRAITS 32

/* Addresses of one kind. */
struct trait_addresses {
	bool any; /* true if a packet was added */
	/* Addresses that all packets have as sender or receiver. */
	unsigned int num_common;
	uint8_t common[2][TRAIT_SIZE];
	/* Numbers of distinct senders and receivers, without multicast; 2 means two or more. */
	unsigned int num_from, num_to;
	uint8_t from[TRAIT_SIZE], to[TRAIT_SIZE];
};

struct traits {
	struct trait_addresses macs;
	struct trait_addresses ips;
	unsigned int num_own; /* if more than MAX_OWN_TRAITS, the addresses are not known */
	uint8_t own[MAX_OWN_TRAITS][TRAIT_SIZE];
	uint16_t link; /* link type of the first packet */
};

enum likeness {
	TRAITS_DIFFER, /* no one machine can have sent or received all packets */
	TRAITS_UNKNOWN,
	TRAITS_AGREE, /* the captures may be of the same machine */
};

/* Add a packet of this link type. */
void traits_add(struct traits *traits, uint16_t type, const struct captured_frame *frame,
		const struct frame_link *link);
/* Compare two captures by their addresses: may they be of the same machine? */
enum likeness traits_compare(const struct traits *a, const struct traits *b);
/* Could all packets of a capture have been sent (@out), or received, by its machine? */
bool traits_are_one_way(const struct traits *traits, bool out);
/* Merge the traits of another capture of the same machine into those of the machine. */
void traits_merge(struct traits *traits, const struct traits *more);

#endif
