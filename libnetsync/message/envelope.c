// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hash.h"
#include "util/search.h"
#include "message/envelope.h"

/*
 * Initial width of bins: 2^20 ns = 1 ms. A clock with a drift of 1 ppm/s deviates from a line by
 * less than 1 ns in such a bin, so that narrower bins add no information.
 */
#define FIRST_SHIFT 20
/* Times differ by at most 2^60 ns, so three bins of the maximum width are enough. */
#define LAST_SHIFT 60
/*
 * Largest drift of two clocks for which points are kept: 1 ppm/s = 1e-15 per ns, half of
 * which is 2^-50, rounded up. In bins wider than 2^28 ns = 0.27 s, each widening halves
 * the drift: the farther messages are apart, the smaller the drift that they can reveal.
 * 1 ppm/s is five times what --max-drift allows two clocks by default. The option's value
 * is not known here: for clocks that drift more, some useful points are dropped, but no
 * wrong ones are kept.
 */
#define DRIFT_SHIFT 50 /* log2 of 1 / (half of the largest drift), ns */
#define DRIFT_BINS 28  /* log2 of the widest bin with that drift, ns */
/*
 * Maximum number of corners in a bin. About log n of n random points are corners (Renyi
 * and Sulanke, "Ueber die konvexe Huelle von n zufaellig gewaehlten Punkten", 1963),
 * which is some 20 of 10^9. More than 128 corners are made on purpose, or come from
 * delays that keep falling. The least important corner is then dropped.
 */
#define BIN_CORNERS 128
/* Number of corners by which a bin grows. Unused corners waste space in the pool. Chosen. */
#define CORNERS_STEP 2
/*
 * Maximum number of points that are added together. The limits of the points are on the stack.
 * Chosen.
 */
#define RUN 32

static size_t get_bin_slot(const struct envelope *e, int64_t index)
{
	return hash_slot((uint64_t)index) & (e->slots - 1);
}

static size_t find_bin_slot(const struct envelope *e, int64_t index)
{
	size_t i = get_bin_slot(e, index);

	while (e->slot[i] && e->bin[e->slot[i] - 1].index != index)
		i = (i + 1) & (e->slots - 1);
	return i;
}

static void fill_slots(struct envelope *e)
{
	for (size_t i = 0; i < e->num; i++)
		e->slot[find_bin_slot(e, e->bin[i].index)] = (uint32_t)i + 1;
}

/* Refill the hash table after bins have moved. */
static void refill_slots(struct envelope *e)
{
	e->last = 0;
	if (e->slots)
		memset(e->slot, 0, e->slots * sizeof(*e->slot));
	fill_slots(e);
}

/* Keep the hash table at most half full. */
static int grow_slots(struct envelope *e)
{
	size_t slots = e->slots ? 2 * e->slots : 8;
	uint32_t *slot;

	if (2 * e->num < e->slots)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(e->slot);
	e->slot = slot;
	e->slots = slots;
	fill_slots(e);
	return 0;
}

/*
 * Move all corners into a new pool without gaps. The pool has space for @extra more corners. Return
 * 0 or -ENOMEM.
 */
static int repack_corners(struct envelope *e, size_t extra)
{
	size_t room = extra, used = 0;
	struct point *pool;

	for (size_t i = 0; i < e->num; i++)
		room += e->bin[i].corners;
	room += room / 4 + CORNERS_STEP;
	pool = malloc(room * sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	for (size_t i = 0; i < e->num; i++) {
		struct bin *b = &e->bin[i];

		if (b->corners)
			memcpy(pool + used, b->corner, b->corners * sizeof(*pool));
		b->corner = pool + used;
		b->room = b->corners;
		used += b->corners;
	}
	free(e->pool);
	e->pool = pool;
	e->pool_used = used;
	e->pool_room = room;
	return 0;
}

/* Reserve space for a few more corners in a bin. Return 0 or -ENOMEM. */
static int reserve_bin_corners(struct envelope *e, struct bin *b)
{
	uint32_t room = b->corners + CORNERS_STEP;
	/* The last bin of the pool can grow in place. */
	bool last = b->room && b->corner + b->room == e->pool + e->pool_used;
	size_t from = last ? (size_t)(b->corner - e->pool) : e->pool_used;

	if (from + room > e->pool_room) {
		if (repack_corners(e, room))
			return -ENOMEM;
		last = false;
		from = e->pool_used;
	}
	if (!last && b->corners)
		memcpy(e->pool + from, b->corner, b->corners * sizeof(*b->corner));
	b->corner = e->pool + from;
	b->room = room;
	e->pool_used = from + room;
	return 0;
}

/* Largest drift of clocks for which bins of a certain width keep corners. */
struct drift {
	int shift;   /* log2 of 1 / (half of the largest drift), ns */
	int64_t sag; /* in a bin, a curve sags by at most this, ns */
};

static struct drift get_bin_drift(int shift)
{
	struct drift d = { .shift = DRIFT_SHIFT };

	if (shift > DRIFT_BINS)
		d.shift += shift - DRIFT_BINS;
	/* A point is at most half a bin away from one of its neighbours. */
	d.sag = INT64_C(1) << (2 * shift > d.shift + 2 ? 2 * shift - 2 - d.shift : 0);
	return d;
}

/*
 * Return whether b is redundant, because every curve that passes below a and c also passes below b.
 * This is so if
 *
 *	(yb - ya) (xc - xb) - (yc - yb) (xb - xa) >= k/2 (xc - xa) (xc - xb) (xb - xa)
 */
static bool is_corner_redundant(const struct point *a, const struct point *b, const struct point *c,
				struct drift drift)
{
	unsigned __int128 high, bulge;
	struct wide cube;
	__int128 cross;

	/* For most points, two comparisons without a multiplication are enough. */
	if (b->y - drift.sag > a->y && b->y - drift.sag > c->y)
		return true;
	if (b->y <= a->y && b->y <= c->y)
		return false;
	cross = (__int128)(b->y - a->y) * (c->x - b->x) - (__int128)(c->y - b->y) * (b->x - a->x);
	if (cross <= 0)
		return false;
	cube = wide_multiply((__int128)(c->x - b->x) * (b->x - a->x), c->x - a->x);
	high = (unsigned __int128)cube.high;
	/* The cube is below 2^178. Comparing it with an integer does not need its fraction. */
	if (drift.shift < 64)
		bulge = high << (64 - drift.shift) | cube.low >> drift.shift;
	else
		bulge = high >> (drift.shift - 64);
	return (unsigned __int128)cross > bulge;
}

static void drop_corner(struct bin *b, uint32_t i)
{
	memmove(&b->corner[i], &b->corner[i + 1], (--b->corners - i) * sizeof(*b->corner));
}

/*
 * Drop the corner of a full bin that is least below its neighbours. Drop corners of the ordinary
 * hull only if there are no others.
 */
static void drop_shallowest_corner(struct bin *b, struct drift drift)
{
	double least = HUGE_VAL;
	bool straight = true;
	uint32_t worst = 1;

	for (uint32_t i = 1; i + 1 < b->corners; i++) {
		const struct point *p = &b->corner[i];
		double left = (double)(p->x - p[-1].x);
		double right = (double)(p[1].x - p->x);
		double above = ((double)(p->y - p[-1].y) * right - (double)(p[1].y - p->y) * left) /
			       (left + right);
		double depth = ldexp(left * right, -drift.shift) - above;
		bool s = !is_on_or_above(p - 1, p, p + 1);

		if (s > straight || (s == straight && depth >= least))
			continue;
		straight = s;
		least = depth;
		worst = i;
	}
	drop_corner(b, worst);
}

/* Return the index of the first corner at x or later. */
static uint32_t find_corner(const struct bin *b, int64_t x)
{
	const uint32_t num = b->corners;

	/* Most points come in order of time. */
	if (!num || b->corner[num - 1].x < x)
		return num;
	return (uint32_t)NUM_BEFORE(b->corner, num, x, x);
}

static int add_corner_to_bin(struct envelope *e, struct bin *b, const struct point *p,
			     struct drift drift)
{
	uint32_t i = find_corner(b, p->x), from, to;
	struct point *c = b->corner;

	if (i < b->corners && c[i].x == p->x) {
		if (c[i].y <= p->y)
			return 0;
		to = i + 1;
	} else {
		if (i > 0 && i < b->corners && is_corner_redundant(&c[i - 1], p, &c[i], drift))
			return 0;
		to = i;
	}
	for (from = i; from > 1; from--)
		if (!is_corner_redundant(&c[from - 2], &c[from - 1], p, drift))
			break;
	for (; to + 1 < b->corners; to++)
		if (!is_corner_redundant(p, &c[to], &c[to + 1], drift))
			break;
	/* The point replaces the corners @from to @to. */
	if (from == to && b->corners == b->room && reserve_bin_corners(e, b))
		return -ENOMEM;
	c = b->corner;
	if (to != from + 1)
		memmove(&c[from + 1], &c[to], (b->corners - to) * sizeof(*c));
	b->corners -= to - from;
	b->corners++;
	c[from] = *p;
	if (b->corners > BIN_CORNERS)
		drop_shallowest_corner(b, drift);
	return 0;
}

static int compare_bins_by_index(const void *a, const void *b)
{
	const struct bin *p = a, *q = b;

	return p->index < q->index ? -1 : p->index > q->index;
}

/*
 * Sort bins by insertion, because most are near their places. If some bins are so far from their
 * places that each bin would need more than a few moves on average, return false.
 */
static bool sort_by_insertion(struct envelope *e)
{
	size_t left = 8 * e->num;

	for (size_t i = 1; i < e->num; i++) {
		const struct bin b = e->bin[i];
		size_t at = i;

		for (; at && e->bin[at - 1].index > b.index && left; at--, left--)
			e->bin[at] = e->bin[at - 1];
		e->bin[at] = b;
		if (!left)
			return false;
	}
	return true;
}

static void sort_bins(struct envelope *e)
{
	bool sorted = true;

	for (size_t i = 1; i < e->num && sorted; i++)
		sorted = e->bin[i - 1].index < e->bin[i].index;
	if (sorted)
		return;
	if (!sort_by_insertion(e))
		qsort(e->bin, e->num, sizeof(*e->bin), compare_bins_by_index);
	refill_slots(e);
}

/* Drop corners that are redundant because wider bins assume a smaller drift. */
static void drop_redundant_corners(struct bin *b, struct drift drift)
{
	struct point *c = b->corner;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->corners; i++) {
		while (n > 1 && is_corner_redundant(&c[n - 2], &c[n - 1], &c[i], drift))
			n--;
		c[n++] = c[i];
	}
	b->corners = n;
}

/* Free capacity of bins that are no longer needed. */
static void trim_bins(struct envelope *e)
{
	struct bin *bin;

	if (e->num > e->room / 4)
		return;
	bin = realloc(e->bin, e->room / 2 * sizeof(*bin));
	if (bin) {
		e->bin = bin;
		e->room /= 2;
	}
}

/* Double the width of bins, so that two neighbouring bins become one. */
static int double_bin_width(struct envelope *e)
{
	struct drift drift = get_bin_drift(e->shift + 1);
	struct point *pool;
	size_t room = e->corners + CORNERS_STEP, n = 0;

	pool = malloc(room * sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	sort_bins(e);
	e->shift++;
	e->corners = 0;
	for (size_t i = 0; i < e->num; i++) {
		struct bin b = e->bin[i], *to = &e->bin[n];

		b.index >>= 1;
		if (n && to[-1].index == b.index) {
			to--;
			e->corners -= to->corners;
			/* Adding may need one more corner before it drops one from a full bin. */
			to->room = to->corners + b.corners + 1;
			for (uint32_t k = 0; k < b.corners; k++)
				add_corner_to_bin(e, to, &b.corner[k], drift);
			to->messages += b.messages;
			to->sum_x += b.sum_x;
		} else {
			*to = b;
			to->corner = memcpy(pool + e->corners, b.corner, b.corners * sizeof(*pool));
			drop_redundant_corners(to, drift);
			n++;
		}
		to->room = to->corners;
		e->corners += to->corners;
	}
	free(e->pool);
	e->pool = pool;
	e->pool_used = e->corners;
	e->pool_room = room;
	e->num = n;
	trim_bins(e);
	refill_slots(e);
	return 0;
}

/*
 * Find or add the bin of the time @x, and set e->last to the index of the bin. Return 0
 * or -ENOMEM.
 */
static int find_bin(struct envelope *e, int64_t x, size_t most)
{
	size_t i;

	if (e->num && e->bin[e->last].index == (x - e->base) >> e->shift)
		return 0;
	if (grow_slots(e) || array_grow(&e->bin, &e->room, e->num, sizeof(*e->bin)))
		return -ENOMEM;
	i = find_bin_slot(e, (x - e->base) >> e->shift);
	while (!e->slot[i] && e->num >= most && e->shift < LAST_SHIFT) {
		if (double_bin_width(e))
			return -ENOMEM;
		i = find_bin_slot(e, (x - e->base) >> e->shift);
	}
	if (!e->slot[i]) {
		struct bin *b = &e->bin[e->num];

		*b = (struct bin){ .index = (x - e->base) >> e->shift };
		if (reserve_bin_corners(e, b))
			return -ENOMEM;
		e->slot[i] = (uint32_t)++e->num;
	}
	e->last = e->slot[i] - 1;
	return 0;
}

/* Return how many of the first points are in order of time and belong to the same bin. */
static size_t count_run_points(const struct envelope *e, const struct point *p, size_t n)
{
	int64_t index = (p[0].x - e->base) >> e->shift;
	size_t run = 1;

	if (n > RUN)
		n = RUN;
	while (run < n && p[run].x >= p[run - 1].x && (p[run].x - e->base) >> e->shift == index)
		run++;
	return run;
}

/*
 * Add points in order of time to a bin. Most points are far above the points on both sides, so that
 * comparisons are enough to find them redundant; see is_corner_redundant().
 */
static size_t add_run_to_bin(struct envelope *e, struct bin *b, const struct point *p, size_t n)
{
	struct drift drift = get_bin_drift(e->shift);
	int64_t right[RUN], left = INT64_MAX;
	uint32_t before = b->corners;
	size_t i;

	if (before && b->corner[before - 1].x < p[0].x)
		for (uint32_t k = 0; k < before; k++)
			left = min64(left, b->corner[k].y);
	right[n - 1] = INT64_MAX;
	for (i = n - 1; i > 0; i--)
		right[i - 1] = min64(right[i], p[i].y);
	for (i = 0; i < n; i++) {
		int64_t y = p[i].y - drift.sag;

		if ((y <= left || y <= right[i]) && add_corner_to_bin(e, b, &p[i], drift))
			break;
		left = min64(left, p[i].y);
		b->sum_x += p[i].x;
	}
	b->messages += i;
	e->corners += b->corners;
	e->corners -= before;
	return i;
}

/*
 * Limit the number of corners by making bins wider. If memory is short, the next call tries again.
 */
static void limit_corners(struct envelope *e, const struct budget *room)
{
	while (e->corners > room->corners + room->corners / 8 && e->shift < LAST_SHIFT)
		if (double_bin_width(e))
			break;
}

size_t envelope_add(struct envelope *e, const struct point *p, size_t n, const struct budget *room)
{
	size_t done = 0;

	if (n && !e->shift)
		e->shift = FIRST_SHIFT;
	while (done < n && !find_bin(e, p[done].x, room->bins)) {
		size_t run = count_run_points(e, &p[done], n - done);
		size_t added = add_run_to_bin(e, &e->bin[e->last], &p[done], run);

		done += added;
		if (added < run)
			break;
		limit_corners(e, room);
	}
	return done;
}

/* Add the points of another envelope's bin, shifted by @x and @y. Return 0 or -ENOMEM. */
static int merge_bin(struct envelope *e, const struct bin *other, int64_t x, int64_t y,
		     const struct budget *room)
{
	struct drift drift;
	struct bin *b;
	int ret = find_bin(e, other->corner[0].x + x, room->bins);

	if (ret)
		return ret;
	drift = get_bin_drift(e->shift);
	b = &e->bin[e->last];
	e->corners -= b->corners;
	for (uint32_t k = 0; k < other->corners && !ret; k++) {
		const struct point p = { other->corner[k].x + x, other->corner[k].y + y };

		ret = add_corner_to_bin(e, b, &p, drift);
	}
	e->corners += b->corners;
	b->messages += other->messages;
	b->sum_x += other->sum_x + (__int128)other->messages * x;
	return ret;
}

int envelope_merge(struct envelope *e, const struct envelope *other, int64_t x, int64_t y,
		   const struct budget *room)
{
	int ret = 0;

	if (!e->num)
		e->shift = other->shift;
	while (e->shift < other->shift && !ret)
		ret = double_bin_width(e);
	for (size_t i = 0; i < other->num && !ret; i++) {
		ret = merge_bin(e, &other->bin[i], x, y, room);
		limit_corners(e, room);
	}
	return ret;
}

int envelope_settle(struct envelope *e, const struct budget *room)
{
	while ((e->num > room->bins || e->corners > room->corners) && e->shift < LAST_SHIFT)
		if (double_bin_width(e))
			return -ENOMEM;
	sort_bins(e);
	return 0;
}

void envelope_release(struct envelope *e)
{
	free(e->pool);
	free(e->bin);
	free(e->slot);
	memset(e, 0, sizeof(*e));
}

int64_t envelope_compute_usual_y(const struct envelope *e, size_t bin)
{
	size_t from = bin > 2 ? bin - 2 : 0, n = 0;
	int64_t y[5];

	for (; from < e->num && from <= bin + 2; from++) {
		const struct bin *b = &e->bin[from];
		size_t k = n++;

		for (; k && y[k - 1] > b->corner[b->corners / 2].y; k--)
			y[k] = y[k - 1];
		y[k] = b->corner[b->corners / 2].y;
	}
	return y[n / 2];
}
