// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A message from host[0] arrives later than it was sent, and so lies above the
 * line y(x) of the clocks; a message from host[1] lies below. The possible
 * lines are those that separate the two clouds, and only the corners of the
 * two inner hulls matter (A. Duda, G. Harrus, Y. Haddad, G. Bernard,
 * "Estimating global time in distributed systems", ICDCS 1987; B. Poirier,
 * R. Roy, M. Dagenais, "Accurate offline synchronization of distributed traces
 * using kernel-level events", ACM SIGOPS Operating Systems Review 44(3), 2010).
 *
 * Among them the references take the mean of the steepest and the flattest
 * line. Both hang on the few messages at the ends. The line in the middle of
 * the *widest strip* between the hulls rests on the fastest messages of both
 * directions, and is some hundred times closer to the truth. (It is also what
 * a support vector machine finds: Y. Geng et al., "Exploiting a natural network
 * effect for scalable, fine-grained clock synchronization", NSDI 2018.)
 *
 * Below, U is the upper hull chain (from messages of host[0]) and L the lower
 * one; L is stored with y negated, so that both are lower hulls.
 *
 * The width of the widest strip with slope s is min(U - s x) - max(L - s x),
 * concave in s; by duality its maximum is the smallest vertical gap between the
 * two chains, at some x*, and the slopes of the widest strip are those of the
 * lines that touch both chains at x*.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "pair/estimate.h"
#include "util/whole.h"

enum { UPPER, LOWER };

/*
 * No clock's rate is off by so much: even a timer that was calibrated badly is not by more
 * than some percent. Chosen.
 */
#define STEEPEST 0.1

static const struct hull *chain(const struct estimate *e, int side)
{
	return &e->pair->direction[side].hull;
}

/* y of a corner in the plane, moved outward by the relaxation. */
static int64_t corner_y(const struct estimate *e, int side, size_t i)
{
	int64_t y = chain(e, side)->corner[i].y;

	return side == UPPER ? y + e->relaxation : -y - e->relaxation;
}

/* Slope of the edge that starts at corner i, in the plane. */
static double edge_slope(const struct estimate *e, int side, size_t i)
{
	const struct point *c = chain(e, side)->corner;
	double s = (double)(c[i + 1].y - c[i].y) / (double)(c[i + 1].x - c[i].x);

	return side == UPPER ? s : -s;
}

/* ---- the set of possible lines ----------------------------------------- */

/* A corner of U and a corner of L, and the slope of the line through them. */
struct crossing {
	size_t corner[2];
	bool found;
};

/* Is a/b < c/d? b, d > 0 */
static bool less(__int128 a, int64_t b, __int128 c, int64_t d)
{
	/* Up to 2^63 * 2^61: no overflow. */
	return a * d < c * b;
}

/*
 * One end of the possible slopes: the line that touches both chains from the
 * inside and crosses between them. The steepest one (sign 1) touches L on the
 * left and U on the right, the flattest (sign -1) the other way round. From a
 * corner of one chain the tangent to the other is found, then from there the
 * tangent back, until nothing moves; where the chains leave room for a line,
 * that is the only such line.
 */
static struct crossing find_crossing(const struct estimate *e, int sign)
{
	struct crossing c = { .corner[UPPER] = SIZE_MAX };
	int side = UPPER;

	c.corner[LOWER] = sign > 0 ? 0 : chain(e, LOWER)->corners - 1;
	for (int still = 0; still < 2; side = !side) {
		const struct hull *h = chain(e, side);
		size_t best = SIZE_MAX;
		int64_t x0 = chain(e, !side)->corner[c.corner[!side]].x;
		int64_t y0 = corner_y(e, !side, c.corner[!side]);
		int64_t best_dx = 0, best_dy = 0;

		for (size_t i = 0; i < h->corners; i++) {
			/* From L to U; to the right for the steepest line. */
			int way = side == UPPER ? 1 : -1;
			int64_t dx = (h->corner[i].x - x0) * way * sign;
			int64_t dy = (corner_y(e, side, i) - y0) * way;

			if (dx > 0 && (best == SIZE_MAX || less(dy, dx, best_dy, best_dx))) {
				best = i;
				best_dx = dx;
				best_dy = dy;
			}
		}
		if (best == SIZE_MAX)
			return c; /* nothing on that side: no limit */
		still = c.corner[side] == best ? still + 1 : 0;
		c.corner[side] = best;
	}
	c.found = true;
	return c;
}

static double crossing_slope(const struct estimate *e, struct crossing c)
{
	size_t u = c.corner[UPPER], l = c.corner[LOWER];

	return (double)(corner_y(e, UPPER, u) - corner_y(e, LOWER, l)) /
	       (double)(chain(e, UPPER)->corner[u].x - chain(e, LOWER)->corner[l].x);
}

/* The corner at which a line of this slope touches the chain. */
static size_t touch(const struct estimate *e, int side, double slope)
{
	size_t lo = 0, hi = chain(e, side)->corners - 1;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		double s = edge_slope(e, side, mid);

		/* Slopes rise along U and fall along L. */
		if (side == UPPER ? s < slope : s > slope)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Slopes that both the messages and the largest skew allow. */
static void limit_slopes(struct estimate *e, double max_slope)
{
	struct crossing steep = find_crossing(e, 1);
	struct crossing flat = find_crossing(e, -1);
	double max = steep.found ? crossing_slope(e, steep) : HUGE_VAL;
	double min = flat.found ? crossing_slope(e, flat) : -HUGE_VAL;

	if (min > max_slope || max < -max_slope) {
		double least = fmax(min, -max);

		e->quality = NETSYNC_APPROXIMATE;
		if (least > STEEPEST)
			/* Messages contradict each other, and tell no slope. */
			min = -HUGE_VAL, max = HUGE_VAL;
		else
			/* The clocks differ by more than was thought possible. */
			max_slope = 2 * least;
	}
	e->slope_max = fmin(max, max_slope);
	e->slope_min = fmax(min, -max_slope);
}

/* ---- the line ---------------------------------------------------------- */

/* The smallest gap between the chains: where, and the edges around it. */
struct gap {
	int64_t x;
	size_t edge[2]; /* the edge of each chain right of x */
	bool inside[2]; /* x is between corners of that chain */
	bool flat;	/* the gap is as small over a whole interval */
};

/*
 * Does the gap widen (1), stay (0) or narrow (-1) along two edges? Lower hulls
 * both: the gap is the sum of the stored ordinates.
 */
static int widening(const struct hull *u, size_t i, const struct hull *l, size_t j)
{
	__int128 a = (__int128)(u->corner[i + 1].y - u->corner[i].y) *
		     (l->corner[j + 1].x - l->corner[j].x);
	__int128 b = (__int128)(l->corner[j + 1].y - l->corner[j].y) *
		     (u->corner[i + 1].x - u->corner[i].x);

	return (a + b > 0) - (a + b < 0);
}

/* Where both chains exist, walk to the right while the gap narrows. */
static struct gap find_gap(const struct estimate *e)
{
	const struct hull *u = chain(e, UPPER), *l = chain(e, LOWER);
	struct gap g = { .x = e->overlap_from };
	size_t i = hull_find(u, g.x), j = hull_find(l, g.x);

	while (g.x < e->overlap_to) {
		int w = widening(u, i, l, j);

		if (w >= 0) {
			g.flat = w == 0;
			break;
		}
		g.x = min64(u->corner[i + 1].x, l->corner[j + 1].x);
		i += u->corner[i + 1].x == g.x;
		j += l->corner[j + 1].x == g.x;
	}
	g.edge[UPPER] = i;
	g.edge[LOWER] = j;
	g.inside[UPPER] = u->corner[i].x != g.x;
	g.inside[LOWER] = l->corner[j].x != g.x;
	return g;
}

/*
 * The slopes of lines that touch one chain at the gap: one slope inside an
 * edge, those between the neighbouring edges at a corner.
 */
static void touching_slopes(const struct estimate *e, int side, const struct gap *g, double *min,
			    double *max)
{
	size_t i = g->edge[side], last = chain(e, side)->corners - 1;
	double left = -HUGE_VAL, right = HUGE_VAL;

	if (side == LOWER)
		left = HUGE_VAL, right = -HUGE_VAL;
	if (i < last)
		right = edge_slope(e, side, i);
	if (g->inside[side])
		left = right;
	else if (i > 0)
		left = edge_slope(e, side, i - 1);
	*min = fmin(left, right);
	*max = fmax(left, right);
}

/* y of a chain at x, as whole ns and a rest; x is on edge or corner i. */
static double chain_y(const struct estimate *e, int side, size_t i, int64_t x, int64_t *y)
{
	int64_t dx = x - chain(e, side)->corner[i].x;

	*y = corner_y(e, side, i);
	return dx ? add_whole_ns(y, edge_slope(e, side, i) * (double)dx) : 0;
}

/* The middle between (u, fu) and (l, fl) becomes the line's value at x. */
static void set_middle(struct line *line, int64_t x, int64_t u, double fu, int64_t l, double fl)
{
	int64_t half = (u - l) >> 1;

	line->x = x;
	line->y = l + half;
	line->frac = ((u - l) & 1) * 0.5 + (fu + fl) / 2;
}

/*
 * Is the gap negative? Its place is a corner of one chain at least, so that
 * this asks on which side of a straight edge of the other one a point lies.
 */
static bool overlapping(const struct estimate *e, const struct gap *g)
{
	int side = g->inside[UPPER] ? UPPER : LOWER; /* with an edge there */
	const struct point *c = &chain(e, side)->corner[g->edge[side]];
	const struct point *p = &chain(e, !side)->corner[g->edge[!side]];

	if (!g->inside[side])
		return p->y + c->y < 0;
	return (__int128)(p->y + c[0].y) * (c[1].x - c[0].x) +
		       (__int128)(c[1].y - c[0].y) * (p->x - c[0].x) <
	       0;
}

/* Both directions, at the same time somewhere: the widest strip. */
static void widest_strip(struct estimate *e, const struct gap *g)
{
	double min[2], max[2], lo, hi, fu, fl;
	int64_t u, l;

	touching_slopes(e, UPPER, g, &min[UPPER], &max[UPPER]);
	touching_slopes(e, LOWER, g, &min[LOWER], &max[LOWER]);
	lo = fmax(min[UPPER], min[LOWER]);
	hi = fmin(max[UPPER], max[LOWER]);
	/*
	 * Along a flat gap both chains have one slope. It is met at its left
	 * end, where a corner may allow others as well.
	 */
	if (g->flat)
		lo = hi = edge_slope(e, UPPER, g->edge[UPPER]);
	fu = chain_y(e, UPPER, g->edge[UPPER], g->x, &u);
	fl = chain_y(e, LOWER, g->edge[LOWER], g->x, &l);
	set_middle(&e->line, g->x, u, fu, l, fl);
	/* What the messages leave open is as near to equal rates as possible. */
	if (isinf(lo) || isinf(hi))
		e->line.slope = fmin(fmax(0, lo), hi);
	else
		e->line.slope = lo + (hi - lo) / 2;
	e->margin = ((double)(u - l) + fu - fl) / 2;
}

/* The line of a given slope in the middle between the chains. */
static void middle_line(struct estimate *e, double s)
{
	const struct point *u = chain(e, UPPER)->corner;
	const struct point *l = chain(e, LOWER)->corner;
	size_t i = touch(e, UPPER, s), j = touch(e, LOWER, s);
	int64_t y = corner_y(e, UPPER, i);
	double fu = add_whole_ns(&y, s * (double)(l[j].x - u[i].x));

	set_middle(&e->line, l[j].x, y, fu, corner_y(e, LOWER, j), 0);
	e->line.slope = s;
	e->margin = ((double)(y - corner_y(e, LOWER, j)) + fu) / 2;
}

/*
 * One direction only: the line that touches the hull and has the smallest sum
 * of distances to the messages. It is the hull's edge over their mean (L.
 * Zhang, Z. Liu, C. H. Xia, "Clock synchronization algorithms for network
 * measurements", INFOCOM 2002).
 */
static void one_sided(struct estimate *e, int side, double max_slope)
{
	const struct direction *c = &e->pair->direction[side];
	const struct hull *h = &c->hull;
	size_t i = hull_find(h, (int64_t)(c->sum_x / (__int128)c->num));
	double s = 0;

	if (h->corners > 1) {
		if (i == h->corners - 1)
			i--;
		s = edge_slope(e, side, i);
		if (fabs(s) > max_slope) {
			s = copysign(max_slope, s);
			i = touch(e, side, s);
		}
	}
	e->quality = NETSYNC_INCOMPLETE;
	e->line.x = h->corner[i].x;
	e->line.y = corner_y(e, side, i);
	e->line.slope = s;
	e->slope_min = -max_slope;
	e->slope_max = max_slope;
	e->noise = HUGE_VAL;
}

/*
 * What a sum of n values, distributed exponentially with a mean of 1, exceeds in
 * 19 of 20 cases (E. B. Wilson, M. M. Hilferty, "The distribution of chi-square",
 * PNAS 1931). n need not be whole.
 */
static double least_sum(double n)
{
	double root = 1 - 1 / (9 * n) - 1.645 / (3 * sqrt(n));

	return root > 0 ? n * root * root * root : 0;
}

/*
 * The smallest of n delays is on average mean/n above the true minimum, when
 * the part above it is distributed exponentially; the middle line is off by
 * half the difference of the two sides at most. The strip touches three messages,
 * which says nothing of their delays: the fewer there are besides, the less is
 * known of the mean. Without this, a strip between four messages, which leaves
 * nothing over, would be taken for the best of all.
 */
static double expected_error(const struct estimate *e)
{
	double sum = 0;

	for (int side = UPPER; side <= LOWER; side++) {
		const struct direction *c = &e->pair->direction[side];
		int64_t x = (int64_t)(c->sum_x / (__int128)c->num);
		int64_t y = (int64_t)(c->sum_y / (__int128)c->num);
		double delay = fabs(line_above(&e->line, x, y));
		double excess = fmax(delay - e->margin, 1) * (double)c->num;
		double least = least_sum((double)c->num - 1.5);

		if (c->num < 2 || least <= 0)
			return HUGE_VAL;
		sum += excess / least / (double)c->num;
	}
	return sum / 2 + e->relaxation;
}

void estimate_max_margin(struct estimate *e, const struct pair *p, double max_slope)
{
	const struct hull *u = &p->direction[UPPER].hull;
	const struct hull *l = &p->direction[LOWER].hull;
	struct gap g;

	*e = (struct estimate){ .pair = p, .quality = NETSYNC_ACCURATE };
	if (!u->corners || !l->corners) {
		one_sided(e, u->corners ? UPPER : LOWER, max_slope);
		return;
	}
	e->overlap_from = max64(u->corner[0].x, l->corner[0].x);
	e->overlap_to = min64(u->corner[u->corners - 1].x, l->corner[l->corners - 1].x);
	if (e->overlap_from > e->overlap_to) {
		/* One direction ends before the other begins: any width goes. */
		limit_slopes(e, max_slope);
		middle_line(e, e->slope_min + (e->slope_max - e->slope_min) / 2);
	} else {
		g = find_gap(e);
		widest_strip(e, &g);
		if (overlapping(e, &g)) {
			/* No line fits: make room for the best one. */
			e->quality = NETSYNC_APPROXIMATE;
			e->relaxation = (int64_t)ceil(fmax(-e->margin, 0)) + 1;
		}
		limit_slopes(e, max_slope);
		if (e->line.slope < e->slope_min)
			middle_line(e, e->slope_min);
		else if (e->line.slope > e->slope_max)
			middle_line(e, e->slope_max);
	}
	e->noise = expected_error(e);
}
