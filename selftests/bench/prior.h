/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The prior of a simulated clock, before any message is known: a sum of functions of time with
 * normally distributed weights (a Gaussian process). The covariance of the prior is that of the
 * simulation.
 */
#ifndef PRIOR_H
#define PRIOR_H

#include <stdbool.h>

#include "cluster.h"

/* Number of functions for the offset, slope and ramp of a clock. Host 0 has none of them. */
#define PRIOR_LINE 3
/* Maximum number of functions of a clock. A day of sinusoids takes about 430 functions. */
#define PRIOR_FUNCTIONS 500
/*
 * Maximum number of frequencies of a sinusoid, and of terms of the series of frequency
 * modulation.
 */
#define PRIOR_FREQUENCIES 600
#define PRIOR_TERMS 160
/*
 * Standard deviation of a weight about which nothing is known, ns. This deviation exceeds the
 * curvature of clocks.
 */
#define PRIOR_UNKNOWN 1e7

struct prior {
	const struct cluster *cluster;
	double both; /* factor of the covariance, because only differences of clocks are observed */
	int frequencies;
	double omega[PRIOR_FREQUENCIES];   /* angular frequency of each sinusoid, 1 / ns */
	double power[PRIOR_FREQUENCIES];   /* variance of each sinusoid, ns^2 */
	double term[PRIOR_TERMS];	   /* variance of each term, ns^2 */
	int functions;			   /* functions of each clock, with PRIOR_LINE */
	double precision[PRIOR_FUNCTIONS]; /* 1 / variance of each function's weight */
	int cells;			   /* number of cells in the span */
	double *table;			   /* (cells + 1) x functions: values at cell ends */
};

/*
 * Make the prior for a cluster. Return false if memory is exhausted or a clock needs too many
 * functions.
 */
bool prior_make(struct prior *pr, const struct cluster *c);
void prior_release(struct prior *pr);

/* Evaluate all functions at a time (ns from the start). */
void prior_evaluate(const struct prior *pr, double t, double *f);

#endif
