// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Place change points by curves that are fitted on either side of them, independently. The messages
 * between them are excluded, because they belong to neither curve until the change point is known
 * better.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/change-point.h"
#include "curve/constraints.h"
#include "curve/order.h"
#include "curve/placement.h"

/* Least number of bins between two change points; between one and an end. Chosen. */
#define MIN_BINS_BETWEEN 3
#define MIN_BINS_AT_END 8
/*
 * Slopes are differences over this part of a knot interval, starting at this share of the interval
 * next to the change point. Chosen, for precision.
 */
#define DIFFERENCE_PARTS 100
#define NEAR_SHARE 1e-3
/* Move a rate step by at most this many of its uncertainties. Chosen. */
#define MAX_MOVE 3
/* Number of expected errors: largest error of a level; least phase step. Chosen. */
#define DEVIATIONS 4
#define SIGNIFICANT 6

/* Return the level and slope on either side of t, by differences over h. */
static struct ends curve_ends_at(const struct spline *s, double t, double h)
{
	struct ends e;

	for (int i = 0; i < 2; i++) {
		double way = i ? 1 : -1, near = t + way * h * NEAR_SHARE;

		e.level[i] = spline_at(s, near);
		e.slope[i] = way * (spline_at(s, near + way * h) - e.level[i]) / h;
	}
	return e;
}

/*
 * Place a rate step where the curves of both sides meet: t = -offset / skew. If they do not meet
 * near it, it is a phase step. Return false if an oscillator could have changed its rate by that
 * step in the window in which the step was found.
 */
static bool place_change_point(struct host_fit *k, struct change_point *b, const struct spline *s,
			       double error)
{
	double h = k->obs.span / (double)s->coefs / DIFFERENCE_PARTS, late;
	struct ends e = curve_ends_at(s, b->t, h);
	double offset = e.level[1] - e.level[0];
	double drift = k->drift * b->window;

	if (b->placed)
		return true;
	b->skew = e.slope[1] - e.slope[0];
	late = -offset / b->skew;
	if (!b->phase_step && fabs(late) < MAX_MOVE * b->uncertainty) {
		b->t += late;
		b->uncertainty = fmin(b->uncertainty, DEVIATIONS * error / fabs(b->skew));
		return fabs(b->skew) > drift;
	}
	b->phase_step = true;
	b->offset = offset;
	change_point_place_phase_step(b, &k->obs, (e.level[0] + e.level[1]) / 2,
				      (e.slope[0] + e.slope[1]) / 2);
	return fabs(offset) > fmax(SIGNIFICANT * error, drift * b->window);
}

static int compare_change_points_by_time(const void *a, const void *b)
{
	const struct change_point *p = a, *q = b;

	return p->t < q->t ? -1 : p->t > q->t;
}

/*
 * Remove change points with too few messages for a curve between them, or between them and the
 * ends. Keep the larger of two neighbours.
 */
static void thin_change_points(struct host_fit *k)
{
	const struct observations *p = &k->obs;
	struct correction *c = k->correction;
	double bin = p->span / (double)host_fit_fewest_bins(k);
	double least = MIN_BINS_BETWEEN * bin, last = MIN_BINS_AT_END * bin;
	size_t n = 0;

	for (size_t i = 0; i < c->num_changes; i++) {
		struct change_point *b = &c->change[i];

		if (b->t < last || b->t > p->span - last)
			continue;
		if (!n || b->t - c->change[n - 1].t >= least ||
		    (b->placed && c->change[n - 1].placed))
			c->change[n++] = *b;
		else if (b->phase_step || (!c->change[n - 1].phase_step &&
					   fabs(b->skew) > fabs(c->change[n - 1].skew)))
			c->change[n - 1] = *b;
	}
	c->num_changes = n;
	for (size_t i = 0; i + 1 < n; i++) {
		struct change_point *b = &c->change[i];
		double most = (b[1].t - b[0].t) / 4;

		if (!b[0].phase_step)
			b[0].uncertainty = fmin(b[0].uncertainty, most);
		if (!b[1].phase_step)
			b[1].uncertainty = fmin(b[1].uncertainty, most);
	}
}

/* Split change points that are two, too close together for any window. */
static int split_change_points(struct host_fit *k)
{
	struct correction *c = k->correction;
	struct change_point *more = malloc((2 * c->num_changes + 1) * sizeof(*more));
	double h = k->obs.span / (double)k->best.coefs / DIFFERENCE_PARTS;
	size_t n = 0;
	int ret = 0;

	if (!more)
		return -ENOMEM;
	for (size_t i = 0; ret >= 0 && i < c->num_changes; i++) {
		struct ends e = curve_ends_at(&k->best, c->change[i].t, h);

		more[n] = c->change[i];
		if (more[n].placed) {
			n++;
			continue;
		}
		ret = change_point_split(&more[n], &k->obs, k->margin, &e,
					 2 * c->change[i].uncertainty);
		n += ret > 0 ? 2 : 1;
	}
	if (ret < 0) {
		free(more);
		return ret;
	}
	free(c->change);
	c->change = more;
	c->num_changes = n;
	return 0;
}

double placement_expected_error(const struct host_fit *k, const struct spline *s)
{
	return k->obs.softness * k->obs.direction[0].mean * (double)s->coefs /
	       (double)(k->obs.messages[0] + k->obs.messages[1]);
}

/* Place all change points by the curves on either side of them. */
static void place_change_points(struct host_fit *k, const struct spline *s)
{
	struct correction *c = k->correction;
	double error = DEVIATIONS * placement_expected_error(k, s);
	size_t n = 0;

	for (size_t i = 0; i < c->num_changes; i++)
		if (place_change_point(k, &c->change[i], s, error))
			c->change[n++] = c->change[i];
	c->num_changes = n;
	qsort(c->change, c->num_changes, sizeof(*c->change), compare_change_points_by_time);
	thin_change_points(k);
}

int placement_settle(struct host_fit *k)
{
	int ret;

	k->one_sided = true;
	thin_change_points(k);
	ret = order_choose(k);
	if (!ret)
		ret = split_change_points(k);
	for (int i = 0; !ret && i < 2; i++) {
		double cost;
		struct fit f;

		place_change_points(k, &k->best);
		ret = order_fit(k, &f, k->intervals, &cost);
		if (!ret && isfinite(cost))
			order_keep(k, &f, k->intervals, cost);
		constraints_fit_free(&f);
	}
	k->one_sided = false;
	return ret;
}
