/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rejection where a share of all messages is wrong: what outliers.h leaves, as it is too
 * near to right messages. Where messages are wrong only here and there, nothing is rejected,
 * since that may be the clock. Means of delays are known (delays.h).
 */
#ifndef NETSYNC_CURVE_CONTAMINATION_H
#define NETSYNC_CURVE_CONTAMINATION_H

#include "curve/observations.h"

/*
 * Reject the lowest few observations of a window if they are so much lower than the next one
 * that they are likelier to be wrong. Each direction has so many @windows; residuals are of a
 * curve that no single message has moved. 0 or -ENOMEM; *rejected: how many.
 */
int contamination_reject_lone(struct observations *p, const struct correction *c, size_t windows,
			      size_t *rejected);

/*
 * Reject observations that are so far below the margin of their link that they are likelier to
 * be wrong. Residuals are of the curve that margins belong to. @scale: by how much an
 * observation may be below, ns; @margin and @scale are those of each link. 0 or -ENOMEM;
 * *rejected: how many.
 */
int contamination_reject_inverted(struct observations *p, const struct correction *c,
				  size_t windows, const double *margin, const double *scale,
				  size_t *rejected);

#endif
