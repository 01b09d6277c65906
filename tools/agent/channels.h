/* SPDX-License-Identifier: GPL-2.0-only */
/* The channels of a session, and which buffers each gets. */
#ifndef NETSYNC_AGENT_CHANNELS_H
#define NETSYNC_AGENT_CHANNELS_H

#include <stdint.h>

#include <json.h>

#include "buffers.h"
#include "events.h"

/*
 * Of those that have events: what is asked for, [{"channel":NAME,"size":N,"num":N}
 * ...], where the last one counts, and a name of "" stands for all; else as this
 * machine's memory allows. NULL, or an answer that says why that cannot be.
 */
struct json_object *channels_plan(const struct choice *choice,
				  struct json_object *asked);
struct buffers channel_buffers(const char *channel);

/* In bytes, as the kernel tells it. */
uint64_t memory_available(void);

#endif
