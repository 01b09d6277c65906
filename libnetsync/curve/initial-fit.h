/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The robust initial fit of a host's correction: it uses medians, which outliers do not move. All
 * other steps begin from it.
 */
#ifndef NETSYNC_CURVE_INITIAL_FIT_H
#define NETSYNC_CURVE_INITIAL_FIT_H

#include "curve/observations.h"

/* A piecewise linear curve between the middles of successive windows. */
struct initial_fit {
	double *t; /* ns */
	double *y; /* ns */
	size_t num;
	size_t last; /* last piece that was evaluated, where the next search begins */
};

/*
 * Find the initial fit, and move its straight part from the observations to the correction: 0 or
 * -ENOMEM. Release it in any case.
 */
int initial_fit_find(struct initial_fit *r, struct observations *p, struct correction *c);
void initial_fit_release(struct initial_fit *r);

/* Evaluate the fit at @t; a curve_fn. */
double initial_fit_at(void *initial_fit, double t);

#endif
