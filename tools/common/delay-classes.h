/* SPDX-License-Identifier: GPL-2.0-only */
/* Any number of delays -> their number, minimum, maximum, and quantiles. */
#ifndef NETSYNC_DELAY_CLASSES_H
#define NETSYNC_DELAY_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

/* Zero this, then open it. */
struct delay_classes {
	uint64_t num;
	int64_t min_ns; /* without delays: INT64_MAX, and INT64_MIN */
	int64_t max_ns;
	uint64_t *in_class; /* delays by class; NULL if not opened */
};

/* Allocate the counts, 8 KB. Return false if out of memory. */
bool delay_classes_open(struct delay_classes *classes);
void delay_classes_add(struct delay_classes *classes, int64_t delay_ns);
/* The delay that this share of all does not exceed, to 3 %. There must be a delay. */
int64_t delay_classes_quantile(const struct delay_classes *classes, double share);
void delay_classes_release(struct delay_classes *classes);

#endif
