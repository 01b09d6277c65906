/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far the windows of phase steps reach. Where a clock was set by J, a message that
 * takes less than J is inverted by the curve on the wrong side of it, and so tells on
 * which side it is; one that takes longer does not. The uncertainty of a change point
 * says how well curves place it; where they invert messages in its window, they are wrong
 * about it, and it may be anywhere up to the nearest messages that tell.
 */
#ifndef NETSYNC_BOUND_REACH_H
#define NETSYNC_BOUND_REACH_H

#include "bound/left-out.h"
#include "bound/windows.h"

/* Widen the windows of phase steps, by the limits of both ways. */
void reach_phase_steps(struct windows *w, const struct limits_of_way l[2]);

#endif
