// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The joint fit: make each host's terms, number all unknowns, find the minimum, and take its
 * curves.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/bend-variance.h"
#include "joint/internal.h"

/*
 * Distance of messages on the other host before its first or after its last interval, in lengths of
 * that interval; a cubic is at most a hundred times as large there. Chosen.
 */
#define BEYOND 1.0

/*
 * A curve has diverged if it is steeper than the earlier curve by this factor, and steeper than
 * clocks that daemons steer (RFC 5905: 500 ppm). Chosen.
 */
#define STEEPER 2.0
#define MAX_SLOPE 500e-6

/* Precision for smooth curves. Chosen: with a fifth of these gains, errors are the same. */
static const struct effort usual_effort = {
	.widest = 16,
	.enough = 0.05,
	.enough_wide = 1,
	.precision = 0.05,
	.steps = 30,
};

struct joint {
	const struct joint_task *task;
	struct bends *bends; /* for each host; NULL: all curves are smooth */
	struct objective objective;
};

/*
 * Return the number of knot intervals of a host: those of its curve. A straight curve gets as many
 * as others, because it may have seemed straight only next to them. So does a curve of
 * host_fit_start(), whose intervals were not selected.
 */
static size_t intervals_of_host(const struct joint *j, const struct correction *c)
{
	if (c->intervals)
		return c->intervals;
	if (c->curve.coefs > 4 && !c->num_changes)
		return c->curve.coefs - 3;
	return j->task->intervals;
}

/*
 * Are most links of a host with steered hosts, which take no part? The prior would then dominate
 * its few remaining messages.
 */
static bool has_mostly_steered_neighbours(const struct joint_host *h)
{
	size_t steered = 0;

	for (size_t i = 0; i < h->num_links; i++)
		steered += h->link[i].other->steered;
	return 2 * steered > h->num_links;
}

/* Make the terms of one host. */
static int make_terms_of_host(void *joint, size_t i)
{
	struct joint *j = joint;
	const struct joint_task *t = j->task;
	const struct joint_host *h = &t->host[i];
	struct member *m = &j->objective.member[i];
	const struct correction *c = h->correction;
	int ret;

	if (!joint_host_takes_part(h) ||
	    (!j->bends && (c->steered || has_mostly_steered_neighbours(h))))
		return 0;
	if (j->bends && j->bends[i].intervals)
		m->bends = &j->bends[i];
	ret = pair_terms_make(&m->terms, c, h->link, h->num_links, t->drift,
			      m->bends ? m->bends->intervals : intervals_of_host(j, c), j->bends);
	if (!ret && m->bends) {
		ret = bends_begin(m->bends, &m->terms.curve);
		m->terms.variance = m->bends->variance;
	}
	m->in = !ret;
	return ret;
}

/* ---- places ------------------------------------------------------------ */

static double value_of_curve(const struct spline *s, double t)
{
	return s->coefs ? spline_at(s, t) : 0;
}

/* If bends are learned, make constraints as soft as the curves are uncertain. */
static void set_scale_of_constraint(const struct member *m[2], struct pair_constraint *w)
{
	double variance = 0;

	for (int k = 0; k < 2; k++) {
		const struct bends *b = m[k]->bends;

		if (b && b->deviation)
			variance += b->deviation[w->interval[k]] * b->deviation[w->interval[k]];
	}
	if (variance > 0)
		w->sharp = (float)(1 / bend_variances_scale(sqrt(variance)));
}

/*
 * Find the places of messages on both hosts' curves. Their slack is that of the other host's
 * earlier curve, which the new spline may not follow exactly.
 */
static int place_constraints(void *joint, size_t host)
{
	struct joint *j = joint;
	struct pair_terms *p = &j->objective.member[host].terms;
	size_t n = 0;

	for (size_t i = 0; i < p->num_constraints; i++) {
		struct pair_constraint w = p->constraint[i];
		const struct member *m[2] = { &j->objective.member[host],
					      &j->objective.member[w.other] };
		double differs;

		if (!m[1]->in)
			continue;
		differs = spline_at(&m[1]->terms.curve, w.u[1]) -
			  value_of_curve(&j->task->host[w.other].correction->curve, w.u[1]);
		w.room += w.side == ABOVE ? differs : -differs;
		for (int k = 0; k < 2; k++) {
			const struct spline *s = &m[k]->terms.curve;
			size_t at = spline_interval(s, w.u[k]);
			double u = cubic_place(&s->cubic[at], w.u[k]);

			w.interval[k] = (uint32_t)at;
			w.u[k] = fmin(fmax(u, -BEYOND), 1 + BEYOND);
		}
		set_scale_of_constraint(m, &w);
		p->constraint[n++] = w;
	}
	p->num_constraints = n;
	return 0;
}

static void add_score(struct objective *o, const struct member *m, double t, double score)
{
	struct place p = spline_place(&m->terms.curve, t);

	for (size_t b = 0; b < 4; b++)
		o->score[m->coef + p.first + b] += score * p.basis[b];
}

static void set_scores_of_unknowns(struct joint *j, uint32_t host)
{
	struct objective *o = &j->objective;
	struct member *m = &o->member[host];

	for (size_t i = 0; i < m->terms.num_scores; i++) {
		const struct pair_score *w = &m->terms.score[i];
		const struct member *other = &o->member[w->other];
		double score = w->side == ABOVE ? w->score : -w->score;

		if (!other->in)
			continue;
		add_score(o, m, w->t[0], score);
		add_score(o, other, w->t[1], -score);
		o->score[m->margin + w->margin] += w->score;
	}
	pair_terms_forget_scores(&m->terms);
}

/* ---- all together ------------------------------------------------------ */

static int member_new(struct member *m)
{
	size_t n = m->terms.curve.coefs;

	m->change = calloc(n, sizeof(*m->change));
	m->rest = calloc(n, sizeof(*m->rest));
	m->factor = calloc(n, sizeof(*m->factor));
	return m->change && m->rest && m->factor ? 0 : -ENOMEM;
}

/* Number the unknowns, and allocate memory for them. 0 or -ENOMEM. */
static int number_unknowns(struct objective *o)
{
	size_t margins = 0;
	int ret = 0;

	for (uint32_t h = 0; h < o->num; h++) {
		struct member *m = &o->member[h];

		m->coef = o->coefs;
		o->coefs += m->terms.curve.coefs;
		o->in += m->in;
	}
	for (uint32_t h = 0; !ret && h < o->num; h++) {
		struct member *m = &o->member[h];

		m->margin = o->coefs + margins;
		margins += m->terms.margins;
		if (m->in)
			ret = member_new(m);
	}
	o->unknowns = o->coefs + margins;
	o->score = calloc(o->unknowns + 1, sizeof(*o->score));
	o->margins = calloc(2 * margins + 1, sizeof(*o->margins));
	if (ret || !o->score || !o->margins)
		return -ENOMEM;
	o->far = o->margins + margins;
	return 0;
}

static void objective_release(struct objective *o)
{
	objective_free_blocks(o);
	for (uint32_t h = 0; o->member && h < o->num; h++) {
		struct member *m = &o->member[h];

		pair_terms_release(&m->terms);
		free(m->change);
		free(m->rest);
		free(m->factor);
	}
	free(o->member);
	free(o->score);
	free(o->margins);
}

/*
 * Set the start: the current curves, and margins of the least slack, with which those constraints
 * are near that will remain near.
 */
static void set_start(const struct objective *o, double *x)
{
	memset(x, 0, o->coefs * sizeof(*x));
	for (size_t i = o->coefs; i < o->unknowns; i++)
		x[i] = HUGE_VAL;
	for (uint32_t h = 0; h < o->num; h++) {
		const struct member *m = &o->member[h];

		for (size_t i = 0; i < m->terms.num_constraints; i++) {
			const struct pair_constraint *w = &m->terms.constraint[i];
			double *margin = &x[m->margin + w->margin];

			*margin = fmin(*margin, w->room);
		}
	}
	for (size_t i = o->coefs; i < o->unknowns; i++)
		x[i] = isfinite(x[i]) ? x[i] : 0;
}

static bool unknowns_are_finite(const double *x, size_t n)
{
	while (n && isfinite(x[n - 1]))
		n--;
	return !n;
}

/*
 * Minimize from a start. *sound: the required minimum was found, and no host's curves are further
 * from its messages than before by STRAYED. If they were, they would have diverged, because scores
 * are linear.
 */
static int minimize_from_start(struct objective *o, double *x, const struct effort *effort,
			       bool *sound)
{
	double *before = malloc((o->num + 1) * sizeof(*before));
	bool found = false;
	int ret = -ENOMEM;

	if (before) {
		set_start(o, x);
		objective_at(o, x);
		for (uint32_t h = 0; h < o->num; h++)
			before[h] = objective_slacks(o, h);
		ret = newton_minimize(o, x, effort, &found);
	}
	*sound = !ret && found && unknowns_are_finite(x, o->unknowns);
	if (*sound)
		objective_at(o, x);
	for (uint32_t h = 0; *sound && h < o->num; h++)
		*sound = objective_slacks(o, h) <= STRAYED * before[h];
	free(before);
	return ret;
}

/*
 * Is a curve at most STEEPER times as steep as the earlier one? Between change points close to each
 * other there may be scores without constraints.
 */
static bool curve_is_sound(const struct spline *s, const struct spline *before)
{
	return spline_steepest(s) <= fmax(STEEPER * spline_steepest(before), MAX_SLOPE);
}

/* Make the curves of the minimum those of the terms. */
static void change_curves_of_terms(struct objective *o, const double *x)
{
	for (uint32_t h = 0; h < o->num; h++) {
		struct member *m = &o->member[h];
		struct spline *s = &m->terms.curve;

		if (!m->in)
			continue;
		for (size_t i = 0; i < s->coefs; i++)
			s->coef[i] += x[m->coef + i];
		spline_set_cubics(s);
	}
}

static void take_curves_of_terms(struct joint *j)
{
	for (uint32_t h = 0; h < j->objective.num; h++) {
		struct member *m = &j->objective.member[h];
		struct spline *s = &m->terms.curve;
		struct correction *c = j->task->host[h].correction;

		if (!m->in)
			continue;
		if (!m->bends && !curve_is_sound(s, &c->curve))
			continue;
		spline_compact(s);
		spline_free(&c->curve);
		c->curve = *s;
		*s = (struct spline){ 0 };
		/*
		 * Later fits, of single hosts or joint, may give the curve as many intervals as
		 * others have.
		 */
		if (c->intervals < j->task->intervals)
			c->intervals = j->task->intervals;
	}
}

/* Compute second derivatives at the minimum: the accuracy of the curves. 0 or -ENOMEM. */
static int differentiate_at_minimum(struct objective *o, const double *x)
{
	double *gradient = malloc((o->unknowns + 1) * sizeof(*gradient));

	if (!gradient)
		return -ENOMEM;
	objective_differentiate(o, x, gradient);
	free(gradient);
	return 0;
}

/* Learn the bends of one host's curve from its messages. */
static int learn_bends_of_host(void *joint, size_t host)
{
	struct joint *j = joint;
	struct member *m = &j->objective.member[host];

	return m->in && m->bends ? bends_learn(m->bends, &m->terms.curve, m->factor) : 0;
}

int joint_solve(const struct joint_task *t, struct bends *bends, const struct effort *effort,
		bool *sound)
{
	struct joint j = {
		.task = t,
		.bends = bends,
		.objective = { .member = calloc(t->num + 1, sizeof(struct member)),
			       .num = t->num,
			       .parallel = t->parallel,
			       .threads = t->threads },
	};
	struct objective *o = &j.objective;
	double *x = NULL;
	int ret = o->member ? 0 : -ENOMEM;

	*sound = false;
	if (!ret)
		ret = parallel_run(t->parallel, t->threads, t->num, make_terms_of_host, &j);
	if (!ret)
		ret = number_unknowns(o);
	if (!ret)
		ret = parallel_run(t->parallel, t->threads, t->num, place_constraints, &j);
	if (!ret)
		ret = objective_divide(o);
	for (uint32_t h = 0; !ret && h < t->num; h++)
		set_scores_of_unknowns(&j, h);
	if (!ret) {
		x = malloc((o->unknowns + 1) * sizeof(*x));
		ret = x ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = minimize_from_start(o, x, effort, sound);
	if (!ret && *sound && bends)
		ret = differentiate_at_minimum(o, x);
	if (!ret && *sound) {
		change_curves_of_terms(o, x);
		ret = bends ? parallel_run(t->parallel, t->threads, t->num, learn_bends_of_host,
					   &j) :
			      0;
	}
	if (!ret && *sound)
		take_curves_of_terms(&j);
	free(x);
	objective_release(o);
	return ret;
}

int joint_fit(const struct joint_task *t)
{
	bool sound;

	return joint_solve(t, NULL, &usual_effort, &sound);
}
