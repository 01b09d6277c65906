/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binary search in arrays of structs that are sorted by one member of type int64_t or double. */
#ifndef NETSYNC_UTIL_SEARCH_H
#define NETSYNC_UTIL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the number of elements whose member is below @t, or at most @t if @or_at. */
#define DEFINE_SEARCH(name, type)                                                            \
	static inline size_t name(const void *array, size_t num, size_t size, size_t member, \
				  type t, bool or_at)                                        \
	{                                                                                    \
		const char *keys = array;                                                    \
		size_t lo = 0, hi = num;                                                     \
                                                                                             \
		while (lo < hi) {                                                            \
			size_t mid = lo + (hi - lo) / 2;                                     \
			const type *key = (const void *)(keys + mid * size + member);        \
                                                                                             \
			if (or_at ? *key <= t : *key < t)                                    \
				lo = mid + 1;                                                \
			else                                                                 \
				hi = mid;                                                    \
		}                                                                            \
		return lo;                                                                   \
	}

DEFINE_SEARCH(search_int64, int64_t)
DEFINE_SEARCH(search_double, double)

#define SEARCH(array, num, member, t, or_at)                    \
	_Generic((array)->member, int64_t                       \
		 : search_int64, double                         \
		 : search_double)(array, num, sizeof(*(array)), \
				  offsetof(typeof(*(array)), member), t, or_at)

/*
 * Number of elements before @t. The number is also the index of the first element at or after @t,
 * if there is one.
 */
#define NUM_BEFORE(array, num, member, t) SEARCH(array, num, member, t, false)

/*
 * Return the index of the last element at or before a time, or 0 if there is no such element.
 * @num_until is the number of elements at or before the time.
 */
static inline size_t search_last(size_t num_until)
{
	return num_until ? num_until - 1 : 0;
}
#define LAST_UNTIL(array, num, member, t) search_last(SEARCH(array, num, member, t, true))

/*
 * Like LAST_UNTIL(), but faster if the time is close to the previous one: search in growing steps
 * from the index @near.
 */
static inline size_t search_near(const void *array, size_t num, size_t size, size_t member,
				 int64_t t, size_t near)
{
	const char *keys = (const char *)array + member;
	size_t lo = near < num ? near : 0, hi, step = 1;

#define KEY(i) (*(const int64_t *)(const void *)(keys + (i)*size))
	if (num && KEY(lo) <= t) {
		while (step < num - lo && KEY(lo + step) <= t) {
			lo += step;
			step *= 2;
		}
		hi = step < num - lo ? lo + step : num;
	} else {
		hi = lo;
		while (step <= hi && KEY(hi - step) > t) {
			hi -= step;
			step *= 2;
		}
		lo = step <= hi ? hi - step : 0;
	}
#undef KEY
	return lo + search_last(search_int64(keys + lo * size, hi - lo, size, 0, t, true));
}
#define LAST_NEAR(array, num, member, t, near) \
	search_near(array, num, sizeof(*(array)), offsetof(typeof(*(array)), member), t, near)

#endif
