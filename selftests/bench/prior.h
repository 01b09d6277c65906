/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The prior of a simulated clock, before any message: a sum of functions of time with
 * normal weights (a Gaussian process), whose covariance is that of the simulation.
 */
#ifndef PRIOR_H
#define PRIOR_H

#include <stdbool.h>

#include "cluster.h"

/* Functions for the offset, slope and ramp of a clock. Host 0 has none. */
#define PRIOR_LINE 3
/* Maximum number of functions of a clock. For sinusoids, a day takes about 430. */
#define PRIOR_FUNCTIONS 500
/*
 * Maximum number of frequencies of a sinusoid, and of terms of the series of frequency
 * modulation.
 */
#define PRIOR_FREQUENCIES 600
#define PRIOR_TERMS 160
/* Standard deviation of an unknown weight, ns. It exceeds the curvature of clocks. */
#define PRIOR_UNKNOWN 1e7

struct prior {
	const struct cluster *cluster;
	double both; /* factor of the covariance: only differences of clocks are observed */
	int frequencies;
	double omega[PRIOR_FREQUENCIES];   /* 1 / ns */
	double power[PRIOR_FREQUENCIES];   /* variance of its sine, ns^2 */
	double term[PRIOR_TERMS];	   /* variance of each term, ns^2 */
	int functions;			   /* number for each clock, with PRIOR_LINE */
	double precision[PRIOR_FUNCTIONS]; /* of the weights of these functions, 1 / variance */
	int cells;			   /* number of cells of the span */
	double *table;			   /* (cells + 1) x functions, at ends of cells */
};

/* Return false if out of memory, or if a clock has too many functions. */
bool prior_make(struct prior *pr, const struct cluster *c);
void prior_release(struct prior *pr);

/* Compute all functions at a time (ns from the start). */
void prior_evaluate(const struct prior *pr, double t, double *f);

#endif
