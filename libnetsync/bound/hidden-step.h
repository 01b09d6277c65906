/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Phase steps that no message contradicts. A clock that is stepped by less than the smallest
 * delays of both directions together inverts no message: clocks that are not stepped satisfy all.
 * But from one message to the next, one direction becomes quicker by the step, and the other one
 * slower. The messages before then leave less than usual to those after, and as much as usual to
 * each other.
 */
#ifndef NETSYNC_BOUND_HIDDEN_STEP_H
#define NETSYNC_BOUND_HIDDEN_STEP_H

#include "bound/left-out.h"
#include "bound/windows.h"

/*
 * Add windows of the phase steps that no window includes. @steepest: the largest slope of f
 * without a step; @least: what messages of both directions leave to a clock between them, ns, as
 * far as corrections say; of few messages, more is usual. @coarse: what stamps may be off by, ns.
 * 0 or -ENOMEM. O(messages).
 */
int hidden_steps_find(struct windows *to, const struct limits_of_way l[2], double steepest,
		      double least, double coarse);

#endif
