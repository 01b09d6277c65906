// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The estimator of one host, in rounds: detect change points, first from the residuals of the
 * initial fit, then from those of the last round's curve; fit the curve with them; place them by
 * the curve. Finally check change points and curve against the straight line.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/change-point.h"
#include "curve/constraints.h"
#include "curve/delays.h"
#include "curve/doubt.h"
#include "curve/host-fit.h"
#include "curve/order.h"
#include "curve/outliers.h"
#include "curve/placement.h"
#include "curve/rate-changes.h"
#include "curve/refine.h"

/* Maximum number of rounds. Chosen: a fourth one rarely finds anything. */
#define ROUNDS 4
/* Undo a round if the mean delay grew by this factor. Chosen. */
#define WORSE 1.1
/* Drift of an oscillator from a straight line from which a curve is tried, ns. Chosen. */
#define VISIBLE 1000.0

/* Before the first round, reject outliers and estimate delays. */
static int prepare_observations(struct host_fit *k)
{
	size_t rejected;
	int ret = 0;

	if (k->best.coefs) {
		host_fit_set_residuals(k, &k->best);
	} else {
		ret = initial_fit_find(&k->initial, &k->obs, k->correction);
		observations_set_residuals(&k->obs, NULL, NULL);
	}
	if (!ret)
		ret = outliers_reject(&k->obs, k->correction, 0, &rejected);
	if (!ret)
		ret = host_fit_update_delays(k);
	return ret < 0 ? ret : 0;
}

/* ---- rounds ------------------------------------------------------------ */

/* Everything that a round changes. */
struct snapshot {
	struct spline best;
	struct change_point *change;
	size_t num_changes;
	size_t intervals;
	double *margin;
	uint32_t *kept; /* observations kept of each bin */
	double delay;
};

static size_t count_bins(const struct observations *p)
{
	size_t n = 0;

	for (size_t i = 0; i < 2 * p->links; i++)
		n += p->direction[i].bins;
	return n;
}

static void snapshot_free(struct snapshot *m)
{
	spline_free(&m->best);
	free(m->change);
	free(m->margin);
	free(m->kept);
	memset(m, 0, sizeof(*m));
}

static int snapshot_take(struct snapshot *m, const struct host_fit *k)
{
	const struct correction *c = k->correction;
	size_t links = k->obs.links, bins = count_bins(&k->obs);

	*m = (struct snapshot){
		.change = malloc((c->num_changes + 1) * sizeof(*m->change)),
		.num_changes = c->num_changes,
		.intervals = k->intervals,
		.margin = malloc((links + 1) * sizeof(*m->margin)),
		.kept = malloc((bins + 1) * sizeof(*m->kept)),
		.delay = host_fit_mean_delay(k),
	};
	if (spline_copy(&m->best, &k->best) || !m->change || !m->margin || !m->kept)
		return -ENOMEM;
	memcpy(m->margin, k->margin, links * sizeof(*m->margin));
	if (c->num_changes)
		memcpy(m->change, c->change, c->num_changes * sizeof(*m->change));
	/* All bins are in one array. */
	for (size_t i = 0; i < bins; i++)
		m->kept[i] = k->obs.direction[0].bin[i].num;
	return 0;
}

static void snapshot_restore(struct host_fit *k, struct snapshot *m)
{
	struct correction *c = k->correction;
	size_t bins = count_bins(&k->obs);

	free(c->change);
	c->change = m->change;
	c->num_changes = m->num_changes;
	m->change = NULL;
	spline_free(&k->best);
	k->best = m->best;
	m->best = (struct spline){ 0 };
	k->intervals = m->intervals;
	memcpy(k->margin, m->margin, k->obs.links * sizeof(*m->margin));
	for (size_t i = 0; i < bins; i++)
		k->obs.direction[0].bin[i].num = m->kept[i];
}

/*
 * Detect change points, and fit the curve with them. Return 1 if another round is useful, else 0.
 */
static int run_round(struct host_fit *k, bool first)
{
	int ret = change_points_find(k->correction, &k->obs, k->drift, !first, host_fit_at, k);

	if (ret < 0 || (!ret && !first && !k->improved))
		return ret;
	if (k->correction->num_changes)
		ret = placement_settle(k);
	else
		ret = order_choose(k);
	if (!ret)
		ret = host_fit_update_delays(k);
	if (ret < 0)
		return ret;
	k->improved = host_fit_mean_delay(k) < IMPROVED * k->delay || (ret && first);
	return 1;
}

/*
 * Run rounds until one finds nothing, or makes delays longer. Undo a round that made delays longer:
 * it was misled.
 */
static int run_rounds(struct host_fit *k)
{
	int ret = prepare_observations(k), more = 1;

	for (int round = 0; !ret && more && round < ROUNDS; round++) {
		struct snapshot before;

		ret = snapshot_take(&before, k);
		if (!ret)
			more = run_round(k, !round);
		if (more < 0)
			ret = more;
		if (!ret && round && host_fit_mean_delay(k) > WORSE * before.delay) {
			snapshot_restore(k, &before);
			ret = host_fit_update_delays(k);
			ret = ret < 0 ? ret : 0;
			more = 0;
		}
		snapshot_free(&before);
	}
	if (!ret && k->correction->num_changes)
		ret = order_choose(k);
	return ret;
}

bool host_fit_useful(const struct pair *p)
{
	return p->direction[0].num >= MIN_MESSAGES && p->direction[1].num >= MIN_MESSAGES;
}

size_t host_fit_choose(struct link *link, size_t num)
{
	uint64_t messages[2] = { 0, 0 }, others = 0;
	size_t n = 0;

	for (size_t i = 0; i < num; i++) {
		const struct direction *d = link[i].pair->direction;
		struct link l = link[i];

		if (l.thin) {
			messages[0] += d[link[i].first ? 0 : 1].num;
			messages[1] += d[link[i].first ? 1 : 0].num;
			continue;
		}
		others += d[0].num + d[1].num;
		link[i] = link[n];
		link[n++] = l;
	}
	/* One pair with few messages keeps a straight line: its errors are not averaged. */
	if (num < n + 2 || messages[0] < MIN_POOLED || messages[1] < MIN_POOLED ||
	    messages[0] + messages[1] <= others)
		return n;
	return num;
}

/* Return how many of all kept messages are inverted. */
static size_t count_inverted_messages(const struct correction *c, const struct link *links,
				      size_t num_links)
{
	size_t n = 0;

	for (size_t i = 0; i < num_links; i++) {
		const struct link *l = &links[i];
		const struct correction *correction[2] = { l->first ? c : l->other,
							   l->first ? l->other : c };

		n += correction_inversions(l->pair, correction);
	}
	return n;
}

static bool links_are_straight(const struct link *links, size_t num_links)
{
	size_t n = 0;

	while (n < num_links && links[n].straight)
		n++;
	return n == num_links;
}

/* Return how many kept messages are inverted by another curve. */
static size_t count_inverted_by_curve(struct correction *c, const struct spline *curve,
				      const struct link *links, size_t num_links)
{
	size_t n;

	c->curve = *curve;
	n = count_inverted_messages(c, links, num_links);
	c->curve = (struct spline){ 0 };
	return n;
}

/*
 * Fit a curve without the change points from @from to before @to. Accept it if it inverts at most
 * @most messages, and delays are not much longer; else restore everything.
 */
static int try_without_change_points(struct host_fit *k, const struct link *links, size_t num_links,
				     size_t from, size_t to, size_t intervals, size_t most)
{
	struct correction *c = k->correction;
	struct snapshot before = { 0 };
	double cost;
	struct fit f = { 0 };
	int ret = host_fit_update_delays(k);
	bool fits = false;

	if (!ret)
		ret = snapshot_take(&before, k);
	if (!ret) {
		memmove(&c->change[from], &c->change[to],
			(c->num_changes - to) * sizeof(*c->change));
		c->num_changes -= to - from;
		ret = order_fit(k, &f, intervals, &cost);
	}
	if (!ret && isfinite(cost))
		fits = count_inverted_by_curve(c, &f.curve, links, num_links) <= most;
	if (fits) {
		order_keep(k, &f, intervals, cost);
		ret = order_choose(k);
		if (!ret)
			ret = host_fit_update_delays(k);
		/* Check the delays of both directions, even if no message is inverted. */
		fits = !ret && host_fit_mean_delay(k) <= WORSE * before.delay;
	}
	if (!ret && !fits)
		snapshot_restore(k, &before);
	constraints_fit_free(&f);
	snapshot_free(&before);
	return ret < 0 ? ret : 0;
}

/*
 * Remove doubtful change points. If a straight line inverts no message, delays changed and not the
 * clock. The first or the last change point is also removed if a curve without it inverts fewer
 * messages: only a few seconds of messages support it.
 */
static int check_change_points(struct host_fit *k, const struct link *links, size_t num_links)
{
	struct correction *c = k->correction;
	int ret = 0;

	if (c->num_changes && links_are_straight(links, num_links))
		ret = try_without_change_points(k, links, num_links, 0, c->num_changes, 0, 0);
	for (int last = 1; !ret && last >= 0; last--) {
		size_t at = last ? c->num_changes - 1 : 0, n;

		if (!c->num_changes)
			break;
		n = count_inverted_by_curve(c, &k->best, links, num_links);
		if (n)
			ret = try_without_change_points(k, links, num_links, at, at + 1,
							k->intervals, n - 1);
	}
	return ret;
}

/*
 * Widen the uncertainty of each change point to the time between the messages before and after it.
 */
static void widen_change_points(struct correction *c, const struct observations *p)
{
	for (size_t i = 0; i < c->num_changes; i++) {
		struct change_point *b = &c->change[i];
		double before = b->t, after = p->span - b->t;

		for (size_t j = 0; j < p->num; j++) {
			double d = p->obs[j].t - b->t;

			if (d > 0)
				after = fmin(after, d);
			else
				before = fmin(before, -d);
		}
		b->uncertainty = fmax(b->uncertainty, fmax(before, after));
	}
}

/*
 * Prefer a line that inverts no message to a curve that does, unless the curve has change points,
 * which passed their own check.
 */
static void prefer_line_to_curve(struct correction *c, const struct correction *line,
				 const struct link *links, size_t num_links)
{
	if (c->num_changes || !count_inverted_messages(c, links, num_links) ||
	    count_inverted_messages(line, links, num_links))
		return;
	correction_release(c);
	*c = *line;
}

/*
 * Replace a curve that no clock can have by the straight line of the initial fit: inconsistent
 * messages can make a fit diverge.
 */
static void replace_diverged_curve(struct host_fit *k)
{
	struct correction *c = k->correction;

	if (k->best.coefs && spline_steepest(&k->best) <= STEEPEST &&
	    !host_fit_strayed(k, &k->best))
		return;
	spline_free(&k->best);
	correction_release(c);
	c->no_margin = true;
	k->intervals = 0;
}

/*
 * @margin: scratch space for the margin of each link, with its current value. *freedom: effective
 * degrees of freedom of the curve, if it becomes that of a steered clock.
 */
static int try_steered_curve_with(struct host_fit *k, const struct link *links, size_t num_links,
				  double *margin, double *freedom)
{
	struct correction *c = k->correction;
	struct smooth_fit smooth = {
		.margin = margin,
		.rejected = observations_rejected(&k->obs),
	};
	double found = 0;
	int ret;

	memcpy(margin, k->margin, k->obs.links * sizeof(*margin));
	host_fit_set_residuals(k, &k->best);
	ret = delays_set_means(&k->obs);
	smooth.delay = host_fit_mean_delay(k);
	if (!ret)
		ret = doubts_find(k, links, num_links);
	/* With several links, curves of other hosts cause the doubt; see the joint fit. */
	if (!ret && num_links == 1 && (c->num_doubts || c->no_margin))
		ret = rate_changes_fit(k, &smooth, &found);
	if (ret || !(found > 0))
		return ret;
	*freedom = found;
	c->steered = true;
	c->expected_error = placement_expected_error(k, &k->best) * found / (double)k->best.coefs;
	doubts_keep_set(c);
	return doubts_find(k, links, num_links);
}

/*
 * If the curve is untrusted somewhere, the clock may be steered: try the curve of a steered clock.
 */
static int try_steered_curve(struct host_fit *k, const struct link *links, size_t num_links,
			     double *freedom)
{
	double *margin = malloc((k->obs.links + 1) * sizeof(*margin));
	int ret = -ENOMEM;

	if (margin)
		ret = try_steered_curve_with(k, links, num_links, margin, freedom);
	free(margin);
	return ret;
}

int host_fit(struct correction *c, const struct link *links, size_t num_links, double drift)
{
	struct host_fit k = {
		.correction = c,
		.drift = drift,
		.best = c->curve,
		.intervals = c->intervals,
	};
	struct correction line = *c;
	double span = (double)(c->to - c->from);
	bool had_curve = c->curve.coefs;
	double freedom;
	int ret;

	if (c->to <= c->from || !num_links)
		return 0;
	/* The span is so short that no oscillator drifts visibly. */
	if (!had_curve && drift * span * span / 8 < VISIBLE &&
	    !count_inverted_messages(c, links, num_links))
		return 0;
	c->curve = (struct spline){ 0 };
	c->steered = false;
	correction_release(c);
	if (!had_curve) {
		/* A single wrong message spoils a hull: start again from medians. */
		c->offset = observations_level(&links[0]);
		c->frac = 0;
		c->skew = 0;
	}
	ret = observations_gather(&k.obs, c, links, num_links);
	k.margin = calloc(num_links, sizeof(*k.margin));
	if (!k.margin)
		ret = -ENOMEM;
	if (!ret)
		ret = run_rounds(&k);
	if (!ret)
		ret = check_change_points(&k, links, num_links);
	if (!ret)
		replace_diverged_curve(&k);
	if (!ret)
		ret = refine(&k);
	if (!ret) {
		c->expected_error = k.best.coefs ? placement_expected_error(&k, &k.best) :
						   k.obs.direction[0].mean;
		widen_change_points(c, &k.obs);
	}
	freedom = (double)k.best.coefs;
	if (!ret && k.best.coefs)
		ret = try_steered_curve(&k, links, num_links, &freedom);
	if (!ret) {
		c->mean_delay = host_fit_mean_delay_beyond(&k, freedom);
		c->curve = k.best;
		spline_compact(&c->curve);
		c->intervals = k.intervals;
		k.best = (struct spline){ 0 };
	}
	/* Later rounds start from a curve instead of a line. */
	if (!ret && !had_curve)
		prefer_line_to_curve(c, &line, links, num_links);
	observations_release(&k.obs);
	initial_fit_release(&k.initial);
	spline_free(&k.best);
	free(k.margin);
	return ret;
}

/*
 * Set the coefficients to the initial fit's values at their abscissae (I. J. Schoenberg, "On spline
 * functions", 1967).
 */
static int curve_from_initial_fit(struct spline *s, struct initial_fit *start, double span)
{
	int ret = spline_new(s, 0, span, start->num ? start->num : 1, NULL, 0);

	for (size_t i = 0; !ret && i < s->coefs; i++)
		s->coef[i] = initial_fit_at(start, spline_abscissa(s, i));
	if (!ret)
		spline_set_cubics(s);
	return ret;
}

int host_fit_start(struct correction *c, const struct link *links, size_t num_links)
{
	struct initial_fit start = { 0 };
	struct observations obs = { 0 };
	int ret;

	if (c->to <= c->from || !num_links)
		return 0;
	c->steered = false;
	correction_release(c);
	ret = observations_gather(&obs, c, links, num_links);
	if (!ret)
		ret = initial_fit_find(&start, &obs, c);
	if (!ret)
		ret = curve_from_initial_fit(&c->curve, &start, (double)(c->to - c->from));
	spline_compact(&c->curve);
	c->intervals = 0;
	observations_release(&obs);
	initial_fit_release(&start);
	return ret;
}
