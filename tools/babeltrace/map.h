/* SPDX-License-Identifier: GPL-2.0-only */
/* A hash table that maps original objects to their copies. */
#ifndef NETSYNC_BABELTRACE_MAP_H
#define NETSYNC_BABELTRACE_MAP_H

#include <stdbool.h>
#include <stddef.h>

struct map {
	struct map_entry {
		const void *key; /* NULL if the slot is free */
		void *value;
	} * entries;
	size_t room; /* number of slots: a power of two, or 0 for an empty map */
	size_t num;
};

/* Return the value of a key, or NULL if the map does not contain the key. */
void *map_get(const struct map *map, const void *key);
/* Set the value of a key. Return false if out of memory. */
bool map_put(struct map *map, const void *key, void *value);
void map_release(struct map *map);

#endif
