/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Observations of a host -> a likelihood fit that can be solved. */
#ifndef NETSYNC_CURVE_CONSTRAINTS_H
#define NETSYNC_CURVE_CONSTRAINTS_H

#include <stddef.h>

#include "curve/fit.h"
#include "curve/state.h"

/* Number of parts of a knot interval that have constraints of their own. Chosen. */
#define CONSTRAINT_SUBINTERVALS 16

/*
 * Largest score of a subinterval, as a part of what its constraints can balance, which is 1 / scale
 * each. If the score exceeded all of it, the objective would have no minimum. Without excess delays
 * the part is a hundredth. Chosen.
 */
#define CONSTRAINT_HOLD 0.5

/* Return the number of knot intervals, including those that change points add. */
size_t constraints_spans(const struct host_fit *k, size_t intervals);

/* Allocate a fit with @intervals intervals: 0 or -ENOMEM. Free it in any case. */
int constraints_fit_new(struct fit *f, const struct host_fit *k, size_t intervals);
void constraints_fit_free(struct fit *f);

/* Set scores, scales and densities from the bins that were not rejected. */
void constraints_set_scores(struct fit *f, const struct host_fit *k, size_t intervals);

/*
 * Return the gradient by which the messages of a bin of a direction drive the curve away from them,
 * 1 / ns.
 */
double constraints_score(const struct fit *f, const struct host_fit *k, size_t dir,
			 const struct obs_bin *h);

/*
 * Return the scale of constraints, ns. An interval with more messages than others (bulk traffic)
 * has a larger score, and a scale smaller by the same factor.
 */
double constraints_scale(const struct fit *f, size_t link, size_t interval);

/*
 * Make the observations of the smallest residuals constraints, and cut the score to what these can
 * balance.
 */
void constraints_set(struct fit *f, const struct host_fit *k);

#endif
