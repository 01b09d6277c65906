// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse the part of TSDL that is needed to find the clock's block: words, comments, strings and
 * nested braces.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tsdl.h"

/* CTF 2 metadata is a sequence of JSON texts. Each text begins with this character. */
#define JSON_RECORD_SEPARATOR 0x1e

enum key { FREQ, OFFSET_S, OFFSET, PRECISION, UUID, NUM_KEYS };

static const char *const key_names[NUM_KEYS] = { "freq", "offset_s", "offset", "precision",
						 "uuid" };

struct text_span {
	const char *start; /* NULL if there is no text */
	const char *end;
};

struct clock_block {
	unsigned int num; /* number of clock blocks found so far */
	struct text_span value[NUM_KEYS];
	const char *start; /* the text just after the opening brace */
	bool is_good;	   /* whether the block is closed and each key has a value */
};

static bool is_tsdl_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_token_word(struct text_span token, const char *word)
{
	const size_t len = token.end - token.start;

	return len == strlen(word) && !memcmp(token.start, word, len);
}

/* Skip blanks and comments; an unclosed comment extends to the end of the text. */
static const char *skip_tsdl_space(const char *at)
{
	const char *end;

	for (;;) {
		at += strspn(at, " \t\r\n\v\f");
		if (at[0] != '/' || (at[1] != '*' && at[1] != '/'))
			return at;
		end = strstr(at + 2, at[1] == '*' ? "*/" : "\n");
		if (!end)
			return at + strlen(at);
		at = end + (at[1] == '*' ? 2 : 1);
	}
}

/* Return the next word, string or other character, or an empty token at the end of the text. */
static struct text_span read_next_token(const char **at)
{
	struct text_span token = { .start = skip_tsdl_space(*at) };
	const char *end = token.start;

	if (is_tsdl_word_char(*end)) {
		while (is_tsdl_word_char(*end))
			end++;
	} else if (*end == '"') {
		for (end++; *end && *end != '"'; end++)
			end += *end == '\\' && end[1];
		end += *end == '"';
	} else if (*end) {
		end++;
	}
	token.end = *at = end;
	return token;
}

/* Read " = VALUE;" after a key. Return false if a key listed in key_names[] has no value. */
static bool read_clock_value(struct clock_block *block, struct text_span key, const char **at)
{
	struct text_span value = { .start = NULL }, token;

	for (int i = 0; i < NUM_KEYS; i++) {
		if (!is_token_word(key, key_names[i]))
			continue;
		if (!is_token_word(read_next_token(at), "="))
			return false;
		value.start = skip_tsdl_space(*at);
		do {
			value.end = *at;
			token = read_next_token(at);
		} while (token.start < token.end && !is_token_word(token, ";"));
		block->value[i] = value;
		return value.start < value.end;
	}
	return true;
}

static void read_clock_block(struct clock_block *block, const char **at)
{
	const unsigned int num = block->num + 1;
	unsigned int depth = 1;
	struct text_span token;

	*block = (struct clock_block){ .num = num, .start = *at };
	while (depth) {
		token = read_next_token(at);
		if (token.start == token.end)
			return;
		if (is_token_word(token, "{"))
			depth++;
		else if (is_token_word(token, "}"))
			depth--;
		else if (depth == 1 && !read_clock_value(block, token, at))
			return;
	}
	block->is_good = true;
}

static struct clock_block find_clock_block(const char *text)
{
	struct clock_block block = { 0 };
	unsigned int depth = 0;
	struct text_span token;

	for (token = read_next_token(&text); token.start < token.end;
	     token = read_next_token(&text)) {
		if (is_token_word(token, "{"))
			depth++;
		else if (is_token_word(token, "}"))
			depth -= depth > 0;
		else if (!depth && is_token_word(token, "clock") && *skip_tsdl_space(text) == '{') {
			read_next_token(&text);
			read_clock_block(&block, &text);
		}
	}
	return block;
}

/*
 * Read an integer in C syntax. If the key is missing, do not change @value. Return false if the
 * number is invalid.
 */
static bool parse_span_number(struct text_span span, int64_t *value)
{
	char *end;

	if (!span.start)
		return true;
	errno = 0;
	*value = strtoll(span.start, &end, 0);
	if (errno || end == span.start)
		return false;
	end += strspn(end, "uUlL");
	return skip_tsdl_space(end) >= span.end;
}

const char *tsdl_read_clock(const char *text, struct tsdl_clock *clock)
{
	const struct clock_block block = find_clock_block(text);
	int64_t freq = 1000000000;

	*clock = (struct tsdl_clock){ .precision = -1 };
	if (*text == JSON_RECORD_SEPARATOR)
		return "it is a CTF 2 trace, whose metadata is not TSDL";
	if (!block.num)
		return "its metadata describes no clock";
	if (block.num > 1)
		return "its metadata describes several clocks";
	if (!block.is_good || !parse_span_number(block.value[FREQ], &freq) || freq <= 0 ||
	    !parse_span_number(block.value[OFFSET_S], &clock->offset_s) ||
	    !parse_span_number(block.value[OFFSET], &clock->offset))
		return "the clock in its metadata cannot be parsed";
	clock->freq = freq;
	return NULL;
}

/* Format the new values as text. An empty text means that a value does not change. */
static void format_clock_values(const struct tsdl_clock *clock,
				char values[NUM_KEYS][TSDL_UUID_LEN + sizeof("\"\"")])
{
	const size_t size = sizeof(values[0]);

	snprintf(values[FREQ], size, "%llu", (unsigned long long)clock->freq);
	snprintf(values[OFFSET_S], size, "%lld", (long long)clock->offset_s);
	snprintf(values[OFFSET], size, "%lld", (long long)clock->offset);
	*values[PRECISION] = *values[UUID] = '\0';
	if (clock->precision >= 0)
		snprintf(values[PRECISION], size, "%lld", (long long)clock->precision);
	if (*clock->uuid)
		snprintf(values[UUID], size, "\"%s\"", clock->uuid);
}

char *tsdl_change_clock(const char *text, const struct tsdl_clock *clock)
{
	const struct clock_block block = find_clock_block(text);
	char values[NUM_KEYS][TSDL_UUID_LEN + sizeof("\"\"")];
	const char *at;
	char *changed = NULL;
	size_t size;
	FILE *out = open_memstream(&changed, &size);

	if (!out)
		return NULL;
	format_clock_values(clock, values);
	fprintf(out, "%.*s", (int)(block.start - text), text);
	for (int i = 0; i < NUM_KEYS; i++)
		if (!block.value[i].start && *values[i] && (i != OFFSET_S || clock->offset_s))
			fprintf(out, " %s = %s;", key_names[i], values[i]);
	at = block.start;
	/* Copy the text. Replace the values in the order in which they occur. */
	for (;;) {
		int next = -1;

		for (int i = 0; i < NUM_KEYS; i++)
			if (block.value[i].start >= at && *values[i] &&
			    (next < 0 || block.value[i].start < block.value[next].start))
				next = i;
		if (next < 0)
			break;
		fprintf(out, "%.*s%s", (int)(block.value[next].start - at), at, values[next]);
		at = block.value[next].end;
	}
	fputs(at, out);
	if (!fclose(out))
		return changed;
	free(changed);
	return NULL;
}
