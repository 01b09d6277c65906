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

static double distance(int64_t from, int64_t to)
{
	return (double)((__int128)to - from);
}

/* A value that far from @from, or the first or the last time that there is. */
static int64_t away(int64_t from, double by)
{
	const double most = (double)NETSYNC_MAX_TIME - fabs((double)from);

	if (fabs(by) >= most)
		return by < 0 ? 1 - NETSYNC_MAX_TIME : NETSYNC_MAX_TIME - 1;
	return from + llround(by);
}

/* The value at x of the line through two corners, between or beyond them. */
static int64_t through(int64_t x0, int64_t y0, int64_t x1, int64_t y1, int64_t x)
{
	__int128 dx = (__int128)x1 - x0;
	__int128 part = ((__int128)x - x0) * ((__int128)y1 - y0);

	part += part < 0 ? -dx / 2 : dx / 2;
	return (int64_t)(y0 + part / dx);
}

/* The index of the first corner behind @at, excluding the first and the last corner. */
static size_t find(const struct polyline *l, int64_t at, size_t offset)
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

int64_t polyline_at(const struct polyline *l, int64_t x)
{
	const struct corner *a = l->corner, *b;

	if (!l->num)
		return x;
	b = a + l->num - 1;
	if (x <= a->x)
		return away(a->y, -l->slope_before * distance(x, a->x));
	if (x >= b->x)
		return away(b->y, l->slope_after * distance(b->x, x));
	b = a + find(l, x, offsetof(struct corner, x));
	return through(b[-1].x, b[-1].y, b->x, b->y, x);
}

int64_t polyline_inverse(const struct polyline *l, int64_t y)
{
	const struct corner *a = l->corner, *b;

	if (!l->num)
		return y;
	b = a + l->num - 1;
	if (y <= a->y)
		return away(a->x, -distance(y, a->y) / l->slope_before);
	if (y >= b->y)
		return away(b->x, distance(b->y, y) / l->slope_after);
	b = a + find(l, y, offsetof(struct corner, y));
	return through(b[-1].y, b[-1].x, b->y, b->x, y);
}

void polyline_thin(struct polyline *l, double tolerance)
{
	struct corner *c = l->corner;
	size_t kept = 0, i = 1;

	while (i < l->num) {
		double lo = -INFINITY, hi = INFINITY;
		size_t last = i;

		for (; i < l->num; i++) {
			double dx = distance(c[kept].x, c[i].x);
			double dy = distance(c[kept].y, c[i].y);

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
