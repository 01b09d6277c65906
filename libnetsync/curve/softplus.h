/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of a soft constraint: log(1 + exp(x)). */
#ifndef NETSYNC_CURVE_SOFTPLUS_H
#define NETSYNC_CURVE_SOFTPLUS_H

#include <math.h>

/* @x: how far beyond its limit a curve is, in scales of the constraint. */
static inline double softplus(double x)
{
	/* An |x| beyond which exp(-|x|) is below 1e-13, and taken as 0. */
	const double negligible = 30;

	return x > negligible ? x : x < -negligible ? 0 : log1p(exp(x));
}

#endif
