// SPDX-License-Identifier: GPL-2.0-only
/* Map pointers to pointers by a hash table with linear probing and multiplicative hashing. */
#include <stdint.h>
#include <stdlib.h>

#include "map.h"

static struct map_entry *find_map_entry(const struct map *map, const void *key)
{
	size_t at = (uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20;

	for (;; at++) {
		struct map_entry *entry = &map->entries[at & (map->room - 1)];

		if (!entry->key || entry->key == key)
			return entry;
	}
}

static bool grow_map(struct map *map)
{
	struct map more = { .room = map->room ? map->room * 2 : 64 };

	more.entries = calloc(more.room, sizeof(*more.entries));
	if (!more.entries)
		return false;
	for (size_t i = 0; i < map->room; i++)
		if (map->entries[i].key)
			*find_map_entry(&more, map->entries[i].key) = map->entries[i];
	more.num = map->num;
	free(map->entries);
	*map = more;
	return true;
}

void *map_get(const struct map *map, const void *key)
{
	return map->room ? find_map_entry(map, key)->value : NULL;
}

bool map_put(struct map *map, const void *key, void *value)
{
	struct map_entry *entry;

	if (map->num * 2 >= map->room && !grow_map(map))
		return false;
	entry = find_map_entry(map, key);
	map->num += !entry->key;
	*entry = (struct map_entry){ key, value };
	return true;
}

void map_release(struct map *map)
{
	free(map->entries);
}
