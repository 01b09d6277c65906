// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdbool.h>

#include "message/resolution.h"

/*
 * Accept a divisor if at most one host in RARE with stamps of 1 ns would have it by
 * chance: n stamps after the earliest one share a divisor g with probability g^-n.
 * Chosen: a divisor accepted by mistake only widens bounds.
 */
#define RARE (1 << 16)
/*
 * Longest accepted resolution, ns: logs of applications are in s. If the common divisor
 * is longer, as a few stamps with distances of some ms have by chance, use the part that
 * also divides a second.
 */
#define LONGEST 1000000000
/*
 * Longest accepted resolution that does not divide a second, such as a tick of 30 us
 * (ns): the tick of the slowest timer, 100 Hz. A host needs enough stamps that a common
 * factor of 2 is rare by chance.
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

/* Count stamps at time @least, and find the earliest time. */
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

/* Is a common divisor of this many stamps of 1 ns practically impossible by chance? */
static bool is_rare(uint64_t divisor, uint64_t stamps)
{
	uint64_t cases = 1;

	for (; stamps && divisor > 1 && cases < RARE; stamps--)
		cases *= divisor;
	return cases >= RARE;
}

/*
 * Compute the greatest common divisor of a second and all stamps, counted from 1970. It
 * also exists for a single stamp.
 */
static uint64_t of_all(const struct resolution *r, int64_t origin)
{
	const int64_t first = origin + r->first;
	const uint64_t since = first < 0 ? -(uint64_t)first : (uint64_t)first;

	/* Times of a simulation, which start at 0, have no such epoch. */
	return since ? compute_common_divisor(since, compute_common_divisor(r->divisor, LONGEST)) :
		       1;
}

int64_t resolution_of(const struct resolution *r, int64_t origin)
{
	/*
	 * Count equal stamps only once. Packets that were recorded in parts have equal
	 * stamps, which prove nothing, but then the divisor of a second is small; in
	 * other traces only coarse clocks cause equal stamps.
	 */
	const uint64_t stamps = r->stamps - r->same;
	const uint64_t of_second = compute_common_divisor(r->divisor, LONGEST);

	if (!r->stamps)
		return 1;
	if (r->divisor && r->divisor <= LONGEST_TICK && is_rare(2, stamps))
		return (int64_t)r->divisor;
	if (is_rare(of_second, stamps))
		return (int64_t)of_second;
	return is_rare(of_all(r, origin), stamps + 1) ? (int64_t)of_all(r, origin) : 1;
}
