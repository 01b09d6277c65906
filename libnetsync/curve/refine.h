/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refine a curve of fixed form to the one that is most likely for its own oscillator. */
#ifndef NETSYNC_CURVE_REFINE_H
#define NETSYNC_CURVE_REFINE_H

#include "curve/state.h"

/*
 * Fit the best curve again with the same number of intervals, unless it is straight; set skew_walk
 * of the correction. 0 or -ENOMEM.
 */
int refine(struct host_fit *k);

#endif
