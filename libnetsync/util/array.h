/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow when elements are added. */
#ifndef NETSYNC_UTIL_ARRAY_H
#define NETSYNC_UTIL_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Make space for one more element of @element bytes. If the array is full, reallocate *data and
 * increase *room. Return 0 or -ENOMEM.
 */
static inline int array_grow(void *data, size_t *room, size_t used, size_t element)
{
	void **p = data, *bigger;
	size_t n = *room ? *room * 2 : 8;

	if (used < *room)
		return 0;
	if (n > SIZE_MAX / element)
		return -ENOMEM;
	bigger = realloc(*p, n * element);
	if (!bigger)
		return -ENOMEM;
	*p = bigger;
	*room = n;
	return 0;
}

/*
 * Append an element to an array of @num elements. The array's capacity is not stored; it is always
 * a power of two. Return the new element, which is filled with zeros, or NULL if out of memory.
 */
static inline void *array_add(void *data, size_t num, size_t element)
{
	void **p = data, *bigger;

	if (!(num & (num - 1))) {
		if (num > SIZE_MAX / 2 / element)
			return NULL;
		bigger = realloc(*p, (num ? num * 2 : 1) * element);
		if (!bigger)
			return NULL;
		*p = bigger;
	}
	return memset((char *)*p + num * element, 0, element);
}

#endif
