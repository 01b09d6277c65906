/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages, kept by the pair of hosts that exchanged them.
 *
 * Of a pair, host[0] < host[1]. A message becomes a point in the plane
 *	x = time on host[0], y = time on host[1] - time on host[0]
 * (each relative to an origin near the host's times)
 * in which a straight pair of clocks is a line: messages from host[0] lie
 * above it by their delay, messages from host[1] below (Duda et al. 1987).
 * Each of the two clouds is kept as the convex hull on its inner side.
 */
#ifndef NETSYNC_MESSAGE_H
#define NETSYNC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "envelope.h"
#include "hull.h"

struct message {
	int64_t send;		/* each relative to its host's origin */
	int64_t recv;
};

/* The messages of one direction. */
struct cloud {
	struct message *msg;
	size_t num;
	size_t room;
	uint64_t inversions;	/* before correction */
	__int128 sum_x;		/* for the mean point of the cloud */
	__int128 sum_y;
	/*
	 * The inner hull: of (x, y) for messages from host[0], of (x, -y) for
	 * messages from host[1], so that it is a lower hull both times.
	 */
	struct hull hull;
	/* The same points, bin by bin, after pairs_bin(). */
	struct envelope envelope;
};

struct pair {
	uint32_t host[2];
	struct cloud cloud[2];	/* [0]: from host[0] to host[1] */
};

struct pairs {
	struct pair **pair;
	size_t num;
	size_t room;
	uint32_t *slot;		/* hash table of pair number + 1 */
	size_t slots;
};

/*
 * Add a message: 0 or -ENOMEM. Times are relative to the hosts' origins, so
 * that only the caller knows whether it was @inverted.
 */
int pairs_add(struct pairs *ps, uint32_t from, uint32_t to, int64_t send,
	      int64_t recv, bool inverted);

/* Bring all hulls up to date and sort the pairs: 0 or -ENOMEM. */
int pairs_settle(struct pairs *ps);

/* Fill the envelopes, which only curves need: 0 or -ENOMEM. */
int pairs_bin(struct pairs *ps);

void pairs_release(struct pairs *ps);

#endif
