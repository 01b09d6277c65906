/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets that went from host to host, found by when they came. */
#ifndef NETSYNC_PATH_MESSAGES_H
#define NETSYNC_PATH_MESSAGES_H

#include "common/spool.h"
#include "events/timebase.h"

struct message {
	int64_t recv_ns, send_ns; /* on the clocks of these: */
	uint32_t to, from;
};

struct messages {
	struct spool spool;
	struct message *list; /* those of the window, in order */
	size_t num, room;
};

/* From now on keep what is found. False: that was said. */
bool messages_open(struct messages *messages, struct netsync *ns);
/* All were found, and times can be corrected. False: that was said. */
bool messages_load(struct messages *messages, const struct timebase *base);
void messages_close(struct messages *messages);

/* NULL: none came then. */
const struct message *messages_find(const struct messages *messages,
				    uint32_t to, int64_t recv_ns);

#endif
