// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * With |f''| <= k, g(x) = f(x) + k/2 x^2 is convex, and so lies below the
 * chords between its upper limits: the lower hull of (x, y + k/2 x^2), less
 * k/2 x^2, is an upper limit of f everywhere between. Seen from a corner
 * (x0, y0) on the left of it that is
 *	y0 + (y1 - y0) (x - x0) / (x1 - x0) + k/2 (x - x0) (x1 - x),
 * which needs no squares of large numbers.
 *
 * h(x) = f(x) - k/2 x^2 is concave: a lower limit l at x - d and an upper one u
 * at x leave no more slope than (u - l) / d + k/2 d at x. From a corner onward f
 * rises with that slope at most, k more of it each ns, until it is the largest
 * skew. The d that says most is found on the hull of the lower limits: the
 * concave one of (x, l - k/2 x^2), whose mirror image is made the same way.
 *
 * All of it holds upside down. A side is kept as upper limits of f (UPPER) or
 * of -f (LOWER), and one code serves both. Of which points a limit is made may
 * be decided with rounding errors: each is valid, one is the best.
 *
 * Where a jolt is possible, k is infinite: what is left is the largest skew.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/rate-bound.h"
#include "pair/estimate.h"

enum { UPPER, LOWER };

/* Half of the range of times: sums of two stay in it. */
#define FAR 0x1p61

/* ---- one zone ---------------------------------------------------------- */

/* Up to the next whole ns, whatever was lost in the last digits of v. */
static int64_t up(double v)
{
	return (int64_t)ceil(v + fabs(v) * 0x1p-48);
}

/* By how much f rises within d at most, with a slope of @rise at first. */
static double climb(const struct bound *b, const struct zone *z, double rise,
		    double d)
{
	double steepest = b->limits.slope;
	double part = z->bend ? (steepest - rise) / z->bend : HUGE_VAL;

	if (!(part > 0))
		return steepest * d;
	if (d <= part)
		return (rise + z->bend / 2 * d) * d;
	return (rise + z->bend / 2 * part) * part + steepest * (d - part);
}

static double later_slope(const struct bound *b, const struct zone *z,
			  double rise, double d)
{
	return fmin(rise + z->bend * d, b->limits.slope);
}

/* Does p lie on or above the chord of its neighbours? */
static bool needless(const struct zone *z, const struct stake *a,
		     const struct stake *p, const struct stake *c)
{
	double ap = (double)(p->x - a->x), pc = (double)(c->x - p->x);

	return (double)(p->y - a->y) * pc - (double)(c->y - p->y) * ap >=
	       z->bend / 2 * ap * pc * (ap + pc);
}

/* A limit to the right of all others. */
static void append(struct zone *z, int side, int64_t x, int64_t y)
{
	struct stake *s = z->stake[side], new = { .x = x, .y = y };
	size_t n = z->stakes[side];

	if (n && s[n - 1].x == x) {
		if (s[n - 1].y <= y)
			return;
		n--;
	}
	while (n >= 2 && needless(z, &s[n - 2], &s[n - 1], &new))
		n--;
	s[n++] = new;
	z->stakes[side] = n;
}

/* The last one at or before x; 0 if there is none. */
static size_t find_stake(const struct stake *s, size_t n, int64_t x)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (s[mid].x <= x)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* The slope that an opposite limit leaves at s. */
static double slope_from(const struct zone *z, const struct stake *s,
			 const struct stake *opposite)
{
	double d = fabs((double)(s->x - opposite->x));

	return (double)(s->y + opposite->y) / d + z->bend / 2 * d;
}

/*
 * The least slope that opposite limits first .. last leave at s, all of them
 * on one side of it. Along a hull it falls, then rises.
 */
static double least_slope(const struct zone *z, const struct stake *s,
			  const struct stake *opposite, size_t first, size_t last)
{
	while (first < last) {
		size_t mid = first + (last - first) / 2;

		if (slope_from(z, s, &opposite[mid]) <=
		    slope_from(z, s, &opposite[mid + 1]))
			last = mid;
		else
			first = mid + 1;
	}
	return slope_from(z, s, &opposite[first]);
}

/* The smaller slope, unless that is one which cannot be: limits clash. */
static double less(double slope, double steepest, double other)
{
	return other < -steepest ? slope : fmin(slope, other);
}

/* Slopes at the stakes of a side, and what they make of the next ones. */
static void set_slopes(const struct bound *b, struct zone *z, int side)
{
	const struct stake *opp = z->stake[!side];
	struct stake *s = z->stake[side];
	size_t n = z->stakes[side], m = z->stakes[!side];
	double steepest = b->limits.slope;

	for (size_t i = 0; i < n; i++) {
		size_t last = m ? find_stake(opp, m, s[i].x - 1) : 0;

		s[i].rise = steepest;
		if (i) {
			double d = (double)(s[i].x - s[i - 1].x);

			s[i].y = min64(s[i].y, s[i - 1].y +
				up(climb(b, z, s[i - 1].rise, d)));
			s[i].rise = later_slope(b, z, s[i - 1].rise, d);
		}
		if (m && opp[0].x < s[i].x)
			s[i].rise = less(s[i].rise, steepest,
					 least_slope(z, &s[i], opp, 0, last));
	}
	for (size_t i = n; i-- > 0;) {
		size_t next = m ? find_stake(opp, m, s[i].x) : 0;

		s[i].fall = steepest;
		if (i + 1 < n) {
			double d = (double)(s[i + 1].x - s[i].x);

			s[i].y = min64(s[i].y, s[i + 1].y +
				up(climb(b, z, s[i + 1].fall, d)));
			s[i].fall = later_slope(b, z, s[i + 1].fall, d);
		}
		if (m && opp[m - 1].x > s[i].x)
			s[i].fall = less(s[i].fall, steepest,
					 least_slope(z, &s[i], opp, next +
						     (opp[next].x <= s[i].x),
						     m - 1));
	}
}

/* The upper limit of f (or of -f) at x, which may be outside of the zone. */
static int64_t limit_in(const struct bound *b, const struct zone *z, int side,
			int64_t x)
{
	const struct stake *s = z->stake[side];
	size_t n = z->stakes[side], i;
	double least, d;
	int64_t from;

	if (!n)
		return INT64_MAX;
	i = find_stake(s, n, x);
	from = s[i].y;
	if (fabs((double)x - (double)s[i].x) > FAR)
		return INT64_MAX;
	d = (double)(x - s[i].x);
	least = d < 0 ? climb(b, z, s[i].fall, -d) : climb(b, z, s[i].rise, d);
	if (d > 0 && i + 1 < n) {
		double span = (double)(s[i + 1].x - s[i].x);
		double rest = (double)(s[i + 1].x - x);
		double next = (double)(s[i + 1].y - from);

		least = fmin(least, next + climb(b, z, s[i + 1].fall, rest));
		least = fmin(least, next * (d / span) + z->bend / 2 * d * rest);
	}
	return (double)from + least < FAR ? from + up(least) : INT64_MAX;
}

/* ---- zones together ---------------------------------------------------- */

/* The zone of a part that holds x, or is nearest to it. */
static const struct zone *zone_at(const struct part *p, int64_t x)
{
	size_t lo = 0, hi = p->zones;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->zone[mid].from <= x)
			lo = mid;
		else
			hi = mid;
	}
	return &p->zone[lo];
}

static int64_t limit_at(const struct bound *b, const struct part *p, int side,
			int64_t x)
{
	return limit_in(b, zone_at(p, x), side, x);
}

/* What is known at its border holds in the next zone, too. */
static void hand_over(const struct bound *b, const struct zone *from,
		      struct zone *to, int64_t border)
{
	for (int side = UPPER; side <= LOWER; side++) {
		int64_t y = limit_in(b, from, side, border);

		if (y < INT64_MAX)
			append(to, side, border, y);
	}
}

static void settle(const struct bound *b, struct zone *z)
{
	set_slopes(b, z, UPPER);
	set_slopes(b, z, LOWER);
}

/* Room for the points, and for what the neighbours hand over. */
struct filling {
	const struct point *point[2];
	size_t num[2];
	size_t done[2];
	struct stake *free;
};

static void fill_zone(const struct bound *b, struct zone *z,
		      const struct zone *before, struct filling *in)
{
	size_t last[2];

	for (int side = UPPER; side <= LOWER; side++) {
		last[side] = in->done[side];
		while (last[side] < in->num[side] &&
		       in->point[side][last[side]].x <= z->to)
			last[side]++;
		z->stake[side] = in->free;
		in->free += last[side] - in->done[side] + 2;
	}
	if (before)
		hand_over(b, before, z, z->from);
	for (int side = UPPER; side <= LOWER; side++) {
		for (; in->done[side] < last[side]; in->done[side]++) {
			const struct point *p = &in->point[side][in->done[side]];

			append(z, side, p->x, p->y + 1);
		}
	}
	settle(b, z);
}

/* Points in the window of a jump say nothing: on which side of it are they? */
static void skip_points(struct filling *in, int64_t to)
{
	for (int side = UPPER; side <= LOWER; side++)
		while (in->done[side] < in->num[side] &&
		       in->point[side][in->done[side]].x <= to)
			in->done[side]++;
}

static void make_part(struct bound *b, struct part *p, struct filling *in)
{
	for (size_t i = 0; i < p->zones; i++)
		fill_zone(b, &p->zone[i], i ? &p->zone[i - 1] : NULL, in);
	for (size_t i = p->zones - 1; i-- > 0;) {
		hand_over(b, &p->zone[i + 1], &p->zone[i], p->zone[i].to);
		settle(b, &p->zone[i]);
	}
}

/* Count where the limits leave nothing; between stakes they leave more. */
static void find_clashes(struct bound *b, const struct part *p,
			 const struct zone *z)
{
	for (int side = UPPER; side <= LOWER; side++) {
		for (size_t i = 0; i < z->stakes[side]; i++) {
			int64_t x = z->stake[side][i].x, u, l;

			u = limit_at(b, p, UPPER, x);
			l = limit_at(b, p, LOWER, x);
			b->clashes += u != INT64_MAX && l != INT64_MAX &&
				      u + l < 0;
		}
	}
}

/* ---- the pair ---------------------------------------------------------- */

/* Cut the line of time at the jolts; windows that overlap become one. */
static void make_zones(struct bound *b, const struct jolt *jolts, size_t n)
{
	struct zone *z = b->zone;
	struct part *p = b->part;

	*p = (struct part){ .zone = z, .zones = 1,
			    .x = { INT64_MIN, INT64_MAX } };
	*z = (struct zone){ .from = INT64_MIN, .bend = b->limits.bend };
	for (size_t i = 0; i < n;) {
		struct jolt w = jolts[i++];

		for (; i < n && jolts[i].from <= w.to; i++) {
			w.to = max64(w.to, jolts[i].to);
			w.set |= jolts[i].set;
		}
		z->to = w.from;
		if (w.set) {
			p->x.hi = w.to;
			*++p = (struct part){ .zone = z + 1,
					      .x = { w.from, INT64_MAX } };
		} else {
			*++z = (struct zone){ w.from, w.to, .bend = HUGE_VAL };
			p->zones++;
		}
		*++z = (struct zone){ .from = w.to, .bend = b->limits.bend };
		p->zones++;
	}
	z->to = INT64_MAX;
	b->parts = (size_t)(p - b->part) + 1;
}

/* Which times of host[1] can a part be about? */
static void set_other(const struct bound *b, struct part *p)
{
	int64_t lo = limit_at(b, p, LOWER, p->x.lo);
	int64_t hi = limit_at(b, p, UPPER, p->x.hi);

	p->other.lo = p->x.lo == INT64_MIN || lo == INT64_MAX ? INT64_MIN :
		      p->x.lo - lo;
	p->other.hi = p->x.hi == INT64_MAX || hi == INT64_MAX ? INT64_MAX :
		      p->x.hi + hi;
}

int bound_make(struct bound *b, const struct limits *limits,
	       const struct point *upper, size_t num_upper,
	       const struct point *lower, size_t num_lower,
	       const struct jolt *jolts, size_t num_jolts)
{
	size_t zones = 2 * num_jolts + 1;
	struct filling in = { .point = { upper, lower },
			      .num = { num_upper, num_lower } };

	*b = (struct bound){ .limits = *limits };
	b->part = calloc(num_jolts + 1, sizeof(*b->part));
	b->zone = calloc(zones, sizeof(*b->zone));
	b->stake = malloc((num_upper + num_lower + 4 * zones) *
			  sizeof(*b->stake));
	if (!b->part || !b->zone || !b->stake) {
		bound_release(b);
		return -ENOMEM;
	}
	make_zones(b, jolts, num_jolts);
	in.free = b->stake;
	for (size_t i = 0; i < b->parts; i++) {
		struct part *p = &b->part[i];

		if (i)
			skip_points(&in, p->zone[0].from);
		make_part(b, p, &in);
		for (size_t j = 0; j < p->zones; j++)
			find_clashes(b, p, &p->zone[j]);
		set_other(b, p);
	}
	return 0;
}

void bound_release(struct bound *b)
{
	free(b->part);
	free(b->zone);
	free(b->stake);
	memset(b, 0, sizeof(*b));
}

/* ---- questions --------------------------------------------------------- */

static bool meet(const struct range *a, const struct range *b)
{
	return a->lo <= b->hi && b->lo <= a->hi;
}

static void widen(struct range *r, int64_t lo, int64_t hi)
{
	r->lo = min64(r->lo, lo);
	r->hi = max64(r->hi, hi);
}

struct range bound_at(const struct bound *b, int64_t x)
{
	const struct range here = { x, x };
	struct range r = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < b->parts; i++) {
		const struct part *p = &b->part[i];
		int64_t lo, hi;

		if (!meet(&p->x, &here))
			continue;
		lo = limit_at(b, p, LOWER, x);
		hi = limit_at(b, p, UPPER, x);
		widen(&r, lo == INT64_MAX ? INT64_MIN : -lo, hi);
	}
	return r;
}

struct range bound_to_second(const struct bound *b, struct range x)
{
	struct range r = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < b->parts; i++) {
		const struct part *p = &b->part[i];
		int64_t lo = max64(x.lo, p->x.lo), hi = min64(x.hi, p->x.hi);
		int64_t below, above;

		if (lo > hi)
			continue;
		below = lo == INT64_MIN ? INT64_MAX :
			limit_at(b, p, LOWER, lo);
		above = hi == INT64_MAX ? INT64_MAX :
			limit_at(b, p, UPPER, hi);
		/* t + f(t) rises with t, as clocks go forward. */
		widen(&r, below == INT64_MAX ? INT64_MIN : lo - below,
		      above == INT64_MAX ? INT64_MAX : hi + above);
	}
	return r;
}

/*
 * The end of those x for which x + f(x) can be t: the last one if @side is
 * LOWER, else the first. Each step is closer by the largest skew.
 */
static int64_t solve(const struct bound *b, const struct part *p, int side,
		     int64_t t)
{
	int64_t unknown = side == UPPER ? INT64_MIN : INT64_MAX;
	double q = b->limits.slope;
	int64_t x, slack;
	size_t i = 0;

	while (i < p->zones && !p->zone[i].stakes[side])
		i++;
	if (t == INT64_MIN || t == INT64_MAX || i == p->zones)
		return unknown;
	/* From where does not depend on where times are counted from. */
	x = p->zone[i].stake[side]->y;
	x = side == UPPER ? t - x : t + x;
	for (int step = 0; step < 200; step++) {
		int64_t y = limit_at(b, p, side, x), next;

		if (y == INT64_MAX)
			return unknown;
		next = side == UPPER ? t - y : t + y;
		slack = next > x ? next - x : x - next;
		x = next;
		if (slack > 1)
			continue;
		/* How far the steps to come can still go, and rounding. */
		slack = up(q / (1 - q) * (double)slack) + 1;
		return side == UPPER ? x - slack : x + slack;
	}
	return unknown;
}

struct range bound_to_first(const struct bound *b, struct range t)
{
	struct range r = { INT64_MAX, INT64_MIN }, all = r;

	for (size_t i = 0; i < b->parts; i++) {
		const struct part *p = &b->part[i];
		struct range x;

		if (!meet(&p->other, &t))
			continue;
		x.lo = solve(b, p, UPPER, t.lo);
		x.hi = solve(b, p, LOWER, t.hi);
		widen(&all, x.lo, x.hi);
		if (meet(&p->x, &x))
			widen(&r, max64(x.lo, p->x.lo), min64(x.hi, p->x.hi));
	}
	if (r.lo <= r.hi)
		return r;
	/* A time that host[1] never showed, as it was set past it. */
	return all.lo <= all.hi ? all :
	       (struct range){ INT64_MIN, INT64_MAX };
}
