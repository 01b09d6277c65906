/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Add times of type double to integer times. */
#ifndef NETSYNC_UTIL_WHOLE_H
#define NETSYNC_UTIL_WHOLE_H

#include <math.h>
#include <stdint.h>

#include "netsync.h"

/* Limit for times, ns. Without a limit, nonsensical clocks could lead to times that do not fit. */
#define FARTHEST (2 * NETSYNC_MAX_SPAN)

/*
 * Add the integer part of @v, ns, to *t, and limit the sum to FARTHEST. Return the fraction of @v,
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
