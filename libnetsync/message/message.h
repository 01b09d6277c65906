/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages -> two clouds of points for each pair of hosts.
 *
 * In a pair host[0] < host[1]. A message becomes a point in the plane
 *	x = time on host[0], y = time on host[1] - time on host[0]
 * (each relative to an origin near the host's times) in which a straight pair of clocks
 * is a line: messages from host[0] lie above it by their delay, messages from host[1]
 * below (Duda et al. 1987). Of each cloud only the points on its inner side are kept.
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
	int64_t origin; /* of the host's times, ns */
	int64_t t;	/* relative to the origin, ns */
};

/* The messages of one direction. */
struct direction {
	/* Messages that wait to be added together, which spares the caches. */
	struct point *fresh;
	size_t num_fresh;
	size_t fresh_room;
	uint64_t inversions; /* before correction, of all messages */
	int64_t raised; /* added to all y, see pairs_raise(), ns */
	/* Sums of all messages but the waiting ones, which pairs_settle() adds. */
	uint64_t num;
	__int128 sum_x;
	__int128 sum_y;
	struct wide sum_xx;
	struct wide sum_xy;
	/*
	 * Points on the inner side: (x, y) for messages from host[0], (x, -y) for
	 * messages from host[1], so that they are the lower ones in both directions.
	 */
	struct envelope envelope;
	struct hull hull; /* of the envelope's points */
};

struct pair {
	uint32_t host[2];
	struct direction direction[2]; /* [0]: from host[0] to host[1] */
};

/* The pairs of which pair_part() is the same. */
struct pairs_part {
	struct pair **pair;
	size_t num;
	size_t room;
	struct pair_table table;
};

struct pairs {
	struct pair **pair; /* all, by hosts; as of the last pairs_settle() */
	size_t num;
	struct pairs_part part[PAIR_PARTS];
	size_t sharing; /* pairs that the budget was divided among */
	struct budget budget; /* of each direction's envelope */
};

/* Add a message: 0; -ENOMEM, and the message was not added. */
int pairs_add(struct pairs *ps, const struct endpoint *from,
	      const struct endpoint *to);

/*
 * Add a message as pairs_add(), while other threads may add messages of other parts
 * (pair_part()). Call pairs_share() when all threads have ended.
 */
int pairs_add_beside(struct pairs *ps, const struct endpoint *from,
		     const struct endpoint *to);

/*
 * Divide the budget among the pairs that there are by now. If memory fails some envelopes
 * to become smaller, that is tried again the next time.
 */
void pairs_share(struct pairs *ps);

/*
 * Stamps are cut off to the @resolution of their hosts, ns: a message was received
 * before the next time that there is. Take all to be received as late as that, or a
 * coarse clock would show messages received before they were sent. @slope: the
 * largest difference of two clocks' rates. To be called before pairs_settle(); also
 * anew, when more is known.
 */
void pairs_raise(struct pairs *ps, const int64_t *resolution, double slope);

/* Sort pairs and compute hulls: 0 or -ENOMEM. More messages may be added later. */
int pairs_settle(struct pairs *ps);

/*
 * Add all messages of @from, which may have been matched elsewhere, with the same numbers
 * of hosts. @origin and @from_origin: of each host's times, ns, here and
 * there.
 * Whatever the order of several, the result is the same; see envelope_merge().
 * Return: 0, or -ENOMEM with a part of the messages added.
 */
int pairs_merge(struct pairs *ps, const int64_t *origin, const struct pairs *from,
		const int64_t *from_origin);

void pairs_release(struct pairs *ps);

#endif
