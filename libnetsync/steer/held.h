/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of steered clocks, which are deferred until the maps to raw time cover their times. */
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
	int64_t send; /* time on the clock of @from, absolute, ns */
	int64_t recv;
};

struct held {
	struct held_message *message;
	size_t num;
	size_t room;
	size_t next; /* number of deferred messages at which they are examined next */
	/*
	 * A sample of the messages that were rejected because they precede a host's first reading
	 * or follow its last one. One in @apart messages is kept, where @apart is a power of 2. The
	 * sample reveals whether a clock was stepped at these times.
	 */
	struct held_message *uncovered;
	size_t num_uncovered;
	size_t room_uncovered;
	uint64_t apart;
};

/*
 * Messages of a host's first EARLY_NS that were added before any clock reading of either host. When
 * readings arrive, these messages are converted to raw time, or rejected.
 */
struct early {
	struct held_message *message;
	size_t num;
	size_t room;
};

/*
 * Length of a host's first period, ns. Readings up to MOST_LOST later change the raw times in this
 * period.
 */
#define EARLY_NS (31 * (int64_t)SECOND)

/*
 * Maximum number of messages in one struct early, which take 128 KB. Further messages are used as
 * if the clocks were not steered. Chosen.
 */
#define MOST_EARLY ((size_t)1 << 12)

/* Hosts and their steering. Both arrays are indexed by the host's number. */
struct steered_hosts {
	struct host *host;
	struct steering *steering;
	uint32_t num;
};

/*
 * Defer a message, and pass deferred messages that are ready to @pairs. Return 0, or -ENOMEM if the
 * message was not added.
 */
int held_add_message(struct held *held, const struct held_message *m, struct pairs *pairs,
		     const struct steered_hosts *hosts);

/*
 * Pass to @pairs all messages whose times no later reading can change, according to the promises.
 * Return 0 or -ENOMEM.
 */
int held_pass_final(struct held *held, struct pairs *pairs, const struct steered_hosts *hosts);

/*
 * Keep a message that was rejected because no readings cover its time, if the message belongs to
 * the sample. Return 0 or -ENOMEM.
 */
int held_keep_uncovered(struct held *held, const struct held_message *m);

/* Keep a message. @early must have fewer than MOST_EARLY messages. Return 0 or -ENOMEM. */
int early_keep_message(struct early *early, const struct held_message *m);

void held_release(struct held *held);

#endif
