/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many events there are in a packet of a stream that LTTng is writing. A
 * process of its own finds that out, for one packet at a time.
 */
#ifndef NETSYNC_AGENT_PACKET_H
#define NETSYNC_AGENT_PACKET_H

#include <stdbool.h>
#include <stdint.h>

struct packet {
	const char *stream;	/* a file, with "metadata" beside it */
	uint64_t offset, size;	/* in bytes */
};

/* Begin with it. False: it cannot be done. */
bool packet_decode(const struct packet *packet);

struct decoded {
	uint64_t events;	/* 0 as well if it could not be read */
	int64_t cpu_ns;		/* that it took */
};

/* False: it is not done yet. */
bool packet_take(struct decoded *decoded);
/* If there is one, end it. */
void packet_give_up(void);

#endif
