/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instants at which a clock did what no oscillator does: its rate changed at
 * once (NTP), or it was set, or stood still (a machine that was paused).
 */
#ifndef NETSYNC_BREAKS_H
#define NETSYNC_BREAKS_H

#include "curve/observations.h"

#define MAX_BREAKS 4096

/*
 * Look for breaks besides those that the course has already, and add them to
 * it: in the points, or in what is @beyond a curve that is about right. @drift:
 * how fast a rate can change by itself, 1 / ns. Returns how many were found, or
 * -ENOMEM.
 */
int breaks_find(struct course *c, struct points *p, double drift, bool beyond,
		curve_fn curve, void *arg);

/* What the curves on either side of a break do there. */
struct ends {
	double level[2];
	double slope[2];
};

/*
 * Is a break rather two, so close that they look like one? Then b[0] and b[1]
 * become these. @margin: the smallest delay of each link; @reach: how far from
 * the break they can be, ns. Returns 1 or 0, or -ENOMEM.
 */
int breaks_split(struct brk b[2], const struct points *p, const double *margin,
		 const struct ends *e, double reach);

/*
 * Narrow down when the clock was set: every message that lies on the wrong
 * side of the line half-way through the jump tells that it was sent before or
 * after. @level, @slope: of that line, at the break.
 */
void breaks_place_jump(struct brk *b, const struct points *p, double level,
		       double slope);

#endif
