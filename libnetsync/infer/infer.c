// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rounds of inference. Each round updates all factors, the marginals of all clocks, and the
 * learned parameters of noise and delays. When a round changes little, cells next to large
 * increments are halved.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/internal.h"
#include "util/number.h"
#include "util/statistics.h"

/*
 * Maximum number of rounds with the first grid and with each finer grid, and maximum number of
 * finer grids. Chosen.
 */
#define FIRST_ROUNDS 80
#define FINER_ROUNDS 15
#define FINER_GRIDS 6
/* Period, in rounds, of recomputing the observed delays along the current clocks. Chosen. */
#define MOVE_ROUNDS 4
/*
 * Number of rounds after which sites in a finer grid have settled enough to look for steps again.
 * Chosen.
 */
#define SETTLED_ROUND 2
/*
 * Inference stops when the root mean square move of sites, in standard deviations, and each
 * clock's change of the mean log variance are below this limit. Chosen.
 */
#define SETTLED 0.01
/* Fraction of a round's change that is applied to sites, for two hosts and for more. Chosen. */
#define DAMPING 0.4
#define DAMPING_OF_MANY 0.8
/* Initial intensities of the process noise, in ns^2/s, ppb^2/s, and so on. Chosen. */
static const double FIRST_NOISE[STATES] = { 1, 100, 10, 0.1 };
/*
 * Initial variance of frequency increments, ppb^2/s. A clock may initially change its frequency
 * anywhere, by 20 ppm in the root of a second. Chosen.
 */
#define FIRST_BEND 4e8
/*
 * Standard deviations of the state at the first knot: 1 ms, 1000 ppm, 0.1 ppm/s, 1 ppb/s^2.
 * Chosen.
 */
static const double FIRST_DEVIATION[STATES] = { 1e6, 1e6, 100, 1 };
/*
 * Minimum standard deviation of the prior of a minimum delay, in ns and in mean excesses; the
 * larger one applies. Chosen.
 */
#define DELAY_DEVIATION 1e4
#define DELAY_EXCESSES 10.0
/* Minimum span of time, s, so that no rate is infinite. */
#define LEAST_SPAN 1e-3
/* Variance of an unknown phase, ns^2. Chosen: 0.1 s squared. */
#define UNKNOWN_PHASE 1e16
/* Mean excess if no factor has two messages, ns. Chosen. */
#define FIRST_EXCESS 1e5

/* ---- first parameters ---------------------------------------------------- */

static void init_chain(struct chain *c, double span)
{
	double length;

	if (!c->num)
		return;
	length = span / (double)c->num;
	memcpy(c->intensity, FIRST_NOISE, sizeof(c->intensity));
	mixture_init_for_frequency(&c->bends, length);
	mixture_init_for_phase(&c->jumps, span, c->range);
	memcpy(c->first.deviation, FIRST_DEVIATION, sizeof(c->first.deviation));
	c->first.deviation[STATE_PHASE] += c->range;
	memcpy(c->unknown, c->first.deviation, sizeof(c->unknown));
	for (size_t i = 0; i < c->num; i++) {
		c->knot[i].bend = FIRST_BEND * c->knot[i].length;
		if (!(c->knot[i].variance > 0))
			c->knot[i].variance = UNKNOWN_PHASE;
	}
}

/*
 * Estimate the mean excess of a direction from the median spacing of the lowest two messages.
 * Return a negative value if no factor has two messages.
 */
static double compute_first_mean_delay(const struct link_direction *d, double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < d->num_factors; i++) {
		const struct lowest *l = &d->factor[i].lowest;

		if (l->num > 1)
			v[n++] = (l->messages - 1) * (l->delay[1] - l->delay[0]);
	}
	return n ? statistics_median(v, n) / M_LN2 : -1;
}

/*
 * For each cell, write half of the sum of the lowest delays of both directions, which does not
 * depend on the phase, to @v. Return the number of sums.
 */
static size_t list_half_delay_sums(const struct infer_link *l, double *v)
{
	const struct link_direction *d = l->direction;
	size_t n = 0;

	for (size_t i = 0, k = 0; i < d[0].num_factors && k < d[1].num_factors;) {
		const int order = factor_compare(&d[0].factor[i], &d[1].factor[k]);

		if (!order)
			v[n++] = (d[0].factor[i].lowest.delay[0] + d[1].factor[k].lowest.delay[0]) /
				 2;
		i += order <= 0;
		k += order >= 0;
	}
	return n;
}

/* Initialize the delays of a link. Return 0 or -ENOMEM. */
static int init_link_delays(struct infer_link *l)
{
	const size_t most = l->direction[0].num_factors > l->direction[1].num_factors ?
				    l->direction[0].num_factors :
				    l->direction[1].num_factors;
	double *v = malloc((most + 1) * sizeof(*v)), mean[2], middle = 0, deviation = 0, spread;
	size_t n;

	if (!v)
		return -ENOMEM;
	for (int way = 0; way < 2; way++)
		mean[way] = compute_first_mean_delay(&l->direction[way], v);
	n = list_half_delay_sums(l, v);
	if (n) {
		middle = compute_order_statistic(v, n, n / 2);
		deviation = fabs(compute_order_statistic(v, n, n * 9 / 10));
	}
	spread = fmax(deviation - middle, 1);
	free(v);
	for (int way = 0; way < 2; way++) {
		/* If no factor of this direction has two messages, use the other direction. */
		double m = mean[way] >= 0 ? mean[way] : mean[!way];

		m = m >= 0 ? m : FIRST_EXCESS;
		delay_law_begin(&l->direction[way].law, fmax(m, fmax(l->resolution / 2, 1)),
				l->resolution > 0 ? l->resolution * l->resolution / 6 : 0);
	}
	deviation = fmax(fmax(deviation, DELAY_DEVIATION),
			 DELAY_EXCESSES * (l->direction[0].law.mean + l->direction[1].law.mean));
	l->first.precision = 1 / (deviation * deviation);
	l->first.weighted = middle * l->first.precision;
	/* This delay is used as long as factors use only their own messages. */
	l->delay = (struct moments){ middle, spread * spread };
	return 0;
}

/* ---- rounds -------------------------------------------------------------- */

/* Return the mean of the logarithms of all phase variances. */
static double compute_mean_log_variance(const struct chain *c)
{
	double sum = 0;

	for (size_t i = 0; i < c->num; i++)
		sum += log(c->knot[i].variance);
	return sum / (double)c->num;
}

static int smooth_host(void *inference, size_t h)
{
	struct inference *n = inference;
	struct chain *c = &n->chain[h];
	double before;
	int ret;

	if (!c->num)
		return 0;
	before = compute_mean_log_variance(c);
	ret = smooth_chain(c);
	c->changed = fabs(compute_mean_log_variance(c) - before);
	return ret;
}

static int smooth_hosts(struct inference *n)
{
	const struct infer_task *t = n->task;

	return parallel_run(t->parallel, t->threads, (uint32_t)t->num, smooth_host, n);
}

static int learn_host(void *inference, size_t h)
{
	struct inference *n = inference;

	if (n->chain[h].num)
		learn_noise(&n->chain[h]);
	return 0;
}

/*
 * Smooth all clocks and learn their noise. With @jumps, look for steps before learning, because
 * learning would mistake them for noise. With @bends, look for frequency steps.
 */
static int update_hosts(struct inference *n, bool jumps, bool bends)
{
	const struct infer_task *t = n->task;
	int ret = smooth_hosts(n);

	if (!ret && jumps)
		ret = move_jumps(n);
	if (!ret && bends)
		ret = move_bends(n);
	if (!ret)
		ret = parallel_run(t->parallel, t->threads, (uint32_t)t->num, learn_host, n);
	return ret;
}

static bool is_inference_settled(const struct inference *n)
{
	bool settled = n->moved < SETTLED;

	for (size_t h = 0; settled && h < n->task->num; h++)
		settled = n->chain[h].changed < SETTLED;
	return settled;
}

/*
 * Run up to @rounds rounds. With @alone, factors use only their own messages in the first round,
 * because the hosts have no estimates yet. A second such round would again combine messages from
 * both sides of a step in one cell.
 */
static int run_inference_rounds(struct inference *n, int rounds, bool alone)
{
	int ret = 0;

	for (int i = 0; !ret && i < rounds; i++) {
		/*
		 * In the first grid, cells are too long to tell a frequency step from a slew. In the
		 * first round of a finer grid, new sites are not accurate enough.
		 */
		const bool settled = i == rounds / 2 || (n->finer && i == SETTLED_ROUND);
		bool done;

		n->alone = alone && !i;
		n->learn = !alone || i > 1;
		if (i && i % MOVE_ROUNDS == 0)
			ret = grid_recompute_delays(n);
		if (!ret)
			ret = propagate_messages(n);
		if (!ret)
			ret = update_hosts(n, !i || settled, n->finer && settled);
		if (ret || !n->learn)
			continue;
		done = is_inference_settled(n);
		if (n->has_drifts && (settled || done)) {
			ret = remove_first_drifts(n);
			n->has_drifts = false;
		} else if (done) {
			break;
		}
	}
	return ret;
}

/* Compute the first sites and marginals from the first states. Return 0 or -ENOMEM. */
static int init_from_states(struct inference *n)
{
	int ret = propagate_first_messages(n);

	return ret ? ret : smooth_hosts(n);
}

/*
 * Start the only chain with a straight line in the middle of a strip without messages. Half of the
 * strip's width is the delay if it is equal in both directions, and how far phase and delay may be
 * off.
 */
static void init_from_strip(struct inference *n)
{
	struct chain *c = &n->chain[1];
	struct infer_link *l = &n->link[0];
	const double variance = n->strip * n->strip;

	for (size_t i = 0; i < c->num; i++) {
		c->knot[i].variance = variance;
		c->knot[i].bend = c->intensity[STATE_FREQUENCY] * c->knot[i].length;
	}
	l->delay = (struct moments){ n->strip, variance };
	l->first.weighted = n->strip * l->first.precision;
}

/* Did the start find states, which are better than those that each cell's messages suggest? */
static bool has_first_states(const struct inference *n)
{
	return n->first || n->strip > 0;
}

/* Estimate the delay of the only link together with the only clock. */
static void join_delay(struct chain *c, struct infer_link *l)
{
	c->delay = &l->delay;
	c->delay_prior = l->first;
}

/* Initialize links, chains and factors. Return 0 or -ENOMEM. */
static int init_inference(struct inference *n)
{
	int ret = grid_begin(n);

	if (!ret && n->first)
		tree_curves_set_states(n);
	else if (!ret)
		start_set_frequencies(n, &n->chain[1]);
	if (!ret)
		ret = grid_recompute_delays(n);
	for (size_t i = 0; !ret && i < n->num_links; i++)
		ret = init_link_delays(&n->link[i]);
	for (size_t h = 0; !ret && h < n->task->num; h++)
		init_chain(&n->chain[h], n->span);
	if (!ret && n->first) {
		tree_curves_set_delays(n);
		tree_curves_set_increments(n);
	}
	if (!ret && n->strip > 0)
		init_from_strip(n);
	if (!ret && n->task->num == 2 && n->num_links == 1)
		join_delay(&n->chain[1], &n->link[0]);
	return !ret && has_first_states(n) ? init_from_states(n) : ret;
}

static int run_inference(struct inference *n)
{
	const bool many = n->task->num > 2;
	size_t halved = 1;
	int ret = many ? tree_curves_infer(n) : infer_start_clocks(n);

	n->damping = many ? DAMPING_OF_MANY : DAMPING;
	if (!ret)
		ret = infer_gather_messages(n);
	if (!ret)
		ret = init_inference(n);
	if (!ret)
		ret = run_inference_rounds(n, FIRST_ROUNDS, !has_first_states(n));
	for (int i = 0; !ret && halved && i < FINER_GRIDS; i++) {
		n->finer = true;
		ret = grid_refine(n, &halved);
		/* The marginals of new knots must contain the new sites, or cavities are wrong. */
		if (!ret && halved) {
			propagate_sum_sites(n);
			ret = smooth_hosts(n);
		}
		if (!ret && halved)
			ret = run_inference_rounds(n, FINER_ROUNDS, false);
	}
	for (size_t h = 0; !ret && h < n->task->num; h++)
		if (n->chain[h].num)
			ret = posterior_to_correction(n, h);
	return ret;
}

static void get_link_delays(struct link_delays *to, const struct infer_link *l)
{
	*to = (struct link_delays){ l->delay,
				    { l->direction[0].law, l->direction[1].law },
				    l->direction[0].num && l->direction[1].num };
}

int infer_clocks_and_delays(const struct infer_task *t, struct link_delays *delays)
{
	struct inference n = { .task = t, .has_drifts = true };
	const struct correction *c;
	int ret;

	if (t->num < 2)
		return 0;
	n.chain = calloc(t->num, sizeof(*n.chain));
	if (!n.chain)
		return -ENOMEM;
	c = t->host[0].correction;
	correction_at(c, c->from, &n.origin);
	n.span = fmax((double)(c->to - c->from) / SECOND, LEAST_SPAN);
	ret = run_inference(&n);
	if (!ret && delays && n.num_links)
		get_link_delays(delays, n.link);
	infer_release_links(&n);
	grid_release(&n);
	tree_curves_release(&n);
	free(n.slope);
	return ret;
}

int infer_clocks(const struct infer_task *t)
{
	return infer_clocks_and_delays(t, NULL);
}
