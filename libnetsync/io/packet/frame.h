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
	FRAME_IN,  /* received by the capturing host */
	FRAME_OUT, /* sent by the capturing host */
};

/* The link header. */
struct frame_link {
	size_t network;	   /* offset of the IP header (bytes) */
	uint16_t protocol; /* EtherType */
	enum frame_mark mark;
	uint32_t device;     /* interface index; 0 if unknown */
	const uint8_t *from; /* source hardware address; NULL, as is @to, if unknown */
	const uint8_t *to;
};

enum frame_result {
	FRAME_OTHER, /* no packet of a supported protocol */
	FRAME_CUT,   /* truncated: too few bytes were captured */
	FRAME_PACKET,
};

/* Is the number a supported link type of libpcap? */
bool frame_is_link_known(uint16_t link);
/* Read a link header. @swapped means that the capturing host has the other byte order. */
enum frame_result frame_read_link(const struct captured_frame *frame, uint16_t link, bool swapped,
				  struct frame_link *is);
/*
 * Read the IP addresses after a link header. Return false if the packet is not IP, or is
 * truncated.
 */
bool frame_read_addresses(const struct captured_frame *frame, const struct frame_link *link,
			  uint8_t from[16], uint8_t to[16]);
/* Read a packet, without host, time, observation point and direction. */
enum frame_result frame_read_packet(const struct captured_frame *frame,
				    const struct frame_link *link, struct netsync_packet *pkt);

#endif
