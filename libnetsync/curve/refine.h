/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A curve whose form is decided -> the one that is likeliest for its own oscillator. */
#ifndef NETSYNC_CURVE_REFINE_H
#define NETSYNC_CURVE_REFINE_H

#include "curve/state.h"

/*
 * Fit the best curve once more, if it is not straight, with as many intervals; sets skew_walk of
 * the correction. 0 or -ENOMEM.
 */
int refine(struct host_fit *k);

#endif
