/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rejection where a share of all messages is wrong: outliers.h keeps those that are close to right
 * messages. If messages are wrong only at a few places, nothing is rejected, because the clock may
 * be the cause. Mean delays must be known (delays.h).
 */
#ifndef NETSYNC_CURVE_CONTAMINATION_H
#define NETSYNC_CURVE_CONTAMINATION_H

#include "curve/observations.h"

/*
 * Reject the lowest few observations of a window if they are so much lower than the next one that
 * they are more likely wrong. Each direction has @windows windows; residuals are relative to a
 * curve that no single message has moved. 0 or -ENOMEM; *rejected: number rejected.
 */
int contamination_reject_lone(struct observations *p, const struct correction *c, size_t windows,
			      size_t *rejected);

/*
 * Reject observations that are so far below the minimum delay of their link that they are more
 * likely wrong. Residuals are relative to the curve that the minimum delays belong to. @scale:
 * tolerance of an observation, ns; @margin and @scale have an element for each link. 0 or -ENOMEM;
 * *rejected: number rejected.
 */
int contamination_reject_inverted(struct observations *p, const struct correction *c,
				  size_t windows, const double *margin, const double *scale,
				  size_t *rejected);

#endif
