/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Integer times to which times in doubles are added. */
#ifndef NETSYNC_UTIL_WHOLE_H
#define NETSYNC_UTIL_WHOLE_H

#include <math.h>
#include <stdint.h>

#include "netsync.h"

/* Limit of times, ns. Without it, nonsensical clocks could lead beyond all times. */
#define FARTHEST (2 * NETSYNC_MAX_SPAN)

/*
 * Add the integer part of @v, ns, to *t, within FARTHEST. Return the fraction of @v,
 * which is less than 1.
 */
static inline double add_whole_ns(int64_t *t, double v)
{
	double whole = floor(v), sum = (double)*t + whole;

	if (!(fabs(sum) < FARTHEST)) {
		*t = sum < 0 ? -FARTHEST : FARTHEST;
		return 0;
	}
	*t += (int64_t)whole;
	return v - whole;
}

#endif
