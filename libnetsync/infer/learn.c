// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The process noise of one clock, learned from the smoother's posterior of each increment.
 *
 * Intensities increase by the fixed point of MacKay (D. J. C. MacKay, "Bayesian interpolation",
 * Neural Computation 4(3), 1992). They decrease by a geometric mean of MacKay's step and a step
 * of EM (R. H. Shumway, D. S. Stoffer, 1982). MacKay's step alone would remove all noise while
 * the state is still uncertain; EM alone would take hundreds of rounds. MacKay's step has less
 * weight while the increments have larger variances than the intensity alone: their scores then
 * say little about the intensity.
 */
#include <math.h>

#include "infer/internal.h"

/* Limits of the factor by which an intensity changes in a round. Chosen. */
#define MOST_RISE 10.0
#define MOST_FALL 0.3
/*
 * Maximum weight of MacKay's step in the geometric mean that lowers an intensity. It is multiplied
 * by the square root of the part of the information that the intensity has itself. Chosen by make
 * bench-truth: without the root, changes of the frequency are lost in noise that falls too slowly.
 */
#define FALL_SHARE 0.6
/* Minimum factor by which a step of EM lowers an intensity. Chosen. */
#define EM_FALL 0.1
/*
 * Weight of the old variance of an increment in the geometric mean of the old and the new one.
 * Chosen.
 */
#define KEEP 0.3
/*
 * Minimum information on an increment: the inverse of its variance, in 1/ns^2 for the phase.
 * Chosen: a phase step of 1e20 ns, which exceeds all 64-bit times, is possible.
 */
#define LEAST_INFORMATION 1e-40
/* Minimum fraction of an increment's variance that is not from its prior. Chosen. */
#define LEAST_PART 1e-6
/* Maximum variance of an increment, in variances of the largest scale. Chosen. */
#define WIDEST 4.0
/*
 * Standard deviation, ns, by which a minimum intensity deflects the phase over the whole span,
 * so that no intensity is 0. Chosen to be less than any posterior deviation.
 */
#define LEAST_DEFLECTION 0.1

/* Sums over all knot intervals: score^2 L, information L, its part, and the number of intervals. */
struct noise_sums {
	double square;
	double information;
	double own; /* the part of the information that concerns the intensity */
	double num;
};

/*
 * Add the score of an increment. @share is the probability that it is of no scale, and @own the part
 * of its prior variance that the intensity explains.
 */
static void add_score(struct noise_sums *s, const struct increment_score *i, double length,
		      double share, double own)
{
	s->square += share * length * i->gradient * i->gradient;
	s->information += share * length * i->information;
	s->own += share * length * i->information * own;
	s->num += share;
}

/*
 * Return the intensity q for which a random walk of component @i, integrated @i times, has the
 * variance LEAST_DEFLECTION^2 = q T^(2i+1) / (2i+1) / (i!)^2.
 */
static double compute_least_intensity(int i, double span)
{
	double per_intensity = span / (2 * i + 1);

	for (int k = 1; k <= i; k++)
		per_intensity *= span * span / (k * k);
	return LEAST_DEFLECTION * LEAST_DEFLECTION / per_intensity;
}

static double learn_intensity(double q, const struct noise_sums *s, double least)
{
	double factor = s->information > 0 ? s->square / s->information : 1;

	if (factor < 1 && s->num > 0) {
		const double fall = FALL_SHARE * sqrt(s->own / s->information);
		const double em = 1 + q * (s->square - s->information) / s->num;

		factor = pow(factor, fall) * pow(fmax(em, EM_FALL), 1 - fall);
	}
	factor = fmin(fmax(factor, MOST_FALL), MOST_RISE);
	return fmax(q * factor, least);
}

/* Return the cavity of an increment whose prior has @variance. */
static struct increment_cavity compute_cavity(const struct increment_score *s, double variance,
					      double length, double base)
{
	const double information = fmax(s->information, LEAST_INFORMATION);
	const double rest = fmax(1 - variance * s->information, LEAST_PART);

	return (struct increment_cavity){
		.length = length,
		.base = base,
		.mean = s->gradient / information,
		.variance = rest / information,
	};
}

/* Return a weighted geometric mean of two variances. @least keeps the logarithms finite. */
static double damp_variance(double before, double now, double least)
{
	return exp(KEEP * log(before + least) + (1 - KEEP) * log(now + least)) - least;
}

static void learn_bend_variance(struct chain *c, struct knot *k, double *quiet)
{
	const double base = c->intensity[STATE_FREQUENCY] * k->length;
	const struct increment_cavity cavity = compute_cavity(&k->score[STATE_FREQUENCY], k->bend,
							      k->length, base);
	const double variance = mixture_match_moments(&c->bends, &cavity, quiet);

	k->bend = fmin(damp_variance(k->bend, variance, 1e-30),
		       WIDEST * c->bends.variance[c->bends.scales - 1]);
}

double compute_white_noise(const struct chain *c, const struct knot *k)
{
	return c->intensity[STATE_PHASE] * k->length + k->bend * k->length * k->length / 12;
}

/* Return the cavity of the phase increment. Set *@white to its variance without a jump. */
static struct increment_cavity compute_jump_cavity(const struct chain *c, const struct knot *k,
						   double *white)
{
	*white = compute_white_noise(c, k);
	return compute_cavity(&k->score[STATE_PHASE], k->jump + *white, k->length, *white);
}

static void learn_jump_variance(struct chain *c, struct knot *k,
				const struct increment_cavity *cavity, double white, double *quiet)
{
	const double variance = fmax(mixture_match_moments(&c->jumps, cavity, quiet) - white, 0);

	k->jump = k->jump > 1 ? damp_variance(k->jump, variance, 1) : 0;
	k->jump = fmin(fmax(k->jump, 0), WIDEST * c->jumps.variance[c->jumps.scales - 1]);
}

void learn_increments(struct chain *c, struct knot *k, double *smooth)
{
	double white;
	const struct increment_cavity jump = compute_jump_cavity(c, k, &white);

	learn_bend_variance(c, k, &k->quiet);
	learn_jump_variance(c, k, &jump, white, smooth);
}

void learn_noise(struct chain *c)
{
	struct noise_sums sum[STATES] = { 0 };
	double span = 0;

	for (size_t n = 1; n < c->num; n++) {
		struct knot *k = &c->knot[n];
		double smooth;

		span += k->length;
		learn_increments(c, k, &smooth);
		add_score(&sum[STATE_PHASE], &k->score[STATE_PHASE], k->length, smooth, 1);
		add_score(&sum[STATE_FREQUENCY], &k->score[STATE_FREQUENCY], k->length, k->quiet,
			  fmin(c->intensity[STATE_FREQUENCY] * k->length / k->bend, 1));
		add_score(&sum[STATE_DRIFT], &k->score[STATE_DRIFT], k->length, 1, 1);
		add_score(&sum[STATE_JERK], &k->score[STATE_JERK], k->length, 1, 1);
	}
	if (!(span > 0))
		return;
	mixture_learn(&c->bends, span);
	mixture_learn(&c->jumps, span);
	for (int i = 0; i < STATES; i++)
		c->intensity[i] = learn_intensity(c->intensity[i], &sum[i],
						  compute_least_intensity(i, span));
}
