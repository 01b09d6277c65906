/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Change points of a clock: rate steps and phase steps (ITU-T G.810), which no
 * oscillator makes by itself, but time daemons, users, and pauses of virtual
 * machines do.
 */
#ifndef NETSYNC_CURVE_CHANGE_POINT_H
#define NETSYNC_CURVE_CHANGE_POINT_H

#include "curve/observations.h"

/* Change points of a host at most: bounds time. Chosen. */
#define MAX_CHANGE_POINTS 4096
/*
 * The largest rate step: from 500 ppm slow to 500 ppm fast (the limits of
 * Linux' adjtime), and half as much again.
 */
#define MAX_RATE_STEP 1.5e-3

/*
 * Detect change points besides those that the correction has already, and add
 * them to it, in the observations, or in the residuals of a curve that is about
 * right (@beyond). @drift: how fast a rate changes by itself, 1 / ns. Return:
 * how many were found, or -ENOMEM.
 */
int change_points_find(struct correction *c, struct observations *p, double drift, bool beyond,
		       curve_fn curve, void *arg);

/* Level (ns) and slope of the curves before and after a change point, at it. */
struct ends {
	double level[2];
	double slope[2];
};

/*
 * Is a change point rather two that look like one? Then b[0] and b[1] become
 * these. @margin: minimum delay of each link, ns; @radius: how far from it the
 * two can be, ns. Return: 1 or 0, or -ENOMEM.
 */
int change_point_split(struct change_point b[2], const struct observations *p, const double *margin,
		       const struct ends *e, double radius);

/*
 * Place a phase step: every message on the wrong side of the line half-way
 * through the step says that it was sent before, or after. @level (ns), @slope:
 * of that line, at the change point.
 */
void change_point_place_phase_step(struct change_point *b, const struct observations *p,
				   double level, double slope);

#endif
