/* SPDX-License-Identifier: GPL-2.0-only */
/* From an object that was copied to its copy. */
#ifndef NETSYNC_BABELTRACE_MAP_H
#define NETSYNC_BABELTRACE_MAP_H

#include <stdbool.h>
#include <stddef.h>

struct map {
	struct map_entry {
		const void *key;	/* NULL: free */
		void *value;
	} *entries;
	size_t room;		/* a power of two, or 0 */
	size_t num;
};

/* NULL: there is none. */
void *map_get(const struct map *map, const void *key);
/* In place of what the key had. False: there is not enough memory. */
bool map_put(struct map *map, const void *key, void *value);
void map_release(struct map *map);

#endif
