// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Steps of a clock, by birth and death. Expectation propagation stays near its starting point,
 * where a phase step, two adjacent frequency increments, and wrong messages explain the same
 * data. Places with a sudden change in the phase are therefore examined one by one. In a window
 * around each place, all hypotheses of one step, one frequency increment, both or neither are
 * compared with the current state. P. Green, "Reversible jump Markov chain Monte Carlo",
 * Biometrika 82(4), 1995, describes the same moves; this code chooses the hypothesis with the
 * largest evidence.
 *
 * For the same reason, expectation propagation spreads a sudden change of the frequency over many
 * intervals if each of them may contain it. The change is then concentrated in one of them.
 *
 * By the same evidence, a clock has no drift at its first knot unless its messages require it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer/window.h"

/* Number of knots of a window on either side of the examined place. Chosen. */
#define BESIDE 24
/*
 * Maximum number of knot intervals of a place. If more are suspicious, those next to the most
 * suspicious one are used. Chosen.
 */
#define PLACE_INTERVALS 6
/*
 * Number of knots of a window on either side of a place where the frequency changes. Chosen: fewer
 * knots determine a frequency than a phase.
 */
#define BESIDE_BEND 12
/*
 * Maximum number of knot intervals of a place where the frequency changes. Chosen: expectation
 * propagation spreads a change of the frequency over more intervals than one of the phase.
 */
#define BEND_INTERVALS 12
/* Minimum change of a phase that is suspected to be a step, in standard deviations. Chosen. */
#define LOOKED_AT 4.0
/*
 * Log likelihood ratio by which a hypothesis must exceed the current state, or by which a clock
 * without drift may be less likely. Chosen for a ratio of 20.
 */
#define LIKELIER 3.0

/* Knot intervals [from, to). Each interval has the index of the knot at its end. */
struct jump_place {
	size_t from, to;
};

/* The phase of a clock at a knot, from the knot's messages alone or from the smoother. */
struct sight {
	double t;
	struct moments phase;
};

/*
 * Return how strongly a clock seems to step between two knots. Only the prior limits its
 * frequency between them. Return 0 if the clock does not seem to step.
 */
static double compute_suspicion(const struct chain *c, const struct sight *before,
				const struct sight *s)
{
	const double rise = s->phase.mean - before->phase.mean;
	const double slewed = c->unknown[STATE_FREQUENCY] * (s->t - before->t);
	const double square = (rise * rise - slewed * slewed) /
			      (before->phase.variance + s->phase.variance);

	return square >= LOOKED_AT * LOOKED_AT ? square : 0;
}

/* Suspected steps of a clock, indexed by knot. */
struct suspects {
	double *much;
	bool *seen;
};

/* Get the phase at a knot. Return false if the knot has no messages. */
static bool get_knot_sight(const struct knot *k, bool alone, struct sight *s)
{
	*s = (struct sight){ k->t, { k->state[0], k->variance } };
	if (alone && k->site.precision > 0)
		s->phase = (struct moments){ k->site.weighted / k->site.precision,
					     1 / k->site.precision };
	return k->site.precision > 0;
}

static void compute_all_suspicions(const struct chain *c, bool alone, struct suspects *s)
{
	struct sight last, at;
	bool has = false;

	for (size_t i = 0; i < c->num; i++) {
		s->much[i] = 0;
		if (!get_knot_sight(&c->knot[i], alone, &at))
			continue;
		if (has)
			s->much[i] = compute_suspicion(c, &last, &at);
		last = at;
		has = true;
	}
	/* Examine each step again. If its cell was halved, the step may be in another interval. */
	for (size_t i = 1; i < c->num; i++)
		for (size_t k = i > 2 ? i - 2 : 1; c->knot[i].jump > 1 && k < i + 3 && k < c->num;
		     k++)
			s->much[k] = fmax(s->much[k], LOOKED_AT * LOOKED_AT);
}

/* Find the most suspicious place that was not examined yet. Return false if there is none. */
static bool find_suspicious_place(const struct chain *c, const struct suspects *s, size_t most,
				  struct jump_place *p)
{
	size_t best = 0;

	for (size_t i = 1; i < c->num; i++)
		if (s->much[i] > 0 && !s->seen[i] && (!best || s->much[i] > s->much[best]))
			best = i;
	if (!best)
		return false;
	p->from = best;
	p->to = best + 1;
	while (p->to - p->from < most) {
		const double before = p->from > 1 ? s->much[p->from - 1] : 0;
		const double after = p->to < c->num ? s->much[p->to] : 0;

		if (before > 0 && before >= after)
			p->from--;
		else if (after > 0)
			p->to++;
		else
			break;
	}
	return true;
}

/*
 * What happened at a place: a phase step, a frequency increment, or both, each in one knot
 * interval. 0 means that it did not happen.
 */
struct hypothesis {
	size_t jump, bend;
};

/*
 * Set the variances of the place for a hypothesis. No other step or frequency increment happened
 * in the place, and no frequency increment right after it.
 */
static void apply_hypothesis(struct chain_window *w, struct jump_place p, struct hypothesis h)
{
	struct chain *c = &w->chain;
	const double bend = c->knot[p.to - 1].state[1] - c->knot[p.from - 1].state[1];
	double rise = 0;

	for (size_t i = p.from; i < p.to + 1 && i < c->num; i++) {
		struct knot *k = &c->knot[i];

		if (i < p.to)
			rise += k->state[0] - k[-1].state[0];
		k->bend = c->intensity[STATE_FREQUENCY] * k->length;
		k->jump = i < p.to ? 0 : k->jump;
	}
	if (h.bend)
		c->knot[h.bend].bend += fmax(bend * bend, c->bends.variance[0]);
	if (h.jump)
		c->knot[h.jump].jump = fmax(rise * rise, c->jumps.variance[0]);
}

/* The hypothesis with the largest evidence so far. */
struct decision {
	struct chain_window best;
	struct hypothesis is;
};

/* Compute the evidence of a hypothesis. Return 0 or -ENOMEM. */
static int try_hypothesis(struct decision *d, const struct chain_window *now, struct jump_place p,
			  struct hypothesis h)
{
	struct chain_window w = { 0 };
	int ret = window_copy(&w, now);

	if (!ret) {
		apply_hypothesis(&w, p, h);
		window_filter(&w);
	}
	if (!ret && (!d->best.factor || w.evidence > d->best.evidence)) {
		const struct chain_window swap = d->best;

		*d = (struct decision){ w, h };
		w = swap;
	}
	window_close(&w);
	return ret;
}

/* Compute the evidence of all hypotheses for a place. Return 0 or -ENOMEM. */
static int try_all_hypotheses(struct decision *d, const struct chain_window *now,
			      struct jump_place p)
{
	int ret = try_hypothesis(d, now, p, (struct hypothesis){ 0, 0 });

	for (size_t i = p.from; !ret && i < p.to; i++) {
		ret = try_hypothesis(d, now, p, (struct hypothesis){ i, 0 });
		if (!ret)
			ret = try_hypothesis(d, now, p, (struct hypothesis){ 0, i });
		if (!ret)
			ret = try_hypothesis(d, now, p, (struct hypothesis){ i, i });
	}
	return ret;
}

/*
 * Apply the best hypothesis for a place if it is more likely than the current state, whose
 * increments may have variances in several intervals. The hypothesis can create, remove or move
 * a step.
 */
static int decide_jump_at_place(struct inference *n, size_t host, const struct factor_index *x,
				struct jump_place p, bool *changed)
{
	const struct chain *c = &n->chain[host];
	const size_t from = p.from > BESIDE + 1 ? p.from - BESIDE - 1 : 0;
	const size_t to = p.to + BESIDE < c->num ? p.to + BESIDE : c->num;
	struct chain_window now = { 0 };
	struct decision d = { .is = { 0, 0 } };
	bool has = false;
	int ret = window_open(&now, n, host, x, from, to);

	for (size_t i = p.from; i < p.to; i++)
		has = has || c->knot[i].jump > 1;
	p.from -= from;
	p.to -= from;
	if (!ret)
		ret = try_all_hypotheses(&d, &now, p);
	if (!ret)
		window_filter(&now);
	/*
	 * Even if the current state is the best, apply it, because the filter updated the sites
	 * next to a step.
	 */
	*changed = !ret && (has || d.is.jump);
	if (*changed)
		window_apply(d.best.evidence > now.evidence + LIKELIER ? &d.best : &now, n, host, x,
			     from, true);
	window_close(&now);
	window_close(&d.best);
	return ret;
}

/* Examine all places of a clock, the most suspicious one first. Return 0 or -ENOMEM. */
static int decide_all_places(struct inference *n, size_t host, const struct factor_index *x,
			     struct suspects *s)
{
	struct chain *c = &n->chain[host];
	struct jump_place p;
	int ret = 0;

	compute_all_suspicions(c, n->alone, s);
	while (!ret && find_suspicious_place(c, s, PLACE_INTERVALS, &p)) {
		bool changed = false;

		ret = decide_jump_at_place(n, host, x, p, &changed);
		for (size_t i = p.from; i < p.to; i++)
			s->seen[i] = true;
		if (ret || !changed)
			continue;
		ret = smooth_chain(c);
		compute_all_suspicions(c, n->alone, s);
	}
	return ret;
}

/* Examine the places of one host. Return 0 or -ENOMEM. */
typedef int (*examine_func)(struct inference *n, size_t host, const struct factor_index *x,
			    struct suspects *s);

static int examine_host(struct inference *n, size_t host, examine_func examine)
{
	const size_t num = n->chain[host].num;
	struct suspects s = { calloc(num, sizeof(*s.much)), calloc(num, sizeof(*s.seen)) };
	struct factor_index x = { 0 };
	int ret = s.much && s.seen ? factor_index_make(&x, n, host) : -ENOMEM;

	if (!ret)
		ret = examine(n, host, &x, &s);
	factor_index_release(&x);
	free(s.much);
	free(s.seen);
	return ret;
}

static int examine_all_hosts(struct inference *n, examine_func examine)
{
	int ret = 0;

	for (size_t h = 0; !ret && h < n->task->num; h++)
		if (n->chain[h].num)
			ret = examine_host(n, h, examine);
	return ret;
}

int move_jumps(struct inference *n)
{
	return examine_all_hosts(n, decide_all_places);
}

/* ---- frequency increments ------------------------------------------------ */

/* Suspect all intervals whose variance is that of a scale. Steps are examined by move_jumps(). */
static void suspect_bends(const struct chain *c, struct suspects *s)
{
	for (size_t i = 1; i < c->num; i++) {
		const struct knot *k = &c->knot[i];
		const double bend = k->bend * k->score[STATE_FREQUENCY].gradient;

		if (k->jump <= 1 && !mixture_is_quiet(&c->bends, k->bend))
			s->much[i] = bend * bend;
	}
}

/*
 * Concentrate a frequency increment that is spread over the intervals of a place in one of them,
 * if the messages are not less likely then. The shares of the variances are not compared: the
 * increments of a place may be those of two changes, whose shares are larger than that of many.
 */
static int decide_bend_at_place(struct inference *n, size_t host, const struct factor_index *x,
				struct jump_place p)
{
	const struct chain *c = &n->chain[host];
	const size_t from = p.from > BESIDE_BEND + 1 ? p.from - BESIDE_BEND - 1 : 0;
	const size_t to = p.to + BESIDE_BEND < c->num ? p.to + BESIDE_BEND : c->num;
	struct chain_window now = { 0 };
	struct decision d = { .is = { 0, 0 } };
	int ret = window_open(&now, n, host, x, from, to);

	p.from -= from;
	p.to -= from;
	for (size_t i = p.from; !ret && i < p.to; i++)
		ret = try_hypothesis(&d, &now, p, (struct hypothesis){ 0, i });
	if (!ret)
		window_filter(&now);
	/* Keep the sites, because those of a filter do not take later messages into account. */
	if (!ret && d.best.likelihood > now.likelihood)
		window_apply(&d.best, n, host, x, from, false);
	window_close(&now);
	window_close(&d.best);
	return ret;
}

/* Examine all places of a host where its frequency changes in more than one interval. */
static int decide_all_bends(struct inference *n, size_t host, const struct factor_index *x,
			    struct suspects *s)
{
	struct chain *c = &n->chain[host];
	struct jump_place p;
	int ret = 0;

	suspect_bends(c, s);
	while (!ret && find_suspicious_place(c, s, BEND_INTERVALS, &p)) {
		if (p.to > p.from + 1)
			ret = decide_bend_at_place(n, host, x, p);
		for (size_t i = p.from; i < p.to; i++)
			s->much[i] = 0;
	}
	return ret ? ret : smooth_chain(c);
}

int move_bends(struct inference *n)
{
	return examine_all_hosts(n, decide_all_bends);
}

/* ---- drift at the first knot --------------------------------------------- */

/*
 * Remove the drift at the first knot, or only its rate, if the messages do not require it: two more
 * unknowns triple the error of a linear clock at both ends.
 */
static int decide_first_drift(struct inference *n, size_t host, const struct factor_index *x,
			      struct suspects *unused)
{
	struct chain *c = &n->chain[host];
	struct chain_window now = { 0 };
	bool is_likely = true;
	int ret = window_open(&now, n, host, x, 0, c->num);

	(void)unused;
	/* The clock is already known well, so that the filter cannot begin with a wrong line. */
	for (int i = STATE_PHASE; !ret && i <= STATE_FREQUENCY; i++)
		now.chain.first.deviation[i] = c->first.deviation[i];
	if (!ret)
		window_filter(&now);
	for (int i = STATE_JERK; !ret && is_likely && i >= STATE_DRIFT; i--) {
		const double before = now.evidence;

		now.chain.first.mean[i] = now.chain.first.deviation[i] = 0;
		window_filter(&now);
		is_likely = now.evidence > before - LIKELIER;
		if (is_likely)
			c->first.mean[i] = c->first.deviation[i] = 0;
	}
	window_close(&now);
	return ret ? ret : smooth_chain(c);
}

int remove_first_drifts(struct inference *n)
{
	return examine_all_hosts(n, decide_first_drift);
}
