// SPDX-License-Identifier: LGPL-2.1-or-later
#include "message/resolution.h"

/*
 * Stamps after the earliest time that it takes: of so many that are of 1 ns, one in
 * 2^16 have a divisor by chance, mostly of 2 ns. Chosen.
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

/* Count stamps of one time, or of which that is the earliest. */
static void count(struct resolution *r, int64_t least, uint64_t same,
		  uint64_t stamps)
{
	if (!r->stamps || least < r->least) {
		r->least = least;
		r->same = 0;
	}
	if (least == r->least)
		r->same += same;
	r->stamps += stamps;
}

static void divide(struct resolution *r, int64_t t)
{
	const uint64_t distance = t < r->first
					  ? (uint64_t)r->first - (uint64_t)t
					  : (uint64_t)t - (uint64_t)r->first;

	if (distance && (!r->divisor || distance % r->divisor))
		r->divisor = common_divisor(distance, r->divisor);
}

void resolution_add(struct resolution *r, int64_t t)
{
	if (r->divisor == 1)
		return;
	if (!r->stamps)
		r->first = t;
	count(r, t, 1, 1);
	divide(r, t);
}

void resolution_merge(struct resolution *r, const struct resolution *other,
		      int64_t shift)
{
	if (r->divisor == 1 || !other->stamps)
		return;
	if (!r->stamps)
		r->first = other->first + shift;
	count(r, other->least + shift, other->same, other->stamps);
	divide(r, other->first + shift);
	r->divisor = common_divisor(r->divisor, other->divisor);
}

int64_t resolution_of(const struct resolution *r)
{
	return r->stamps - r->same >= ENOUGH && r->divisor <= LONGEST &&
			       r->divisor
		       ? (int64_t)r->divisor
		       : 1;
}
