// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sparse Bayesian learning (M. E. Tipping, "Sparse Bayesian learning and the relevance
 * vector machine", JMLR 1, 2001): on a fine grid of knots, each bend of the curve has a
 * variance of its own, found with D. J. C. MacKay's fixed point ("Bayesian interpolation",
 * Neural Computation 4(3), 1992) from the bend and from how well that is known:
 *
 *	v = (b^2 + nu s^2) / (1 - var(b) / v + nu)
 *
 * where s^2 is what an oscillator does by itself, and nu says how strongly that is
 * believed. Most variances fall to s^2, and the curve is stiff there; where a daemon
 * changed the rate they stay large, and it bends at once. Scales of constraints follow
 * how well the curve is known, so that messages count over all of a stiff stretch.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/constraints.h"
#include "curve/delays.h"
#include "curve/outliers.h"
#include "curve/rate-changes.h"
#include "curve/silences.h"
#include "curve/softplus.h"
#include "curve/uncertainty.h"

/* Messages of an interval, in the rarer direction, and intervals at most. Chosen. */
#define MESSAGES 8
#define MAX_INTERVALS 8192
/*
 * So many times finer the grid may be, where that is likelier. Chosen, as SCALE and BELIEF
 * are, by the steered cases of bench-truth: with twice as many the smeared one is worse.
 */
#define FINER 4
/*
 * Intervals at most in which a direction is silent: in a longer silence the bends at its
 * ends are hardly known, and lead anywhere between. Chosen: even traffic never has four.
 */
#define SILENT 4
/* Fewer intervals say nothing that a smooth curve does not. Chosen. */
#define MIN_INTERVALS 64
/*
 * Standard deviation of the change of an oscillator's skew within a second: an Allan
 * deviation of about 1e-9 at 1,000 s, and a room's temperature (IEEE Std 1139).
 */
#define QUARTZ_WALK 5e-10
/* The same at first: whatever daemons do. Chosen. */
#define FIRST_WALK 2e-5
/* Weight of the oscillator, in observations of each bend. Chosen. */
#define BELIEF 0.03
/* Rounds, and Newton steps of each. Chosen: later ones change little. */
#define ROUNDS 12
#define STEPS 12
/* Scale of constraints in the first round, in those of order.c. Chosen. */
#define FIRST_SCALE 4
/* Scale of constraints, in standard deviations of the curve. Chosen. */
#define SCALE 0.7
/* Smallest scale, ns: resolution of times. */
#define MIN_SCALE 1.0
/* Cost of a degree of freedom, in log likelihood: as in order.c. */
#define FREEDOM_COST 3.0
/* Mean delay, and rejected observations, of what they were at most. Chosen. */
#define WORSE 1.1
#define EXPLAINED 0.75
/*
 * Part of the margin by which minimum delays may be larger for a while: between messages
 * that are all late a curve this pliant goes anywhere. Chosen.
 */
#define LIFTED 0.25

struct workspace {
	struct fit fit;
	double *deviation;	     /* of the curve in each interval, ns */
	struct slope_change *change; /* at each bend */
	double *variance;	     /* assumed of each */
};

static void workspace_free(struct workspace *w)
{
	w->fit.change_variance = NULL;
	constraints_fit_free(&w->fit);
	free(w->deviation);
	free(w->change);
	free(w->variance);
}

static int workspace_new(struct workspace *w, const struct host_fit *k,
			 size_t intervals)
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

/* What a walk of so much in a second makes of a slope in @length (ns). */
static double walked(double walk, double length)
{
	return walk * walk * length / SECOND;
}

static void sharpen(struct workspace *w)
{
	struct fit *f = &w->fit;

	for (size_t i = 0; i < f->num_constraints; i++) {
		struct soft_constraint *c = &f->constraint[i];

		c->sharp = 1 /
			   fmax(SCALE * w->deviation[c->interval], MIN_SCALE);
	}
}

static void learn(struct workspace *w)
{
	for (size_t i = 0; i + 2 < w->fit.curve.coefs; i++) {
		const struct slope_change *c = &w->change[i];
		double usual = walked(QUARTZ_WALK, c->length);
		double known = 1 - c->variance / w->variance[i];
		double square = c->slope * c->slope + BELIEF * usual;

		/* Of what is not known at all, the variance itself only shrinks. */
		w->variance[i] = fmin(square / (fmax(known, 0) + BELIEF),
				      (square + c->variance) / (1 + BELIEF));
	}
}

/* Set constraints by the residuals that a curve leaves. 0 or -ENOMEM. */
static int look_again(struct workspace *w, struct host_fit *k,
		      const struct spline *curve, size_t intervals)
{
	int ret;

	host_fit_set_residuals(k, curve);
	ret = delays_set_means(&k->obs);
	constraints_set_scores(&w->fit, k, intervals);
	constraints_set(&w->fit, k);
	return ret;
}

/* Begin half-way between both directions, and with changes of rate as they may be. */
static int start(struct workspace *w, struct host_fit *k, size_t intervals)
{
	struct fit *f = &w->fit;
	const struct spline none = { 0 };
	double residual;
	size_t rejected;
	int ret;

	/* What is wrong is so without any curve. */
	observations_set_residuals(&k->obs, NULL, NULL);
	ret = outliers_reject(&k->obs, k->correction, 0, &rejected);
	if (!ret)
		ret = look_again(w, k, &none, intervals);
	if (!ret)
		ret = fit_start(f, &residual);
	/* Delays beyond the initial fit are nearer to the truth, if there is one. */
	if (!ret && !k->initial.num)
		ret = look_again(w, k, &f->curve, intervals);
	if (!ret)
		ret = uncertainty_find(f, w->deviation, w->change);
	for (size_t i = 0; i + 2 < f->curve.coefs; i++)
		w->variance[i] = walked(FIRST_WALK, w->change[i].length);
	f->change_variance = w->variance;
	return ret;
}

static int fit(struct workspace *w, struct host_fit *k, size_t intervals)
{
	struct fit *f = &w->fit;
	int ret = start(w, k, intervals);
	double cost;

	for (int round = 0; !ret && round < ROUNDS; round++) {
		if (round) {
			ret = look_again(w, k, &f->curve, intervals);
			sharpen(w);
		}
		if (!ret)
			ret = fit_solve(f, round ? 1 : FIRST_SCALE, STEPS,
					&cost);
		if (!ret)
			ret = uncertainty_find(f, w->deviation, w->change);
		if (!ret && round + 1 < ROUNDS)
			learn(w);
	}
	return ret;
}

/* ---- which one is likelier? --------------------------------------------- */

/*
 * The negative log likelihood of a curve, less what does not depend on it, with the same
 * scales for all.
 */
static double cost_of(const struct workspace *w, const struct host_fit *k,
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
			cost -= h->messages / dir->mean *
				(sign * spline_at(s, h->t) + m);
			for (uint32_t n = 0; n < h->num; n++) {
				const struct observation *o =
					&p->obs[h->from + n];
				size_t at = spline_interval(&w->fit.curve,
							    o->t);
				double slack = sign * (o->y -
						       spline_at(s, o->t)) -
					       m;

				cost += softplus(-slack /
						 fmax(SCALE * w->deviation[at],
						      MIN_SCALE));
			}
		}
	}
	return cost;
}

static double freedom_of(const struct workspace *w)
{
	double sum = 2;

	for (size_t i = 0; i + 2 < w->fit.curve.coefs; i++) {
		const struct slope_change *c = &w->change[i];

		sum += c->length ? fmax(1 - c->variance / w->variance[i], 0)
				 : 1;
	}
	return sum;
}

/* What was set by more than this (ns) is no change of rate. Chosen. */
#define SET 1e6

/* Does a change point lie so near one that what was set there hides when? */
static bool near_set(const struct change_point *change, size_t num,
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

/*
 * Of the change points of a smooth curve those at which the clock was set: by little, too,
 * or only where no change of rate is an explanation. All else is found anew. How many.
 */
static size_t keep_sets(struct change_point *to,
			const struct change_point *change, size_t num,
			bool small)
{
	size_t n = 0;

	for (size_t i = 0; i < num; i++)
		if ((small && change[i].phase_step) ||
		    near_set(change, num, &change[i]))
			to[n++] = change[i];
	return n;
}

/* Intervals of a grid that is so many times finer. @longest: silence, ns. */
static size_t intervals_of(const struct host_fit *k, size_t finer,
			   double longest)
{
	const uint64_t *m = k->obs.messages;
	size_t most = (size_t)(m[0] < m[1] ? m[0] : m[1]) / (MESSAGES / finer);
	size_t bins = host_fit_fewest_bins(k), limit = finer * MAX_INTERVALS;

	most = most < bins ? most : bins;
	if ((double)most * longest > SILENT * k->obs.span)
		most = (size_t)(SILENT * k->obs.span / longest);
	return most < limit ? most : limit;
}

/* 0 or -ENOMEM. */
static int set_intervals(const struct host_fit *k, size_t *coarse, size_t *fine)
{
	struct silences s;
	int ret = silences_find(&s, &k->obs);
	double longest = ret ? 0 : silences_longest(&s);

	*coarse = intervals_of(k, 1, longest);
	*fine = intervals_of(k, FINER, longest);
	silences_release(&s);
	return ret;
}

static void keep(struct host_fit *k, struct workspace *w)
{
	spline_free(&k->best);
	k->best = w->fit.curve;
	w->fit.curve = (struct spline){ 0 };
	memcpy(k->margin, w->fit.margin, k->obs.links * sizeof(*k->margin));
}

/*
 * By how much minimum delays are larger than elsewhere at most, ns; what was found of them
 * is forgotten. < 0: -ENOMEM.
 */
static double most_excess(struct host_fit *k)
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

/* Is it the clock that a smooth curve misses, and not messages that are wrong? */
static bool explains(const struct host_fit *k, const struct smooth_fit *smooth)
{
	return host_fit_mean_delay(k) <= WORSE * smooth->delay &&
	       (double)observations_rejected(&k->obs) <=
		       EXPLAINED * (double)smooth->rejected;
}

/* The largest margin, ns. */
static double largest(const double *v, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, v[i]);
	return most;
}

static int try_changes(struct host_fit *k, const struct smooth_fit *smooth,
		       size_t intervals, double *freedom)
{
	const double *margin = *freedom > 0 ? k->margin : smooth->margin;
	double excess = 0,
	       now = *freedom > 0 ? *freedom : (double)k->best.coefs, then = 0;
	struct workspace w;
	int ret = workspace_new(&w, k, intervals);

	if (!ret)
		ret = fit(&w, k, intervals);
	if (!ret) {
		host_fit_set_residuals(k, &w.fit.curve);
		ret = delays_set_means(&k->obs);
		then = freedom_of(&w);
	}
	if (!ret)
		excess = most_excess(k);
	if (excess < 0)
		ret = (int)excess;
	if (!ret && excess <= LIFTED * largest(w.fit.margin, k->obs.links) &&
	    spline_steepest(&w.fit.curve) <= STEEPEST && explains(k, smooth) &&
	    cost_of(&w, k, &w.fit.curve, w.fit.margin) + FREEDOM_COST * then <
		    cost_of(&w, k, &k->best, margin) + FREEDOM_COST * now) {
		keep(k, &w);
		*freedom = then;
	}
	workspace_free(&w);
	return ret;
}

static int try_grid(struct host_fit *k, const struct smooth_fit *smooth,
		    size_t intervals, double *freedom)
{
	struct correction *c = k->correction;
	struct change_point *all = c->change;
	size_t num_all = c->num_changes, sets = 0;
	int ret = 0;

	c->change = malloc((num_all + 1) * sizeof(*all));
	if (!c->change)
		ret = -ENOMEM;
	for (int small = 0; !ret && small < 2; small++) {
		c->num_changes = keep_sets(c->change, all, num_all, small);
		/* The same once more? */
		if (!small || c->num_changes > sets)
			ret = try_changes(k, smooth, intervals, freedom);
		sets = c->num_changes;
	}
	free(c->change);
	c->change = all;
	c->num_changes = num_all;
	return ret;
}

int rate_changes_fit(struct host_fit *k, const struct smooth_fit *smooth,
		     double *freedom)
{
	size_t coarse, fine;
	int ret = set_intervals(k, &coarse, &fine);

	if (ret || !k->best.coefs || coarse < MIN_INTERVALS ||
	    coarse < 2 * k->intervals)
		return ret;
	ret = try_grid(k, smooth, coarse, freedom);
	/*
	 * Where a coarse grid explains nothing, there are no changes of rate; beside several
	 * hosts whose curves err as well a finer one would follow these.
	 */
	if (!ret && *freedom > 0 && fine > coarse && k->obs.links == 1)
		ret = try_grid(k, smooth, fine, freedom);
	return ret;
}
