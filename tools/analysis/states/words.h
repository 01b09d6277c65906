/* SPDX-License-Identifier: GPL-2.0-only */
/* Split the text of a definition into words with known positions. */
#ifndef NETSYNC_STATES_WORDS_H
#define NETSYNC_STATES_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct word {
	char *text; /* start of the word in the file's text, terminated by NUL */
	unsigned int line;
	unsigned int column; /* column of the first character, which counts from 1 */
	bool is_quoted;
};

struct definition_words {
	const char *path;
	char *at; /* text that was not read yet */
	const char *line_begin;
	unsigned int line;

	/*
	 * Words of the current statement. A line that begins with a blank continues the statement.
	 */
	struct word *list;
	size_t num;
	size_t next; /* index of the next word */
};

/* Go to the next statement, if any. If a word is invalid, print a message and return false. */
bool words_next_statement(struct definition_words *words);
/* Return the next word of the statement and advance past it, or return NULL if there is none. */
struct word *words_next(struct definition_words *words);
/* Return the next word without advancing, or NULL if there is none. */
struct word *words_peek(const struct definition_words *words);
/*
 * Print a message about the character at index @at of a word. If @word is NULL, the message is
 * about the end of the statement. Return false.
 */
bool words_complain(const struct definition_words *words, const struct word *word, size_t at,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));
void words_release(struct definition_words *words);

#endif
