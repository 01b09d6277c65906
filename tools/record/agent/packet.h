/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the events in a packet of a stream that LTTng is writing. A child process counts them,
 * one packet at a time.
 */
#ifndef NETSYNC_AGENT_PACKET_H
#define NETSYNC_AGENT_PACKET_H

#include <stdbool.h>
#include <stdint.h>

struct stream_packet {
	const char *stream;    /* path of a file with "metadata" next to it */
	uint64_t offset, size; /* in bytes */
};

/* Start decoding. Return false if this is not possible. */
bool packet_start_decoding(const struct stream_packet *packet);

struct decoded {
	uint64_t events; /* also 0 if the packet cannot be read */
	int64_t cpu_ns;	 /* processor time of decoding */
};

/* Get the result of decoding. Return false if decoding is not finished. */
bool packet_get_decoded(struct decoded *decoded);
/* Stop decoding if it is running. */
void packet_stop_decoding(void);

#endif
