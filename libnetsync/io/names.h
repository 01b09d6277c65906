/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of words, each with a number: quick to find, for every line of a text. */
#ifndef NETSYNC_IO_NAMES_H
#define NETSYNC_IO_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * A part of a text, which does not end with a 0. It is taken eight bytes at a
 * time: WORD_SLACK bytes behind it must be readable.
 */
#define WORD_SLACK 7

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
	struct name **slot;	/* hash table, at most half full */
	size_t slots;
};

/* NULL: there is none. */
struct name *names_find(const struct names *names, const struct word *word);
/* Found, or added; NULL: no memory. */
struct name *names_add(struct names *names, const struct word *word);
void names_release(struct names *names);

#endif
