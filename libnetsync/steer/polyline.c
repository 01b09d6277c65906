// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <netsync.h>

#include "steer/polyline.h"
#include "util/array.h"

int polyline_add(struct polyline *l, int64_t x, int64_t y)
{
	const struct corner *last = l->num ? &l->corner[l->num - 1] : NULL;

	if (last && (x <= last->x || y <= last->y))
		return 0;
	if (array_grow(&l->corner, &l->room, l->num, sizeof(*l->corner)))
		return -ENOMEM;
	l->corner[l->num++] = (struct corner){ x, y };
	return 0;
}

static double subtract_times(int64_t from, int64_t to)
{
	return (double)((__int128)to - from);
}

/* Return @from + @by, or the first or last possible time if the sum is beyond it. */
static int64_t add_ns_within_limits(int64_t from, double by)
{
	const double most = (double)NETSYNC_MAX_TIME - fabs((double)from);

	if (fabs(by) >= most)
		return by < 0 ? 1 - NETSYNC_MAX_TIME : NETSYNC_MAX_TIME - 1;
	return from + llround(by);
}

/* Return the value at @x of the line through two corners. @x may be outside of both. */
static int64_t interpolate_line(int64_t x0, int64_t y0, int64_t x1, int64_t y1, int64_t x)
{
	__int128 dx = (__int128)x1 - x0;
	__int128 part = ((__int128)x - x0) * ((__int128)y1 - y0);

	part += part < 0 ? -dx / 2 : dx / 2;
	return (int64_t)(y0 + part / dx);
}

/*
 * Return the index of the first corner after @at, but neither the first nor the last corner.
 * @offset is the offset of the member x or y in a corner; this member is compared with @at.
 */
static size_t find_corner_after(const struct polyline *l, int64_t at, size_t offset)
{
	size_t lo = 1, hi = l->num - 1;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int64_t value;

		memcpy(&value, (const char *)&l->corner[mid] + offset, sizeof(value));
		if (value <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int64_t polyline_evaluate(const struct polyline *l, int64_t x)
{
	const struct corner *a = l->corner, *b;

	if (!l->num)
		return x;
	b = a + l->num - 1;
	if (x <= a->x)
		return add_ns_within_limits(a->y, -l->slope_before * subtract_times(x, a->x));
	if (x >= b->x)
		return add_ns_within_limits(b->y, l->slope_after * subtract_times(b->x, x));
	b = a + find_corner_after(l, x, offsetof(struct corner, x));
	return interpolate_line(b[-1].x, b[-1].y, b->x, b->y, x);
}

int64_t polyline_invert(const struct polyline *l, int64_t y)
{
	const struct corner *a = l->corner, *b;

	if (!l->num)
		return y;
	b = a + l->num - 1;
	if (y <= a->y)
		return add_ns_within_limits(a->x, -subtract_times(y, a->y) / l->slope_before);
	if (y >= b->y)
		return add_ns_within_limits(b->x, subtract_times(b->y, y) / l->slope_after);
	b = a + find_corner_after(l, y, offsetof(struct corner, y));
	return interpolate_line(b[-1].y, b[-1].x, b->y, b->x, y);
}

void polyline_drop_corners(struct polyline *l, double tolerance)
{
	struct corner *c = l->corner;
	size_t kept = 0, i = 1;

	while (i < l->num) {
		double lo = -INFINITY, hi = INFINITY;
		size_t last = i;

		for (; i < l->num; i++) {
			double dx = subtract_times(c[kept].x, c[i].x);
			double dy = subtract_times(c[kept].y, c[i].y);

			if (dy / dx >= lo && dy / dx <= hi)
				last = i;
			lo = fmax(lo, (dy - tolerance) / dx);
			hi = fmin(hi, (dy + tolerance) / dx);
			if (lo > hi)
				break;
		}
		i = last + 1;
		c[++kept] = c[last];
	}
	if (l->num)
		l->num = kept + 1;
}

void polyline_release(struct polyline *l)
{
	free(l->corner);
	memset(l, 0, sizeof(*l));
}
