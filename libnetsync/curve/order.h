/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Model order selection: the correction of a host is fitted with more and more
 * spline intervals, and the number wins that the likelihood pays for.
 */
#ifndef NETSYNC_CURVE_ORDER_H
#define NETSYNC_CURVE_ORDER_H

#include <stddef.h>

#include "curve/fit.h"
#include "curve/state.h"

/*
 * Fit with a number of intervals; 0: a straight line. *cost: see fit_solve(). 0
 * or -ENOMEM; constraints_fit_free() it in any case.
 */
int order_fit(struct host_fit *k, struct fit *f, size_t intervals, double *cost);

/*
 * Set a fit up where the best curve is, which constraints as they are wanted move little.
 * Residuals are beyond that curve. As order_fit().
 */
int order_begin_at_best(const struct host_fit *k, struct fit *f, size_t intervals);

/* The curve of a fit becomes the best. */
void order_keep(struct host_fit *k, struct fit *f, size_t intervals, double cost);

/* Select the number of intervals, and fit the curve: 0 or -ENOMEM. */
int order_choose(struct host_fit *k);

#endif
