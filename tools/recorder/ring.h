/* SPDX-License-Identifier: GPL-2.0-only */
/* All frames of a network namespace, by a packet socket whose memory is shared with the kernel. */
#ifndef NETSYNC_RECORDER_RING_H
#define NETSYNC_RECORDER_RING_H

#include <linux/if_packet.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct socket_ring {
	int fd;
	uint8_t *blocks;
	size_t num_blocks;
	size_t next;	/* the block that the kernel hands over next */
	uint64_t received, dropped; /* since the begin */
};

/* A frame, as the kernel hands it over. */
struct ring_frame {
	const struct tpacket3_hdr *header;
	const struct sockaddr_ll *from;
	const uint8_t *link;	/* its first byte, behind which are @captured */
	size_t captured;
	size_t link_length;	/* bytes before the header of the network */
};

/* A connection whose packets are not wanted: TCP, by its ports, whichever way. 0: none. */
struct unwanted_connection {
	uint16_t port[2];
};

/*
 * Begin to receive. @size: bytes of the ring; @device: index, or 0 for all. Return: 0, or a
 * negative errno, and *what is what failed.
 */
int ring_open(struct socket_ring *ring, size_t size, int device,
	      const struct unwanted_connection *unwanted, const char **what);

/*
 * Call @take with each frame of the next block. Wait for it at most @timeout_ms, or until a
 * signal in @mask is not blocked and comes. Return: 1: there was one; 0: there was none; negative
 * errno.
 */
int ring_take_block(struct socket_ring *ring, int timeout_ms, const sigset_t *mask,
		    void (*take)(void *data, const struct ring_frame *frame), void *data);

/* Receive no more; what was received can still be taken. */
void ring_stop(struct socket_ring *ring);

/* Update the counts. */
void ring_update_counts(struct socket_ring *ring);

void ring_close(struct socket_ring *ring);

#endif
