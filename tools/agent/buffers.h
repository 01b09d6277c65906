/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffers that LTTng has for each processor, in sub-buffers: how large
 * they have to be for a rate of events, and how large they can be.
 */
#ifndef NETSYNC_AGENT_BUFFERS_H
#define NETSYNC_AGENT_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

/* The channels of a recording. Synchronizing reads that of packets alone. */
#define CHANNEL_PACKETS "netsync"
#define CHANNEL_KERNEL "kernel"
#define CHANNEL_USER "user"

/* As LTTng wants them: both are powers of two. */
struct buffers {
	uint64_t size;		/* of a sub-buffer, in bytes */
	uint64_t num;		/* of sub-buffers, for each processor */
};

#define BUFFER_SIZE_MIN (UINT64_C(4) << 10)	/* a page of x86 */
#define BUFFER_SIZE_MAX (UINT64_C(1) << 30)	/* LTTng 2.13 wants less than 2 GiB */
#define BUFFER_NUM_MIN 2
#define BUFFER_NUM_MAX 4096			/* chosen: 8 MiB of pointers in LTTng */

static inline uint64_t buffers_bytes(struct buffers buffers)
{
	return buffers.size * buffers.num;
}

/* What one event of a channel takes in them, about: in bytes. */
unsigned int buffers_event_bytes(const char *channel);

/* Those that hold so many bytes while LTTng takes none. */
struct buffers buffers_for(uint64_t bytes);

/*
 * Those of a channel that has so many bytes of memory for each processor, in
 * place of what they would be where there is plenty.
 */
struct buffers buffers_default(const char *channel, uint64_t room);

/* How often LTTng has to look for full ones, in microseconds. */
unsigned int buffers_read_us(const char *channel, struct buffers buffers);

/* Could LTTng have such ones? */
bool buffers_are_valid(struct buffers buffers);

/* "16x2M": NUMxSIZE, with k, M or G. False: it is none that LTTng could have. */
bool buffers_parse(struct buffers *buffers, const char *text);
/* As that is read, into @text of BUFFERS_TEXT bytes. Return: @text. */
#define BUFFERS_TEXT 48
char *buffers_format(char *text, struct buffers buffers);

#endif
