// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdbool.h>

#include "message/resolution.h"

/*
 * Accept a divisor only if at most one host in RARE would have it by chance, with timestamps of 1
 * ns. The probability that n timestamps after the earliest one share a divisor g is g^-n. Chosen: a
 * divisor that is accepted by mistake only makes bounds wider.
 */
#define RARE (1 << 16)
/*
 * Longest accepted resolution, ns, because applications write logs with times in s. A few
 * timestamps some ms apart may have a longer common divisor by chance. In this case, use the part
 * that also divides a second.
 */
#define LONGEST 1000000000
/*
 * Longest accepted resolution that does not divide a second, such as a tick of 30 us, in ns. This
 * is the tick of the slowest timer, 100 Hz. A host needs so many timestamps that they rarely have a
 * common factor of 2 by chance.
 */
#define LONGEST_TICK 10000000

/* Compute the greatest common divisor by Euclid's algorithm. */
static uint64_t compute_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Add @stamps timestamps, @same of which have the earliest time @least. */
static void count_stamps(struct resolution *r, int64_t least, uint64_t same, uint64_t stamps)
{
	if (!r->stamps || least < r->least) {
		r->least = least;
		r->same = 0;
	}
	if (least == r->least)
		r->same += same;
	r->stamps += stamps;
}

static void update_divisor(struct resolution *r, int64_t t)
{
	const uint64_t distance = t < r->first ? (uint64_t)r->first - (uint64_t)t :
						 (uint64_t)t - (uint64_t)r->first;

	if (distance && (!r->divisor || distance % r->divisor))
		r->divisor = compute_common_divisor(distance, r->divisor);
}

void resolution_add(struct resolution *r, int64_t t)
{
	if (r->divisor == 1)
		return;
	if (!r->stamps)
		r->first = t;
	count_stamps(r, t, 1, 1);
	update_divisor(r, t);
}

void resolution_merge(struct resolution *r, const struct resolution *other, int64_t shift)
{
	if (r->divisor == 1 || !other->stamps)
		return;
	if (!r->stamps)
		r->first = other->first + shift;
	count_stamps(r, other->least + shift, other->same, other->stamps);
	update_divisor(r, other->first + shift);
	r->divisor = compute_common_divisor(r->divisor, other->divisor);
}

/*
 * Return whether so many timestamps of 1 ns practically never have this common divisor by chance.
 */
static bool is_divisor_significant(uint64_t divisor, uint64_t stamps)
{
	uint64_t cases = 1;

	for (; stamps && divisor > 1 && cases < RARE; stamps--)
		cases *= divisor;
	return cases >= RARE;
}

/*
 * Compute the greatest common divisor of a second and all timestamps, which count from 1970. Even a
 * single timestamp and a second have a common divisor.
 */
static uint64_t compute_epoch_divisor(const struct resolution *r, int64_t origin)
{
	const int64_t first = origin + r->first;
	const uint64_t since = first < 0 ? -(uint64_t)first : (uint64_t)first;

	/* The times of a simulation start at 0, and not at 1970. */
	return since ? compute_common_divisor(since, compute_common_divisor(r->divisor, LONGEST)) :
		       1;
}

int64_t resolution_compute(const struct resolution *r, int64_t origin)
{
	/*
	 * Do not count timestamps that are equal to the earliest one. If packets were recorded in
	 * parts, the parts have equal timestamps, which prove nothing. However, the common divisor
	 * with a second is then small. In all other traces, only coarse clocks cause equal
	 * timestamps.
	 */
	const uint64_t stamps = r->stamps - r->same;
	const uint64_t of_second = compute_common_divisor(r->divisor, LONGEST);

	if (!r->stamps)
		return 1;
	if (r->divisor && r->divisor <= LONGEST_TICK && is_divisor_significant(2, stamps))
		return (int64_t)r->divisor;
	if (is_divisor_significant(of_second, stamps))
		return (int64_t)of_second;
	return is_divisor_significant(compute_epoch_divisor(r, origin), stamps + 1) ?
		       (int64_t)compute_epoch_divisor(r, origin) :
		       1;
}
