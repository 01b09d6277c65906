/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Untrusted intervals of a host's correction: messages contradict its curve there, or the curve
 * bends more than an oscillator drifts.
 */
#ifndef NETSYNC_CURVE_DOUBT_H
#define NETSYNC_CURVE_DOUBT_H

#include "curve/state.h"

/*
 * Add the untrusted intervals of the best curve to the correction: 0 or -ENOMEM. The lack of a
 * margin is also stored. Observations are gathered again, and only the state of bins is kept.
 */
int doubts_find(struct host_fit *k, const struct link *links, size_t num_links);

/*
 * Prepare to find the untrusted intervals of another curve: keep those in which the clock may have
 * been stepped, which the new curve may hide, and drop all others.
 */
void doubts_keep_set(struct correction *c);

#endif
