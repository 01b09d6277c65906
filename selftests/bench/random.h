/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The random number generator splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static inline uint64_t draw_64_bits(uint64_t *s)
{
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Return a number between 0 and 1, both excluded. */
static inline double draw_uniform(uint64_t *s)
{
	return ((double)(draw_64_bits(s) >> 11) + 0.5) * 0x1p-53;
}

#endif
