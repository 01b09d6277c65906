// SPDX-License-Identifier: LGPL-2.1-or-later
/* Split the text of metadata into words, numbers and strings. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/direct/tsdl.h"

void tsdl_skip_space(struct tsdl_parser *p)
{
	for (;;) {
		if (isspace((unsigned char)*p->at)) {
			p->at++;
		} else if (!strncmp(p->at, "/*", 2)) {
			p->at = strstr(p->at + 2, "*/");
			p->at = p->at ? p->at + 2 : "";
		} else if (!strncmp(p->at, "//", 2)) {
			p->at += strcspn(p->at, "\n");
		} else {
			return;
		}
	}
}

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

size_t tsdl_get_word_length(struct tsdl_parser *p)
{
	size_t length = 0;

	tsdl_skip_space(p);
	while (is_word_byte(p->at[length]))
		length++;
	return isdigit((unsigned char)*p->at) ? 0 : length;
}

bool tsdl_consume_punctuation(struct tsdl_parser *p, const char *punctuation)
{
	const size_t length = strlen(punctuation);

	tsdl_skip_space(p);
	if (strncmp(p->at, punctuation, length))
		return false;
	p->at += length;
	return true;
}

bool tsdl_consume_word(struct tsdl_parser *p, const char *word)
{
	const size_t length = tsdl_get_word_length(p);

	if (length != strlen(word) || strncmp(p->at, word, length))
		return false;
	p->at += length;
	return true;
}

char *tsdl_copy_text(struct tsdl_parser *p, const char *from, size_t length)
{
	char *text = strndup(from, length);

	p->no_memory |= !text;
	return text;
}

/* Consume a word. Return NULL if the next token is not a word. */
char *tsdl_parse_name(struct tsdl_parser *p)
{
	const size_t length = tsdl_get_word_length(p);
	char *text = length ? tsdl_copy_text(p, p->at, length) : NULL;

	p->at += length;
	return text;
}

/*
 * Consume a string literal. Return NULL if the next token is not a string literal, or if the
 * literal contains a backslash.
 */
char *tsdl_parse_literal(struct tsdl_parser *p)
{
	size_t length;
	char *text;

	if (!tsdl_consume_punctuation(p, "\""))
		return NULL;
	length = strcspn(p->at, "\"\\\n");
	if (p->at[length] != '"')
		return NULL;
	text = tsdl_copy_text(p, p->at, length);
	p->at += length + 1;
	return text;
}

bool tsdl_parse_number(struct tsdl_parser *p, int64_t *value)
{
	char *end;

	tsdl_skip_space(p);
	if (!isdigit((unsigned char)*p->at) && *p->at != '-')
		return false;
	errno = 0;
	*value = *p->at == '-' ? strtoll(p->at, &end, 0) : (int64_t)strtoull(p->at, &end, 0);
	if (errno || end == p->at || is_word_byte(*end))
		return false;
	p->at = end;
	return true;
}

/* Consume an unsigned number up to @most. */
bool tsdl_parse_count(struct tsdl_parser *p, uint64_t most, uint64_t *value)
{
	int64_t any;

	tsdl_skip_space(p);
	if (*p->at == '-' || !tsdl_parse_number(p, &any) || (uint64_t)any > most)
		return false;
	*value = (uint64_t)any;
	return true;
}

bool tsdl_append_word(struct tsdl_parser *p, char full[NAME_SIZE], size_t *used, char between)
{
	const size_t length = tsdl_get_word_length(p);

	if (!length || *used + length + 2 > NAME_SIZE)
		return false;
	if (*used)
		full[(*used)++] = between;
	memcpy(full + *used, p->at, length);
	*used += length;
	full[*used] = '\0';
	p->at += length;
	return true;
}
