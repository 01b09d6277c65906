/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The floor: the error of an estimator that knows what is unknown for a real cluster: the
 * covariance of its clocks, and the distribution of delays beyond the minimum of each
 * pair.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <stdbool.h>

#include "cluster.h"

/* Does floor.c know the covariance of these clocks, and the distribution of these delays? */
bool floor_is_known(const struct cluster_spec *spec);

/*
 * The floor's error on the messages of a cluster, RMS over all hosts except the first and
 * over evenly spaced instants, ns; NAN: out of memory, or no convergence.
 */
double floor_rms(const struct cluster *c);

#endif
