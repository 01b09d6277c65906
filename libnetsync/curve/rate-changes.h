/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A curve for clocks whose rate a daemon changes, in place of a smooth one. */
#ifndef NETSYNC_CURVE_RATE_CHANGES_H
#define NETSYNC_CURVE_RATE_CHANGES_H

#include "curve/state.h"

/* What is known of the best curve so far. */
struct smooth_fit {
	const double *margin; /* of each link, ns */
	double delay;	      /* mean beyond the margin, of both directions together, ns */
	size_t rejected;      /* observations */
};

/*
 * Fit a curve whose rate may change at once anywhere to all observations, and
 * keep it as the best if it explains more of them than the best so far, and is likelier.
 * *freedom: effective degrees of freedom of that; stays as it is otherwise. 0 or -ENOMEM.
 */
int rate_changes_fit(struct host_fit *k, const struct smooth_fit *smooth, double *freedom);

/*
 * Intervals of such a curve, by what is observed: of the grid that is tried first (0: too few to
 * say anything that a smooth curve does not), and of the finest one. 0 or -ENOMEM.
 */
int rate_changes_intervals(const struct host_fit *k, size_t *coarse, size_t *fine);

/*
 * *to: of @num change points of a smooth curve those at which the clock was set: by little, too
 * (@small), or only where no change of rate is an explanation. All else is found anew. How many.
 */
size_t rate_changes_keep_sets(struct change_point *to, const struct change_point *change,
			      size_t num, bool small);

#endif
