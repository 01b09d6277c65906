// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The posterior of two corrections -> the standard deviation of a host's clock relative to the
 * reference, as knots between which it is linear.
 *
 *	deviation
 *	 ^             __
 *	 |    .--.    |  |    .      at the knots of the posterior: its deviation
 *	 |  .'    '.  |  |  .'       between them: larger, because the clock wanders
 *	 |.'        '.|  |.'         at a step: the step may have been earlier or later
 *	 +-------------------> host time
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "reduce/internal.h"
#include "util/array.h"
#include "util/search.h"

/*
 * Maximum excess of the deviation between the knots that are kept, as a fraction of the
 * deviation. Chosen: the deviation itself is not more accurate.
 */
#define SLACK (1.0 / 8)
/*
 * Parts of the time between two knots of the posterior after which the deviation is computed.
 * Chosen: closer to the knots, because the square root is steepest there.
 */
static const double PARTS[] = { 0.03125, 0.125, 0.3125, 0.5, 0.6875, 0.875, 0.96875 };
#define NUM_PARTS (sizeof(PARTS) / sizeof(*PARTS))
/*
 * Maximum ratio of the variance of a frequency increment times the squared time between two knots
 * to the square of deviation_knot.between, by its formula in infer/posterior.c.
 */
#define INCREMENT_PER_BETWEEN 32.0

struct deviation_point {
	int64_t t; /* on the host's clock, relative to its origin, ns */
	double deviation;
};

struct deviation_points {
	struct deviation_point *point;
	size_t num;
	size_t room;
	struct range span;
};

/* ---- the deviation at a time -------------------------------------------- */

/* Return the deviation between two knots, at a part of the time between them. */
static double compute_deviation_between(const struct deviation_knot *k, double part)
{
	const double linear = k[0].deviation + part * (k[1].deviation - k[0].deviation);

	return hypot(linear, k[1].between * 2 * sqrt(part * (1 - part)));
}

/*
 * Return the deviation beyond an end knot, at @ahead times the distance to its neighbour. The
 * line through both knots continues. The frequency may have changed, as between these knots.
 */
static double extrapolate_deviation(const struct deviation_knot *end,
				    const struct deviation_knot *neighbour, double between,
				    double ahead)
{
	const double linear = end->deviation * (1 + ahead) + neighbour->deviation * ahead;

	return hypot(linear, between * sqrt(INCREMENT_PER_BETWEEN * (1 + ahead)) * ahead);
}

/* Return the variance due to the uncertain time of a step near a time @d since the span began. */
static double compute_step_variance(const struct correction *c, double d)
{
	const size_t next = NUM_BEFORE(c->change, c->num_changes, t, d);
	double variance = 0;

	for (size_t i = next ? next - 1 : 0; i < c->num_changes && i <= next; i++) {
		const struct change_point *p = &c->change[i];

		/* In the middle, the step was earlier or later with the same probability. */
		if (p->phase_step && fabs(d - p->t) <= p->uncertainty)
			variance = fmax(variance, p->offset * p->offset / 2);
	}
	return variance;
}

/* Return the deviation of a correction from common time. It has at least two knots. */
static double compute_deviation(const struct correction *c, int64_t t)
{
	const double d = (double)(t - c->from);
	const struct deviation_knot *last = &c->known_to[c->num_known_to - 1];
	const size_t next = NUM_BEFORE(c->known_to, c->num_known_to, t, d);
	const struct deviation_knot *k = next ? &c->known_to[next - 1] : c->known_to;
	double deviation;

	if (!next)
		deviation = extrapolate_deviation(k, k + 1, k[1].between,
						  (k->t - d) / (k[1].t - k->t));
	else if (k == last)
		deviation = extrapolate_deviation(k, k - 1, k->between,
						  (d - k->t) / (k->t - k[-1].t));
	else
		deviation = compute_deviation_between(k, (d - k->t) / (k[1].t - k->t));
	return sqrt(deviation * deviation + compute_step_variance(c, d));
}

/* ---- the times of knots -------------------------------------------------- */

static int add_deviation_time(struct deviation_points *to, int64_t t)
{
	if (t < to->span.lo || t > to->span.hi)
		return 0;
	if (array_grow(&to->point, &to->room, to->num, sizeof(*to->point)))
		return -ENOMEM;
	to->point[to->num++] = (struct deviation_point){ .t = t };
	return 0;
}

/* Add a time of @from, relative to the start of its span, in the time of @to_correction. */
static int add_time_of(struct deviation_points *to, const struct correction *from, double d,
		       const struct correction *to_correction)
{
	int64_t t = from->from + (int64_t)fmin(fmax(d, -0x1p61), 0x1p61);

	if (from != to_correction)
		correction_between(from, t, to_correction, &t);
	return add_deviation_time(to, t);
}

/* Add the times at which the deviation of @from is computed, in the time of @own. */
static int add_times_of(struct deviation_points *to, const struct correction *from,
			const struct correction *own)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < from->num_known_to; i++) {
		const struct deviation_knot *k = &from->known_to[i];

		ret = add_time_of(to, from, k->t, own);
		for (size_t j = 0; !ret && j < NUM_PARTS && i + 1 < from->num_known_to; j++)
			ret = add_time_of(to, from, k->t + PARTS[j] * (k[1].t - k->t), own);
	}
	/* The deviation changes within 2 ns where a step may have been. */
	for (size_t i = 0; !ret && i < from->num_changes; i++) {
		const struct change_point *p = &from->change[i];

		ret = add_time_of(to, from, p->t - p->uncertainty - 2, own);
		for (int k = -1; !ret && k < 2; k++)
			ret = add_time_of(to, from, p->t + k * p->uncertainty, own);
		if (!ret)
			ret = add_time_of(to, from, p->t + p->uncertainty + 2, own);
	}
	return ret;
}

static int compare_point_times(const void *a, const void *b)
{
	const struct deviation_point *p = a, *q = b;

	return (p->t > q->t) - (p->t < q->t);
}

static int list_deviation_times(struct deviation_points *to, const struct correction *c,
				const struct correction *reference, const struct netsync_model *m,
				int64_t origin)
{
	size_t num = 0;
	int ret = add_deviation_time(to, to->span.lo);

	if (!ret)
		ret = add_deviation_time(to, to->span.hi);
	if (!ret)
		ret = add_times_of(to, c, c);
	if (!ret)
		ret = add_times_of(to, reference, c);
	/* Between these, the clock may have been moved into its bounds. */
	for (uint32_t i = 1; !ret && i < m->num_segments; i++)
		ret = add_deviation_time(to, m->segments[i].from_ns - origin);
	if (ret)
		return ret;
	qsort(to->point, to->num, sizeof(*to->point), compare_point_times);
	for (size_t i = 0; i < to->num; i++)
		if (!num || to->point[num - 1].t != to->point[i].t)
			to->point[num++] = to->point[i];
	to->num = num;
	return 0;
}

/* ---- knots ---------------------------------------------------------------- */

/*
 * Set the root mean square errors of the clock at all points. The clock may differ from the mean
 * of the posterior, because it is kept inside its bounds.
 */
static void set_point_deviations(struct deviation_points *to, const struct reduction *r, uint32_t h,
				 const struct netsync_clock *clock)
{
	const struct correction *c = &r->correction[h], *reference = &r->correction[r->reference];

	for (size_t i = 0; i < to->num; i++) {
		struct deviation_point *p = &to->point[i];
		int64_t at, made = 0;
		const double rest = correction_between(c, p->t, reference, &at);

		p->deviation = compute_deviation(c, p->t);
		if (reference->num_known_to > 1)
			p->deviation = hypot(p->deviation, compute_deviation(reference, at));
		if (!netsync_convert(clock, r->host[h].origin + p->t, &made, NULL))
			p->deviation = hypot(p->deviation,
					     (double)((__int128)made -
						      r->host[r->reference].origin - at) -
						     rest);
	}
}

static int64_t round_deviation(double deviation)
{
	return deviation < 0x1p62 ? (int64_t)ceil(deviation) : NETSYNC_UNKNOWN;
}

/*
 * Find the longest line from @start at the point @first that is nowhere below the points, and
 * exceeds each of them by at most SLACK of its deviation plus 1 ns. Set *@end to the line's value
 * at its last point. Return the index of that point, or @first if the next point has no deviation.
 */
static size_t find_deviation_line(const struct deviation_points *from, size_t first, double start,
				  double *end)
{
	const struct deviation_point *p = from->point;
	double lo = -INFINITY, hi = INFINITY;
	size_t last = first;

	for (size_t i = first + 1; i < from->num && isfinite(p[i].deviation); i++) {
		const double dt = (double)(p[i].t - p[first].t);
		const double low = fmax(lo, (p[i].deviation - start) / dt);
		const double high = fmin(hi, (p[i].deviation * (1 + SLACK) + 1 - start) / dt);

		if (low > high)
			break;
		lo = low;
		hi = high;
		last = i;
	}
	if (last > first)
		*end = start + (lo + hi) / 2 * (double)(p[last].t - p[first].t);
	return last;
}

/* Make knots for all points. Between points without a deviation, the deviation is unknown. */
static uint32_t make_deviation_knots(const struct deviation_points *from, int64_t origin,
				     struct netsync_deviation_knot *knot)
{
	const struct deviation_point *p = from->point;
	uint32_t num = 0;

	for (size_t i = 0; i < from->num; i++) {
		double value = p[i].deviation * (1 + SLACK / 2);

		if (!isfinite(value)) {
			/* One knot is enough between two others. */
			if (!num || knot[num - 1].deviation_ns != NETSYNC_UNKNOWN)
				knot[num++] = (struct netsync_deviation_knot){ origin + p[i].t,
									       NETSYNC_UNKNOWN };
			continue;
		}
		knot[num++] = (struct netsync_deviation_knot){ origin + p[i].t,
							       round_deviation(value) };
		for (size_t last; (last = find_deviation_line(from, i, value, &value)) > i;) {
			knot[num++] = (struct netsync_deviation_knot){ origin + p[last].t,
								       round_deviation(value) };
			i = last;
		}
	}
	return num;
}

/* Does the posterior determine how accurate the host's clock is relative to the reference? */
static bool has_deviations(const struct reduction *r, uint32_t h)
{
	const struct correction *c = &r->correction[h], *reference = &r->correction[r->reference];

	/* The posterior of the reference's own clock is certain if it has no knots. */
	return c->num_known_to > 1 && !c->no_margin && !reference->no_margin &&
	       r->host[h].quality != NETSYNC_INCOMPLETE;
}

int reduction_set_deviations(const struct reduction *r, uint32_t h, struct netsync_model *m,
			     struct netsync_deviation_knot **knot)
{
	const struct correction *c = &r->correction[h];
	struct deviation_points points = { .span = { c->from, c->to } };
	struct netsync_clock *clock = NULL;
	int ret;

	if (!has_deviations(r, h))
		return 0;
	ret = netsync_clock_new(m, &clock);
	if (!ret)
		ret = list_deviation_times(&points, c, &r->correction[r->reference], m,
					   r->host[h].origin);
	if (!ret) {
		*knot = calloc(points.num + 1, sizeof(**knot));
		ret = *knot ? 0 : -ENOMEM;
	}
	if (!ret) {
		set_point_deviations(&points, r, h, clock);
		m->num_deviations = make_deviation_knots(&points, r->host[h].origin, *knot);
		m->deviation_size = sizeof(**knot);
		m->deviations = *knot;
	}
	netsync_clock_free(clock);
	free(points.point);
	return ret;
}
