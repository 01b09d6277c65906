/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growing arrays. */
#ifndef NETSYNC_UTIL_ARRAY_H
#define NETSYNC_UTIL_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Make room for one element more; *data and *room are changed together. */
static inline int array_grow(void *data, size_t *room, size_t used,
			     size_t element)
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

#endif
