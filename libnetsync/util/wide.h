/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two's complement integers with 192 bits. */
#ifndef NETSYNC_UTIL_WIDE_H
#define NETSYNC_UTIL_WIDE_H

#include <stdint.h>

struct wide {
	uint64_t low;
	__int128 high;
};

static inline struct wide make_wide(__int128 v)
{
	return (struct wide){ (uint64_t)v, v >> 64 };
}

static inline struct wide wide_add(struct wide a, struct wide b)
{
	struct wide s = { a.low + b.low, 0 };

	s.high = (__int128)((unsigned __int128)a.high + (unsigned __int128)b.high +
			    (s.low < a.low));
	return s;
}

static inline struct wide wide_multiply(__int128 a, int64_t b)
{
	unsigned __int128 ua = (unsigned __int128)a;
	uint64_t ub = (uint64_t)b;
	unsigned __int128 low = (unsigned __int128)(uint64_t)ua * ub;
	unsigned __int128 high = (ua >> 64) * ub + (low >> 64);

	/*
	 * The multiplication treated negative factors as unsigned, so that they were too large by
	 * 2^128 or 2^64. Correct the result.
	 */
	if (a < 0)
		high -= (unsigned __int128)ub << 64;
	if (b < 0)
		high -= ua;
	return (struct wide){ (uint64_t)low, (__int128)high };
}

/* Return the quotient, rounded down. @b must be positive. */
static inline __int128 floor_div(__int128 a, __int128 b)
{
	__int128 q = a / b;

	return q - (q * b > a);
}

static inline double wide_to_double(struct wide v)
{
	return (double)v.high * 0x1p64 + (double)v.low;
}

#endif
