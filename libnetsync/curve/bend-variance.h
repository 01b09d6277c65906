/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The prior of the bends of a curve whose rate may change at any instant: each bend has its own
 * variance, which is learned from the messages in rounds.
 */
#ifndef NETSYNC_CURVE_BEND_VARIANCE_H
#define NETSYNC_CURVE_BEND_VARIANCE_H

#include "curve/uncertainty.h"

/* Number of rounds of a fit and an update of the variances. Chosen: later rounds change little. */
#define BEND_VARIANCE_ROUNDS 20

/* Set the variances of all bends of a curve to their initial values. */
void bend_variances_begin(double *variance, const struct spline *s);

/* Set the variances for the next round from @num bends of the current fit. */
void bend_variances_learn(double *variance, const struct slope_change *change, size_t num);

/* Return the effective degrees of freedom of a curve with @num bends. */
double bend_variances_freedom(const double *variance, const struct slope_change *change,
			      size_t num);

/* Return the scale of a constraint where the curve's standard deviation is @deviation, ns. */
double bend_variances_scale(double deviation);

#endif
