/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash table that maps words in text files to numbers, which the caller chooses. The table is
 * fast enough to be used for every line.
 */
#ifndef NETSYNC_IO_NAMES_H
#define NETSYNC_IO_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Part of a text, without a terminating NUL. Words are loaded in steps of eight bytes, so
 * WORD_SLACK bytes after the last word must be readable.
 */
#define WORD_SLACK 7

struct text_word {
	const char *text;
	size_t len;
};

struct name {
	char *text;
	size_t len;
	uint64_t hash;
	int number; /* set by the caller; initially -1 */
};

struct name_table {
	struct name **name; /* names in the order of names_add() */
	size_t num;
	size_t room;	    /* number of names allocated */
	struct name **slot; /* hash table, at most half full */
	size_t slots;	    /* a power of two, or 0 */
};

/* Find the name that equals a word. If there is none, return NULL. */
struct name *names_find(const struct name_table *names, const struct text_word *word);
/* Find the name that equals a word, or add a copy of the word. Return NULL if out of memory. */
struct name *names_add(struct name_table *names, const struct text_word *word);
void names_release(struct name_table *names);

#endif
