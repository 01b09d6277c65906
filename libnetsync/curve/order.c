// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fit the correction with 0 (a line), 1, 2, 4, ... intervals: from a likely number upward and then
 * downward, until the fit is no better. Keep the number with the least negative log likelihood +
 * cost of coefficients (H. Akaike, "A new look at the statistical model identification", IEEE
 * Trans. Automatic Control 19(6), 1974).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/constraints.h"
#include "curve/contamination.h"
#include "curve/delays.h"
#include "curve/order.h"
#include "curve/outliers.h"

/* Maximum number of knot intervals; limits time and memory. Chosen. */
#define MAX_INTERVALS 8192
/* Least number of bins of an interval, in the direction with fewer bins. Chosen. */
#define MIN_BINS 2
/*
 * Cost of a coefficient, in log likelihood. Akaike's criterion uses 1; minima are not regular
 * estimates, and in simulations errors are smaller with 3.
 */
#define COEF_COST 3.0
/* Cost of not being straight, in coefficients. Chosen. */
#define BEND_COST 8.0
/* Initial scale, as a multiple of the final one: continuation. Chosen. */
#define WIDEST_SCALE 16
/* Newton steps at most: to a wide scale, to an intermediate one, to the end. */
#define STEPS_WIDE 20
#define STEPS_BETWEEN 3
#define STEPS_LAST 40
/* Maximum number of searches for outliers, as long as each finds some. Chosen. */
#define REJECTIONS 3
/* Maximum number of parts of a direction in which outliers are searched for. Chosen. */
#define MAX_PARTS ((size_t)1 << 14)
/*
 * Maximum number of repeated fits, and the factor by which the edge must be softer for another one.
 * Chosen.
 */
#define SOFTENINGS 6
#define SOFTER 1.2
/*
 * The first choice is by least squares: an order is sufficient if its residual is within CLOSE of
 * the scatter of constraints; an order is tried if its residual is within FAR_FACTOR and FAR (ns)
 * of the least. Chosen.
 */
#define CLOSE 2.0
#define FAR_FACTOR 8
#define FAR 1000
/* Cost of a fit that has diverged, in log likelihood: it is better than no fit. Chosen. */
#define DIVERGED 1e300

/* ---- one number of intervals ------------------------------------------- */

/* Continuation from wide scales to the final ones. */
static int solve_by_narrowing_scales(struct fit *f, double *cost)
{
	int ret = 0;

	for (double stretch = WIDEST_SCALE / 4; stretch > 1 && !ret; stretch /= 4)
		ret = fit_solve(f, stretch, STEPS_BETWEEN, cost);
	return ret ? ret : fit_solve(f, 1, STEPS_LAST, cost);
}

/* Return the number of parts of the largest direction that have GROUP_MESSAGES each. */
static size_t max_parts(const struct host_fit *k)
{
	uint64_t most = 1;

	for (size_t i = 0; i < 2 * k->obs.links; i++)
		if (k->obs.direction[i].messages / GROUP_MESSAGES > most)
			most = k->obs.direction[i].messages / GROUP_MESSAGES;
	return most < MAX_PARTS ? most : MAX_PARTS;
}

/* Reject outliers relative to the curve that the residuals belong to. */
static int reject_outliers(struct host_fit *k, size_t intervals)
{
	size_t least = (constraints_spans(k, intervals) + 1) * CONSTRAINT_SUBINTERVALS;
	size_t rejected, n = max_parts(k);
	int ret;

	/* Large outliers first, because they hide smaller ones. */
	do {
		ret = outliers_reject(&k->obs, k->correction, n, &rejected);
		n /= 8;
	} while (!ret && n >= least);
	return ret ? ret :
		     contamination_reject_lone(&k->obs, k->correction,
					       constraints_spans(k, intervals), &rejected);
}

/*
 * Reject outliers relative to a curve whose constraints are so wide that no single message moves
 * it. Repeat while outliers have moved the curve nevertheless.
 */
static int fit_and_reject(struct host_fit *k, struct fit *f, size_t intervals)
{
	double cost;
	int ret;

	for (int i = 0; i < REJECTIONS; i++) {
		size_t before = observations_rejected(&k->obs);

		ret = fit_solve(f, WIDEST_SCALE, STEPS_WIDE, &cost);
		if (ret)
			return ret;
		host_fit_set_residuals(k, &f->curve);
		ret = reject_outliers(k, intervals);
		if (ret || observations_rejected(&k->obs) == before)
			break;
		constraints_set_scores(f, k, intervals);
		constraints_set(f, k);
	}
	return ret;
}

/* Set up a fit whose constraints are relative to the best curve. */
static int set_up_fit(const struct host_fit *k, struct fit *f, size_t intervals)
{
	size_t n = intervals ? intervals : 1;
	int ret = constraints_fit_new(f, k, n);

	if (ret)
		return ret;
	f->straight = !intervals;
	constraints_set_scores(f, k, n);
	constraints_set(f, k);
	return 0;
}

/* Find the least-squares start of a fit; *residual: see fit_start(). */
static int start_fit(const struct host_fit *k, struct fit *f, size_t intervals, double *residual)
{
	int ret = set_up_fit(k, f, intervals);

	return ret ? ret : fit_start(f, residual);
}

int order_begin_at_best(const struct host_fit *k, struct fit *f, size_t intervals)
{
	int ret = set_up_fit(k, f, intervals);

	if (ret)
		return ret;
	spline_follow(&f->curve, &k->best);
	memcpy(f->margin, k->margin, k->obs.links * sizeof(*k->margin));
	return 0;
}

/* Fit from the least-squares start, by decreasing scales. */
static int fit_from_start(struct host_fit *k, struct fit *f, size_t intervals, bool rejecting,
			  double *cost)
{
	double residual;
	int ret = start_fit(k, f, intervals, &residual);

	if (!ret && rejecting)
		ret = fit_and_reject(k, f, intervals ? intervals : 1);
	else if (!ret)
		ret = fit_solve(f, WIDEST_SCALE, STEPS_WIDE, cost);
	if (ret)
		return ret;
	constraints_set(f, k);
	return solve_by_narrowing_scales(f, cost);
}

/*
 * Fit again by the observations that are lowest relative to that curve. Repeat while some are
 * rejected.
 */
static int fit_by_lowest_observations(struct host_fit *k, struct fit *f, size_t intervals,
				      bool rejecting, double *cost)
{
	size_t rejected = 1;
	int ret = 0;

	for (int i = 0; !ret && rejected && i < REJECTIONS; i++) {
		host_fit_set_residuals(k, &f->curve);
		rejected = 0;
		if (rejecting)
			ret = contamination_reject_inverted(
				&k->obs, k->correction,
				constraints_spans(k, intervals ? intervals : 1), f->margin,
				f->scale, &rejected);
		constraints_set(f, k);
		if (!ret)
			ret = fit_solve(f, 1, STEPS_LAST, cost);
	}
	return ret;
}

/* Fit, and reject outliers first if @rejecting. */
static int fit_order(struct host_fit *k, struct fit *f, size_t intervals, bool rejecting,
		     double *cost)
{
	int ret;

	host_fit_set_residuals(k, &k->best);
	if (!k->best.coefs || !intervals || rejecting) {
		ret = fit_from_start(k, f, intervals, rejecting, cost);
	} else {
		ret = order_begin_at_best(k, f, intervals);
		if (!ret)
			ret = fit_solve(f, 1, STEPS_LAST, cost);
	}
	return ret ? ret : fit_by_lowest_observations(k, f, intervals, rejecting, cost);
}

int order_fit(struct host_fit *k, struct fit *f, size_t intervals, double *cost)
{
	return fit_order(k, f, intervals, true, cost);
}

/* ---- how many intervals? ----------------------------------------------- */

static size_t max_intervals(const struct host_fit *k)
{
	const uint64_t *m = k->obs.messages;
	size_t bins = host_fit_fewest_bins(k) / MIN_BINS;
	uint64_t most = (m[0] < m[1] ? m[0] : m[1]) / (k->obs.pooled ? MIN_POOLED : MIN_MESSAGES);
	/*
	 * An interval is not shorter than the time in which a clock drifts visibly, drift t^2 / 8 >
	 * mean / n: faster bends are not the clock's. Drift is also invisible below the resolution
	 * of coarse stamps, however many: curves that followed their steps would leave a larger gap
	 * between both directions.
	 */
	double rate = (double)(m[0] + m[1]) / k->obs.span;
	double shortest = fmax(cbrt(8 * k->obs.direction[0].mean / k->drift / rate),
			       sqrt(8 * k->obs.resolution / k->drift));

	most = most < bins ? most : bins;
	if ((double)most * shortest > k->obs.span)
		most = (uint64_t)(k->obs.span / shortest);
	return most < MAX_INTERVALS ? most : MAX_INTERVALS;
}

/*
 * Return the next larger number of intervals: twice as many. After a straight line, more than 1 if
 * change points already add intervals, to which 1 would add little.
 */
static size_t next_more_intervals(const struct host_fit *k, size_t intervals)
{
	return intervals ? 2 * intervals : 1 + k->correction->num_changes / 2;
}

/* Return the next smaller number of intervals: half as many. */
static size_t next_fewer_intervals(const struct host_fit *k, size_t intervals)
{
	return intervals <= 1 + k->correction->num_changes / 2 ? 0 : intervals / 2;
}

/*
 * Find the number of intervals from which computing the likelihood is useful, by least squares,
 * which are fast. *enough: the number that explains everything.
 */
static int find_initial_intervals(struct host_fit *k, size_t *first, size_t *enough)
{
	double residual[32], least = HUGE_VAL, scatter = 0;
	int n = 0, ret = 0;

	*first = *enough = 0;
	host_fit_set_residuals(k, &k->best);
	for (size_t p = 0; p <= max_intervals(k) && n < 32 && least > CLOSE * scatter;
	     p = next_more_intervals(k, p)) {
		struct fit f;

		ret = start_fit(k, &f, p, &residual[n]);
		scatter = k->obs.direction[0].mean * CONSTRAINT_SUBINTERVALS *
			  (double)constraints_spans(k, p + 1) /
			  (double)k->obs.direction[0].messages;
		constraints_fit_free(&f);
		if (ret)
			return ret;
		least = fmin(least, residual[n++]);
		*enough = p;
	}
	for (int i = 0; i < n; i++, *first = next_more_intervals(k, *first))
		if (residual[i] <= FAR_FACTOR * least + FAR)
			break;
	return 0;
}

void order_keep(struct host_fit *k, struct fit *f, size_t intervals, double cost)
{
	k->cost = cost;
	k->intervals = intervals;
	spline_free(&k->best);
	k->best = f->curve;
	f->curve = (struct spline){ 0 };
	memcpy(k->margin, f->margin, k->obs.links * sizeof(*k->margin));
}

/* Fit, and order_keep() a curve that is better than all before: 1, else 0. */
static int try_intervals(struct host_fit *k, size_t intervals, bool rejecting)
{
	double cost = 0;
	struct fit f;
	int ret = fit_order(k, &f, intervals, rejecting, &cost);

	if (intervals > k->correction->tried)
		k->correction->tried = intervals;
	cost += COEF_COST *
		(intervals ? BEND_COST + (double)f.curve.coefs :
			     2.0 + (double)k->correction->num_changes * (k->one_sided ? 2 : 1));
	if (!ret && cost < k->cost && host_fit_strayed(k, &f.curve))
		cost = k->best.coefs ? HUGE_VAL : DIVERGED;
	if (!ret && cost < k->cost) {
		order_keep(k, &f, intervals, cost);
		ret = 1;
	}
	constraints_fit_free(&f);
	return ret;
}

/* Try more and more intervals until @patience successive numbers are no better. */
static int search_upward(struct host_fit *k, size_t intervals, int patience)
{
	int worse = 0, ret = 0;

	while (ret >= 0 && worse < patience) {
		intervals = next_more_intervals(k, intervals);
		if (intervals > max_intervals(k))
			break;
		ret = try_intervals(k, intervals, false);
		worse = ret ? 0 : worse + 1;
	}
	return ret < 0 ? ret : 0;
}

/* Try fewer and fewer intervals until one is no better. */
static int search_downward(struct host_fit *k, size_t intervals)
{
	int ret = 1;

	while (ret > 0 && intervals) {
		intervals = next_fewer_intervals(k, intervals);
		ret = try_intervals(k, intervals, false);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Fit with the initial number of intervals. With many hosts, errors of other hosts make delays seem
 * longer, and fewer intervals seem sufficient. So fit again with the delays relative to that curve.
 * With two hosts, or thin links, the second fit would follow errors more closely.
 */
static int fit_initial_intervals(struct host_fit *k, size_t intervals)
{
	int ret;

	k->cost = HUGE_VAL;
	k->delay = host_fit_mean_delay(k);
	ret = try_intervals(k, intervals, true);
	if (ret < 0 || !k->correction->many || k->obs.pooled || !intervals)
		return ret < 0 ? ret : 0;
	ret = host_fit_update_delays(k);
	k->cost = HUGE_VAL;
	k->delay = host_fit_mean_delay(k);
	if (ret >= 0)
		ret = try_intervals(k, intervals, false);
	return ret < 0 ? ret : 0;
}

/*
 * Reject outliers relative to curves of fewer intervals, which follow them less: from @first
 * intervals to before @last.
 */
static int reject_by_fewer_intervals(struct host_fit *k, size_t first, size_t last)
{
	int ret = 0;

	for (; !ret && first < last; first = next_more_intervals(k, first)) {
		double residual;
		struct fit f;

		host_fit_set_residuals(k, &k->best);
		ret = start_fit(k, &f, first, &residual);
		if (!ret)
			ret = fit_and_reject(k, &f, first ? first : 1);
		constraints_fit_free(&f);
	}
	return ret;
}

/* Fit again with the same number of intervals, without the errors of others. */
static int refit_same_intervals(struct host_fit *k)
{
	int ret;

	host_fit_set_residuals(k, &k->best);
	ret = reject_outliers(k, k->intervals ? k->intervals : 1);
	k->delay = host_fit_mean_delay(k);
	k->cost = HUGE_VAL;
	if (!ret)
		ret = try_intervals(k, k->intervals, false);
	return ret < 0 ? ret : 0;
}

/*
 * With fewer intervals, each has more messages, and the lowest are closer to the edge of possible
 * corrections. If the edge is soft, they determine less than assumed. Repeat until nothing changes.
 * Skip this with several links, whose hosts' errors would look like a soft edge.
 */
static int refit_with_softer_edge(struct host_fit *k)
{
	int ret = 0;

	for (int i = 0; !ret && k->obs.links == 1 && i < SOFTENINGS; i++) {
		double before = k->obs.softness;

		host_fit_set_residuals(k, &k->best);
		ret = delays_soften(&k->obs, k->intervals);
		if (ret || k->obs.softness < SOFTER * before)
			break;
		k->cost = HUGE_VAL;
		ret = try_intervals(k, k->intervals, false);
		if (ret > 0)
			ret = search_downward(k, k->intervals);
	}
	return ret < 0 ? ret : 0;
}

int order_choose(struct host_fit *k)
{
	const struct correction *c = k->correction;
	size_t known = k->intervals, most = max_intervals(k), first, enough = known;
	int ret = 0;

	if (c->settled && !c->num_changes && (known || k->best.coefs) && known <= most)
		return refit_same_intervals(k);
	if (!known) {
		ret = find_initial_intervals(k, &first, &enough);
		if (!ret && !c->others)
			ret = reject_by_fewer_intervals(k, first, enough);
	}
	if (enough < c->others)
		enough = c->others;
	if (enough > most)
		enough = most;
	if (!ret)
		ret = fit_initial_intervals(k, enough);
	if (!ret)
		ret = search_upward(k, enough, known && c->others ? 1 : 2);
	if (!ret && k->intervals == enough)
		ret = search_downward(k, enough);
	return ret ? ret : refit_with_softer_edge(k);
}
