/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The prior of a simulated clock, before any message: a sum of functions of time with
 * normal weights (a Gaussian process), whose covariance is that of the simulation.
 */
#ifndef PRIOR_H
#define PRIOR_H

#include <stdbool.h>

#include "cluster.h"

/* Offset, slope and ramp of a clock; host 0 has none. */
#define PRIOR_LINE 3
/* Maximum functions of a clock: for sinusoids, a day takes some 430. */
#define PRIOR_FUNCTIONS 500
/* Maximum frequencies of a sinusoid, and terms of the series of frequency modulation. */
#define PRIOR_FREQUENCIES 600
#define PRIOR_TERMS 160
/* Deviation of an unknown weight, ns: larger than the curvature of clocks. */
#define PRIOR_UNKNOWN 1e7

struct prior {
	const struct cluster *cluster;
	double both; /* covariance: only differences of clocks are observed */
	int frequencies;
	double omega[PRIOR_FREQUENCIES];   /* 1 / ns */
	double power[PRIOR_FREQUENCIES];   /* variance of its sine, ns^2 */
	double term[PRIOR_TERMS];	   /* variance of each, ns^2 */
	int functions;			   /* of each clock, starting with PRIOR_LINE */
	double precision[PRIOR_FUNCTIONS]; /* of their weights, 1 / variance */
	int cells;			   /* of the span */
	double *table;			   /* (cells + 1) x functions, at ends of cells */
};

/* False: out of memory, or a clock has too many functions. */
bool prior_make(struct prior *pr, const struct cluster *c);
void prior_release(struct prior *pr);

/* All functions at a time (ns from the start). */
void prior_at(const struct prior *pr, double t, double *f);

#endif
