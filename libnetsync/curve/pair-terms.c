// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Set up the fit of one host (constraints.h) at its curve without solving it, and turn its
 * constraints and scores into terms.
 *
 * In all links each observation is its own bin, because the curves of a hundred hosts have more
 * knot intervals than a pair has bins: a score must be where a constraint balances it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/constraints.h"
#include "curve/contamination.h"
#include "curve/delays.h"
#include "curve/doubt.h"
#include "curve/outliers.h"
#include "curve/pair-terms.h"
#include "curve/placement.h"
#include "curve/rate-changes.h"

/* The observations of a host relative to an existing curve, and their fit. */
struct setup {
	struct host_fit host;
	struct fit fit;
};

static void setup_release(struct setup *s)
{
	constraints_fit_free(&s->fit);
	observations_release(&s->host.obs);
	free(s->host.margin);
}

/* Fit a spline of @intervals to the curve of the correction. */
static int setup_curve(struct setup *s, const struct spline *curve, size_t intervals)
{
	int ret = constraints_fit_new(&s->fit, &s->host, intervals);

	if (ret)
		return ret;
	if (curve->coefs)
		spline_follow(&s->fit.curve, curve);
	else
		memset(s->fit.curve.coef, 0, s->fit.curve.coefs * sizeof(*s->fit.curve.coef));
	spline_set_cubics(&s->fit.curve);
	return 0;
}

/*
 * Reject inverted messages relative to the curve, to which all pairs of the host contributed: small
 * errors, which matter in each pair, are visible there. 0 or -ENOMEM.
 */
static int reject_inverted(struct host_fit *k, struct fit *f, size_t windows)
{
	size_t rejected;
	int ret;

	fit_margins(f);
	ret = contamination_reject_inverted(&k->obs, k->correction, windows, f->margin, f->scale,
					    &rejected);
	if (!ret && rejected)
		constraints_set(f, k);
	return ret;
}

/*
 * @own: skip links in which this host is not the first, because the other host makes their terms.
 * @steered: as in pair_terms_make().
 * 0 or -ENOMEM; release it in any case.
 */
static int setup_make(struct setup *s, struct correction *c, const struct link *links,
		      size_t num_links, double drift, size_t intervals, bool own, bool steered)
{
	struct link *apart = malloc((num_links + 1) * sizeof(*apart));
	struct host_fit *k = &s->host;
	size_t n = intervals ? intervals : 1;
	size_t windows, rejected, lone = 0;
	int ret = -ENOMEM;

	*s = (struct setup){ .host = { .correction = c, .drift = drift, .intervals = intervals } };
	windows = constraints_spans(k, n);
	k->margin = calloc(num_links + 1, sizeof(*k->margin));
	if (apart && k->margin) {
		for (size_t i = 0; i < num_links; i++) {
			apart[i] = links[i];
			apart[i].few_bins = true;
			apart[i].idle = own && !links[i].first && !links[i].thin;
		}
		ret = observations_gather(&k->obs, c, apart, num_links);
	}
	free(apart);
	if (!ret)
		ret = setup_curve(s, &c->curve, n);
	if (!ret) {
		host_fit_set_residuals(k, &s->fit.curve);
		ret = outliers_reject(&k->obs, c, 0, &rejected);
	}
	if (!ret)
		ret = delays_set_means(&k->obs);
	/* Messages that are inconsistent with steered clocks may be right. */
	if (steered)
		rejected = 0;
	if (!ret && rejected)
		ret = contamination_reject_lone(&k->obs, c, windows, &lone);
	if (!ret && lone)
		ret = delays_set_means(&k->obs);
	if (!ret && !steered)
		ret = delays_find_minima(&k->obs, drift);
	if (ret < 0)
		return ret;
	constraints_set_scores(&s->fit, k, n);
	constraints_set(&s->fit, k);
	return rejected ? reject_inverted(k, &s->fit, windows) : 0;
}

/* ---- constraints ------------------------------------------------------- */

/* Convert a time on host[0], at place @u of an interval, to host[1]. */
static double time_on_other(const struct correction *c, double t, const struct correction *other)
{
	int64_t at;
	double rest = correction_between(c, c->from + (int64_t)t, other, &at);

	return (double)(at - other->from) + rest;
}

/*
 * Is it unknown on which side of a phase step of the other host a time lies? Constraints near the
 * host's own steps are already omitted.
 */
static bool is_near_step_of_other_host(const struct correction *other, double t)
{
	for (size_t i = 0; i < other->num_changes; i++) {
		const struct change_point *b = &other->change[i];

		if (b->phase_step && fabs(b->t - t) < b->uncertainty)
			return true;
	}
	return false;
}

static void add_constraint(struct pair_terms *p, const struct setup *s, const struct link *l,
			   const struct soft_constraint *w)
{
	const struct cubic *cubic = &s->fit.curve.cubic[w->interval];
	double v = cubic_at(cubic, w->u) - w->y;
	double t[2] = { cubic->from + w->u / cubic->rate };

	/* The other host makes the terms of its own pairs. */
	if (!l->first)
		return;
	t[1] = time_on_other(s->host.correction, t[0], l->other);
	if (is_near_step_of_other_host(l->other, t[1]))
		return;
	p->constraint[p->num_constraints++] = (struct pair_constraint){
		.room = w->side == ABOVE ? -v : v,
		.sharp = w->sharp,
		.u = { t[0], t[1] },
		.other = l->pair->host[1],
		.margin = w->link & INT32_MAX,
		.side = w->side,
	};
}

/*
 * Add all observations of pairs with few messages, which are merged into one link, as constraints.
 */
static void add_constraints_of_merged_links(struct pair_terms *p, const struct setup *s,
					    const struct link *links, size_t direction)
{
	const struct observations *obs = &s->host.obs;
	const struct obs_direction *dir = &obs->direction[direction];
	struct soft_constraint w = { .link = (uint32_t)(direction / 2) & INT32_MAX,
				     .side = direction & 1 };

	for (size_t i = 0; i < dir->bins; i++) {
		const struct obs_bin *b = &dir->bin[i];

		if (!(constraints_score(&s->fit, &s->host, direction, b) > 0))
			continue;
		for (uint32_t n = 0; n < b->num; n++) {
			const struct observation *o = &obs->obs[b->from + n];

			w.interval = (uint32_t)spline_interval(&s->fit.curve, o->t);
			w.u = cubic_place(&s->fit.curve.cubic[w.interval], o->t);
			w.y = o->y + (w.side == ABOVE ? -b->excess : b->excess);
			w.sharp = 1 / constraints_scale(&s->fit, w.link, w.interval);
			add_constraint(p, s, &links[b->link], &w);
		}
	}
}

static int add_constraints(struct pair_terms *p, const struct setup *s, const struct link *links)
{
	const struct fit *f = &s->fit;
	const struct observations *obs = &s->host.obs;
	size_t last = obs->links - 1;

	p->constraint = malloc((f->num_constraints + (obs->pooled ? obs->num : 0) + 1) *
			       sizeof(*p->constraint));
	if (!p->constraint)
		return -ENOMEM;
	for (size_t i = 0; i < f->num_constraints; i++) {
		const struct soft_constraint *w = &f->constraint[i];

		if (!obs->pooled || w->link != last)
			add_constraint(p, s, &links[w->link], w);
	}
	for (size_t side = 0; obs->pooled && side < 2; side++)
		add_constraints_of_merged_links(p, s, links, 2 * last + side);
	return 0;
}

/* ---- scores ------------------------------------------------------------ */

/* Sums of one direction of a link in each knot interval of the curve, 1 / ns. */
struct balance {
	double hold;  /* largest score that constraints can balance */
	double press; /* sum of the scores */
};

static struct balance *balance_of_intervals(struct balance *b, const struct setup *s,
					    uint32_t margin, uint32_t side, double t)
{
	const struct spline *curve = &s->fit.curve;

	return &b[(2 * margin + side) * curve->coefs + spline_interval(curve, t)];
}

static void add_scores(struct pair_terms *p, const struct setup *s, const struct link *links,
		       size_t direction, struct balance *balance)
{
	const struct obs_direction *dir = &s->host.obs.direction[direction];

	for (size_t i = 0; i < dir->bins; i++) {
		const struct obs_bin *b = &dir->bin[i];
		const struct link *l = &links[b->link];
		struct pair_score score = {
			.score = constraints_score(&s->fit, &s->host, direction, b),
			.other = l->pair->host[1],
			.margin = (uint32_t)(direction / 2) & INT32_MAX,
			.side = direction & 1,
		};

		if (!l->first || !(score.score > 0))
			continue;
		score.t[0] = b->t;
		score.t[1] = time_on_other(s->host.correction, b->t, l->other);
		if (is_near_step_of_other_host(l->other, score.t[1]))
			continue;
		balance_of_intervals(balance, s, score.margin, score.side, b->t)->press +=
			score.score;
		p->score[p->num_scores++] = score;
	}
}

/* Set the scores of all messages, limited in each interval to what constraints can balance. */
static int set_scores(struct pair_terms *p, const struct setup *s, const struct link *links)
{
	const struct observations *obs = &s->host.obs;
	struct balance *balance = calloc(2 * obs->links * s->fit.curve.coefs, sizeof(*balance));
	size_t bins = 0;

	for (size_t i = 0; i < 2 * obs->links; i++)
		for (size_t j = 0; j < obs->direction[i].bins; j++)
			bins += links[obs->direction[i].bin[j].link].first;
	p->score = malloc((bins + 1) * sizeof(*p->score));
	if (!balance || !p->score) {
		free(balance);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->num_constraints; i++) {
		const struct pair_constraint *w = &p->constraint[i];

		balance_of_intervals(balance, s, w->margin, w->side, w->u[0])->hold +=
			CONSTRAINT_HOLD * w->sharp;
	}
	for (size_t i = 0; i < 2 * obs->links; i++)
		add_scores(p, s, links, i, balance);
	for (size_t i = 0; i < p->num_scores; i++) {
		struct pair_score *w = &p->score[i];
		const struct balance *b = balance_of_intervals(balance, s, w->margin, w->side,
							       w->t[0]);

		w->score *= fmin(b->hold / b->press, 1);
	}
	free(balance);
	return 0;
}

int pair_terms_make(struct pair_terms *p, const struct correction *c, const struct link *links,
		    size_t num_links, double drift, size_t intervals, bool steered)
{
	struct correction own = *c;
	struct setup s;
	int ret = setup_make(&s, &own, links, num_links, drift, intervals, true, steered);

	*p = (struct pair_terms){ .straight = !intervals };
	if (!ret)
		ret = add_constraints(p, &s, links);
	if (!ret)
		ret = set_scores(p, &s, links);
	if (!ret) {
		p->skew_walk = c->skew_walk > 0 ? c->skew_walk : s.fit.skew_walk;
		p->margins = s.host.obs.links;
		p->curve = s.fit.curve;
		s.fit.curve = (struct spline){ 0 };
	}
	setup_release(&s);
	return ret;
}

void pair_terms_forget_scores(struct pair_terms *p)
{
	free(p->score);
	p->score = NULL;
	p->num_scores = 0;
}

void pair_terms_release(struct pair_terms *p)
{
	spline_free(&p->curve);
	free(p->constraint);
	free(p->score);
	*p = (struct pair_terms){ 0 };
}

double pair_terms_prior(const struct pair_terms *p, const struct bend *b, size_t i)
{
	if (p->variance)
		return 1 / (b->length * b->length * p->variance[i]);
	return fit_prior(b->length, p->skew_walk);
}

/* ---- curves that others made ------------------------------------------- */

int pair_terms_count_intervals(const struct correction *c, const struct link *links,
			       size_t num_links, size_t *intervals)
{
	struct correction own = *c;
	struct host_fit k = { .correction = &own };
	size_t finest;
	int ret = observations_gather(&k.obs, c, links, num_links);

	if (!ret)
		ret = rate_changes_intervals(&k, intervals, &finest);
	observations_release(&k.obs);
	return ret;
}

int pair_terms_judge(const struct correction *c, const struct link *links, size_t num_links,
		     double freedom, double *mean_delay, double *expected_error)
{
	struct correction own = *c;
	struct host_fit k = { .correction = &own };
	size_t rejected;
	int ret = observations_gather(&k.obs, c, links, num_links);

	if (!ret) {
		host_fit_set_residuals(&k, &c->curve);
		ret = outliers_reject(&k.obs, c, 0, &rejected);
	}
	if (!ret)
		ret = delays_set_means(&k.obs);
	if (!ret) {
		*mean_delay = host_fit_mean_delay_beyond(&k, freedom);
		*expected_error = placement_expected_error(&k, &c->curve) * freedom /
				  (double)c->curve.coefs;
	}
	observations_release(&k.obs);
	return ret < 0 ? ret : 0;
}

int pair_terms_doubt(struct correction *c, const struct link *links, size_t num_links, double drift,
		     size_t intervals)
{
	/* Work on a copy: neighbours read this host's curve at the same time. */
	struct correction own = *c;
	struct setup s;
	struct host_fit *k = &s.host;
	int ret = setup_make(&s, &own, links, num_links, drift, intervals, false, c->steered);

	if (!ret) {
		k->best = own.curve;
		own.curve = (struct spline){ 0 };
		own.no_margin = (c->steered && c->no_margin) ||
				spline_steepest(&k->best) > STEEPEST ||
				host_fit_strayed(k, &k->best);
		fit_margins(&s.fit);
		memcpy(k->margin, s.fit.margin, k->obs.links * sizeof(*k->margin));
		doubts_keep_set(&own);
		ret = doubts_find(k, links, num_links);
		c->no_margin = own.no_margin;
		c->doubt = own.doubt;
		c->num_doubts = own.num_doubts;
	}
	setup_release(&s);
	return ret;
}
