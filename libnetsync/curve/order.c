// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The correction is fitted with 0 (a line), 1, 2, 4, ... intervals; the number
 * with the least negative log likelihood + cost of coefficients wins (H. Akaike,
 * "A new look at the statistical model identification", IEEE Trans. Automatic
 * Control 19(6), 1974).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/constraints.h"
#include "curve/order.h"
#include "curve/outliers.h"

/* Intervals at most: bounds time and memory. Chosen. */
#define MAX_INTERVALS 8192
/* Bins that an interval has at least, in the direction that has fewer. Chosen. */
#define MIN_BINS 2
/*
 * Cost of a coefficient, in log likelihood. Akaike's criterion takes 1; minima
 * are no regular estimates, and by simulation 3 errs less.
 */
#define COEF_COST 3.0
/* Cost of not being straight, in coefficients. Chosen. */
#define BEND_COST 8.0
/* Scales at first, in those that are wanted: continuation. Chosen. */
#define WIDEST_SCALE 16
/* Newton steps at most: to a wide scale, to an intermediate one, to the end. */
#define STEPS_WIDE 20
#define STEPS_BETWEEN 3
#define STEPS_LAST 40
/* Selections anew at most, as outliers were rejected. Chosen. */
#define RESTARTS 3
/* Parts of a direction at most in which outliers are looked for. Chosen. */
#define MAX_PARTS ((size_t)1 << 14)
/*
 * First, by least squares: an order is enough whose residual is within CLOSE of
 * the scatter of constraints; one is tried whose residual is within FAR_FACTOR
 * and FAR (ns) of the least. Chosen.
 */
#define CLOSE 2.0
#define FAR_FACTOR 8
#define FAR 1000

/* ---- one number of intervals ------------------------------------------- */

/* Continuation: from wide scales to those that are wanted. */
static int anneal(struct fit *f, double *cost)
{
	int ret = 0;

	for (double stretch = WIDEST_SCALE / 4; stretch > 1 && !ret;
	     stretch /= 4)
		ret = fit_solve(f, stretch, STEPS_BETWEEN, cost);
	return ret ? ret : fit_solve(f, 1, STEPS_LAST, cost);
}

/* Parts of the largest direction that have GROUP_MESSAGES each. */
static size_t most_parts(const struct host_fit *k)
{
	uint64_t most = 1;

	for (size_t i = 0; i < 2 * k->obs.links; i++)
		if (k->obs.direction[i].messages / GROUP_MESSAGES > most)
			most = k->obs.direction[i].messages / GROUP_MESSAGES;
	return most < MAX_PARTS ? most : MAX_PARTS;
}

/*
 * Reject outliers beyond a curve whose constraints are so wide that no single
 * message moves it.
 */
static int reject(struct host_fit *k, struct fit *f, size_t intervals)
{
	size_t least = (constraints_spans(k, intervals) + 1) *
		       CONSTRAINT_SUBINTERVALS;
	size_t rejected, n = most_parts(k);
	double cost;
	int ret = fit_solve(f, WIDEST_SCALE, STEPS_WIDE, &cost);

	if (ret)
		return ret;
	k->rejected = 0;
	host_fit_set_residuals(k, &f->curve);
	/* Large outliers first, as they hide smaller ones. */
	do {
		ret = outliers_reject(&k->obs, k->correction, n, &rejected);
		k->rejected += rejected;
		n /= 8;
	} while (!ret && n >= least);
	if (k->rejected)
		constraints_set_scores(f, k, intervals);
	return ret;
}

/* The least-squares start of a fit; *residual: see fit_start(). */
static int start(const struct host_fit *k, struct fit *f, size_t intervals,
		 double *residual)
{
	size_t n = intervals ? intervals : 1;
	int ret = constraints_fit_new(f, k, n);

	if (ret)
		return ret;
	f->straight = !intervals;
	constraints_set_scores(f, k, n);
	constraints_set(f, k);
	return fit_start(f, residual);
}

int order_fit(struct host_fit *k, struct fit *f, size_t intervals, double *cost)
{
	double residual;
	int ret;

	host_fit_set_residuals(k, &k->best);
	ret = start(k, f, intervals, &residual);
	if (!ret)
		ret = reject(k, f, intervals ? intervals : 1);
	if (ret)
		return ret;
	/* Twice, with the observations that are lowest beyond the curve so far. */
	constraints_set(f, k);
	ret = anneal(f, cost);
	if (ret)
		return ret;
	host_fit_set_residuals(k, &f->curve);
	constraints_set(f, k);
	return fit_solve(f, 1, STEPS_LAST, cost);
}

/* ---- how many intervals? ----------------------------------------------- */

static size_t most_intervals(const struct host_fit *k)
{
	const uint64_t *m = k->obs.messages;
	size_t bins = host_fit_fewest_bins(k) / MIN_BINS;
	uint64_t most = (m[0] < m[1] ? m[0] : m[1]) /
			(k->obs.pooled ? MIN_POOLED : MIN_MESSAGES);
	/*
	 * An interval is no shorter than a clock takes to drift visibly,
	 * drift t^2 / 8 > mean / n: what bends sooner is not the clock. Nor does
	 * it drift visibly to coarse stamps, however many: curves that followed
	 * their steps would leave more between both directions.
	 */
	double rate = (double)(m[0] + m[1]) / k->obs.span;
	double shortest = fmax(cbrt(8 * k->obs.direction[0].mean / k->drift /
				    rate),
			       sqrt(8 * k->obs.resolution / k->drift));

	most = most < bins ? most : bins;
	if ((double)most * shortest > k->obs.span)
		most = (uint64_t)(k->obs.span / shortest);
	return most < MAX_INTERVALS ? most : MAX_INTERVALS;
}

/* Twice as many; but few add little to those that change points make. */
static size_t more_intervals(const struct host_fit *k, size_t intervals)
{
	return intervals ? 2 * intervals : 1 + k->correction->num_changes / 2;
}

/*
 * From how many intervals on the likelihood is worth computing, by least squares,
 * which are quick. *enough: with how many they explain all.
 */
static int first_intervals(struct host_fit *k, size_t *first, size_t *enough)
{
	double residual[32], least = HUGE_VAL, scatter = 0;
	int n = 0, ret = 0;

	*first = *enough = 0;
	host_fit_set_residuals(k, &k->best);
	for (size_t p = 0;
	     p <= most_intervals(k) && n < 32 && least > CLOSE * scatter;
	     p = more_intervals(k, p)) {
		struct fit f;

		ret = start(k, &f, p, &residual[n]);
		scatter = k->obs.direction[0].mean * CONSTRAINT_SUBINTERVALS *
			  (double)constraints_spans(k, p + 1) /
			  (double)k->obs.direction[0].messages;
		constraints_fit_free(&f);
		if (ret)
			return ret;
		least = fmin(least, residual[n++]);
		*enough = p;
	}
	for (int i = 0; i < n; i++, *first = more_intervals(k, *first))
		if (residual[i] <= FAR_FACTOR * least + FAR)
			break;
	return 0;
}

void order_keep(struct host_fit *k, struct fit *f, size_t intervals,
		double cost)
{
	k->cost = cost;
	k->intervals = intervals;
	spline_free(&k->best);
	k->best = f->curve;
	f->curve = (struct spline){ 0 };
	memcpy(k->margin, f->margin, k->obs.links * sizeof(*k->margin));
}

/*
 * Fit, and order_keep() what is better than all before: 1, else 0. -EAGAIN:
 * outliers were rejected, and costs are not of the same messages any more.
 */
static int try_intervals(struct host_fit *k, size_t intervals)
{
	double cost = 0;
	struct fit f;
	int ret = order_fit(k, &f, intervals, &cost);

	cost += COEF_COST *
		(intervals ? BEND_COST + (double)f.curve.coefs
			   : 2.0 + (double)k->correction->num_changes *
					     (k->one_sided ? 2 : 1));
	if (!ret && k->rejected && k->restarts > 0) {
		k->restarts--;
		ret = -EAGAIN;
	} else if (!ret && cost < k->cost) {
		order_keep(k, &f, intervals, cost);
		ret = 1;
	}
	constraints_fit_free(&f);
	return ret;
}

/*
 * More and more intervals, until that was not better @patience times. Too few
 * intervals follow no wave at all: nothing is decided before @enough.
 */
static int search_upward(struct host_fit *k, size_t intervals, size_t enough,
			 int patience)
{
	int worse = 0, ret = 0;

	for (; ret >= 0 && worse < patience && intervals <= most_intervals(k);
	     intervals = more_intervals(k, intervals)) {
		ret = try_intervals(k, intervals);
		worse = ret ? 0 : worse + (intervals >= enough);
	}
	return ret < 0 ? ret : 0;
}

/*
 * An order that was selected before is nearly right; but see search_upward(). It is
 * what it was once more when what the others have wrong is all that is new.
 */
static int search_around(struct host_fit *k, size_t intervals, size_t enough)
{
	bool settled = k->correction->settled && !k->correction->num_changes;
	int ret;

	if (settled && intervals >= enough) {
		ret = try_intervals(k, intervals);
		return ret < 0 ? ret : 0;
	}
	ret = search_upward(k, intervals, enough, k->correction->others ? 1 : 2);

	if (!ret && k->intervals == intervals) {
		do
			ret = try_intervals(k, intervals /= 2);
		while (ret > 0 && intervals);
	}
	return ret < 0 ? ret : 0;
}

int order_choose(struct host_fit *k)
{
	size_t known = k->intervals, most = most_intervals(k), first, enough;
	size_t others = k->correction->others;
	int ret;

	k->restarts = RESTARTS;
	do {
		k->cost = HUGE_VAL;
		if (known) {
			ret = search_around(k, known < most ? known : most,
					    others);
		} else {
			ret = first_intervals(k, &first, &enough);
			if (!ret)
				ret = search_upward(k, first,
					2 * enough > others ? 2 * enough : others, 2);
		}
	} while (ret == -EAGAIN);
	return ret;
}
