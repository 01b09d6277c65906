/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A curve for clocks whose rate a daemon changes, in place of a smooth one. */
#ifndef NETSYNC_CURVE_RATE_CHANGES_H
#define NETSYNC_CURVE_RATE_CHANGES_H

#include "curve/state.h"

/* What is known of the best curve so far. */
struct smooth_fit {
	const double *margin; /* of each link, ns */
	double delay; /* mean beyond the margin, of both directions together, ns */
	size_t rejected; /* observations */
};

/*
 * Fit a curve whose rate may change at once anywhere to all observations, and
 * keep it as the best if it explains more of them than the best so far, and is likelier.
 * *freedom: effective degrees of freedom of that; stays as it is otherwise. 0 or -ENOMEM.
 */
int rate_changes_fit(struct host_fit *k, const struct smooth_fit *smooth,
		     double *freedom);

#endif
