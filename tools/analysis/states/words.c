// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "common/complain.h"
#include "words.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool words_complain(const struct definition_words *words, const struct word *word, size_t at,
		    const char *format, ...)
{
	const struct word *last = words->num ? &words->list[words->num - 1] : NULL;
	const unsigned int line = word ? word->line : last ? last->line : 1;
	unsigned int column = 1;
	char sentence[256];
	va_list values;

	if (word)
		column = word->column + word->is_quoted + at;
	else if (last)
		column = last->column + 2 * last->is_quoted + strlen(last->text);
	va_start(values, format);
	vsnprintf(sentence, sizeof(sentence), format, values);
	va_end(values);
	complain("%s:%u:%u: %s", words->path, line, column, sentence);
	return false;
}

/* Skip to the next word, or to the end of the line. */
static void skip_blanks(struct definition_words *words)
{
	while (is_blank(*words->at))
		words->at++;
	if (*words->at == '#')
		words->at += strcspn(words->at, "\n");
}

static void read_next_line(struct definition_words *words)
{
	if (*words->at == '\n')
		words->at++;
	words->line_begin = words->at;
	words->line++;
}

static bool read_statement_word(struct definition_words *words)
{
	struct word *word = array_add(&words->list, words->num, sizeof(*word));
	char *end;

	if (!word)
		return complain_no_memory();
	*word = (struct word){
		.text = words->at,
		.line = words->line,
		.column = words->at - words->line_begin + 1,
		.is_quoted = *words->at == '"',
	};
	words->num++;
	if (word->is_quoted) {
		word->text++;
		end = word->text + strcspn(word->text, "\"\n");
		if (*end != '"') {
			*end = '\0';
			return words_complain(words, word, strlen(word->text),
					      "The closing \" is missing at the end of this text.");
		}
		words->at = end + 1;
		if (*words->at && *words->at != '\n' && !is_blank(*words->at)) {
			*end = '\0';
			return words_complain(words, word, words->at - word->text,
					      "A blank is required after \".");
		}
		*end = '\0';
		return true;
	}
	words->at += strcspn(words->at, " \t\r\n");
	return true;
}

/*
 * Find the words of a line. Words have no terminating NUL before terminate_words(). Return false if
 * a word is invalid.
 */
static bool read_line_words(struct definition_words *words)
{
	for (;;) {
		skip_blanks(words);
		if (!*words->at || *words->at == '\n')
			return true;
		if (!read_statement_word(words))
			return false;
	}
}

/* Terminate each word of the statement with a NUL, which replaces the blank after the word. */
static void terminate_words(struct definition_words *words)
{
	for (size_t i = 0; i < words->num; i++)
		if (!words->list[i].is_quoted)
			words->list[i].text[strcspn(words->list[i].text, " \t\r\n")] = '\0';
}

bool words_next_statement(struct definition_words *words)
{
	words->num = words->next = 0;
	if (!words->line)
		words->line_begin = words->at, words->line = 1;
	while (*words->at && !words->num) {
		if (!read_line_words(words))
			return false;
		if (!words->num)
			read_next_line(words);
	}
	/*
	 * Lines that begin with a blank continue the statement. Empty lines and comments may be
	 * between them.
	 */
	while (*words->at == '\n' &&
	       (is_blank(words->at[1]) || words->at[1] == '\n' || words->at[1] == '#')) {
		read_next_line(words);
		if (!read_line_words(words))
			return false;
	}
	if (*words->at == '\n') {
		/* Replace the newline by a blank, so that words can be terminated there. */
		*words->at = ' ';
		words->at++;
		words->line_begin = words->at;
		words->line++;
	}
	terminate_words(words);
	return true;
}

struct word *words_peek(const struct definition_words *words)
{
	return words->next < words->num ? &words->list[words->next] : NULL;
}

struct word *words_next(struct definition_words *words)
{
	struct word *word = words_peek(words);

	words->next += word != NULL;
	return word;
}

void words_release(struct definition_words *words)
{
	free(words->list);
	words->list = NULL;
}
