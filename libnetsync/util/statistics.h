/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Order statistics by selection, in linear time (C. A. R. Hoare, "Algorithm 65:
 * find", Communications of the ACM 4(7), 1961).
 */
#ifndef NETSYNC_UTIL_STATISTICS_H
#define NETSYNC_UTIL_STATISTICS_H

#include <stddef.h>

/* The value that is at place @k, from 0, of the sorted ones; 0 of none. */
double order_statistic(double *v, size_t n, size_t k);

/* The value at place n / 2. Both functions move values. */
double median(double *v, size_t n);

#endif
