/* SPDX-License-Identifier: GPL-2.0-only */
/* Delays, as many as there are -> how many, the smallest, the largest, and quantiles. */
#ifndef NETSYNC_DELAY_CLASSES_H
#define NETSYNC_DELAY_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

/* To be zeroed, then opened. */
struct delay_classes {
	uint64_t num;
	int64_t min_ns;		/* of no delays: INT64_MAX, and INT64_MIN */
	int64_t max_ns;
	uint64_t *in_class;	/* delays by class; NULL: it was not opened */
};

/* Make room for the counts, 8 KB. False: there is not enough memory. */
bool delay_classes_open(struct delay_classes *classes);
void delay_classes_add(struct delay_classes *classes, int64_t delay_ns);
/* The delay that this share of all does not exceed, to 3 %. There is one at least. */
int64_t delay_classes_quantile(const struct delay_classes *classes, double share);
void delay_classes_release(struct delay_classes *classes);

#endif
