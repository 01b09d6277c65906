/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Durations -> a histogram of fixed size: 16 classes for each power of two, which makes
 * quantiles accurate to 1/32 of their values.
 */
#ifndef NETSYNC_UTIL_HISTOGRAM_H
#define NETSYNC_UTIL_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB 16     /* classes of an octave; chosen */
#define HISTOGRAM_OCTAVES 32 /* 16 ns to 68 s; longer durations are in the last */

struct histogram {
	uint64_t num; /* durations */
	int64_t min;  /* ns */
	int64_t max;
	/* By class: 0 to 15 ns, then octaves of durations that are twice as long. */
	uint64_t count[HISTOGRAM_SUB * (1 + HISTOGRAM_OCTAVES)];
};

/* Add a duration, which must not be negative. */
void histogram_add(struct histogram *h, int64_t ns);

/* Add all durations of @other. */
void histogram_merge(struct histogram *h, const struct histogram *other);

/*
 * The smallest duration that a share of all durations, above 0 and at most 1, does not
 * exceed. The histogram must not be empty.
 */
int64_t histogram_quantile(const struct histogram *h, double share);

#endif
