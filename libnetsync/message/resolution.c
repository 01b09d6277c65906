// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdbool.h>

#include "message/resolution.h"

/*
 * Accept a divisor if at most one in RARE hosts with timestamps of 1 ns would have it by
 * chance: n timestamps after the earliest one share a divisor g with probability g^-n.
 * Chosen: a divisor accepted by mistake only widens bounds.
 */
#define RARE (1 << 16)
/*
 * Longest accepted resolution, ns: logs of applications are in s. If the common divisor
 * is longer, as a few timestamps some ms apart have by chance, use the part that also
 * divides a second.
 */
#define LONGEST 1000000000
/*
 * Longest accepted resolution that does not divide a second, such as a tick of 30 us, in
 * ns. It is the tick of the slowest timer, 100 Hz. A host needs so many timestamps that a
 * common factor of 2 is rare by chance.
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

/* Add @stamps timestamps, of which @same have the earliest time @least. */
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
 * Is it practically impossible that this many timestamps of 1 ns have a common divisor by
 * chance?
 */
static bool is_divisor_significant(uint64_t divisor, uint64_t stamps)
{
	uint64_t cases = 1;

	for (; stamps && divisor > 1 && cases < RARE; stamps--)
		cases *= divisor;
	return cases >= RARE;
}

/*
 * Compute the greatest common divisor of a second and all timestamps, counted from 1970.
 * It also exists for a single timestamp.
 */
static uint64_t compute_epoch_divisor(const struct resolution *r, int64_t origin)
{
	const int64_t first = origin + r->first;
	const uint64_t since = first < 0 ? -(uint64_t)first : (uint64_t)first;

	/* Times of a simulation start at 0 and do not count from 1970. */
	return since ? compute_common_divisor(since, compute_common_divisor(r->divisor, LONGEST)) :
		       1;
}

int64_t resolution_compute(const struct resolution *r, int64_t origin)
{
	/*
	 * Do not count timestamps equal to the earliest one. Packets that were recorded
	 * in parts have equal timestamps, which prove nothing, but then the common
	 * divisor with a second is small. In other traces, only coarse clocks cause equal
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
