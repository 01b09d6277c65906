/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outlier rejection: observations that no real message can have made. */
#ifndef NETSYNC_CURVE_OUTLIERS_H
#define NETSYNC_CURVE_OUTLIERS_H

#include "curve/observations.h"

/*
 * Reject observations whose residuals lie far inward of all before and after
 * them: 0 or -ENOMEM. Groups of bins are judged, and the more messages a group
 * has, the smaller outliers are found, but the better the curve must be that
 * residuals are of: each direction has so many @parts; 0: groups of
 * GROUP_MESSAGES. *rejected: how many observations.
 */
int outliers_reject(struct observations *p, const struct correction *c, size_t parts,
		    size_t *rejected);

/*
 * Reject the observations of a bin whose residuals, outward, are below a limit, unless it
 * lies in the window of a change point. Return: how many.
 */
size_t outliers_reject_below(struct observations *p, const struct correction *c, size_t direction,
			     size_t bin, double limit);

/*
 * How far each group lies inward of all before and after it, ns; @resolution: of
 * stamps, ns; @buffer: room for as many. Return: from where on that is an outlier;
 * HUGE_VAL: groups are too few to say.
 */
double outliers_judge(const struct bin_group *group, size_t num, double resolution, double *inward,
		      double *buffer);

#endif
