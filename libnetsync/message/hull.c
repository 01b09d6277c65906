// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lower convex hull by Andrew's monotone chain (A. M. Andrew, "Another efficient
 * algorithm for convex hulls in two dimensions", 1979).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/search.h"
#include "message/hull.h"

int hull_add(struct hull *h, const struct point *p)
{
	size_t n = h->corners;

	while (n > 1 && is_on_or_above(&h->corner[n - 2], &h->corner[n - 1], p))
		n--;
	if (array_grow(&h->corner, &h->room, n, sizeof(*h->corner)))
		return -ENOMEM;
	h->corner[n] = *p;
	h->corners = n + 1;
	return 0;
}

size_t hull_find(const struct hull *h, int64_t x)
{
	return LAST_UNTIL(h->corner, h->corners, x, x);
}

void hull_release(struct hull *h)
{
	free(h->corner);
	memset(h, 0, sizeof(*h));
}
