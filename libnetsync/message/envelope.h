/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reduce a cloud of messages to an envelope. For each bin of time, the envelope contains
 * the number of messages and the few points that can touch a clock's curve.
 *
 * A curve whose slope falls by at most k per ns can touch a point from below iff the
 * point is a corner of the lower convex hull of (x, y + k x^2 / 2): adding k x^2 / 2
 * makes every such curve convex. (The slope may rise arbitrarily fast, at no cost.) With
 * k = 0, this is the ordinary hull, whose corners are always included. Bins limit how
 * much a wrong message can hide.
 *
 * Bins lie on a grid of powers of two of absolute time. If bins or corners exceed the
 * budget, the width of bins is doubled, and k is smaller in wide bins: memory is bounded,
 * however long the trace. The corners of a bin depend only on its points and its width,
 * not on the order in which points were added.
 */
#ifndef NETSYNC_MESSAGE_ENVELOPE_H
#define NETSYNC_MESSAGE_ENVELOPE_H

#include <stddef.h>
#include <stdint.h>

#include "message/hull.h"
#include "util/wide.h"

struct bin {
	int64_t index; /* the bin begins at base + (index << shift) */
	uint64_t messages;
	__int128 sum_x;
	struct point *corner; /* in the pool, in order of strictly increasing x */
	uint32_t corners;     /* number of corners; at least 1 */
	uint32_t room;
};

struct envelope {
	struct bin *bin; /* bins, which are in order of time after envelope_settle() */
	size_t num;
	size_t room;
	size_t last;	/* index of the bin of the last point */
	size_t corners; /* number of corners of all bins */
	/* Memory of all corners. One allocation avoids fragmentation. */
	struct point *pool;
	size_t pool_used; /* includes gaps that bins left when they moved */
	size_t pool_room;
	uint32_t *slot; /* hash table of positions in the array bin, plus 1 */
	size_t slots;
	int shift;    /* a bin is 1 << shift ns wide */
	int64_t base; /* time at which bin 0 begins, set before the first point */
};

/* Limits for an envelope: the number of bins, and the number of corners in all bins. */
struct budget {
	size_t bins;
	size_t corners;
};

/* Return the mean time of a bin's messages, rounded down. */
static inline int64_t bin_time(const struct bin *b)
{
	return (int64_t)floor_div(b->sum_x, b->messages);
}

/* Return the median y of up to five bins around @bin. Two of these bins may be wrong. */
int64_t envelope_compute_usual_y(const struct envelope *e, size_t bin);

/*
 * Add points, whose times are within 2^60 ns of each other. Until the next settling, up to an
 * eighth more corners than @room are kept, so that bins are not made wider because of corners that
 * later points replace. Return the number of points that were added. If fewer than @n were added,
 * there was not enough memory for the next point.
 */
size_t envelope_add(struct envelope *e, const struct point *p, size_t n, const struct budget *room);

/*
 * Add the points of another envelope, shifted by @x and @y. The shift converts its time base to
 * that of @e. The bins of both envelopes are on one grid. Merging several envelopes in any order,
 * and with points divided among them in any way, gives the same result, unless an envelope has to
 * be reduced to @room in between. Return 0. After -ENOMEM, only a part of the points was added.
 */
int envelope_merge(struct envelope *e, const struct envelope *other, int64_t x, int64_t y,
		   const struct budget *room);

/* Sort the bins, and reduce their corners and number to @room. Return 0 or -ENOMEM. */
int envelope_settle(struct envelope *e, const struct budget *room);

void envelope_release(struct envelope *e);

#endif
