/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets that went from host to host, found by when they came. */
#ifndef NETSYNC_PATH_MESSAGES_H
#define NETSYNC_PATH_MESSAGES_H

#include "common/traffic.h"
#include "events/timebase.h"

struct messages {
	struct spooled *list; /* those of the window, in order */
	size_t num, room;
};

/* Of what traffic_keep() kept, once times can be corrected. False: that was said. */
bool messages_load(struct messages *messages, struct spool *spool,
		   const struct timebase *base);
void messages_release(struct messages *messages);

/* NULL: none came then. */
const struct spooled *messages_find(const struct messages *messages,
				    uint32_t to, int64_t recv_ns);

#endif
