/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collect messages as two clouds of points for each pair of hosts. In a pair, host[0] < host[1]. A
 * message is a point in a plane: x = time on host[0], y = time on host[1] - time on host[0]. Both
 * coordinates are relative to an origin near the host's times. If two clocks are linear relative to
 * each other, they are a line in this plane. Messages from host[0] are above the line by their
 * delay, and messages from host[1] are below it (Duda et al. 1987). Only the points at the inner
 * edge of each cloud are stored.
 */
#ifndef NETSYNC_MESSAGE_MESSAGE_H
#define NETSYNC_MESSAGE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message/envelope.h"
#include "message/hull.h"
#include "util/pair-table.h"

/* One end of a message: its host and time. */
struct endpoint {
	uint32_t host;
	int64_t origin; /* origin of the host's times, ns */
	int64_t t;	/* time relative to the origin, ns */
};

/* The messages sent in one direction. */
struct direction {
	/* Deferred messages. Adding several at a time saves cache misses. */
	struct point *fresh;
	size_t num_fresh;
	size_t fresh_room;
	/*
	 * Number of messages that are received before they are sent, according to uncorrected
	 * clocks.
	 */
	uint64_t inversions;
	int64_t raised; /* rounding-up offset that was added to all y, see pairs_raise(), ns */
	/* Sums over all messages except the deferred ones, which pairs_settle() adds. */
	uint64_t num;
	__int128 sum_x;
	__int128 sum_y;
	struct wide sum_xx;
	struct wide sum_xy;
	/*
	 * The points at the inner edge: (x, y) for messages from host[0], and (x, -y) for messages
	 * from host[1], so that the inner edge is the lower one in both directions.
	 */
	struct envelope envelope;
	struct hull hull; /* hull of the envelope's points */
};

struct pair {
	uint32_t host[2];
	struct direction direction[2]; /* [0] is from host[0] to host[1] */
};

/* The pairs of one part, that is, those with the same get_pair_part(). */
struct pairs_part {
	struct pair **pair;
	size_t num;
	size_t room;
	struct pair_table table;
};

struct pairs {
	struct pair **pair; /* all pairs, sorted by hosts; valid after pairs_settle() */
	size_t num;
	struct pairs_part part[PAIR_PARTS];
	size_t sharing;	      /* number of pairs among which the budget was divided */
	struct budget budget; /* budget of each direction's envelope */
};

/* Add a message. Return 0 or -ENOMEM. After -ENOMEM, the message was not added. */
int pairs_add(struct pairs *ps, const struct endpoint *from, const struct endpoint *to);

/*
 * Like pairs_add(), but other threads may add messages of other parts (get_pair_part()) at the same
 * time. Call pairs_share_budget() after all threads have ended.
 */
int pairs_add_concurrently(struct pairs *ps, const struct endpoint *from,
			   const struct endpoint *to);

/*
 * Divide the budget among the current pairs. If memory is too short to reduce some envelopes, the
 * next call tries again.
 */
void pairs_share_budget(struct pairs *ps);

/*
 * Timestamps are rounded down to the @resolution of their hosts, ns. The true receive time is
 * therefore before the next possible timestamp. Increase all receive times to just before this
 * timestamp. Otherwise, messages to a coarse clock would seem to arrive before they are sent.
 * @slope is the largest difference between two clocks' rates. Call this function before
 * pairs_settle(), and again when resolutions change.
 */
void pairs_raise(struct pairs *ps, const int64_t *resolution, double slope);

/* Sort pairs and compute hulls. Return 0 or -ENOMEM. More messages may be added later. */
int pairs_settle(struct pairs *ps);

/*
 * Add all messages of @from, which another process may have matched. Hosts must have the same
 * numbers in both objects. @origin and @from_origin are the origins of each host's times, ns, in
 * this object and in @from. The order in which objects are merged does not change the result; see
 * envelope_merge(). Return 0 or -ENOMEM. After -ENOMEM, only a part of the messages was added.
 */
int pairs_merge(struct pairs *ps, const int64_t *origin, const struct pairs *from,
		const int64_t *from_origin);

void pairs_release(struct pairs *ps);

#endif
