/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The accuracy of a fitted curve. */
#ifndef NETSYNC_CURVE_UNCERTAINTY_H
#define NETSYNC_CURVE_UNCERTAINTY_H

#include "curve/fit.h"

/* The change of slope at three neighbouring coefficients. */
struct slope_change {
	double slope;	 /* change of slope */
	double variance; /* its variance */
	double length;	 /* time, ns; 0: a change point, where the slope is free */
};

/*
 * Compute accuracies from the curvature of the objective: *deviation of the curve in the middle of
 * each interval, ns; *change at each three coefficients. 0 or -ENOMEM.
 */
int uncertainty_find(struct fit *f, double *deviation, struct slope_change *change);

/* Compute the accuracies of a curve from the Cholesky factor of its curvature. */
int uncertainty_of_factor(const struct spline *s, double (*factor)[BAND], double *deviation,
			  struct slope_change *change);

#endif
