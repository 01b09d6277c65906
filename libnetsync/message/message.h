/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collect messages as two clouds of points for each pair of hosts.
 *
 * In a pair, host[0] < host[1]. A message becomes a point in the plane
 *	x = time on host[0], y = time on host[1] - time on host[0]
 * (each relative to an origin near the host's times). Two clocks that are linear to each
 * other are a line in this plane: messages from host[0] lie above it by their delay,
 * messages from host[1] below it (Duda et al. 1987). Only the points on the inner side of
 * each cloud are kept.
 */
#ifndef NETSYNC_MESSAGE_MESSAGE_H
#define NETSYNC_MESSAGE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message/envelope.h"
#include "message/hull.h"
#include "util/pair-table.h"

/* The place and time of one end of a message. */
struct endpoint {
	uint32_t host;
	int64_t origin; /* origin of the host's times, ns */
	int64_t t;	/* time relative to the origin, ns */
};

/* The messages sent in one direction. */
struct direction {
	/* Queued messages, which will be added together to save cache misses. */
	struct point *fresh;
	size_t num_fresh;
	size_t fresh_room;
	/* Number of messages received before they were sent, before correction. */
	uint64_t inversions;
	int64_t raised; /* rounding-up offset that was added to all y, see pairs_raise(), ns */
	/* Sums of all messages except the queued ones, which pairs_settle() adds. */
	uint64_t num;
	__int128 sum_x;
	__int128 sum_y;
	struct wide sum_xx;
	struct wide sum_xy;
	/*
	 * Points on the inner side: (x, y) for messages from host[0], (x, -y) for
	 * messages from host[1], so that the inner side is the lower one in both
	 * directions.
	 */
	struct envelope envelope;
	struct hull hull; /* hull of the envelope's points */
};

struct pair {
	uint32_t host[2];
	struct direction direction[2]; /* [0] is from host[0] to host[1] */
};

/* The pairs of one part, which have the same get_pair_part(). */
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
	size_t sharing;	      /* number of pairs that the budget was divided among */
	struct budget budget; /* budget of each direction's envelope */
};

/* Add a message. Return 0, or -ENOMEM, with the message not added. */
int pairs_add(struct pairs *ps, const struct endpoint *from, const struct endpoint *to);

/*
 * Like pairs_add(), but other threads may add messages of other parts (get_pair_part()) at
 * the same time. Call pairs_share_budget() when all threads have ended.
 */
int pairs_add_concurrently(struct pairs *ps, const struct endpoint *from,
			   const struct endpoint *to);

/*
 * Divide the budget among the current pairs. If some envelopes cannot be reduced for lack
 * of memory, the next call retries.
 */
void pairs_share_budget(struct pairs *ps);

/*
 * Timestamps are rounded down to the @resolution of their hosts, ns, so that the true
 * receive time lies before the next possible timestamp. Move all receive times up to just
 * before it. Otherwise, a coarse clock would show messages received before they were
 * sent. @slope is the largest difference between two clocks' rates. Call this before
 * pairs_settle(), and again when the resolutions change.
 */
void pairs_raise(struct pairs *ps, const int64_t *resolution, double slope);

/* Sort pairs and compute hulls. Return 0 or -ENOMEM. More messages may be added later. */
int pairs_settle(struct pairs *ps);

/*
 * Add all messages of @from, which another process may have matched, with the same host
 * numbers. @origin and @from_origin are the origins of each host's times, ns, in this object
 * and in @from. The result is the same for any order of merging; see envelope_merge(). Return
 * 0, or -ENOMEM with a part of the messages added.
 */
int pairs_merge(struct pairs *ps, const int64_t *origin, const struct pairs *from,
		const int64_t *from_origin);

void pairs_release(struct pairs *ps);

#endif
