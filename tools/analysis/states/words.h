/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of a definition, and where they stand in it. */
#ifndef NETSYNC_STATES_WORDS_H
#define NETSYNC_STATES_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct word {
	char *text;		/* in the file's text, with a 0 behind it */
	unsigned int line;
	unsigned int column;	/* of its first character, from 1 on */
	bool is_quoted;
};

struct definition_words {
	const char *path;
	char *at;		/* the text that is not read yet */
	const char *line_begin;
	unsigned int line;

	/* The statement; a line that begins with a blank belongs to the one before it. */
	struct word *list;
	size_t num;
	size_t next;		/* index of the word that is taken next */
};

/* Go to the next statement, if there is one. False: a word is wrong; that was said. */
bool words_next_statement(struct definition_words *words);
/* Take the next word of the statement; NULL: there is none. */
struct word *words_next(struct definition_words *words);
/* The next word, without taking it; NULL: there is none. */
struct word *words_peek(const struct definition_words *words);
/*
 * Print a message about the word, at its character @at; about the end of the statement
 * if @word is NULL. Return: false.
 */
bool words_mistake(const struct definition_words *words, const struct word *word, size_t at,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));
void words_release(struct definition_words *words);

#endif
