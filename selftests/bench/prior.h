/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of a simulated clock before any message: it is a sum of functions of time
 * with normal weights (a Gaussian process), whose covariance is that of the simulation.
 */
#ifndef PRIOR_H
#define PRIOR_H

#include <stdbool.h>

#include "cluster.h"

/* Offset, slope and ramp of a clock; host 0 has none. */
#define PRIOR_LINE 3
/* Functions of a clock at most: of sinusoids a day takes some 430. */
#define PRIOR_FUNCTIONS 500
/* Frequencies of a sinusoid at most, and terms of the series of frequency modulation. */
#define PRIOR_FREQUENCIES 600
#define PRIOR_TERMS 160
/* Deviation of a weight that nothing is known of, ns: more than clocks bend by. */
#define PRIOR_UNKNOWN 1e7

struct prior {
	const struct cluster *cluster;
	double both;		/* of a covariance: of two clocks only the difference is seen */
	int frequencies;
	double omega[PRIOR_FREQUENCIES];	/* 1 / ns */
	double power[PRIOR_FREQUENCIES];	/* variance of its sine, ns^2 */
	double term[PRIOR_TERMS];		/* variance of each, ns^2 */
	int functions;		/* of each clock, the first ones PRIOR_LINE */
	double precision[PRIOR_FUNCTIONS];	/* of their weights, 1 / variance */
	int cells;		/* of the span */
	double *table;		/* (cells + 1) x functions, at ends of cells */
};

/* False: there is no memory, or a clock has too many functions. */
bool prior_make(struct prior *pr, const struct cluster *c);
void prior_release(struct prior *pr);

/* All functions at a time (ns from the start). */
void prior_at(const struct prior *pr, double t, double *f);

#endif
