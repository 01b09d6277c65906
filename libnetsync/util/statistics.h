/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Order statistics by selection in linear time (C. A. R. Hoare, "Algorithm 65: find",
 * Communications of the ACM 4(7), 1961). The functions reorder the values.
 */
#ifndef NETSYNC_UTIL_STATISTICS_H
#define NETSYNC_UTIL_STATISTICS_H

#include <stddef.h>

/* Return the value at index @k of the sorted values, or 0 if there are no values. */
double compute_order_statistic(double *v, size_t n, size_t k);

/* Return the value at index n / 2 of the sorted values. */
double statistics_median(double *v, size_t n);

#endif
