/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the estimator of one host, which its stages work on. */
#ifndef NETSYNC_CURVE_STATE_H
#define NETSYNC_CURVE_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "curve/initial-fit.h"
#include "curve/observations.h"

/* Messages of either direction that more than a line is fitted to. Chosen. */
#define MIN_MESSAGES 32
/* The same, of all thin links together. Chosen. */
#define MIN_POOLED 8

/* Delays improved if the mean delay fell by this factor. Chosen. */
#define IMPROVED 0.8
/*
 * Slope of a curve that has diverged. Beside a phase step of seconds that is not
 * placed well it may be 10 for a moment. Chosen.
 */
#define STEEPEST 100

struct host_fit {
	struct correction *correction;
	struct observations obs;
	struct initial_fit initial;
	double drift;	    /* largest drift of the oscillator, 1 / ns */
	struct spline best; /* so far; no coefs: there is none */
	double *margin;	    /* of each link, with that curve, ns */
	double delay;	    /* mean delays that it was fitted with, ns */
	double cost;	    /* of that curve, in log likelihood */
	size_t intervals;   /* of that curve */
	/* Curves on either side of a change point are independent. */
	bool one_sided;
	bool improved; /* delays became shorter in the last round */
};

/* The best curve so far, or the initial fit; a curve_fn for a struct host_fit. */
double host_fit_at(void *host_fit, double t);

/* Set residuals against a curve; against the initial fit if it has no coefs. */
void host_fit_set_residuals(struct host_fit *k, const struct spline *s);

/*
 * The same, and is the curve so far from the observations that its fit has diverged? Scores
 * are linear: where messages press more than constraints hold, likelihood has no limit, so
 * that it cannot tell.
 */
bool host_fit_strayed(struct host_fit *k, const struct spline *s);

/*
 * Set the mean delays beyond the best curve, or the initial fit, and what
 * delays_find_minima() does; return what that returns.
 */
int host_fit_update_delays(struct host_fit *k);

/* Mean delays of all directions together, beyond the smallest, ns. */
double host_fit_mean_delay(const struct host_fit *k);

/*
 * The same of a link, ns, beside what a curve with so many degrees of freedom explains by chance
 * alone: delays are told by groups of messages.
 */
double host_fit_mean_delay_beyond(const struct host_fit *k, double freedom);

/* Bins of the direction that has fewer. */
size_t host_fit_fewest_bins(const struct host_fit *k);

#endif
