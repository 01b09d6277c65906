/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of a definition, and where they stand in it. */
#ifndef NETSYNC_STATES_WORDS_H
#define NETSYNC_STATES_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct word {
	char *text;		/* in the file's text, which is cut there */
	unsigned int line;
	unsigned int column;	/* of its first character, from 1 on */
	bool is_quoted;
};

struct words {
	const char *path;
	char *at;		/* what follows */
	const char *line_begin;
	unsigned int line;

	/* The statement: lines that begin with a blank belong to the one before. */
	struct word *list;
	size_t num;
	size_t next;		/* of these */
};

/* Go to the next statement, if there is one. False: a word is wrong, which was said. */
bool words_next_statement(struct words *words);
/* The next word of it; NULL: there is none. */
struct word *words_next(struct words *words);
/* The same, not gone beyond; NULL: there is none. */
struct word *words_peek(const struct words *words);
/*
 * Say what is wrong with a word, from its @at-th character on; NULL: with the end of
 * the statement. Return: false.
 */
bool words_mistake(const struct words *words, const struct word *word, size_t at,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));
void words_release(struct words *words);

#endif
