// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "delay-classes.h"

/*
 * Delays are counted in classes. There is one class for 0, and 16 classes, 4 % apart, for each
 * power of two.
 */
#define STEPS 16
#define CLASSES (1 + 64 * STEPS)

static size_t get_delay_class(int64_t ns)
{
	return ns < 1 ? 0 : 1 + (size_t)(log2(ns) * STEPS);
}

bool delay_classes_open(struct delay_classes *classes)
{
	classes->min_ns = INT64_MAX;
	classes->max_ns = INT64_MIN;
	classes->in_class = calloc(CLASSES, sizeof(*classes->in_class));
	return classes->in_class;
}

void delay_classes_add(struct delay_classes *classes, int64_t delay_ns)
{
	classes->num++;
	if (delay_ns < classes->min_ns)
		classes->min_ns = delay_ns;
	if (delay_ns > classes->max_ns)
		classes->max_ns = delay_ns;
	classes->in_class[get_delay_class(delay_ns)]++;
}

/* Delays in a class are assumed to be evenly distributed within it. */
int64_t delay_classes_quantile(const struct delay_classes *classes, double share)
{
	const uint64_t *in_class = classes->in_class;
	const double rank = share * classes->num;
	double within, seen = 0;
	size_t class = 0;
	int64_t ns;

	while (class < CLASSES - 1 && seen + in_class[class] < rank)
		seen += in_class[class ++];
	within = in_class[class] ? (rank - seen) / in_class[class] : 0;
	ns = class ? exp2((class - 1 + within) / STEPS) : 0;
	return ns < classes->min_ns ? classes->min_ns : ns > classes->max_ns ? classes->max_ns : ns;
}

void delay_classes_release(struct delay_classes *classes)
{
	free(classes->in_class);
	classes->in_class = NULL;
}
