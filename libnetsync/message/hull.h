/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compute the exact lower convex hull of points. Coordinates are below 2^62 in magnitude, and so
 * are differences of x, so that every cross product fits into 128 bits.
 */
#ifndef NETSYNC_MESSAGE_HULL_H
#define NETSYNC_MESSAGE_HULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/number.h"

struct point {
	int64_t x;
	int64_t y;
};

/* Return whether b is on or above the straight line from a to c. Requires a.x < b.x < c.x. */
static inline bool is_on_or_above(const struct point *a, const struct point *b,
				  const struct point *c)
{
	return (__int128)(b->y - a->y) * (c->x - a->x) >= (__int128)(c->y - a->y) * (b->x - a->x);
}

struct hull {
	struct point *corner; /* x and the slopes between corners increase strictly */
	size_t corners;
	size_t room;
};

/*
 * Add a point to the right of all others. Return 0 or -ENOMEM. After -ENOMEM, the hull is
 * unchanged.
 */
int hull_add(struct hull *h, const struct point *p);

/* Return the index of the last corner at or before @x, or 0 if there is no such corner. */
size_t hull_find(const struct hull *h, int64_t x);

void hull_release(struct hull *h);

#endif
