/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the observations of a host to a likelihood fit that can be solved. */
#ifndef NETSYNC_CURVE_CONSTRAINTS_H
#define NETSYNC_CURVE_CONSTRAINTS_H

#include <stddef.h>

#include "curve/fit.h"
#include "curve/state.h"

/* Parts of a spline interval that have constraints of their own. Chosen. */
#define CONSTRAINT_SUBINTERVALS 16

/*
 * The score of a subinterval is at most this part of what its constraints hold,
 * 1 / scale each: with more than all of it the objective has no minimum. Without
 * excess it is a hundredth. Chosen.
 */
#define CONSTRAINT_HOLD 0.5

/* Intervals of the spline, with those that change points make. */
size_t constraints_spans(const struct host_fit *k, size_t intervals);

/* Allocate a fit with so many intervals: 0 or -ENOMEM; free in any case. */
int constraints_fit_new(struct fit *f, const struct host_fit *k, size_t intervals);
void constraints_fit_free(struct fit *f);

/* Set scores, scales and densities, from the bins that are left. */
void constraints_set_scores(struct fit *f, const struct host_fit *k, size_t intervals);

/* By how much a bin's messages, of a direction, drive the curve away from it, 1 / ns. */
double constraints_score(const struct fit *f, const struct host_fit *k, size_t dir,
			 const struct obs_bin *h);

/*
 * The score is larger in an interval with more messages than others (bulk
 * traffic): its constraints have a scale that is as much smaller, ns.
 */
double constraints_scale(const struct fit *f, size_t link, size_t interval);

/*
 * The observations of the smallest residuals become the constraints; the score
 * is cut to what these hold.
 */
void constraints_set(struct fit *f, const struct host_fit *k);

#endif
