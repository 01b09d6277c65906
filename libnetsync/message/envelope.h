/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is kept of a cloud of messages: for every bin of time the few points
 * that can touch a clock's curve, and how many there were.
 *
 * A point can touch a curve from above whose slope falls by at most k per ns
 * iff it is a corner of the lower convex hull of (x, y + k x^2 / 2): adding
 * k x^2 / 2 makes every such curve convex. (That the slope may rise as fast as
 * it likes costs nothing.) With k = 0 it is the ordinary hull, whose corners
 * are always among these. Bins limit what a wrong message can hide.
 *
 * Bins lie on a grid of powers of two of absolute time. Where there are more
 * bins or corners than there is room for, bins become twice as wide, and k
 * becomes smaller in wide bins: memory has a limit whatever the length of the
 * trace. What is left of a bin depends on its points and its width alone, not
 * on the order in which they came.
 */
#ifndef NETSYNC_MESSAGE_ENVELOPE_H
#define NETSYNC_MESSAGE_ENVELOPE_H

#include <stddef.h>
#include <stdint.h>

#include "message/hull.h"
#include "util/wide.h"

struct bin {
	int64_t index; /* from base + index << shift, 1 << shift long */
	uint64_t messages;
	__int128 sum_x;
	struct point *corner; /* in the pool; x strictly rising */
	uint32_t corners;     /* at least 1 */
	uint32_t room;
};

struct envelope {
	struct bin *bin; /* in order of time after envelope_settle() */
	size_t num;
	size_t room;
	size_t last;	/* where the last point went */
	size_t corners; /* of all bins */
	/* One interval of memory for all corners, so that it does not splinter. */
	struct point *pool;
	size_t pool_used; /* with gaps, where bins have moved away */
	size_t pool_room;
	uint32_t *slot; /* hash table of bin number + 1 */
	size_t slots;
	int shift;    /* a bin is 1 << shift ns wide */
	int64_t base; /* where bin 0 begins; set before the first point */
};

/* How many bins, and corners in all of them, an envelope may have. */
struct budget {
	size_t bins;
	size_t corners;
};

/* The mean time of a bin's messages, rounded down. */
static inline int64_t bin_time(const struct bin *b)
{
	return (int64_t)floor_div(b->sum_x, b->messages);
}

/* The middle of what a bin and its neighbours say, so that two may be wrong. */
int64_t envelope_usual_y(const struct envelope *e, size_t bin);

/*
 * Add points, of times within 2^60 of each other. There may be an eighth more
 * corners than @room says, so that bins are not widened for what later points
 * take away again.
 *
 * Return: how many were added; fewer than @n: there was no memory for the next.
 */
size_t envelope_add(struct envelope *e, const struct point *p, size_t n,
		    const struct budget *room);

/* Put the bins in order, so many at most: 0 or -ENOMEM. */
int envelope_settle(struct envelope *e, const struct budget *room);

void envelope_release(struct envelope *e);

#endif
