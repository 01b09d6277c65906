// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sparse Bayesian learning (M. E. Tipping, "Sparse Bayesian learning and the relevance vector
 * machine", JMLR 1, 2001). The likeliest variance v of a bend b, which messages determine with a
 * variance of s^2, is a fixed point of D. J. C. MacKay's step ("Bayesian interpolation", Neural
 * Computation 4(3), 1992) and of one of expectation maximization:
 *
 *	v = (b^2 + nu q) / (1 - s^2 / v + nu),	v = (b^2 + s^2 + nu q) / (1 + nu)
 *
 * where q is the variance of a free-running oscillator, and nu the weight of that prior. The first
 * step is fast, but permanently shrinks bends that cannot yet be distinguished from their
 * neighbours, or from those of other hosts; the second takes many rounds. Their geometric mean
 * finds all change points.
 */
#include <math.h>

#include "curve/bend-variance.h"

/*
 * Standard deviation of the change of an oscillator's skew (a ratio) within a second. Allan
 * deviations of about 1e-9 at 1,000 s and the temperature of a room lead to it (IEEE Std 1139).
 */
#define QUARTZ_WALK 5e-10
/* Standard deviation in the first round: 20 ppm, the steps that daemons take. Chosen. */
#define FIRST_WALK 2e-5
/*
 * nu, the weight of the oscillator, in observations of each bend. Chosen: 0.01 and 0.1 give the
 * same errors.
 */
#define BELIEF 0.03
/*
 * Exponent of the step of expectation maximization in the geometric mean. Chosen by the steered
 * cases of bench-truth: with 0, errors of ten hosts under chronyd are 2.5 times as large; with 1,
 * errors of two hosts are 1.5 times as large.
 */
#define SLOW 0.7
/*
 * Scale of constraints, in standard deviations of the curve. Chosen: with 0.5 the fit of a smeared
 * clock diverges; with 1 errors are the same.
 */
#define SCALE 0.7
/* Smallest scale, ns: the resolution of times. */
#define MIN_SCALE 1.0

/* Return the variance of the slope that a random walk adds over @length (ns). */
static double variance_of_walk(double walk, double length)
{
	return walk * walk * length / SECOND;
}

void bend_variances_begin(double *variance, const struct spline *s)
{
	for (size_t i = 0; i + 2 < s->coefs; i++)
		variance[i] = variance_of_walk(FIRST_WALK, bend_at(s, i).length);
}

void bend_variances_learn(double *variance, const struct slope_change *change, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		const struct slope_change *c = &change[i];
		double square = c->slope * c->slope +
				BELIEF * variance_of_walk(QUARTZ_WALK, c->length);
		double known = 1 - c->variance / variance[i];
		double slow = (square + c->variance) / (1 + BELIEF);
		/* If nothing determines a bend, only the slow step shrinks its variance. */
		double fast = fmin(square / (fmax(known, 0) + BELIEF), slow);

		if (c->length)
			variance[i] = pow(fast, 1 - SLOW) * pow(slow, SLOW);
	}
}

double bend_variances_freedom(const double *variance, const struct slope_change *change, size_t num)
{
	double sum = 2;

	for (size_t i = 0; i < num; i++)
		sum += change[i].length ? fmax(1 - change[i].variance / variance[i], 0) : 1;
	return sum;
}

double bend_variances_scale(double deviation)
{
	return fmax(SCALE * deviation, MIN_SCALE);
}
