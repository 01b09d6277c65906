/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A curve for clocks whose rate a daemon changes, as an alternative to a smooth one. */
#ifndef NETSYNC_CURVE_RATE_CHANGES_H
#define NETSYNC_CURVE_RATE_CHANGES_H

#include "curve/state.h"

/* Properties of the best smooth curve so far. */
struct smooth_fit {
	const double *margin; /* of each link, ns */
	double delay;	      /* mean delay beyond the margin, both directions together, ns */
	size_t rejected;      /* observations rejected */
};

/*
 * Fit a curve whose rate may change at any instant to all observations. Make it the best curve if
 * it explains more of them, and is more likely. *freedom: its effective degrees of freedom then;
 * unchanged otherwise. 0 or -ENOMEM.
 */
int rate_changes_fit(struct host_fit *k, const struct smooth_fit *smooth, double *freedom);

/*
 * Set the number of knot intervals of a curve whose rate may change at any instant: *coarse for the
 * first grid (0: too few observations to improve on a smooth curve), *fine for the finest one. 0 or
 * -ENOMEM.
 */
int rate_changes_intervals(const struct host_fit *k, size_t *coarse, size_t *fine);

/*
 * Copy those of @num change points of a smooth curve to @to at which the clock was stepped: with
 * @small, small steps, too; else only those that no change of rate can explain. All others are
 * detected again. Return the number copied.
 */
size_t rate_changes_keep_sets(struct change_point *to, const struct change_point *change,
			      size_t num, bool small);

#endif
