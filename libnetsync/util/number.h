/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simple arithmetic, mostly for times. */
#ifndef NETSYNC_UTIL_NUMBER_H
#define NETSYNC_UTIL_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#ifndef __SIZEOF_INT128__
#error "libnetsync needs 128-bit integers; compile it for a 64-bit processor"
#endif

/* Number of ns in a second, for time differences of type double. */
#define SECOND 1e9

/*
 * Interval that contains a time, ns. An unknown end is INT64_MIN or INT64_MAX. If hi < lo, the
 * interval is empty, and nothing is known.
 */
struct range {
	int64_t lo; /* INT64_MIN if unknown */
	int64_t hi; /* INT64_MAX if unknown */
};

/* Return the 64-bit value that is nearest to @v. */
static inline int64_t clamp_to_int64(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

/* Return the scalar product of two vectors. */
static inline double dot_product(const double *a, const double *b, size_t n)
{
	double v = 0;

	for (size_t i = 0; i < n; i++)
		v += a[i] * b[i];
	return v;
}

/*
 * Compare two numbers of one type, as functions for qsort() and bsearch() do: return -1 if @a is
 * less than @b, 0 if they are equal, and 1 if @a is greater.
 */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static inline int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#endif
