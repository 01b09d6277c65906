/* SPDX-License-Identifier: GPL-2.0-only */
/* Count any number of delays, and compute their number, minimum, maximum and quantiles. */
#ifndef NETSYNC_DELAY_CLASSES_H
#define NETSYNC_DELAY_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

/* Initialize this struct with zeros, then call delay_classes_open(). */
struct delay_classes {
	uint64_t num;
	int64_t min_ns; /* INT64_MAX if there are no delays; max_ns is then INT64_MIN */
	int64_t max_ns;
	uint64_t *in_class; /* number of delays in each class; NULL if not opened */
};

/* Allocate the counts, 8 KB. Return false if out of memory. */
bool delay_classes_open(struct delay_classes *classes);
void delay_classes_add(struct delay_classes *classes, int64_t delay_ns);
/*
 * Return a quantile: the fraction @share of all delays is not longer than this delay. The result is
 * accurate to 3 %. At least one delay must have been added.
 */
int64_t delay_classes_quantile(const struct delay_classes *classes, double share);
void delay_classes_release(struct delay_classes *classes);

#endif
