// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The correction is fitted with 0 (a line), 1, 2, 4, ... intervals, from the number that
 * is likely on upward, and downward, until that is not better; the number with the least
 * negative log likelihood + cost of coefficients wins (H. Akaike, "A new look at the
 * statistical model identification", IEEE Trans. Automatic Control 19(6), 1974).
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
/* How often outliers are looked for at most, as long as some are found. Chosen. */
#define REJECTIONS 3
/* Parts of a direction at most in which outliers are looked for. Chosen. */
#define MAX_PARTS ((size_t)1 << 14)
/* How often, at most, and by how much softer an edge has to seem to fit again. Chosen. */
#define SOFTENINGS 6
#define SOFTER 1.2
/*
 * First, by least squares: an order is enough whose residual is within CLOSE of
 * the scatter of constraints; one is tried whose residual is within FAR_FACTOR
 * and FAR (ns) of the least. Chosen.
 */
#define CLOSE 2.0
#define FAR_FACTOR 8
#define FAR 1000
/* Cost of a fit that has diverged, in log likelihood: it is better than none. Chosen. */
#define DIVERGED 1e300

/* ---- one number of intervals ------------------------------------------- */

/* Continuation: from wide scales to those that are wanted. */
static int anneal(struct fit *f, double *cost)
{
	int ret = 0;

	for (double stretch = WIDEST_SCALE / 4; stretch > 1 && !ret; stretch /= 4)
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

/* Reject outliers beyond the curve of which residuals are. */
static int reject_outliers(struct host_fit *k, size_t intervals)
{
	size_t least = (constraints_spans(k, intervals) + 1) * CONSTRAINT_SUBINTERVALS;
	size_t rejected, n = most_parts(k);
	int ret;

	/* Large outliers first, as they hide smaller ones. */
	do {
		ret = outliers_reject(&k->obs, k->correction, n, &rejected);
		n /= 8;
	} while (!ret && n >= least);
	return ret ? ret :
		     contamination_reject_lone(&k->obs, k->correction,
					       constraints_spans(k, intervals), &rejected);
}

/*
 * Reject outliers beyond a curve whose constraints are so wide that no single
 * message moves it: again, as long as outliers have moved it nevertheless.
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

/* Set up a fit for its constraints beyond the best curve. */
static int set_up(const struct host_fit *k, struct fit *f, size_t intervals)
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

/* The least-squares start of a fit; *residual: see fit_start(). */
static int start(const struct host_fit *k, struct fit *f, size_t intervals, double *residual)
{
	int ret = set_up(k, f, intervals);

	return ret ? ret : fit_start(f, residual);
}

int order_begin_at_best(const struct host_fit *k, struct fit *f, size_t intervals)
{
	int ret = set_up(k, f, intervals);

	if (ret)
		return ret;
	spline_follow(&f->curve, &k->best);
	memcpy(f->margin, k->margin, k->obs.links * sizeof(*k->margin));
	return 0;
}

/* Fit from the least-squares start on, by scales that get smaller. */
static int fit_from_start(struct host_fit *k, struct fit *f, size_t intervals, bool rejecting,
			  double *cost)
{
	double residual;
	int ret = start(k, f, intervals, &residual);

	if (!ret && rejecting)
		ret = fit_and_reject(k, f, intervals ? intervals : 1);
	else if (!ret)
		ret = fit_solve(f, WIDEST_SCALE, STEPS_WIDE, cost);
	if (ret)
		return ret;
	constraints_set(f, k);
	return anneal(f, cost);
}

/*
 * Once more, with the observations that are lowest beyond that curve: again, as long as such
 * are rejected.
 */
static int fit_by_lowest(struct host_fit *k, struct fit *f, size_t intervals, bool rejecting,
			 double *cost)
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

/* Fit, and perhaps reject outliers first. */
static int fit(struct host_fit *k, struct fit *f, size_t intervals, bool rejecting, double *cost)
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
	return ret ? ret : fit_by_lowest(k, f, intervals, rejecting, cost);
}

int order_fit(struct host_fit *k, struct fit *f, size_t intervals, double *cost)
{
	return fit(k, f, intervals, true, cost);
}

/* ---- how many intervals? ----------------------------------------------- */

static size_t most_intervals(const struct host_fit *k)
{
	const uint64_t *m = k->obs.messages;
	size_t bins = host_fit_fewest_bins(k) / MIN_BINS;
	uint64_t most = (m[0] < m[1] ? m[0] : m[1]) / (k->obs.pooled ? MIN_POOLED : MIN_MESSAGES);
	/*
	 * An interval is no shorter than a clock takes to drift visibly,
	 * drift t^2 / 8 > mean / n: what bends sooner is not the clock. Nor does
	 * it drift visibly to coarse stamps, however many: curves that followed
	 * their steps would leave more between both directions.
	 */
	double rate = (double)(m[0] + m[1]) / k->obs.span;
	double shortest = fmax(cbrt(8 * k->obs.direction[0].mean / k->drift / rate),
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

/* Half as many: the one before, see above. */
static size_t fewer_intervals(const struct host_fit *k, size_t intervals)
{
	return intervals <= 1 + k->correction->num_changes / 2 ? 0 : intervals / 2;
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
	for (size_t p = 0; p <= most_intervals(k) && n < 32 && least > CLOSE * scatter;
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

void order_keep(struct host_fit *k, struct fit *f, size_t intervals, double cost)
{
	k->cost = cost;
	k->intervals = intervals;
	spline_free(&k->best);
	k->best = f->curve;
	f->curve = (struct spline){ 0 };
	memcpy(k->margin, f->margin, k->obs.links * sizeof(*k->margin));
}

/* Fit, and order_keep() what is better than all before: 1, else 0. */
static int try_intervals(struct host_fit *k, size_t intervals, bool rejecting)
{
	double cost = 0;
	struct fit f;
	int ret = fit(k, &f, intervals, rejecting, &cost);

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

/* More and more intervals, until that was not better @patience times. */
static int search_upward(struct host_fit *k, size_t intervals, int patience)
{
	int worse = 0, ret = 0;

	while (ret >= 0 && worse < patience) {
		intervals = more_intervals(k, intervals);
		if (intervals > most_intervals(k))
			break;
		ret = try_intervals(k, intervals, false);
		worse = ret ? 0 : worse + 1;
	}
	return ret < 0 ? ret : 0;
}

/* Fewer and fewer, until that was not better. */
static int search_downward(struct host_fit *k, size_t intervals)
{
	int ret = 1;

	while (ret > 0 && intervals) {
		intervals = fewer_intervals(k, intervals);
		ret = try_intervals(k, intervals, false);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Fit with a number of intervals to begin with. Of many hosts, what others have wrong makes
 * delays seem longer, and fewer intervals seem enough: once more, with delays beyond that
 * curve. With two hosts, or thin links, it would follow what is wrong the more.
 */
static int fit_first(struct host_fit *k, size_t intervals)
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
 * Reject outliers beyond curves of fewer intervals, which follow them less: of a number
 * from @first to before @last.
 */
static int reject_upward(struct host_fit *k, size_t first, size_t last)
{
	int ret = 0;

	for (; !ret && first < last; first = more_intervals(k, first)) {
		double residual;
		struct fit f;

		host_fit_set_residuals(k, &k->best);
		ret = start(k, &f, first, &residual);
		if (!ret)
			ret = fit_and_reject(k, &f, first ? first : 1);
		constraints_fit_free(&f);
	}
	return ret;
}

/* Fit once more with as many intervals, by what others have wrong no more. */
static int fit_again(struct host_fit *k)
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
 * Fewer intervals hold more messages each, whose lowest are nearer to the edge of what is
 * possible; if that is soft, they tell less than it seemed. Once more, until nothing
 * changes. Of several links, errors of other hosts would look like that.
 */
static int soften(struct host_fit *k)
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
	size_t known = k->intervals, most = most_intervals(k), first, enough = known;
	int ret = 0;

	if (c->settled && !c->num_changes && (known || k->best.coefs) && known <= most)
		return fit_again(k);
	if (!known) {
		ret = first_intervals(k, &first, &enough);
		if (!ret && !c->others)
			ret = reject_upward(k, first, enough);
	}
	if (enough < c->others)
		enough = c->others;
	if (enough > most)
		enough = most;
	if (!ret)
		ret = fit_first(k, enough);
	if (!ret)
		ret = search_upward(k, enough, known && c->others ? 1 : 2);
	if (!ret && k->intervals == enough)
		ret = search_downward(k, enough);
	return ret ? ret : soften(k);
}
