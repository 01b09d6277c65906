// SPDX-License-Identifier: LGPL-2.1-or-later
#include "message/resolution.h"

/*
 * Stamps at other times than the first that it takes: of so many that are of 1 ns,
 * one in 2^16 have a divisor by chance, mostly of 2 ns. Chosen.
 */
#define ENOUGH 16
/* The longest that is believed, ns: the tick of the slowest timer, 100 Hz. */
#define LONGEST 10000000

/* By Euclid's algorithm. */
static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

void resolution_add(struct resolution *r, int64_t t)
{
	uint64_t distance;

	if (r->divisor == 1)
		return;
	if (!r->stamps) {
		r->stamps = 1;
		r->first = t;
		return;
	}
	distance = t < r->first ? (uint64_t)r->first - (uint64_t)t
				: (uint64_t)t - (uint64_t)r->first;
	if (!distance)
		return;
	if (r->stamps <= ENOUGH)
		r->stamps++;
	if (!r->divisor || distance % r->divisor)
		r->divisor = common_divisor(distance, r->divisor);
}

int64_t resolution_of(const struct resolution *r)
{
	return r->stamps > ENOUGH && r->divisor <= LONGEST ? (int64_t)r->divisor
							   : 1;
}
