// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * On a fine grid of knots, each bend of the curve has its own variance (bend-variance.h). Most
 * variances fall to that of a free-running oscillator, where the curve is stiff. If a daemon
 * changed the rate, they stay large, and the curve bends abruptly. Scales of constraints follow the
 * uncertainty of the curve, so that messages contribute over a whole stiff stretch.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/bend-variance.h"
#include "curve/constraints.h"
#include "curve/delays.h"
#include "curve/outliers.h"
#include "curve/rate-changes.h"
#include "curve/silences.h"
#include "curve/softplus.h"

/*
 * Number of messages of an interval in the direction with fewer messages, and maximum number of
 * intervals. Chosen.
 */
#define MESSAGES 8
#define MAX_INTERVALS 8192
/*
 * Maximum refinement of the grid, used if it is more likely. Chosen, like SCALE and BELIEF, by the
 * steered cases of bench-truth: with twice as many, errors of the smeared clock are larger.
 */
#define FINER 4
/*
 * Maximum number of intervals without messages of a direction. In a longer silence the bends at its
 * ends are poorly determined, and the curve between them is arbitrary. Chosen: even traffic never
 * has four.
 */
#define SILENT 4
/* With fewer intervals, a smooth curve is as good. Chosen. */
#define MIN_INTERVALS 64
/* Newton steps of a round. Chosen: further steps change little. */
#define STEPS 12
/* Scale of constraints in the first round, as a multiple of that in order.c. Chosen. */
#define FIRST_SCALE 4
/* Cost of a degree of freedom, in log likelihood, as in order.c. */
#define FREEDOM_COST 3.0
/* Cost of a steered clock, as that of not being straight in order.c. */
#define STEERED_COST 24.0
/*
 * Maximum ratio of mean delays, and of numbers of rejected observations, after and before. Chosen.
 */
#define WORSE 1.1
#define EXPLAINED 0.75
/*
 * Part of the margin by which minimum delays may be temporarily longer. If all messages are late
 * for a while, such a flexible curve is arbitrary between them. Chosen.
 */
#define LIFTED 0.25

struct rate_workspace {
	struct fit fit;
	double *deviation;	     /* standard deviation of the curve in each interval, ns */
	struct slope_change *change; /* at each bend */
	double *variance;	     /* prior of each bend */
};

static void rate_workspace_free(struct rate_workspace *w)
{
	w->fit.change_variance = NULL;
	constraints_fit_free(&w->fit);
	free(w->deviation);
	free(w->change);
	free(w->variance);
}

static int rate_workspace_new(struct rate_workspace *w, const struct host_fit *k, size_t intervals)
{
	size_t n;

	memset(w, 0, sizeof(*w));
	if (constraints_fit_new(&w->fit, k, intervals))
		return -ENOMEM;
	n = w->fit.curve.coefs;
	w->deviation = calloc(n, sizeof(*w->deviation));
	w->change = calloc(n, sizeof(*w->change));
	w->variance = calloc(n, sizeof(*w->variance));
	return w->deviation && w->change && w->variance ? 0 : -ENOMEM;
}

/* ---- the fit ------------------------------------------------------------ */

static void set_scales_by_deviation(struct rate_workspace *w)
{
	struct fit *f = &w->fit;

	for (size_t i = 0; i < f->num_constraints; i++) {
		struct soft_constraint *c = &f->constraint[i];

		c->sharp = 1 / bend_variances_scale(w->deviation[c->interval]);
	}
}

/* Set constraints by the residuals of a curve. 0 or -ENOMEM. */
static int reset_constraints(struct rate_workspace *w, struct host_fit *k,
			     const struct spline *curve, size_t intervals)
{
	int ret;

	host_fit_set_residuals(k, curve);
	ret = delays_set_means(&k->obs);
	constraints_set_scores(&w->fit, k, intervals);
	constraints_set(&w->fit, k);
	return ret;
}

/* Begin in the middle between both directions, with the initial variances of changes of rate. */
static int start_rate_fit(struct rate_workspace *w, struct host_fit *k, size_t intervals)
{
	struct fit *f = &w->fit;
	const struct spline none = { 0 };
	double residual;
	size_t rejected;
	int ret;

	/* Reject messages that are wrong without reference to any curve. */
	observations_set_residuals(&k->obs, NULL, NULL);
	ret = outliers_reject(&k->obs, k->correction, 0, &rejected);
	if (!ret)
		ret = reset_constraints(w, k, &none, intervals);
	if (!ret)
		ret = fit_start(f, &residual);
	/* Delays relative to the initial fit, if there is one, are more accurate. */
	if (!ret && !k->initial.num)
		ret = reset_constraints(w, k, &f->curve, intervals);
	if (!ret)
		ret = uncertainty_find(f, w->deviation, w->change);
	bend_variances_begin(w->variance, &f->curve);
	f->change_variance = w->variance;
	return ret;
}

static int fit_in_rounds(struct rate_workspace *w, struct host_fit *k, size_t intervals)
{
	struct fit *f = &w->fit;
	int ret = start_rate_fit(w, k, intervals);
	double cost;

	for (int round = 0; !ret && round < BEND_VARIANCE_ROUNDS; round++) {
		if (round) {
			ret = reset_constraints(w, k, &f->curve, intervals);
			set_scales_by_deviation(w);
		}
		if (!ret)
			ret = fit_solve(f, round ? 1 : FIRST_SCALE, STEPS, &cost);
		if (!ret)
			ret = uncertainty_find(f, w->deviation, w->change);
		if (!ret && round + 1 < BEND_VARIANCE_ROUNDS)
			bend_variances_learn(w->variance, w->change, f->curve.coefs - 2);
	}
	return ret;
}

/* ---- which one is likelier? --------------------------------------------- */

/*
 * Return the negative log likelihood of a curve, less terms that do not depend on it, with the same
 * scales for all curves.
 */
static double cost_of_curve(const struct rate_workspace *w, const struct host_fit *k,
			    const struct spline *s, const double *margin)
{
	const struct observations *p = &k->obs;
	double cost = 0;

	for (size_t i = 0; i < 2 * p->links; i++) {
		const struct obs_direction *dir = &p->direction[i];
		double sign = i & 1 ? -1 : 1, m = margin[i / 2];

		for (size_t j = 0; j < dir->bins; j++) {
			const struct obs_bin *h = &dir->bin[j];

			if (!h->num)
				continue;
			cost -= h->messages / dir->mean * (sign * spline_at(s, h->t) + m);
			for (uint32_t n = 0; n < h->num; n++) {
				const struct observation *o = &p->obs[h->from + n];
				size_t at = spline_interval(&w->fit.curve, o->t);
				double slack = sign * (o->y - spline_at(s, o->t)) - m;

				cost += softplus(-slack / bend_variances_scale(w->deviation[at]));
			}
		}
	}
	return cost;
}

/* A larger step (ns) is not a change of rate. Chosen. */
#define SET 1e6

/* Is a change point so close to a step that the step hides its time? */
static bool is_near_step(const struct change_point *change, size_t num,
			 const struct change_point *c)
{
	for (size_t i = 0; i < num; i++) {
		const struct change_point *b = &change[i];

		if (b->phase_step && fabs(b->offset) > SET &&
		    fabs(b->t - c->t) <= fabs(b->offset) + b->uncertainty)
			return true;
	}
	return false;
}

size_t rate_changes_keep_sets(struct change_point *to, const struct change_point *change,
			      size_t num, bool small)
{
	size_t n = 0;

	for (size_t i = 0; i < num; i++)
		if ((small && change[i].phase_step) || is_near_step(change, num, &change[i]))
			to[n++] = change[i];
	return n;
}

/*
 * Return the number of intervals of a grid that is @finer times finer. @longest: longest silence,
 * ns.
 */
static size_t count_grid_intervals(const struct host_fit *k, size_t finer, double longest)
{
	const uint64_t *m = k->obs.messages;
	size_t most = (size_t)(m[0] < m[1] ? m[0] : m[1]) / (MESSAGES / finer);
	size_t bins = host_fit_fewest_bins(k), limit = finer * MAX_INTERVALS;

	most = most < bins ? most : bins;
	if ((double)most * longest > SILENT * k->obs.span)
		most = (size_t)(SILENT * k->obs.span / longest);
	return most < limit ? most : limit;
}

int rate_changes_intervals(const struct host_fit *k, size_t *coarse, size_t *fine)
{
	struct silences s;
	int ret = silences_find(&s, &k->obs);
	double longest = ret ? 0 : silences_longest(&s);

	*coarse = count_grid_intervals(k, 1, longest);
	*fine = count_grid_intervals(k, FINER, longest);
	if (*coarse < MIN_INTERVALS)
		*coarse = 0;
	silences_release(&s);
	return ret;
}

static void keep_as_best(struct host_fit *k, struct rate_workspace *w)
{
	spline_free(&k->best);
	k->best = w->fit.curve;
	w->fit.curve = (struct spline){ 0 };
	memcpy(k->margin, w->fit.margin, k->obs.links * sizeof(*k->margin));
}

/*
 * Return the largest excess of the minimum delay, ns; excesses found before are discarded. < 0:
 * -ENOMEM.
 */
static double find_largest_excess(struct host_fit *k)
{
	double most = 0;
	int ret = delays_find_minima(&k->obs, k->drift);

	for (size_t i = 0; i < 2 * k->obs.links; i++) {
		const struct obs_direction *dir = &k->obs.direction[i];

		for (size_t j = 0; j < dir->bins; j++) {
			most = fmax(most, dir->bin[j].excess);
			dir->bin[j].excess = dir->bin[j].excess_error = 0;
		}
	}
	return ret < 0 ? ret : most;
}

/*
 * Does the new curve explain changes of the clock that the smooth curve misses, and not wrong
 * messages?
 */
static bool explains_clock_changes(const struct host_fit *k, const struct smooth_fit *smooth)
{
	return host_fit_mean_delay(k) <= WORSE * smooth->delay &&
	       (double)observations_rejected(&k->obs) <= EXPLAINED * (double)smooth->rejected;
}

/* Return the largest margin, ns. */
static double largest_margin(const double *v, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, v[i]);
	return most;
}

static int try_rate_changes(struct host_fit *k, const struct smooth_fit *smooth, size_t intervals,
			    double *freedom)
{
	const double *margin = *freedom > 0 ? k->margin : smooth->margin;
	const double now = *freedom > 0 ? *freedom : (double)k->best.coefs;
	double more = *freedom > 0 ? 0 : STEERED_COST, then = 0, excess = 0;
	struct rate_workspace w;
	int ret = rate_workspace_new(&w, k, intervals);

	if (!ret)
		ret = fit_in_rounds(&w, k, intervals);
	if (!ret) {
		host_fit_set_residuals(k, &w.fit.curve);
		ret = delays_set_means(&k->obs);
		then = bend_variances_freedom(w.variance, w.change, w.fit.curve.coefs - 2);
	}
	if (!ret)
		excess = find_largest_excess(k);
	if (excess < 0)
		ret = (int)excess;
	if (!ret && excess <= LIFTED * largest_margin(w.fit.margin, k->obs.links) &&
	    spline_steepest(&w.fit.curve) <= STEEPEST && explains_clock_changes(k, smooth) &&
	    cost_of_curve(&w, k, &w.fit.curve, w.fit.margin) + FREEDOM_COST * then + more <
		    cost_of_curve(&w, k, &k->best, margin) + FREEDOM_COST * now) {
		keep_as_best(k, &w);
		*freedom = then;
	}
	rate_workspace_free(&w);
	return ret;
}

static int try_grid(struct host_fit *k, const struct smooth_fit *smooth, size_t intervals,
		    double *freedom)
{
	struct correction *c = k->correction;
	struct change_point *all = c->change;
	size_t num_all = c->num_changes, sets = 0;
	int ret = 0;

	c->change = malloc((num_all + 1) * sizeof(*all));
	if (!c->change)
		ret = -ENOMEM;
	for (int small = 0; !ret && small < 2; small++) {
		c->num_changes = rate_changes_keep_sets(c->change, all, num_all, small);
		/* Try again only if small steps are kept as well. */
		if (!small || c->num_changes > sets)
			ret = try_rate_changes(k, smooth, intervals, freedom);
		sets = c->num_changes;
	}
	free(c->change);
	c->change = all;
	c->num_changes = num_all;
	return ret;
}

int rate_changes_fit(struct host_fit *k, const struct smooth_fit *smooth, double *freedom)
{
	size_t coarse, fine;
	int ret = rate_changes_intervals(k, &coarse, &fine);

	if (ret || !k->best.coefs || !coarse || coarse < 2 * k->intervals)
		return ret;
	ret = try_grid(k, smooth, coarse, freedom);
	/*
	 * If a coarse grid explains nothing, there are no changes of rate. With several hosts whose
	 * curves have errors too, a finer grid would follow these.
	 */
	if (!ret && *freedom > 0 && fine > coarse && k->obs.links == 1)
		ret = try_grid(k, smooth, fine, freedom);
	return ret;
}
