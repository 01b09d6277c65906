/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the correction of a host is not to be relied on: its curve is contradicted
 * there, or bends more than an oscillator drifts.
 */
#ifndef NETSYNC_CURVE_DOUBT_H
#define NETSYNC_CURVE_DOUBT_H

#include "curve/state.h"

/*
 * Add the doubts of the correction, whose curve is the best, to those that it has: 0 or
 * -ENOMEM. That there is no margin remains, too.
 * Observations are gathered anew: no state but that of bins is left of them.
 */
int doubts_find(struct host_fit *k, const struct link *links, size_t num_links);

/*
 * Before doubts are found of another curve: that the clock was set it may hide, so that such
 * doubts are kept; all others are asked of it anew.
 */
void doubts_keep_set(struct correction *c);

#endif
