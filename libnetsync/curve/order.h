/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Model order selection: fit the correction of a host with different numbers of knot intervals, and
 * keep the number that the likelihood justifies.
 */
#ifndef NETSYNC_CURVE_ORDER_H
#define NETSYNC_CURVE_ORDER_H

#include <stddef.h>

#include "curve/fit.h"
#include "curve/state.h"

/*
 * Fit with a number of intervals; 0: a straight line. *cost: see fit_solve(). 0 or -ENOMEM; call
 * constraints_fit_free() in any case.
 */
int order_fit(struct host_fit *k, struct fit *f, size_t intervals, double *cost);

/*
 * Set up a fit at the best curve, which constraints at their final scales move little. Residuals
 * are relative to that curve. Return as order_fit().
 */
int order_begin_at_best(const struct host_fit *k, struct fit *f, size_t intervals);

/* Make the curve of a fit the best curve. */
void order_keep(struct host_fit *k, struct fit *f, size_t intervals, double cost);

/* Select the number of intervals, and fit the curve: 0 or -ENOMEM. */
int order_choose(struct host_fit *k);

#endif
