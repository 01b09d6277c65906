/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The robust initial fit of a host's correction, by medians, which outliers do
 * not move: where everything else begins.
 */
#ifndef NETSYNC_CURVE_INITIAL_FIT_H
#define NETSYNC_CURVE_INITIAL_FIT_H

#include "curve/observations.h"

/* A piecewise linear curve, from the middle of one window to the next. */
struct initial_fit {
	double *t; /* ns */
	double *y; /* ns */
	size_t num;
	size_t last; /* piece that was asked for last: a guess */
};

/*
 * Find it, and move its straight part from the observations to the correction:
 * 0 or -ENOMEM. Release in any case.
 */
int initial_fit_find(struct initial_fit *r, struct observations *p, struct correction *c);
void initial_fit_release(struct initial_fit *r);

/* A curve_fn. */
double initial_fit_at(void *initial_fit, double t);

#endif
