/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The floor: how far from the truth an estimator is that knows what none can know of a
 * real cluster: the covariance of its clocks, and the distribution of delays beyond the
 * smallest of each pair.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <stdbool.h>

#include "cluster.h"

/* Are clocks and delays of a kind whose covariance and distribution floor.c has? */
bool floor_is_known(const struct cluster_spec *spec);

/*
 * The floor's error on the messages of a cluster, RMS over the hosts but the first and
 * evenly spaced instants, ns; NAN: there is no memory, or it did not converge.
 */
double floor_rms(const struct cluster *c);

#endif
