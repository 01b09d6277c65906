// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Increments of phase and frequency are scale mixtures of normals, whose rates are
 * learned by empirical Bayes (D. Andrews, C. Mallows, "Scale mixtures of normal
 * distributions", JRSS B 36(1), 1974).
 */
#include <math.h>

#include "model/model.h"

/*
 * Smallest scale of a frequency increment, ppb; the ratio of successive scales; and their
 * number. Chosen.
 */
#define FIRST_BEND 10.0
#define BEND_FACTOR 4.0
#define BEND_SCALES 9
/* Initial share of knot intervals that have an increment of a given scale. Chosen. */
#define FIRST_BENDS 0.02
/*
 * Smallest scale of a phase increment, ns; the ratio of successive scales; and
 * the initial number of increments of each scale in the whole span. Chosen.
 */
#define FIRST_JUMP 1000.0
#define JUMP_FACTOR 6.0
#define FIRST_JUMPS 1e-3
/*
 * Minimum range for the largest scale of a phase increment, ns, so that more than one scale is
 * used. Chosen.
 */
#define LEAST_RANGE 1e5
/* Largest scale of a phase increment, in ranges of the phase. Chosen. */
#define RANGES 3.0
/*
 * Maximum share of all scales together over a length, so that a quiet interval remains possible.
 * Chosen.
 */
#define MOST_SHARE 0.9
/*
 * Minimum responsibility of a scale that widens an increment. Smaller ones arise by chance.
 * Chosen.
 */
#define LEAST_RESPONSIBILITY 1e-4
/* Pseudo-count of increments of each scale in the whole span, so that no rate is 0. Chosen. */
#define PRIOR_INCREMENTS 1e-3

static double square_number(double v)
{
	return v * v;
}

void mixture_init_for_frequency(struct scale_mixture *m, double length)
{
	*m = (struct scale_mixture){ .scales = BEND_SCALES };
	for (size_t j = 0; j < BEND_SCALES; j++) {
		m->variance[j] = square_number(FIRST_BEND * pow(BEND_FACTOR, (double)j));
		m->rate[j] = FIRST_BENDS / length;
	}
}

void mixture_init_for_phase(struct scale_mixture *m, double span, double range)
{
	const double most = fmax(RANGES * range, LEAST_RANGE);

	*m = (struct scale_mixture){ 0 };
	for (size_t j = 0; j < MOST_SCALES; j++) {
		const double scale = FIRST_JUMP * pow(JUMP_FACTOR, (double)j);

		if (j && scale > most)
			break;
		m->variance[j] = square_number(scale);
		m->rate[j] = FIRST_JUMPS / span;
		m->scales++;
	}
}

/* Return the share of increments of scale @j over a length. */
static double compute_scale_share(const struct scale_mixture *m, size_t j, double length)
{
	return fmin(m->rate[j] * length, MOST_SHARE / (double)m->scales);
}

/* Return the share of increments of no scale over a length. */
static double compute_quiet_share(const struct scale_mixture *m, double length)
{
	double none = 1;

	for (size_t j = 0; j < m->scales; j++)
		none -= compute_scale_share(m, j, length);
	return none;
}

/* Return the log density of a normal at the cavity's mean, up to a constant. */
static double compute_log_evidence(const struct increment_cavity *c, double variance)
{
	return -0.5 * (log(variance) + square_number(c->mean) / variance);
}

/* Compute the responsibility of no scale, weight[0], and of each scale. */
static void weigh_scales(const struct scale_mixture *m, const struct increment_cavity *c,
			 double weight[MOST_SCALES + 1])
{
	double best, all = 0;

	weight[0] = log(compute_quiet_share(m, c->length)) +
		    compute_log_evidence(c, c->base + c->variance);
	best = weight[0];
	for (size_t j = 0; j < m->scales; j++) {
		weight[j + 1] = log(compute_scale_share(m, j, c->length)) +
				compute_log_evidence(c, c->base + m->variance[j] + c->variance);
		best = fmax(best, weight[j + 1]);
	}
	for (size_t j = 0; j <= m->scales; j++) {
		weight[j] = exp(weight[j] - best);
		all += weight[j];
	}
	for (size_t j = 0; j <= m->scales; j++)
		weight[j] /= all;
}

bool mixture_is_quiet(const struct scale_mixture *m, double variance)
{
	/* This limit is as far below the smallest scale as the next scale is above it. */
	return variance < m->variance[0] * m->variance[0] / m->variance[1];
}

double mixture_compute_log_share(const struct scale_mixture *m, double length, double variance)
{
	size_t j = 0;

	if (mixture_is_quiet(m, variance))
		return log(compute_quiet_share(m, length));
	while (j + 1 < m->scales && variance > sqrt(m->variance[j] * m->variance[j + 1]))
		j++;
	return log(compute_scale_share(m, j, length));
}

double mixture_match_moments(struct scale_mixture *m, const struct increment_cavity *c,
			     double *quiet)
{
	double weight[MOST_SCALES + 1], rest = 0, kept = 0;

	weigh_scales(m, c, weight);
	for (size_t j = 0; j <= m->scales; j++) {
		const double share = weight[j];
		const double v = c->base + (j ? m->variance[j - 1] : 0);

		if (j)
			m->sum[j - 1] += share;
		if (share < LEAST_RESPONSIBILITY)
			continue;
		rest += share * c->variance / (v + c->variance);
		kept += share * v / (v + c->variance);
	}
	*quiet = weight[0];
	return c->variance * kept / rest;
}

void mixture_learn(struct scale_mixture *m, double span)
{
	for (size_t j = 0; j < m->scales; j++) {
		m->rate[j] = (m->sum[j] + PRIOR_INCREMENTS) / span;
		m->sum[j] = 0;
	}
}
