/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a captured frame holds: its packet, as the events of devices tell of one
 * (netsync-events(5)), so that sightings of one packet agree.
 */
#ifndef NETSYNC_IO_FRAME_H
#define NETSYNC_IO_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"

#define MAC_SIZE 6

/* Captured bytes, which may be fewer than the frame had. */
struct frame {
	const uint8_t *data;
	size_t captured;
	size_t original;
};

enum frame_mark {
	FRAME_UNMARKED,
	FRAME_IN,		/* the capturing host received it */
	FRAME_OUT,		/* and sent it */
};

/* What is before the IP header. */
struct frame_link {
	size_t network;		/* where that begins */
	uint16_t protocol;	/* as in an Ethernet header */
	enum frame_mark mark;
	uint32_t device;	/* index; 0: not known */
	const uint8_t *from;	/* hardware addresses; NULL: not known */
	const uint8_t *to;
};

enum frame_result {
	FRAME_OTHER,		/* nothing that is matched */
	FRAME_CUT,		/* too little of it was captured */
	FRAME_PACKET,
};

bool frame_knows_link(uint16_t link);
/* @swapped: the host that captured it has not this one's byte order */
enum frame_result frame_read_link(const struct frame *frame, uint16_t link,
				  bool swapped, struct frame_link *is);
/* All but host, time, place and direction. */
enum frame_result frame_read_packet(const struct frame *frame,
				    const struct frame_link *link,
				    struct netsync_packet *pkt);

#endif
