/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The floor is the error of an estimator that knows what nobody knows for a real cluster: the
 * covariance of its clocks, and the distribution of delays beyond the minimum delay of each pair.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <stdbool.h>

#include "cluster.h"

/*
 * Return whether floor.c knows the covariance of these clocks and the distribution of these delays.
 */
bool floor_can_be_computed(const struct cluster_spec *spec);

/*
 * Return the floor of the errors for a cluster's messages, ns: the RMS over all hosts except the
 * first, and over evenly spaced instants. Return NAN if memory is exhausted or the computation does
 * not converge.
 */
double floor_compute_rms(const struct cluster *c);

#endif
