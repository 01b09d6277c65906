/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets between hosts, which are found by the times at which they were received. */
#ifndef NETSYNC_PATH_MESSAGES_H
#define NETSYNC_PATH_MESSAGES_H

#include "common/traffic.h"
#include "events/timebase.h"

struct messages {
	struct spooled *list; /* messages in the window, sorted by receiver and receive time */
	size_t num, room;
};

/*
 * Load the messages from traffic_spool_messages(). Call this function when times can be corrected.
 * On failure, print a message and return false.
 */
bool messages_load(struct messages *messages, struct spool *spool, const struct timebase *base);
void messages_release(struct messages *messages);

/* Find the message that host @to received at this time. Return NULL if there is no such message. */
const struct spooled *messages_find(const struct messages *messages, uint32_t to, int64_t recv_ns);

#endif
