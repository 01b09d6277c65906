/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Placing the change points of a host by its curves. */
#ifndef NETSYNC_CURVE_PLACEMENT_H
#define NETSYNC_CURVE_PLACEMENT_H

#include "curve/state.h"

/*
 * Fit the curve with the change points that were detected, place them, and
 * remove those that are none: 0 or -ENOMEM.
 */
int placement_settle(struct host_fit *k);

/* The expected error of a curve in the middle of an interval: mean / n, ns. */
double placement_expected_error(const struct host_fit *k, const struct spline *s);

#endif
