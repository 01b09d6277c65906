/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A histogram of durations with a fixed size. The histogram has 16 classes for each power of two,
 * so that the relative error of a quantile is at most 1/32.
 */
#ifndef NETSYNC_UTIL_HISTOGRAM_H
#define NETSYNC_UTIL_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB 16     /* number of classes in an octave; chosen */
#define HISTOGRAM_OCTAVES 32 /* 16 ns to 68 s; longer durations count in the last class */

struct histogram {
	uint64_t num; /* number of durations */
	int64_t min;  /* shortest duration, ns */
	int64_t max;
	/*
	 * Number of durations in each class. The first 16 classes are for 0 to 15 ns. After these,
	 * the durations of each octave are twice as long as those of the previous one.
	 */
	uint64_t count[HISTOGRAM_SUB * (1 + HISTOGRAM_OCTAVES)];
};

/* Add a duration, which must not be negative. */
void histogram_add(struct histogram *h, int64_t ns);

/* Add all durations of @other. */
void histogram_merge(struct histogram *h, const struct histogram *other);

/*
 * Return the smallest duration that a fraction @share of all durations does not exceed. @share must
 * be above 0 and at most 1, and the histogram must not be empty.
 */
int64_t histogram_quantile(const struct histogram *h, double share);

#endif
