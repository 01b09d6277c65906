/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of words, each with a number. */
#ifndef NETSYNC_IO_NAMES_H
#define NETSYNC_IO_NAMES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A part of a text; it does not end with a 0. */
struct word {
	const char *text;
	size_t len;
};

struct name {
	char *text;
	size_t len;
	uint64_t hash;
	int number;		/* -1 at first; the caller's to use */
};

struct names {
	struct name **name;	/* in the order in which they were added */
	size_t num;
	size_t room;
	uint32_t *slot;		/* hash table of index + 1 */
	size_t slots;
};

/* NULL: there is none. */
struct name *names_find(const struct names *names, const struct word *word);
/* Found, or added; NULL: no memory. */
struct name *names_add(struct names *names, const struct word *word);
void names_release(struct names *names);

/*
 * The names that were looked up of late, by their last character and length.
 * Words are compared eight bytes at a time: WORD_SLACK bytes behind each must
 * be readable.
 */
#define NUM_RECENT 64
#define WORD_SLACK 8

struct recent_names {
	struct name *name[NUM_RECENT];
};

static inline bool name_is(const struct name *name, const struct word *word)
{
	uint64_t a, b;

	if (name->len != word->len)
		return false;
	if (word->len > sizeof(a))
		return !memcmp(name->text, word->text, word->len);
	memcpy(&a, name->text, sizeof(a));
	memcpy(&b, word->text, sizeof(b));
	return !(htole64(a ^ b) << (64 - 8 * word->len));
}

/* As names_find(), but faster for a word that repeats; not for empty ones. */
static inline struct name *names_find_again(const struct names *names,
					    const struct word *word,
					    struct recent_names *recent)
{
	size_t last = (unsigned char)word->text[word->len - 1];
	struct name **name = &recent->name[(last ^ word->len << 3) %
					   NUM_RECENT];

	if (!*name || !name_is(*name, word))
		*name = names_find(names, word);
	return *name;
}

#endif
