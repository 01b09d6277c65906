/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a pair's bound contradicts its curve: were both clocks within the largest drift,
 * and the curve right, the bound would leave the margin on either side of it, as all
 * messages do. Where it leaves less, and not as little on both sides, a rate step was missed.
 *
 * Whatever the curve is, the bound leaves that margin to the truth: a bound that is narrower than
 * twice the margin rests on a limit that a clock does not keep to.
 */
#ifndef NETSYNC_BOUND_NARROW_H
#define NETSYNC_BOUND_NARROW_H

#include <stddef.h>

#include "bound/left-out.h"
#include "bound/rate-bound.h"
#include "bound/windows.h"

/* What a pair's messages leave to its curve, ns; 0: too few tell. Or -ENOMEM. */
int narrow_margin(const struct limits_of_way limits[2], const struct pair *pair, double *margin);

/*
 * Add windows about the vertices that are closer to the curve than @least, ns, and than those of
 * the other side beside them are: their number, or -ENOMEM. @correction: NULL where curves are not
 * to be relied on; then closer to the middle of the bound.
 */
int narrow_windows(struct windows *add, const struct rate_bound *bound,
		   const struct correction *correction[2], double least);

#endif
