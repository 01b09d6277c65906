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

/* An observation that the correction should keep a margin away from. */
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
	bool cut;      /* it was cut to what constraints balance, see constraints.c */
	double *mean;  /* excess delay of each direction, ns */
	double *dense; /* messages of each direction in a knot interval */
	/* Messages in a spline interval of each link, relative to the mean. */
	double *density;
	bool straight; /* the curve is to be a straight line */
	/*
	 * Prior: standard deviation of the change of a skew within a second caused by the
	 * oscillator alone (random-walk frequency modulation, IEEE Std 1139).
	 */
	double skew_walk;
	/*
	 * The variance of the change of slope between each three neighbouring coefficients, in
	 * place of that prior. NULL: use the prior.
	 */
	const double *change_variance;
};

/*
 * Return the prior's weight of half of the square of a bend over @length ns. @skew_walk: see above.
 */
double fit_prior(double length, double skew_walk);

/*
 * Start at the least-squares middle of all constraints: 0 or -ENOMEM. *residual: mean distance of
 * the constraints from it, ns.
 */
int fit_start(struct fit *f, double *residual);

/*
 * Find the most likely curve and margins, with all scales multiplied by @stretch: 0 or -ENOMEM.
 * *cost: the negative logarithm of the likelihood.
 */
int fit_solve(struct fit *f, double stretch, int max_steps, double *cost);

/* Set the most likely margins without changing the curve. */
void fit_margins(struct fit *f);

/*
 * Compute the Cholesky factor of the curvature of the objective at a curve, with margins fixed.
 * Each row stores the diagonal element and the elements to the left of it. 0 or -ENOMEM.
 */
int fit_factor(struct fit *f, double (*factor)[BAND]);

#endif
