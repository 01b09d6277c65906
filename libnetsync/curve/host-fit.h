/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The estimator of one host: from its messages to its correction. */
#ifndef NETSYNC_CURVE_HOST_FIT_H
#define NETSYNC_CURVE_HOST_FIT_H

#include <stdbool.h>

#include "curve/correction.h"
#include "curve/observations.h"

/*
 * Fit the curve of a host whose straight part is set already. Where the messages
 * do not suffice for more, it stays straight. @drift: how fast the rate of an
 * oscillator changes at most, 1 / ns. Return: 0 or -ENOMEM.
 */
int host_fit(struct correction *c, const struct link *links, size_t num_links, double drift);

/*
 * Set the curve of a host to the middle between the messages of both directions: of
 * windows of time, by medians. It is where fits begin whose neighbours are not known
 * well, either. The straight part is set already. Return: 0 or -ENOMEM.
 */
int host_fit_start(struct correction *c, const struct link *links, size_t num_links);

/* Has a pair MIN_MESSAGES in both directions? */
bool host_fit_useful(const struct pair *p);

/*
 * Choose among @num links, some of which are thin, those that a host is fitted by: their
 * number. Thin ones count if there are several, with more messages than the others.
 */
size_t host_fit_choose(struct link *link, size_t num);

#endif
