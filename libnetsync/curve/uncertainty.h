/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How well a fitted curve is known. */
#ifndef NETSYNC_CURVE_UNCERTAINTY_H
#define NETSYNC_CURVE_UNCERTAINTY_H

#include "curve/fit.h"

/* How the slope changes at three neighbouring coefficients. */
struct slope_change {
	double slope;	 /* by so much */
	double variance; /* how well that is known */
	double length;	 /* of time, ns; 0: a change point, where it is free */
};

/*
 * By the curvature of the objective: *deviation of the curve in the middle of each
 * interval, ns; *change at each three coefficients. 0 or -ENOMEM.
 */
int uncertainty_find(struct fit *f, double *deviation, struct slope_change *change);

/* The same of a curve, the Cholesky factor of whose curvature is known. */
int uncertainty_of_factor(const struct spline *s, double (*factor)[BAND], double *deviation,
			  struct slope_change *change);

#endif
