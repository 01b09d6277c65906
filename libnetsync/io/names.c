// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Map words to numbers by a hash table with open addressing and linear probing (Knuth, TAOCP 3,
 * 6.4, algorithm L), over 64-bit multiplicative hashes.
 */
#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "io/names.h"
#include "util/array.h"
#include "util/hash.h"

static uint64_t hash_word(const struct text_word *word)
{
	uint64_t hash = word->len, part;

	for (size_t i = 0; i < word->len; i += sizeof(part)) {
		size_t left = word->len - i;

		memcpy(&part, word->text + i, sizeof(part));
		part = le64toh(part);
		if (left < sizeof(part))
			part <<= 64 - 8 * left;
		hash = (hash ^ part) * HASH_MULTIPLIER;
		hash ^= hash >> 32;
	}
	return hash;
}

/*
 * Compare a name with a word. The caller has checked that both have the same hash. Different words
 * with the same length of up to eight bytes have different hashes, because each step of hash_word()
 * can be inverted.
 */
static bool is_name_of_word(const struct name *name, const struct text_word *word)
{
	return name->len == word->len &&
	       (word->len <= sizeof(uint64_t) || !memcmp(name->text, word->text, word->len));
}

static struct name *find_name_by_hash(const struct name_table *names, const struct text_word *word,
				      uint64_t hash)
{
	size_t i = hash & (names->slots - 1);
	struct name *name;

	if (!names->slots)
		return NULL;
	for (; (name = names->slot[i]); i = (i + 1) & (names->slots - 1))
		if (name->hash == hash && is_name_of_word(name, word))
			return name;
	return NULL;
}

struct name *names_find(const struct name_table *names, const struct text_word *word)
{
	return find_name_by_hash(names, word, hash_word(word));
}

static void put_in_slot(struct name_table *names, struct name *name)
{
	size_t i = name->hash & (names->slots - 1);

	while (names->slot[i])
		i = (i + 1) & (names->slots - 1);
	names->slot[i] = name;
}

static int grow_name_slots(struct name_table *names)
{
	size_t slots = names->slots ? names->slots * 2 : 64;
	struct name **bigger;

	if (names->num * 2 < names->slots)
		return 0;
	bigger = calloc(slots, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	free(names->slot);
	names->slot = bigger;
	names->slots = slots;
	for (size_t i = 0; i < names->num; i++)
		put_in_slot(names, names->name[i]);
	return 0;
}

struct name *names_add(struct name_table *names, const struct text_word *word)
{
	uint64_t hash = hash_word(word);
	struct name *name = find_name_by_hash(names, word, hash);

	if (name)
		return name;
	if (grow_name_slots(names) ||
	    array_grow(&names->name, &names->room, names->num, sizeof(*names->name)))
		return NULL;
	name = malloc(sizeof(*name));
	if (!name)
		return NULL;
	*name = (struct name){
		.text = strndup(word->text, word->len), .len = word->len, .hash = hash, .number = -1
	};
	if (!name->text) {
		free(name);
		return NULL;
	}
	names->name[names->num++] = name;
	put_in_slot(names, name);
	return name;
}

void names_release(struct name_table *names)
{
	for (size_t i = 0; i < names->num; i++) {
		free(names->name[i]->text);
		free(names->name[i]);
	}
	free(names->name);
	free(names->slot);
	memset(names, 0, sizeof(*names));
}
