// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Count durations in classes, and compute quantiles. The width of a class grows with the duration.
 */
#include <math.h>
#include <stddef.h>

#include "util/histogram.h"

#define SUB_BITS 4 /* log2 of HISTOGRAM_SUB */
#define CLASSES (sizeof(((struct histogram *)0)->count) / sizeof(uint64_t))

/* Return the class of a duration. Each of the first classes contains only one duration. */
static uint32_t find_duration_class(int64_t ns)
{
	uint64_t v = (uint64_t)ns;
	uint32_t octave;

	if (v < HISTOGRAM_SUB)
		return (uint32_t)v;
	octave = 63 - SUB_BITS - (uint32_t)__builtin_clzll(v);
	if (octave >= HISTOGRAM_OCTAVES)
		return CLASSES - 1;
	return HISTOGRAM_SUB * octave + (uint32_t)(v >> octave);
}

static int64_t compute_class_middle(uint32_t class)
{
	uint32_t octave;

	if (class < HISTOGRAM_SUB)
		return class;
	octave = class / HISTOGRAM_SUB - 1;
	return ((int64_t)(HISTOGRAM_SUB + class % HISTOGRAM_SUB) << octave) +
	       (INT64_C(1) << octave) / 2;
}

void histogram_add(struct histogram *h, int64_t ns)
{
	if (!h->num || ns < h->min)
		h->min = ns;
	if (!h->num || ns > h->max)
		h->max = ns;
	h->num++;
	h->count[find_duration_class(ns)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
	if (!other->num)
		return;
	if (!h->num || other->min < h->min)
		h->min = other->min;
	if (!h->num || other->max > h->max)
		h->max = other->max;
	h->num += other->num;
	for (size_t i = 0; i < CLASSES; i++)
		h->count[i] += other->count[i];
}

int64_t histogram_quantile(const struct histogram *h, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)h->num), seen = 0;
	uint32_t class = 0;
	int64_t ns;

	if (rank >= h->num)
		return h->max;
	while (class < CLASSES - 1 && (seen += h->count[class]) < rank)
		class ++;
	if (class == CLASSES - 1)
		return h->max;
	ns = compute_class_middle(class);
	return ns < h->min ? h->min : ns > h->max ? h->max : ns;
}
