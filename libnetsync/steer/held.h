/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of steered clocks, held until the maps to raw time include their times. */
#ifndef NETSYNC_STEER_HELD_H
#define NETSYNC_STEER_HELD_H

#include <stddef.h>
#include <stdint.h>

#include "message/message.h"
#include "reduce/reduce.h"
#include "steer/steering.h"

struct held_message {
	uint32_t from;
	uint32_t to;
	int64_t send; /* absolute, on the host's clock, ns */
	int64_t recv;
};

struct held {
	struct held_message *message;
	size_t num;
	size_t room;
	size_t next; /* number at which they are looked at next */
	/*
	 * Of those that were left out before a host's first point or after its last one, one in
	 * @apart, a power of 2: they tell if a clock was set there.
	 */
	struct held_message *uncovered;
	size_t num_uncovered;
	size_t room_uncovered;
	uint64_t apart;
};

/*
 * Messages of a host's first times, before any point of either host came: with points, they
 * would be of raw times, or rejected.
 */
struct early {
	struct held_message *message;
	size_t num;
	size_t room;
};

/* A host's first times, ns: points that come up to MOST_LOST later change what these are. */
#define EARLY_NS (31 * (int64_t)SECOND)

/* Messages of one struct early at most, 128 KB; more pass as if nobody steered. Chosen. */
#define MOST_EARLY ((size_t)1 << 12)

/* Hosts and their steering, by the same numbers. */
struct steered_hosts {
	struct host *host;
	struct steering *steering;
	uint32_t num;
};

/*
 * Hold a message, and pass ready ones on to the pairs: 0; -ENOMEM, and the message was
 * not added.
 */
int held_add(struct held *held, const struct held_message *m, struct pairs *pairs,
	     const struct steered_hosts *hosts);

/*
 * Pass all messages on of whose times no point is still to come, as far as that was
 * promised: 0 or -ENOMEM.
 */
int held_settle(struct held *held, struct pairs *pairs, const struct steered_hosts *hosts);

/* Keep a message that is left out where no points cover its time: 0 or -ENOMEM. */
int held_keep_uncovered(struct held *held, const struct held_message *m);

/* Keep a message; there are fewer than MOST_EARLY: 0 or -ENOMEM. */
int early_keep(struct early *early, const struct held_message *m);

void held_release(struct held *held);

#endif
