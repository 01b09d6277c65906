// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Change points and intervals are chosen with a prior that allows for the worst oscillators,
 * and with constraints as soft as is right on average. Of the curve that this led to, two
 * things more can be told:
 *
 * - how much its own oscillator wanders: what makes the messages most likely, whatever the
 *   curve is (the evidence, by Laplace's approximation: D. MacKay, "Bayesian interpolation",
 *   Neural Computation 4, 1992). A better one holds the curve where messages do not: at
 *   the ends of the span, and where they are few.
 * - how well it is known at each time. The mean of what is possible beside a wall is away from
 *   it, by a part of its standard deviation. In expectation propagation (T. Minka, UAI 2001)
 *   a wall pushes as if it were softer by that; so do constraints with such a scale.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/constraints.h"
#include "curve/order.h"
#include "curve/refine.h"
#include "curve/uncertainty.h"

/* Factor between two standard deviations of the oscillator's steps that are compared. Chosen. */
#define FINER 2.0
/* The least of them, of the usual one, which is that of the worst oscillators. Chosen. */
#define LEAST (1.0 / 128)
/* Newton steps at most: of each they are few, as the one before is near. Chosen. */
#define STEPS 40
/*
 * Scale of a constraint, in standard deviations of the curve. The normal distribution function
 * of width 1 is like the logistic one of scale 0.6; 0.6 to 0.8 err least (make bench-truth).
 */
#define SOFT 0.7
/* The same at most, of the scale on average: with wider ones they hold too little. Chosen. */
#define SOFTEST 6.0
/* The same at least, ns: a tenth of the resolution of times. */
#define SHARPEST 0.1
/* A scale that is larger than the usual one by this factor is so for a reason of its own. Chosen. */
#define LIFTED 1.01
/* How often scales are set by the deviations that they led to. Chosen: more change nothing. */
#define ROUNDS 2

/*
 * The negative logarithm of how likely the messages are with a prior, at the likeliest curve:
 * its cost, and what the curvature there leaves of the prior's. Margins, which the prior says
 * nothing of, are taken as known.
 */
static int evidence(struct fit *f, double cost, double *result)
{
	size_t n = f->curve.coefs;
	double(*factor)[BAND] = malloc(n * sizeof(*factor));
	int ret = factor ? fit_factor(f, factor) : -ENOMEM;

	*result = cost;
	for (size_t i = 0; !ret && i < n; i++)
		*result += log(factor[i][0]);
	for (size_t i = 0; !ret && i + 2 < n; i++) {
		struct bend b = bend_at(&f->curve, i);

		if (b.length)
			*result -= log(fit_prior(b.length, f->skew_walk)) / 2;
	}
	free(factor);
	return ret;
}

/* Fit with another prior; *result: its evidence. */
static int try_walk(struct fit *f, double skew_walk, double *result)
{
	double cost;
	int ret;

	f->skew_walk = skew_walk;
	ret = fit_solve(f, 1, STEPS, &cost);
	return ret ? ret : evidence(f, cost, result);
}

/*
 * Set the prior to the one with the most evidence: from the usual one on, smaller and smaller
 * ones, until that is not better. The fit is to be solved again.
 */
static int choose_walk(struct fit *f)
{
	double usual = f->skew_walk, best = usual, most = HUGE_VAL, result;
	int ret = 0;

	for (double w = usual; !ret && w >= LEAST * usual; w /= FINER) {
		ret = try_walk(f, w, &result);
		if (ret || !(result < most))
			break;
		most = result;
		best = w;
	}
	f->skew_walk = best;
	return ret;
}

/* The scale that a constraint has if only the density of messages counts, ns. */
static double usual_scale(const struct fit *f, const struct soft_constraint *w)
{
	return constraints_scale(f, w->link, w->interval);
}

/* *least: what each scale stays at least, ns: more where delays are lifted by what is not known. */
static void find_least_scales(const struct fit *f, double *least)
{
	for (size_t i = 0; i < f->num_constraints; i++) {
		const struct soft_constraint *w = &f->constraint[i];
		double scale = 1 / w->sharp;

		least[i] = scale > LIFTED * usual_scale(f, w) ? scale : SHARPEST;
	}
}

/* Make constraints as soft as the curve is uncertain at their time. */
static void set_scales(struct fit *f, const double *least, const double *deviation)
{
	for (size_t i = 0; i < f->num_constraints; i++) {
		struct soft_constraint *w = &f->constraint[i];
		double scale = fmin(SOFT * deviation[w->interval], SOFTEST * usual_scale(f, w));

		w->sharp = 1 / fmax(scale, least[i]);
	}
}

static int fit_by_uncertainty(struct fit *f)
{
	size_t n = f->curve.coefs;
	double cost;
	double *least = malloc((f->num_constraints + 1) * sizeof(*least));
	double *deviation = malloc(n * sizeof(*deviation));
	struct slope_change *change = malloc(n * sizeof(*change));
	int ret = least && deviation && change ? 0 : -ENOMEM;

	if (!ret)
		find_least_scales(f, least);
	if (!ret)
		ret = fit_solve(f, 1, STEPS, &cost);
	for (int i = 0; !ret && i < ROUNDS; i++) {
		ret = uncertainty_find(f, deviation, change);
		if (ret)
			break;
		set_scales(f, least, deviation);
		ret = fit_solve(f, 1, STEPS, &cost);
	}
	free(least);
	free(deviation);
	free(change);
	return ret;
}

int refine(struct host_fit *k)
{
	struct correction *c = k->correction;
	struct fit f = { 0 };
	int ret = 0;

	if (!k->best.coefs || !k->intervals)
		return 0;
	/* Along the tree, neighbours bend by what is wrong with others. */
	if (c->many && !c->known)
		return 0;
	host_fit_set_residuals(k, &k->best);
	ret = order_begin_at_best(k, &f, k->intervals);
	if (!ret)
		ret = choose_walk(&f);
	if (!ret)
		c->skew_walk = f.skew_walk;
	/* Of many, the joint fit has the curve. */
	if (!ret && !c->many) {
		ret = fit_by_uncertainty(&f);
		if (!ret && !host_fit_strayed(k, &f.curve))
			order_keep(k, &f, k->intervals, k->cost);
	}
	constraints_fit_free(&f);
	return ret;
}
