/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Placing the change points of a host by its curves. */
#ifndef NETSYNC_CURVE_PLACEMENT_H
#define NETSYNC_CURVE_PLACEMENT_H

#include "curve/state.h"

/*
 * Fit the curve with the detected change points, place them, and remove those that are not change
 * points: 0 or -ENOMEM.
 */
int placement_settle(struct host_fit *k);

/* Return the expected error of a curve in the middle of a knot interval: mean / n, ns. */
double placement_expected_error(const struct host_fit *k, const struct spline *s);

#endif
