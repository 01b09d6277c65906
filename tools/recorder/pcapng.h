/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes frames to a pcapng capture (draft-ietf-opsawg-pcapng), in the byte order of this
 * machine, with times in ns. A reader can follow the capture while it is written, because only
 * complete blocks are written.
 */
#ifndef NETSYNC_RECORDER_PCAPNG_H
#define NETSYNC_RECORDER_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Link types (https://www.tcpdump.org/linktypes.html). */
#define LINKTYPE_ETHERNET 1
#define LINKTYPE_RAW 101

/* Bits of a packet's flags for the direction and the kind of reception (section 4.3.1). */
#define FLAG_INBOUND 1u
#define FLAG_OUTBOUND 2u
#define FLAG_UNICAST (1u << 2)
#define FLAG_MULTICAST (2u << 2)
#define FLAG_BROADCAST (3u << 2)
#define FLAG_PROMISCUOUS (4u << 2)

/* Size of the buffer for data that is not yet written, bytes. Chosen. */
#define CAPTURE_BUFFER (256 * 1024)

/* State of the writer, which is initially all zero, except the descriptor. */
struct capture_writer {
	int fd;
	size_t used;
	uint32_t num_interfaces;
	int error; /* errno of the first write that failed */
	uint8_t buffer[CAPTURE_BUFFER];
};

struct recorded_frame {
	uint32_t interface; /* number of the interface, from 0 in the order of their descriptions */
	uint32_t flags;
	uint64_t time_ns;
	uint32_t original; /* number of bytes on the link */
	uint32_t kept;
	/* the kept bytes, of which @split are at @head and the others at @tail */
	const uint8_t *head, *tail;
	uint32_t split;
};

/*
 * Begin the capture with the name of the program that writes it, the operating system, and the
 * name of the machine.
 */
void capture_begin(struct capture_writer *w, const char *program, const char *system,
		   const char *host);

/*
 * Describe a device. Return its number. @place is a text with the device's number and network
 * namespace. @mac has 6 bytes, or is NULL.
 */
uint32_t capture_put_interface(struct capture_writer *w, const char *name, const char *place,
			       uint16_t linktype, const uint8_t *mac);

void capture_put_frame(struct capture_writer *w, const struct recorded_frame *frame);

/* Write the counts since the recording began, summed over all devices, for interface 0. */
void capture_put_counts(struct capture_writer *w, uint64_t time_ns, uint64_t received,
			uint64_t dropped);

/*
 * Write the collected data. Return false if writing fails or has failed before; the error is
 * stored in @w.
 */
bool capture_flush(struct capture_writer *w);

#endif
