// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The setup of a fit: the observations that become soft constraints, their scales, and the score of
 * all others.
 *
 * Each knot interval is divided into subintervals; the lowest observations of each direction in
 * each of them become constraints. The bins of all messages contribute to the score.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/constraints.h"
#include "util/number.h"

/* Number of observations kept in each subinterval. Chosen. */
#define LOWEST 2
/*
 * Scale of the constraints, in mean delay / messages of an interval: about a
 * third of the distance of the lowest message from the true edge. Chosen.
 */
#define SCALE 0.3
/* Smallest scale, ns: a tenth of the resolution of times. */
#define MIN_SCALE 0.1
/*
 * Standard deviation of the change of a rate within a second, as a share of the
 * largest drift in a second. Chosen.
 */
#define SKEW_WALK 0.5

size_t constraints_spans(const struct host_fit *k, size_t intervals)
{
	return intervals + k->correction->num_changes;
}

/* Are the curves before and after a change point independent? */
static bool change_point_separates(const struct host_fit *k, const struct change_point *b)
{
	return b->phase_step || (k->one_sided && !b->placed);
}

static int make_curve_with_knots(struct spline *s, const struct host_fit *k, size_t intervals)
{
	const struct correction *c = k->correction;
	struct spline_knot *b = malloc((c->num_changes + 1) * sizeof(*b));
	int ret;

	if (!b)
		return -ENOMEM;
	for (size_t i = 0; i < c->num_changes; i++)
		b[i] = (struct spline_knot){
			.t = c->change[i].t,
			.times = change_point_separates(k, &c->change[i]) ? 4 : 3,
		};
	ret = spline_new(s, 0, k->obs.span, intervals, b, c->num_changes);
	free(b);
	return ret;
}

int constraints_fit_new(struct fit *f, const struct host_fit *k, size_t intervals)
{
	size_t links = k->obs.links;

	memset(f, 0, sizeof(*f));
	f->skew_walk = SKEW_WALK * k->drift * SECOND;
	f->links = links;
	if (make_curve_with_knots(&f->curve, k, intervals))
		return -ENOMEM;
	f->margin = calloc(7 * links, sizeof(double));
	f->score = calloc((links + 1) * f->curve.coefs, sizeof(double));
	/* Bins at a knot may alternate between intervals: one in reserve. */
	f->constraint_room = 2 * links * LOWEST * (constraints_spans(k, intervals) + 1) *
			     (CONSTRAINT_SUBINTERVALS + 1);
	if (f->constraint_room > k->obs.num)
		f->constraint_room = k->obs.num;
	f->constraint = malloc((f->constraint_room + 1) * sizeof(*f->constraint));
	if (!f->margin || !f->score || !f->constraint)
		return -ENOMEM;
	f->density = f->score + f->curve.coefs;
	f->scale = f->margin + links;
	f->margin_score = f->scale + links;
	f->mean = f->margin_score + links;
	f->dense = f->mean + 2 * links;
	return 0;
}

void constraints_fit_free(struct fit *f)
{
	spline_free(&f->curve);
	free(f->margin);
	free(f->score);
	free(f->constraint);
	memset(f, 0, sizeof(*f));
}

/* Is it unknown on which side of a change point a time lies? */
static bool is_time_ambiguous(const struct host_fit *k, double t)
{
	const struct correction *c = k->correction;
	size_t lo;

	if (!c->num_changes)
		return false;
	lo = correction_changes_before(c, t);
	for (size_t i = lo ? lo - 1 : 0; i <= lo && i < c->num_changes; i++)
		if (change_point_separates(k, &c->change[i]) &&
		    fabs(c->change[i].t - t) < c->change[i].uncertainty)
			return true;
	return false;
}

/* Is any time of a bin on an unknown side of a change point? Such bins belong to neither side. */
static bool is_bin_ambiguous(const struct host_fit *k, const struct obs_bin *h)
{
	bool any = !h->num || is_time_ambiguous(k, h->t);

	if (!k->correction->num_changes)
		return any;
	for (uint32_t n = 0; n < h->num && !any; n++)
		any = is_time_ambiguous(k, k->obs.obs[h->from + n].t);
	return any;
}

double constraints_score(const struct fit *f, const struct host_fit *k, size_t dir,
			 const struct obs_bin *h)
{
	return is_bin_ambiguous(k, h) ? 0 : (double)h->messages / (f->mean[dir] + h->excess_error);
}

static void add_score(struct fit *f, size_t dir, const struct place *p, double score)
{
	f->margin_score[dir / 2] += score;
	if (dir & 1)
		score = -score;
	for (size_t b = 0; b < 4; b++)
		f->score[p->first + b] += score * p->basis[b];
}

/* Set the score of all messages, whether or not constraints balance it. */
static void set_full_scores(struct fit *f, const struct host_fit *k)
{
	size_t links = k->obs.links, coefs = f->curve.coefs;

	memset(f->score, 0, coefs * sizeof(*f->score));
	memset(f->margin_score, 0, links * sizeof(*f->margin_score));
	memset(f->density, 0, links * coefs * sizeof(*f->density));
	for (size_t i = 0; i < 2 * links; i++) {
		const struct obs_direction *dir = &k->obs.direction[i];
		size_t interval = 0;

		for (size_t j = 0; j < dir->bins; j++) {
			const struct obs_bin *h = &dir->bin[j];
			double score = constraints_score(f, k, i, h);
			struct place p;

			if (!(score > 0))
				continue;
			interval = spline_interval_near(&f->curve, h->t, interval);
			p = spline_place_in(&f->curve, h->t, interval);
			f->density[i / 2 * coefs + p.first] += (double)h->messages / f->dense[i];
			add_score(f, i, &p, score);
		}
	}
	f->cut = false;
}

void constraints_set_scores(struct fit *f, const struct host_fit *k, size_t intervals)
{
	for (size_t i = 0; i < 2 * k->obs.links; i++) {
		const struct obs_direction *dir = &k->obs.direction[i];
		double dense = (double)dir->messages / (double)constraints_spans(k, intervals);
		/* The score must not exceed what constraints of MIN_SCALE can balance. */
		double mean = fmax(dir->mean * k->obs.softness, MIN_SCALE * dense);
		/* Constraints of several links act together. */
		double scale = SCALE * mean / fmax(dense, 1) / sqrt((double)k->obs.links);

		f->mean[i] = mean;
		f->dense[i] = fmax(dense, 1);
		/* Use the smaller scale of both directions. */
		if (!(i & 1) || scale < f->scale[i / 2])
			f->scale[i / 2] = fmax(scale, MIN_SCALE);
	}
	set_full_scores(f, k);
}

/* The lowest observations found so far in a subinterval. */
struct subinterval {
	size_t number;
	int kept;
	struct low {
		double y; /* residual - excess, outward, ns */
		const struct observation *obs;
		const struct obs_bin *bin;
	} low[LOWEST];
};

static void subinterval_add_bin(struct subinterval *sub, const struct host_fit *k, size_t dir,
				const struct obs_bin *h)
{
	for (uint32_t m = 0; m < h->num; m++) {
		const struct observation *s = &k->obs.obs[h->from + m];
		double y = (dir & 1 ? -s->residual : s->residual) - h->excess;
		int at = sub->kept;

		if ((at == LOWEST && y >= sub->low[LOWEST - 1].y) || is_time_ambiguous(k, s->t))
			continue;
		if (at < LOWEST)
			sub->kept++;
		else
			at--;
		for (; at && sub->low[at - 1].y > y; at--)
			sub->low[at] = sub->low[at - 1];
		sub->low[at] = (struct low){ y, s, h };
	}
}

double constraints_scale(const struct fit *f, size_t link, size_t interval)
{
	return f->scale[link] / fmax(f->density[link * f->curve.coefs + interval], 1);
}

/* Add the constraints of a subinterval. Return the score that they can balance, 1 / ns. */
static double add_constraints(struct fit *f, size_t dir, const struct subinterval *sub)
{
	size_t n = f->num_constraints;
	size_t interval = n ? f->constraint[n - 1].interval : 0;
	double hold = 0;

	for (int i = 0; i < sub->kept && f->num_constraints < f->constraint_room; i++) {
		const struct low *l = &sub->low[i];
		double y = l->obs->y, excess = l->bin->excess;
		struct soft_constraint *w = &f->constraint[f->num_constraints++];

		interval = spline_interval_near(&f->curve, l->obs->t, interval);
		w->interval = (uint32_t)interval;
		w->u = cubic_place(&f->curve.cubic[w->interval], l->obs->t);
		w->y = dir & 1 ? y + excess : y - excess;
		w->link = (uint32_t)(dir / 2) & INT32_MAX;
		w->side = dir & 1;
		w->sharp = 1 / fmax(constraints_scale(f, dir / 2, w->interval), SCALE * excess);
		hold += w->sharp;
	}
	return hold;
}

/*
 * Cut the score to what constraints can balance. This happens only where delays are temporarily
 * longer.
 */
static void cut_score_to_constraints(struct fit *f, const struct host_fit *k, size_t i, double hold,
				     const struct obs_bin *bin, size_t bins)
{
	double sum = 0;

	for (size_t j = 0; j < bins; j++)
		sum += constraints_score(f, k, i, &bin[j]);
	if (sum <= hold)
		return;
	f->cut = true;
	for (size_t j = 0; j < bins; j++) {
		struct place p = spline_place(&f->curve, bin[j].t);

		add_score(f, i, &p, (hold / sum - 1) * constraints_score(f, k, i, &bin[j]));
	}
}

/* Add the constraints of a subinterval, and a score that they can balance. */
static void add_subinterval(struct fit *f, const struct host_fit *k, size_t i,
			    const struct subinterval *sub, const struct obs_bin *bin, size_t bins)
{
	double hold = CONSTRAINT_HOLD * add_constraints(f, i, sub);
	bool lifted = !sub->kept;

	for (int n = 0; n < sub->kept; n++)
		lifted |= sub->low[n].bin->excess > 0;
	if (lifted)
		cut_score_to_constraints(f, k, i, hold, bin, bins);
}

/*
 * Divide the bins of each interval evenly among its subintervals, even if the interval is short or
 * has few bins.
 */
void constraints_set(struct fit *f, const struct host_fit *k)
{
	if (f->cut)
		set_full_scores(f, k);
	f->num_constraints = 0;
	for (size_t i = 0; i < 2 * k->obs.links; i++) {
		const struct obs_direction *dir = &k->obs.direction[i];
		size_t interval, next = 0, from = 0, to;

		if (dir->bins)
			next = spline_interval(&f->curve, dir->bin[0].t);
		for (; from < dir->bins; from = to) {
			struct subinterval sub = { 0 };

			interval = next;
			for (to = from + 1; to < dir->bins; to++) {
				next = spline_interval_near(&f->curve, dir->bin[to].t, interval);
				if (next != interval)
					break;
			}
			for (size_t j = from, begin = from; j < to; j++) {
				size_t n = (j + 1 - from) * CONSTRAINT_SUBINTERVALS / (to - from);

				subinterval_add_bin(&sub, k, i, &dir->bin[j]);
				if (n == sub.number && j + 1 < to)
					continue;
				add_subinterval(f, k, i, &sub, &dir->bin[begin], j + 1 - begin);
				begin = j + 1;
				sub = (struct subinterval){ .number = n };
			}
		}
	}
}
