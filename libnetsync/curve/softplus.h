/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of a soft constraint: log(1 + exp(x)). */
#ifndef NETSYNC_CURVE_SOFTPLUS_H
#define NETSYNC_CURVE_SOFTPLUS_H

#include <math.h>
#include <stdbool.h>

/* |x| beyond which exp(-|x|) is below 1e-8, and taken as 0 in fits. */
#define NEGLIGIBLE 20
/* Least part of the upper bound's curvature used in a Newton step. Chosen. */
#define CAUTION 0.02

/* @x: distance of a curve beyond its limit, in scales of the constraint. */
static inline double softplus(double x)
{
	/* |x| beyond which exp(-|x|) is below 1e-13, and taken as 0. */
	const double negligible = 30;

	return x > negligible ? x : x < -negligible ? 0 : log1p(exp(x));
}

/* Derivatives of the cost by x. */
struct softplus_slopes {
	double first;
	double second; /* as used in Newton's method, see fit.c */
};

/* @tail: exp(-|x|); @cautious: by the quadratic upper bound. */
static inline struct softplus_slopes softplus_slopes(double x, double tail, bool cautious)
{
	double inverse = 1 / (1 + tail), size = fabs(x);
	double safe = size < 1e-3 ? 0.25 : (1 - tail) * inverse / (2 * size);
	double p = (x > 0 ? 1 : tail) * inverse;

	return (struct softplus_slopes){
		.first = p,
		.second = cautious || x > 0 ? safe : fmax(p * (1 - p), CAUTION * safe),
	};
}

#endif
