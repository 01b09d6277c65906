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
 * Among the possible lines, these references choose the mean of the steepest and the flattest line.
 * Both depend on the few messages at the ends. The line in the middle of the *widest strip* between
 * the hulls depends on the fastest messages of both directions, and is some hundred times closer to
 * the truth. (A support vector machine finds the same line: Y. Geng et al., "Exploiting a natural
 * network effect for scalable, fine-grained clock synchronization", NSDI 2018.)
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

/* Largest plausible slope. Even a badly calibrated timer is wrong by only a few percent. Chosen. */
#define STEEPEST 0.1

static const struct hull *get_chain(const struct estimate *e, int side)
{
	return &e->pair->direction[side].hull;
}

/* Return the y of a corner in the plane, moved outward by the relaxation. */
static int64_t get_corner_y(const struct estimate *e, int side, size_t i)
{
	int64_t y = get_chain(e, side)->corner[i].y;

	return side == UPPER ? y + e->relaxation : -y - e->relaxation;
}

/* Return the slope, in the plane, of the edge that starts at corner @i. */
static double compute_edge_slope(const struct estimate *e, int side, size_t i)
{
	const struct point *c = get_chain(e, side)->corner;
	double s = (double)(c[i + 1].y - c[i].y) / (double)(c[i + 1].x - c[i].x);

	return side == UPPER ? s : -s;
}

/* ---- the set of possible lines ----------------------------------------- */

/* A corner of U and a corner of L, and the slope of the line through them. */
struct crossing {
	size_t corner[2];
	bool found;
};

/* Return whether a/b < c/d. Requires b > 0 and d > 0. */
static bool is_fraction_less(__int128 a, int64_t b, __int128 c, int64_t d)
{
	/* The products are at most 2^63 * 2^61, so they do not overflow. */
	return a * d < c * b;
}

/*
 * Find one end of the range of possible slopes: the line that touches both chains from the inside
 * and crosses between them. The steepest line (sign 1) touches L on the left and U on the right.
 * The flattest line (sign -1) touches U on the left and L on the right. From a corner of one chain,
 * find the tangent to the other chain, and from its corner the tangent back, until the corners do
 * not change any more. If any line fits between the chains, there is only one such tangent.
 */
static struct crossing find_crossing(const struct estimate *e, int sign)
{
	struct crossing c = { .corner[UPPER] = SIZE_MAX };
	int side = UPPER;

	c.corner[LOWER] = sign > 0 ? 0 : get_chain(e, LOWER)->corners - 1;
	for (int still = 0; still < 2; side = !side) {
		const struct hull *h = get_chain(e, side);
		size_t best = SIZE_MAX;
		int64_t x0 = get_chain(e, !side)->corner[c.corner[!side]].x;
		int64_t y0 = get_corner_y(e, !side, c.corner[!side]);
		int64_t best_dx = 0, best_dy = 0;

		for (size_t i = 0; i < h->corners; i++) {
			/* Go from L to U, and to the right for the steepest line. */
			int way = side == UPPER ? 1 : -1;
			int64_t dx = (h->corner[i].x - x0) * way * sign;
			int64_t dy = (get_corner_y(e, side, i) - y0) * way;

			if (dx > 0 &&
			    (best == SIZE_MAX || is_fraction_less(dy, dx, best_dy, best_dx))) {
				best = i;
				best_dx = dx;
				best_dy = dy;
			}
		}
		if (best == SIZE_MAX)
			return c; /* no corner on that side, so no limit */
		still = c.corner[side] == best ? still + 1 : 0;
		c.corner[side] = best;
	}
	c.found = true;
	return c;
}

static double compute_crossing_slope(const struct estimate *e, struct crossing c)
{
	size_t u = c.corner[UPPER], l = c.corner[LOWER];

	return (double)(get_corner_y(e, UPPER, u) - get_corner_y(e, LOWER, l)) /
	       (double)(get_chain(e, UPPER)->corner[u].x - get_chain(e, LOWER)->corner[l].x);
}

/* Return the corner at which a line with this slope touches the chain. */
static size_t find_touching_corner(const struct estimate *e, int side, double slope)
{
	size_t lo = 0, hi = get_chain(e, side)->corners - 1;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		double s = compute_edge_slope(e, side, mid);

		/* Slopes rise along U and fall along L. */
		if (side == UPPER ? s < slope : s > slope)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Find the slopes that both the messages and the maximum skew allow. */
static void find_possible_slopes(struct estimate *e, double max_slope)
{
	struct crossing steep = find_crossing(e, 1);
	struct crossing flat = find_crossing(e, -1);
	double max = steep.found ? compute_crossing_slope(e, steep) : HUGE_VAL;
	double min = flat.found ? compute_crossing_slope(e, flat) : -HUGE_VAL;

	if (min > max_slope || max < -max_slope) {
		double least = fmax(min, -max);

		e->quality = NETSYNC_APPROXIMATE;
		if (least > STEEPEST)
			/* The messages are inconsistent, and reveal no slope. */
			min = -HUGE_VAL, max = HUGE_VAL;
		else
			/* The clocks differ by more than the maximum skew. */
			max_slope = 2 * least;
	}
	e->slope_max = fmin(max, max_slope);
	e->slope_min = fmax(min, -max_slope);
}

/* ---- the line ---------------------------------------------------------- */

/* The smallest gap between the chains: its place, and the edges around it. */
struct gap {
	int64_t x;
	size_t edge[2]; /* in each chain, the edge to the right of x */
	bool inside[2]; /* x is between two corners of the chain */
	bool flat;	/* the gap is equally small in a whole interval */
};

/*
 * Return 1 if the gap widens along two edges, 0 if it stays equal, and -1 if it narrows. Both
 * chains are stored as lower hulls, so the gap is the sum of the stored y.
 */
static int compare_gap_widths(const struct hull *u, size_t i, const struct hull *l, size_t j)
{
	__int128 a = (__int128)(u->corner[i + 1].y - u->corner[i].y) *
		     (l->corner[j + 1].x - l->corner[j].x);
	__int128 b = (__int128)(l->corner[j + 1].y - l->corner[j].y) *
		     (u->corner[i + 1].x - u->corner[i].x);

	return (a + b > 0) - (a + b < 0);
}

/* Find the smallest gap where both chains exist: go to the right while the gap narrows. */
static struct gap find_smallest_gap(const struct estimate *e)
{
	const struct hull *u = get_chain(e, UPPER), *l = get_chain(e, LOWER);
	struct gap g = { .x = e->overlap_from };
	size_t i = hull_find(u, g.x), j = hull_find(l, g.x);

	while (g.x < e->overlap_to) {
		int w = compare_gap_widths(u, i, l, j);

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
 * Find the slopes of the lines that touch one chain at the gap. Inside of an edge, there is one
 * slope. At a corner, the slopes are between those of the neighbouring edges.
 */
static void find_touching_slopes(const struct estimate *e, int side, const struct gap *g,
				 double *min, double *max)
{
	size_t i = g->edge[side], last = get_chain(e, side)->corners - 1;
	double left = -HUGE_VAL, right = HUGE_VAL;

	if (side == LOWER)
		left = HUGE_VAL, right = -HUGE_VAL;
	if (i < last)
		right = compute_edge_slope(e, side, i);
	if (g->inside[side])
		left = right;
	else if (i > 0)
		left = compute_edge_slope(e, side, i - 1);
	*min = fmin(left, right);
	*max = fmax(left, right);
}

/*
 * Compute the y of a chain at @x as whole ns, *@y, and the returned rest. @x is on the edge, or at
 * the corner, @i.
 */
static double compute_chain_y(const struct estimate *e, int side, size_t i, int64_t x, int64_t *y)
{
	int64_t dx = x - get_chain(e, side)->corner[i].x;

	*y = get_corner_y(e, side, i);
	return dx ? add_whole_ns(y, compute_edge_slope(e, side, i) * (double)dx) : 0;
}

/* Set the line's value at @x to the middle between (u, fu) and (l, fl). */
static void set_line_to_middle(struct line *line, int64_t x, int64_t u, double fu, int64_t l,
			       double fl)
{
	int64_t half = (u - l) >> 1;

	line->x = x;
	line->y = l + half;
	line->frac = ((u - l) & 1) * 0.5 + (fu + fl) / 2;
}

/*
 * Return whether the gap is negative. The gap is at a corner of at least one chain, so it is enough
 * to find out on which side of an edge of the other chain this corner is.
 */
static bool do_chains_overlap(const struct estimate *e, const struct gap *g)
{
	int side = g->inside[UPPER] ? UPPER : LOWER; /* the chain with an edge there */
	const struct point *c = &get_chain(e, side)->corner[g->edge[side]];
	const struct point *p = &get_chain(e, !side)->corner[g->edge[!side]];

	if (!g->inside[side])
		return p->y + c->y < 0;
	return (__int128)(p->y + c[0].y) * (c[1].x - c[0].x) +
		       (__int128)(c[1].y - c[0].y) * (p->x - c[0].x) <
	       0;
}

/* Find the widest strip, if both directions have messages at some time. */
static void find_widest_strip(struct estimate *e, const struct gap *g)
{
	double min[2], max[2], lo, hi, fu, fl;
	int64_t u, l;

	find_touching_slopes(e, UPPER, g, &min[UPPER], &max[UPPER]);
	find_touching_slopes(e, LOWER, g, &min[LOWER], &max[LOWER]);
	lo = fmax(min[UPPER], min[LOWER]);
	hi = fmin(max[UPPER], max[LOWER]);
	/*
	 * Along a flat gap, both chains have the same slope. The gap is found at its left end,
	 * where a corner may also allow other slopes.
	 */
	if (g->flat)
		lo = hi = compute_edge_slope(e, UPPER, g->edge[UPPER]);
	fu = compute_chain_y(e, UPPER, g->edge[UPPER], g->x, &u);
	fl = compute_chain_y(e, LOWER, g->edge[LOWER], g->x, &l);
	set_line_to_middle(&e->line, g->x, u, fu, l, fl);
	/* If the messages do not determine the slope, choose the one nearest to equal rates. */
	if (isinf(lo) || isinf(hi))
		e->line.slope = fmin(fmax(0, lo), hi);
	else
		e->line.slope = lo + (hi - lo) / 2;
	e->margin = ((double)(u - l) + fu - fl) / 2;
}

/* Set the line to the one with the slope @s in the middle between the chains. */
static void set_middle_line(struct estimate *e, double s)
{
	const struct point *u = get_chain(e, UPPER)->corner;
	const struct point *l = get_chain(e, LOWER)->corner;
	size_t i = find_touching_corner(e, UPPER, s), j = find_touching_corner(e, LOWER, s);
	int64_t y = get_corner_y(e, UPPER, i);
	double fu = add_whole_ns(&y, s * (double)(l[j].x - u[i].x));

	set_line_to_middle(&e->line, l[j].x, y, fu, get_corner_y(e, LOWER, j), 0);
	e->line.slope = s;
	e->margin = ((double)(y - get_corner_y(e, LOWER, j)) + fu) / 2;
}

/*
 * Estimate the line from messages of one direction: it touches the hull and has the smallest sum of
 * distances to the messages. It contains the hull's edge at the mean of the messages (L. Zhang, Z.
 * Liu, C. H. Xia, "Clock synchronization algorithms for network measurements", INFOCOM 2002).
 */
static void estimate_from_one_direction(struct estimate *e, int side, double max_slope)
{
	const struct direction *c = &e->pair->direction[side];
	const struct hull *h = &c->hull;
	size_t i = hull_find(h, (int64_t)(c->sum_x / (__int128)c->num));
	double s = 0;

	if (h->corners > 1) {
		if (i == h->corners - 1)
			i--;
		s = compute_edge_slope(e, side, i);
		if (fabs(s) > max_slope) {
			s = copysign(max_slope, s);
			i = find_touching_corner(e, side, s);
		}
	}
	e->quality = NETSYNC_INCOMPLETE;
	e->line.x = h->corner[i].x;
	e->line.y = get_corner_y(e, side, i);
	e->line.slope = s;
	e->slope_min = -max_slope;
	e->slope_max = max_slope;
	e->noise = HUGE_VAL;
}

/*
 * Return the value that a sum of @n exponentially distributed values with a mean of 1 exceeds in 19
 * of 20 cases (E. B. Wilson, M. M. Hilferty, "The distribution of chi-square", PNAS 1931). @n need
 * not be an integer.
 */
static double compute_least_sum(double n)
{
	double root = 1 - 1 / (9 * n) - 1.645 / (3 * sqrt(n));

	return root > 0 ? n * root * root * root : 0;
}

/*
 * Return the expected error of the line. If the excess of delays over their true minimum is
 * distributed exponentially, the smallest of n delays exceeds the minimum by mean/n on average. The
 * middle line is wrong by at most half the difference of both directions. The strip always touches
 * three messages, which reveal nothing about the mean excess: the fewer other messages there are,
 * the less is known about the mean. If this were ignored, a strip between four messages, which have
 * almost no excess, would seem to be the best one.
 */
static double compute_expected_error(const struct estimate *e)
{
	double sum = 0;

	for (int side = UPPER; side <= LOWER; side++) {
		const struct direction *c = &e->pair->direction[side];
		int64_t x = (int64_t)(c->sum_x / (__int128)c->num);
		int64_t y = (int64_t)(c->sum_y / (__int128)c->num);
		double delay = fabs(line_value_above(&e->line, x, y));
		double excess = fmax(delay - e->margin, 1) * (double)c->num;
		double least = compute_least_sum((double)c->num - 1.5);

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
		estimate_from_one_direction(e, u->corners ? UPPER : LOWER, max_slope);
		return;
	}
	e->overlap_from = max64(u->corner[0].x, l->corner[0].x);
	e->overlap_to = min64(u->corner[u->corners - 1].x, l->corner[l->corners - 1].x);
	if (e->overlap_from > e->overlap_to) {
		/*
		 * One direction ends before the other one begins, so the strip may have any width.
		 */
		find_possible_slopes(e, max_slope);
		set_middle_line(e, e->slope_min + (e->slope_max - e->slope_min) / 2);
	} else {
		g = find_smallest_gap(e);
		find_widest_strip(e, &g);
		if (do_chains_overlap(e, &g)) {
			/*
			 * No line satisfies all messages, so move the messages apart for the best
			 * one.
			 */
			e->quality = NETSYNC_APPROXIMATE;
			e->relaxation = (int64_t)ceil(fmax(-e->margin, 0)) + 1;
		}
		find_possible_slopes(e, max_slope);
		if (e->line.slope < e->slope_min)
			set_middle_line(e, e->slope_min);
		else if (e->line.slope > e->slope_max)
			set_middle_line(e, e->slope_max);
	}
	e->noise = compute_expected_error(e);
}
