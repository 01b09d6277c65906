// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/hash.h"
#include "object.h"

/* The lanes of a name. Each lane has a bit, which is set while an object uses the lane. */
struct lanes {
	size_t num;
	uint64_t *words;
};

static uint64_t hash_key(uint32_t definition, const char *key)
{
	uint64_t hash = definition + 1;

	while (*key)
		hash = hash_slot(hash + (unsigned char)*key++);
	return hash;
}

static struct object *find_object(const struct objects *objects, uint32_t definition,
				  const char *key, uint64_t hash)
{
	struct object *object = objects->room ? objects->buckets[hash & (objects->room - 1)] : NULL;

	while (object && (object->hash != hash || object->definition != definition ||
			  strcmp(object->key, key)))
		object = object->next;
	return object;
}

struct object *object_find(const struct objects *objects, uint32_t definition, const char *key)
{
	return find_object(objects, definition, key, hash_key(definition, key));
}

static bool grow_object_buckets(struct objects *objects)
{
	const size_t room = objects->room ? objects->room * 2 : 64;
	struct object **buckets = calloc(room, sizeof(*buckets));

	if (!buckets)
		return false;
	for (size_t i = 0; i < objects->room; i++)
		while (objects->buckets[i]) {
			struct object *object = objects->buckets[i];

			objects->buckets[i] = object->next;
			object->next = buckets[object->hash & (room - 1)];
			buckets[object->hash & (room - 1)] = object;
		}
	free(objects->buckets);
	objects->buckets = buckets;
	objects->room = room;
	return true;
}

static void free_object(struct object *object, size_t num_kept)
{
	for (size_t i = 0; object->kept && i < num_kept; i++)
		free((char *)object->kept[i].value.text);
	free(object->kept);
	free(object->state);
	free(object->key);
	free(object);
}

struct object *object_find_or_add(struct objects *objects, uint32_t definition, const char *key,
				  size_t num_kept)
{
	const uint64_t hash = hash_key(definition, key);
	struct object *object = find_object(objects, definition, key, hash);
	struct object **bucket;

	if (object || (objects->num >= objects->room && !grow_object_buckets(objects)))
		return object;
	object = calloc(1, sizeof(*object));
	if (!object)
		return NULL;
	object->key = strdup(key);
	object->kept = num_kept ? calloc(num_kept, sizeof(*object->kept)) : NULL;
	if (!object->key || (num_kept && !object->kept)) {
		free_object(object, num_kept);
		return NULL;
	}
	object->hash = hash;
	object->definition = definition;
	object->number = ++objects->last;
	bucket = &objects->buckets[hash & (objects->room - 1)];
	object->next = *bucket;
	*bucket = object;
	objects->num++;
	return object;
}

void object_forget(struct objects *objects, struct object *object, size_t num_kept)
{
	struct object **at = &objects->buckets[object->hash & (objects->room - 1)];

	while (*at != object)
		at = &(*at)->next;
	*at = object->next;
	objects->num--;
	free_object(object, num_kept);
}

/* ---- lanes -------------------------------------------------------------- */

static struct lanes *find_name_lanes(struct objects *objects, uint32_t name)
{
	if (name >= objects->num_lanes) {
		const size_t num = 2 * (size_t)name + 64;
		struct lanes **more = realloc(objects->lanes, num * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + objects->num_lanes, 0, (num - objects->num_lanes) * sizeof(*more));
		objects->lanes = more;
		objects->num_lanes = num;
	}
	if (!objects->lanes[name])
		objects->lanes[name] = calloc(1, sizeof(struct lanes));
	return objects->lanes[name];
}

bool object_enter_lane(struct objects *objects, struct object *object, uint32_t name)
{
	struct lanes *lanes = find_name_lanes(objects, name);
	size_t word = 0;
	uint64_t *more;

	if (!lanes)
		return false;
	while (word < lanes->num && !~lanes->words[word])
		word++;
	if (word == lanes->num) {
		more = realloc(lanes->words, (word + 1) * sizeof(*more));
		if (!more)
			return false;
		lanes->words = more;
		lanes->words[lanes->num++] = 0;
	}
	object->lanes = lanes;
	object->lane = word * 64 + __builtin_ctzll(~lanes->words[word]);
	lanes->words[word] |= UINT64_C(1) << object->lane % 64;
	return true;
}

void object_leave_lane(struct object *object)
{
	object->lanes->words[object->lane / 64] &= ~(UINT64_C(1) << object->lane % 64);
	object->lanes = NULL;
}
