/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse the packet in a captured frame, with the fields that device events have
 * (netsync-events(5)), so that records of one packet agree, whether captured or traced.
 *
 *	| link header | VLAN tags | IP header | extensions | TCP, UDP, ... | payload |
 *	                          ^ frame_link.network
 */
#ifndef NETSYNC_IO_FRAME_H
#define NETSYNC_IO_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"

#define MAC_SIZE 6 /* size of an Ethernet address (bytes) */

struct captured_frame {
	const uint8_t *data;
	size_t captured; /* number of captured bytes */
	size_t original; /* number of bytes on the wire */
};

enum frame_mark {
	FRAME_UNMARKED,
	FRAME_IN,  /* the capturing host has received it */
	FRAME_OUT, /* the capturing host has sent it */
};

/* The link header. */
struct frame_link {
	size_t network;	   /* offset of the IP header (bytes) */
	uint16_t protocol; /* EtherType */
	enum frame_mark mark;
	uint32_t device;     /* interface index, or 0 if not known */
	const uint8_t *from; /* source hardware address; @from and @to are NULL if not known */
	const uint8_t *to;
};

enum frame_result {
	FRAME_OTHER, /* the frame has no packet of a supported protocol */
	FRAME_CUT,   /* too few bytes of the frame were captured */
	FRAME_PACKET,
};

/* Return whether the number is a supported link type of libpcap. */
bool frame_is_link_known(uint16_t link);
/*
 * Read a link header. @swapped means that the byte order of the capturing host is not this
 * machine's.
 */
enum frame_result frame_read_link(const struct captured_frame *frame, uint16_t link, bool swapped,
				  struct frame_link *is);
/*
 * Read the IP addresses after a link header. Return false if the packet is not an IP packet or is
 * truncated.
 */
bool frame_read_addresses(const struct captured_frame *frame, const struct frame_link *link,
			  uint8_t from[16], uint8_t to[16]);
/* Read a packet, except its host, time, observation point and direction. */
enum frame_result frame_read_packet(const struct captured_frame *frame,
				    const struct frame_link *link, struct netsync_packet *pkt);

#endif
