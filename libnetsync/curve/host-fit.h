/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The estimator of one host: its messages -> its correction. */
#ifndef NETSYNC_CURVE_HOST_FIT_H
#define NETSYNC_CURVE_HOST_FIT_H

#include <stdbool.h>

#include "curve/correction.h"
#include "curve/observations.h"

/*
 * Fit the curve of a host whose straight part is already set. If there are too few messages for a
 * curve, it stays straight. @drift: largest change of an oscillator's rate, 1 / ns. Return 0 or
 * -ENOMEM.
 */
int host_fit(struct correction *c, const struct link *links, size_t num_links, double drift);

/*
 * Set the curve of a host to the middle between the messages of both directions, by medians in
 * windows of time. Fits begin there if the host's neighbours are not known well either. The
 * straight part is already set. Return 0 or -ENOMEM.
 */
int host_fit_start(struct correction *c, const struct link *links, size_t num_links);

/* Has a pair at least MIN_MESSAGES in both directions? */
bool host_fit_useful(const struct pair *p);

/*
 * Choose among @num links, some of which are thin, those that a host is fitted to; return their
 * number. Thin links are used if there are several, and they have more messages than the others
 * together.
 */
size_t host_fit_choose(struct link *link, size_t num);

#endif
