/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the estimator of one host, shared by its stages. */
#ifndef NETSYNC_CURVE_STATE_H
#define NETSYNC_CURVE_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "curve/initial-fit.h"
#include "curve/observations.h"

/* Least number of messages in each direction for a curve that is not a line. Chosen. */
#define MIN_MESSAGES 32
/* Least number of messages of all thin links together. Chosen. */
#define MIN_POOLED 8

/* Delays improved if the mean delay fell by this factor. Chosen. */
#define IMPROVED 0.8
/*
 * Slope of a curve that has diverged. Near a badly placed phase step of seconds, the slope may
 * briefly be 10. Chosen.
 */
#define STEEPEST 100

struct host_fit {
	struct correction *correction;
	struct observations obs;
	struct initial_fit initial;
	double drift;	    /* largest drift of the oscillator, 1 / ns */
	struct spline best; /* best curve so far; no coefs: none */
	double *margin;	    /* margin of each link with the best curve, ns */
	double delay;	    /* mean delays with which it was fitted, ns */
	double cost;	    /* cost of the best curve, in log likelihood */
	size_t intervals;   /* knot intervals of the best curve */
	/* Curves on either side of a change point are independent. */
	bool one_sided;
	bool improved; /* delays became shorter in the last round */
};

/* Evaluate the best curve so far, or the initial fit; a curve_fn for a struct host_fit. */
double host_fit_at(void *host_fit, double t);

/* Set residuals relative to a curve, or to the initial fit if the curve has no coefs. */
void host_fit_set_residuals(struct host_fit *k, const struct spline *s);

/*
 * Set residuals relative to a curve. Is the curve so far from the observations that its fit has
 * diverged? The likelihood cannot answer this: scores are linear, and if they exceed what
 * constraints can balance, it has no limit.
 */
bool host_fit_strayed(struct host_fit *k, const struct spline *s);

/*
 * Set the mean delays relative to the best curve, or to the initial fit, and call
 * delays_find_minima(); return its result.
 */
int host_fit_update_delays(struct host_fit *k);

/* Return the mean delay of all directions together, beyond the smallest, ns. */
double host_fit_mean_delay(const struct host_fit *k);

/*
 * Return the mean delay of a link, ns, corrected for what a curve with @freedom degrees of freedom
 * explains by chance: delays are measured by groups of messages.
 */
double host_fit_mean_delay_beyond(const struct host_fit *k, double freedom);

/* Return the number of bins of the direction that has fewer. */
size_t host_fit_fewest_bins(const struct host_fit *k);

#endif
