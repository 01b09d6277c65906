/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Change points of a clock: rate steps and phase steps (ITU-T G.810). Oscillators do not make them,
 * but time daemons, users and pauses of virtual machines do.
 */
#ifndef NETSYNC_CURVE_CHANGE_POINT_H
#define NETSYNC_CURVE_CHANGE_POINT_H

#include "curve/observations.h"

/* Maximum number of change points of a host; limits time. Chosen. */
#define MAX_CHANGE_POINTS 4096
/*
 * The largest rate step: from 500 ppm slow to 500 ppm fast (the limits of Linux' adjtime), plus
 * half as much.
 */
#define MAX_RATE_STEP 1.5e-3

/*
 * Detect change points besides those of the correction, and add them to it. Search the observations
 * or, with @beyond, the residuals of an approximate curve. @drift: largest drift of an oscillator,
 * 1 / ns. Return the number of change points found, or -ENOMEM.
 */
int change_points_find(struct correction *c, struct observations *p, double drift, bool beyond,
		       curve_fn curve, void *arg);

/* Level (ns) and slope of the curves before and after a change point, at the change point. */
struct ends {
	double level[2];
	double slope[2];
};

/*
 * Is a change point more likely two? If so, set b[0] and b[1] to them. @margin: minimum delay of
 * each link, ns; @radius: largest distance of the two from the detected one, ns. Return 1 or 0, or
 * -ENOMEM.
 */
int change_point_split(struct change_point b[2], const struct observations *p, const double *margin,
		       const struct ends *e, double radius);

/*
 * Place a phase step: a message on the wrong side of the line half-way through the step was sent
 * before the step, or after it. @level (ns), @slope: of the line, at the change point.
 */
void change_point_place_phase_step(struct change_point *b, const struct observations *p,
				   double level, double slope);

#endif
