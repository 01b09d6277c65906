/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is assumed of the bends of a curve whose rate may change at once anywhere: each has a
 * variance of its own, which is learned from the messages in rounds.
 */
#ifndef NETSYNC_CURVE_BEND_VARIANCE_H
#define NETSYNC_CURVE_BEND_VARIANCE_H

#include "curve/uncertainty.h"

/* Rounds, of a fit and what is learned from it. Chosen: later ones change little. */
#define BEND_VARIANCE_ROUNDS 20

/* Set the variances of all bends of a curve to those of the first round. */
void bend_variances_begin(double *variance, const struct spline *s);

/* Set them to those of the next round, by what a fit made of @num bends. */
void bend_variances_learn(double *variance, const struct slope_change *change, size_t num);

/* Effective degrees of freedom of a curve with so many bends. */
double bend_variances_freedom(const double *variance, const struct slope_change *change,
			      size_t num);

/* Scale of a constraint where the curve has such a standard @deviation, ns. */
double bend_variances_scale(double deviation);

#endif
