/* SPDX-License-Identifier: GPL-2.0-only */
/* The channels of a session, and the buffers of each. */
#ifndef NETSYNC_AGENT_CHANNELS_H
#define NETSYNC_AGENT_CHANNELS_H

#include <stdint.h>

#include <json.h>

#include "buffers.h"
#include "events.h"

/*
 * Plan the buffers of channels that have events. Requested buffers are given as
 * [{"channel":NAME,"size":N,"num":N}...]. The last matching element applies, and the name ""
 * matches all channels. Other buffers depend on this machine's memory. Return NULL, or an answer
 * with the reason why this is impossible.
 */
struct json_object *channels_plan(const struct choice *choice, struct json_object *asked);
struct buffers channel_get_buffers(const char *channel);

/* Return the kernel's estimate of available memory, bytes. */
uint64_t memory_read_available(void);

#endif
