/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outlier rejection: observations that no real message can cause. */
#ifndef NETSYNC_CURVE_OUTLIERS_H
#define NETSYNC_CURVE_OUTLIERS_H

#include "curve/observations.h"

/*
 * Reject observations whose residuals lie far inward of all before and after them: 0 or -ENOMEM.
 * Groups of bins are judged. Larger groups reveal smaller outliers, but need a better curve for the
 * residuals: each direction has @parts groups; 0: groups of GROUP_MESSAGES. *rejected: number of
 * observations rejected.
 */
int outliers_reject(struct observations *p, const struct correction *c, size_t parts,
		    size_t *rejected);

/*
 * Reject the observations of a bin whose outward residuals are below a limit, unless the bin lies
 * in the window of a change point. Return the number rejected.
 */
size_t outliers_reject_below(struct observations *p, const struct correction *c, size_t direction,
			     size_t bin, double limit);

/*
 * Compute how far each group lies inward of all before and after it, ns; @resolution: of stamps,
 * ns; @buffer: scratch space for @num values. Return the distance from which on a group is an
 * outlier; HUGE_VAL: too few groups.
 */
double outliers_judge(const struct bin_group *group, size_t num, double resolution, double *inward,
		      double *buffer);

#endif
