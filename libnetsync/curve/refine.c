// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Change points and intervals are chosen with a prior that allows for the worst oscillators, and
 * with constraints whose softness is right on average. The resulting curve determines two more
 * things:
 *
 * - the random walk of its own oscillator, with which the messages are most likely, whatever the
 *   curve (the evidence, by Laplace's approximation: D. MacKay, "Bayesian interpolation", Neural
 *   Computation 4, 1992). A better oscillator holds the curve where messages do not: at the ends
 *   of the span, and where they are few.
 * - the accuracy of the curve at each time. Near a hard limit, the mean of the possible curves
 *   keeps a distance from it, which is a part of their standard deviation. In expectation
 *   propagation (T. Minka, UAI 2001) the limit acts as if it were softer by that distance, as
 *   constraints with such a scale do.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/constraints.h"
#include "curve/order.h"
#include "curve/refine.h"
#include "curve/uncertainty.h"

/* Ratio of two standard deviations of the oscillator's steps that are compared. Chosen. */
#define FINER 2.0
/*
 * Least standard deviation, relative to the usual standard deviation, which is for the worst
 * oscillators. Chosen.
 */
#define LEAST (1.0 / 128)
/* Maximum number of Newton steps: each fit takes few, because the previous one is close. Chosen. */
#define STEPS 40
/*
 * Scale of a constraint, in standard deviations of the curve. The normal distribution function of
 * width 1 is close to the logistic one of scale 0.6; errors are least with 0.6 to 0.8 (make
 * bench-truth).
 */
#define SOFT 0.7
/* Maximum scale, relative to the mean scale: with wider ones constraints are too weak. Chosen. */
#define SOFTEST 6.0
/* Minimum scale, ns: a tenth of the resolution of times. */
#define SHARPEST 0.1
/* A scale that exceeds the usual one by this factor has another cause. Chosen. */
#define LIFTED 1.01
/* Number of times that scales are set by the resulting deviations. Chosen: more change nothing. */
#define ROUNDS 2

/*
 * Compute the negative logarithm of the evidence of a prior, at the most likely curve: the cost
 * plus the ratio of the curvature there to that of the prior. Margins, which the prior does not
 * cover, are taken as known.
 */
static int compute_evidence(struct fit *f, double cost, double *result)
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
	return ret ? ret : compute_evidence(f, cost, result);
}

/*
 * Choose the prior with the most evidence: start with the usual one, and try smaller ones until one
 * is no better. The caller must solve the fit again.
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

/* Return the scale of a constraint if only the density of messages counts, ns. */
static double scale_by_density(const struct fit *f, const struct soft_constraint *w)
{
	return constraints_scale(f, w->link, w->interval);
}

/*
 * Find the least scale of each constraint, ns: larger where delays are longer by an unknown amount.
 */
static void find_least_scales(const struct fit *f, double *least)
{
	for (size_t i = 0; i < f->num_constraints; i++) {
		const struct soft_constraint *w = &f->constraint[i];
		double scale = 1 / w->sharp;

		least[i] = scale > LIFTED * scale_by_density(f, w) ? scale : SHARPEST;
	}
}

/* Make constraints as soft as the curve is uncertain at their times. */
static void set_scales(struct fit *f, const double *least, const double *deviation)
{
	for (size_t i = 0; i < f->num_constraints; i++) {
		struct soft_constraint *w = &f->constraint[i];
		double scale = fmin(SOFT * deviation[w->interval],
				    SOFTEST * scale_by_density(f, w));

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
	/* Along the tree, curves follow the errors of other hosts. */
	if (c->many && !c->known)
		return 0;
	host_fit_set_residuals(k, &k->best);
	ret = order_begin_at_best(k, &f, k->intervals);
	if (!ret)
		ret = choose_walk(&f);
	if (!ret)
		c->skew_walk = f.skew_walk;
	/* With many hosts, the joint fit makes the curve. */
	if (!ret && !c->many) {
		ret = fit_by_uncertainty(&f);
		if (!ret && !host_fit_strayed(k, &f.curve))
			order_keep(k, &f, k->intervals, k->cost);
	}
	constraints_fit_free(&f);
	return ret;
}
