/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes of LTTng's ring buffers. There is one buffer for each processor, which consists of
 * sub-buffers. The functions compute the sizes that a rate of events needs, and check the sizes
 * that LTTng allows.
 */
#ifndef NETSYNC_AGENT_BUFFERS_H
#define NETSYNC_AGENT_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

/* Names of the channels of a recording. Synchronization reads only the channel with the packets. */
#define CHANNEL_PACKETS "netsync"
#define CHANNEL_KERNEL "kernel"
#define CHANNEL_USER "user"

/* Sub-buffers of a buffer. LTTng requires that both numbers are powers of two. */
struct buffers {
	uint64_t size; /* size of a sub-buffer, bytes */
	uint64_t num;  /* number of sub-buffers of each processor */
};

#define BUFFER_SIZE_MIN (UINT64_C(4) << 10) /* a page of x86 */
#define BUFFER_SIZE_MAX (UINT64_C(1) << 30) /* LTTng 2.13 requires less than 2 GiB */
#define BUFFER_NUM_MIN 2		    /* chosen: one is written while another is read */
#define BUFFER_NUM_MAX 4096		    /* chosen: 8 MiB of pointers in LTTng */

static inline uint64_t buffers_get_bytes(struct buffers buffers)
{
	return buffers.size * buffers.num;
}

/* Return the approximate size of an event in a channel, bytes. */
unsigned int buffers_get_event_bytes(const char *channel);

/* Return buffers that can hold @bytes while LTTng does not read them. */
struct buffers buffers_choose_for(uint64_t bytes);

/*
 * Return buffers of at least the same size that can hold a low rate of events while LTTng does
 * not read them for @seconds. LTTng's timer starts another sub-buffer each second, even if the
 * last sub-buffer is nearly empty.
 */
struct buffers buffers_adapt_to_pause(struct buffers buffers, unsigned int seconds);

/*
 * Return the default buffers of a channel if @room bytes of memory per processor are available.
 * They are smaller than usual if memory is short.
 */
struct buffers buffers_choose_default(const char *channel, uint64_t room);

/* Return the period in which LTTng must read full sub-buffers, us. */
unsigned int buffers_compute_read_us(const char *channel, struct buffers buffers);

/* Does LTTng allow buffers of this size and number? */
bool buffers_are_valid(struct buffers buffers);

/*
 * Parse NUMxSIZE, such as "16x2M", with k, M or G. Return false if @text is invalid, or if
 * LTTng does not allow these buffers.
 */
bool buffers_parse(struct buffers *buffers, const char *text);
/* Format buffers for buffers_parse(), into @text of BUFFERS_TEXT bytes. Return @text. */
#define BUFFERS_TEXT 48
char *buffers_format(char *text, struct buffers buffers);

#endif
