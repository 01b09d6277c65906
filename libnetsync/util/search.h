/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binary search in arrays of structs that are sorted by a member, int64_t or double. */
#ifndef NETSYNC_UTIL_SEARCH_H
#define NETSYNC_UTIL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of elements whose member is below @t; with or_at: at most @t. */
#define DEFINE_SEARCH(name, type) \
static inline size_t name(const void *array, size_t num, size_t size, \
			  size_t member, type t, bool or_at) \
{ \
	const char *keys = array; \
	size_t lo = 0, hi = num; \
\
	while (lo < hi) { \
		size_t mid = lo + (hi - lo) / 2; \
		const type *key = (const void *)(keys + mid * size + member); \
\
		if (or_at ? *key <= t : *key < t) \
			lo = mid + 1; \
		else \
			hi = mid; \
	} \
	return lo; \
}

DEFINE_SEARCH(search_int64, int64_t)
DEFINE_SEARCH(search_double, double)

#define SEARCH(array, num, member, t, or_at) \
	_Generic((array)->member, int64_t: search_int64, double: search_double)( \
		array, num, sizeof(*(array)), \
		offsetof(typeof(*(array)), member), t, or_at)

/*
 * The number of elements before @t, which is the index of the first other one, or @num.
 */
#define NUM_BEFORE(array, num, member, t) SEARCH(array, num, member, t, false)

/* The index of the last element at or before @t; 0 if there is none. */
static inline size_t search_last(size_t num_until)
{
	return num_until ? num_until - 1 : 0;
}
#define LAST_UNTIL(array, num, member, t) \
	search_last(SEARCH(array, num, member, t, true))

#endif
