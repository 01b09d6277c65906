/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages, kept by the pair of hosts that exchanged them.
 *
 * Of a pair, host[0] < host[1]. A message becomes a point in the plane
 *	x = time on host[0], y = time on host[1] - time on host[0]
 * (each relative to an origin near the host's times)
 * in which a straight pair of clocks is a line: messages from host[0] lie
 * above it by their delay, messages from host[1] below (Duda et al. 1987).
 * Of each of the two clouds only the points on its inner side are kept.
 */
#ifndef NETSYNC_MESSAGE_MESSAGE_H
#define NETSYNC_MESSAGE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message/envelope.h"
#include "message/hull.h"
#include "util/pair-table.h"

/* Where and when one end of a message was seen. */
struct endpoint {
	uint32_t host;
	int64_t origin; /* of the host's times */
	int64_t t;	/* relative to that */
};

/* The messages of one direction. */
struct direction {
	/* Added together, a few at a time: that spares the caches. */
	struct point *fresh;
	size_t num_fresh;
	size_t fresh_room;
	uint64_t inversions; /* before correction */
	/* The rest does not know of the fresh ones until pairs_settle(). */
	uint64_t num;
	__int128 sum_x;
	__int128 sum_y;
	struct wide sum_xx;
	struct wide sum_xy;
	/*
	 * The points on the inner side: of (x, y) for messages from host[0], of
	 * (x, -y) for messages from host[1], so that they are the lower ones
	 * both times.
	 */
	struct envelope envelope;
	struct hull hull; /* of these */
};

struct pair {
	uint32_t host[2];
	struct direction direction[2]; /* [0]: from host[0] to host[1] */
};

struct pairs {
	struct pair **pair;
	size_t num;
	size_t room;
	struct pair_table table;
	struct budget budget; /* of each cloud */
};

/* Add a message: 0 or -ENOMEM, and then it was not added. */
int pairs_add(struct pairs *ps, const struct endpoint *from,
	      const struct endpoint *to);

/* Sort the pairs and make all hulls: 0 or -ENOMEM. More may be added later. */
int pairs_settle(struct pairs *ps);

void pairs_release(struct pairs *ps);

#endif
