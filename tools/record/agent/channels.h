/* SPDX-License-Identifier: GPL-2.0-only */
/* The channels of a session, and the buffers of each. */
#ifndef NETSYNC_AGENT_CHANNELS_H
#define NETSYNC_AGENT_CHANNELS_H

#include <stdint.h>

#include <json.h>

#include "buffers.h"
#include "events.h"

/*
 * Plan the buffers of channels that have events: those that are asked for,
 * [{"channel":NAME,"size":N,"num":N}...], where the last one counts, and a name of ""
 * stands for all; else by this machine's memory. Return: NULL, or the answer that says
 * why it cannot be.
 */
struct json_object *channels_plan(const struct choice *choice,
				  struct json_object *asked);
struct buffers channel_buffers(const char *channel);

/* The kernel's estimate of available memory, bytes. */
uint64_t memory_available(void);

#endif
