/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The likelihood fit: soft constraints and scores go in, the most likely
 * correction of one host (a spline) and minimum delays (one margin for each
 * link) come out. See fit.c for the objective.
 *
 *	y	  v   v      v  v	limits from above: the host sent
 *	|	    v    v  v	   v
 *	| ------ correction ---------	margin away from the limits
 *	|	   ^  ^     ^   ^
 *	+	 ^      ^     ^		limits from below: the host received
 */
#ifndef NETSYNC_CURVE_FIT_H
#define NETSYNC_CURVE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/band.h"
#include "curve/observations.h"
#include "curve/spline.h"

/* An observation that the correction shall keep a margin away from. */
struct soft_constraint {
	double u;     /* place of its time in the interval, see struct cubic */
	double y;     /* the limit, ns */
	double sharp; /* 1 / scale of the logistic penalty, 1 / ns */
	/* At the correction whose cost was computed last: */
	double z;    /* -slack / scale */
	double tail; /* exp(-|z|) */
	uint32_t interval;
	uint32_t link : 31;
	uint32_t side : 1; /* ABOVE or BELOW */
};

struct fit {
	struct spline curve;
	double *margin; /* minimum delay of each link, ns */
	size_t links;
	struct soft_constraint *constraint;
	size_t num_constraints;
	size_t constraint_room;
	double *scale; /* of the constraints of each link, ns */
	/*
	 * Gradient of the sum of all slacks / mean excess delay, by the
	 * coefficients and by the margins, 1 / ns.
	 */
	double *score;
	double *margin_score;
	bool cut;      /* less than all messages make, see constraints.c */
	double *mean;  /* excess delay of each direction, ns */
	double *dense; /* messages of it in an interval */
	/* Messages in a spline interval of each link, relative to the mean. */
	double *density;
	bool straight; /* a straight line is wanted */
	/*
	 * Standard deviation of the change of a skew within a second, by the
	 * oscillator alone: the prior (random-walk frequency modulation, IEEE
	 * Std 1139).
	 */
	double skew_walk;
	/*
	 * Instead, of each three neighbouring coefficients: the variance of the change of
	 * slope there. NULL: that of an oscillator.
	 */
	const double *change_variance;
};

/*
 * The weight that the prior gives to half of the square of a bend, which stands for
 * @length ns. @skew_walk: see above.
 */
double fit_prior(double length, double skew_walk);

/*
 * Start at the least-squares middle of all constraints: 0 or -ENOMEM.
 * *residual: their mean distance from it, ns.
 */
int fit_start(struct fit *f, double *residual);

/*
 * Find the most likely curve and margins, with scales @stretch times as wide as
 * they shall be: 0 or -ENOMEM. *cost: the negative logarithm of the likelihood.
 */
int fit_solve(struct fit *f, double stretch, int max_steps, double *cost);

/* Set the most likely margins of a curve that stays as it is. */
void fit_margins(struct fit *f);

/*
 * Cholesky's factor of the curvature of the objective at a curve, of each row the
 * diagonal and what is left of it; the margins as they are. 0 or -ENOMEM.
 */
int fit_factor(struct fit *f, double (*factor)[BAND]);

#endif
