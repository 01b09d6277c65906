// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Points are collected in a small buffer, sorted, and merged with the corners
 * by Andrew's monotone chain (A. M. Andrew, "Another efficient algorithm for
 * convex hulls in two dimensions", 1979). A point above the present hull can
 * never become a corner and is dropped at once: of n random points only some
 * log n survive this test, which makes the merging cheap.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hull.h"

/* Merge when that many wait. */
#define FRESH 256

size_t hull_find(const struct hull *h, int64_t x)
{
	size_t lo = 0, hi = h->corners;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->corner[mid].x <= x)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Is the point on or above the hull as far as it is merged? */
static bool covered(const struct hull *h, const struct point *p)
{
	const struct point *c = h->corner;
	size_t i;

	if (!h->corners || p->x < c[0].x || p->x > c[h->corners - 1].x)
		return false;
	i = hull_find(h, p->x);
	if (c[i].x == p->x)
		return p->y >= c[i].y;
	return on_or_above(&c[i], p, &c[i + 1]);
}

int hull_add(struct hull *h, int64_t x, int64_t y)
{
	struct point p = { x, y };

	if (covered(h, &p))
		return 0;
	if (h->num_fresh == FRESH) {
		int ret = hull_settle(h);

		if (ret)
			return ret;
	}
	if (array_grow(&h->fresh, &h->fresh_room, h->num_fresh,
		       sizeof(*h->fresh)))
		return -ENOMEM;
	h->fresh[h->num_fresh++] = p;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

int hull_settle(struct hull *h)
{
	size_t room = h->corners + h->num_fresh, n = 0, i = 0, j = 0;
	struct point *c;

	if (!h->num_fresh)
		return 0;
	c = malloc(room * sizeof(*c));
	if (!c)
		return -ENOMEM;
	qsort(h->fresh, h->num_fresh, sizeof(*h->fresh), compare);
	while (i < h->corners || j < h->num_fresh) {
		const struct point *p;

		if (j == h->num_fresh ||
		    (i < h->corners &&
		     compare(&h->corner[i], &h->fresh[j]) <= 0))
			p = &h->corner[i++];
		else
			p = &h->fresh[j++];
		if (n && c[n - 1].x == p->x)
			continue;	/* the lower of the two came first */
		while (n >= 2 && on_or_above(&c[n - 2], &c[n - 1], p))
			n--;
		c[n++] = *p;
	}
	free(h->corner);
	h->corner = c;
	h->corners = n;
	h->num_fresh = 0;
	return 0;
}

void hull_release(struct hull *h)
{
	free(h->corner);
	free(h->fresh);
	memset(h, 0, sizeof(*h));
}
