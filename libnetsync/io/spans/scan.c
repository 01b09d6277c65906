// SPDX-License-Identifier: LGPL-2.1-or-later
/* Scan JSON texts: see scan.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/scan.h"

/* Size of the buffer of decompressed bytes. Chosen: it fits into the cache of a processor core. */
#define SCAN_BUFFER ((size_t)256 << 10)

static const char scan_ends_early[] = "the file ends within a value";
const char scan_not_json[] = "it is not valid JSON there";

int scan_open(struct json_scan *scan, struct netsync_io *io, const char *path)
{
	int ret;

	memset(scan, 0, sizeof(*scan));
	ret = io_open_unpacked(io, path, &scan->file);
	if (ret)
		return ret;
	scan->buffer = malloc(SCAN_BUFFER);
	return scan->buffer ? 0 : io_fail_no_memory(io);
}

void scan_close(struct json_scan *scan)
{
	unpacked_close(&scan->file);
	free(scan->buffer);
	scan->buffer = NULL;
}

/* ---- bytes ------------------------------------------------------------------ */

int scan_fail(struct json_scan *scan, const char *problem)
{
	scan->problem = problem;
	return -EILSEQ;
}

/* Read bytes into the buffer, which is used up. Return 1; 0 at the end; or a negative value. */
static int fill_scan_buffer(struct json_scan *scan)
{
	ssize_t len;

	scan->base += scan->size;
	scan->at = scan->size = 0;
	len = unpacked_read(&scan->file, scan->buffer, SCAN_BUFFER, scan->base);
	if (len == -EILSEQ)
		return scan_fail(scan, scan->file.damage);
	scan->size = len > 0 ? (size_t)len : 0;
	return len < 0 ? (int)len : len > 0;
}

/* Return whether there is another byte, with the return values of fill_scan_buffer(). */
static inline int has_scan_byte(struct json_scan *scan)
{
	return scan->at < scan->size ? 1 : fill_scan_buffer(scan);
}

/* Like has_scan_byte(), but treat the end of the file as damage. */
static inline int need_scan_byte(struct json_scan *scan)
{
	const int ret = has_scan_byte(scan);

	return ret ? ret : scan_fail(scan, scan_ends_early);
}

int scan_need_byte(struct json_scan *scan)
{
	return need_scan_byte(scan);
}

int scan_peek(struct json_scan *scan)
{
	int ret;

	while ((ret = has_scan_byte(scan)) > 0) {
		const unsigned char c = (unsigned char)scan->buffer[scan->at];

		if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
			return c ? c : scan_fail(scan, "it contains a zero byte");
		scan->at++;
	}
	return ret;
}

/* Return the next byte that is not white space, which must exist. */
static int need_scan_peek(struct json_scan *scan)
{
	const int ret = scan_peek(scan);

	return ret ? ret : scan_fail(scan, scan_ends_early);
}

/* ---- strings ---------------------------------------------------------------- */

static void keep_scan_byte(struct json_scan *scan, char c)
{
	if (scan->len < SCAN_MAX_TEXT)
		scan->text[scan->len++] = c;
}

/* Keep a character of the basic plane as UTF-8. Halves of surrogate pairs become '?'. */
static void keep_scan_character(struct json_scan *scan, unsigned int c)
{
	if (c >= 0xd800 && c < 0xe000)
		c = '?';
	if (c < 0x80) {
		keep_scan_byte(scan, (char)c);
	} else if (c < 0x800) {
		keep_scan_byte(scan, (char)(0xc0 | c >> 6));
		keep_scan_byte(scan, (char)(0x80 | (c & 0x3f)));
	} else {
		keep_scan_byte(scan, (char)(0xe0 | c >> 12));
		keep_scan_byte(scan, (char)(0x80 | (c >> 6 & 0x3f)));
		keep_scan_byte(scan, (char)(0x80 | (c & 0x3f)));
	}
}

/* Read four hexadecimal digits of an escape. */
static int keep_scan_code(struct json_scan *scan)
{
	unsigned int code = 0;

	for (int i = 0; i < 4; i++) {
		const int ret = need_scan_byte(scan);
		char c;

		if (ret < 0)
			return ret;
		c = scan->buffer[scan->at++];
		if (!isxdigit((unsigned char)c))
			return scan_fail(scan, scan_not_json);
		code = code * 16 +
		       (unsigned int)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
	}
	keep_scan_character(scan, code);
	return 1;
}

/* Read what follows a backslash. */
static int keep_scan_escape(struct json_scan *scan)
{
	static const char codes[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	const int ret = need_scan_byte(scan);
	const char *code;
	char c;

	if (ret < 0)
		return ret;
	c = scan->buffer[scan->at++];
	if (c == 'u')
		return keep_scan_code(scan);
	code = c ? strchr(codes, c) : NULL;
	if (!code)
		return scan_fail(scan, scan_not_json);
	keep_scan_byte(scan, plain[code - codes]);
	return 1;
}

/*
 * Find the next quote, backslash or end of a line in the buffer. No string contains the end of a
 * line, so the string in a truncated line does not continue in the next line.
 */
static const char *find_scan_special(const char *from, size_t size)
{
	const char *quote = memchr(from, '"', size);
	const char *slash = memchr(from, '\\', quote ? (size_t)(quote - from) : size);
	const char *end = slash ? slash : quote;
	const char *line = memchr(from, '\n', end ? (size_t)(end - from) : size);

	return line ? line : end;
}

/* Read a string, whose first quote is the next byte. */
static int read_scan_string(struct json_scan *scan)
{
	int ret;

	scan->at++;
	scan->len = 0;
	scan->text_at = scan_get_position(scan);
	while ((ret = need_scan_byte(scan)) > 0) {
		const char *from = scan->buffer + scan->at;
		const size_t left = scan->size - scan->at;
		const char *special = find_scan_special(from, left);
		const size_t num = special ? (size_t)(special - from) : left;
		const size_t room = SCAN_MAX_TEXT - scan->len, kept = num < room ? num : room;

		memcpy(scan->text + scan->len, from, kept);
		scan->len += kept;
		scan->at += num;
		if (!special)
			continue;
		if (*special == '\n')
			return scan_fail(scan, "a string contains the end of a line");
		scan->at++;
		if (*special == '"') {
			scan->text_end = scan_get_position(scan) - 1;
			scan->text[scan->len] = '\0';
			return 1;
		}
		ret = keep_scan_escape(scan);
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* Skip a string, whose first quote is the next byte. */
static int skip_scan_string(struct json_scan *scan)
{
	int ret;

	scan->at++;
	while ((ret = need_scan_byte(scan)) > 0) {
		const char *from = scan->buffer + scan->at;
		const char *special = find_scan_special(from, scan->size - scan->at);

		if (!special) {
			scan->at = scan->size;
			continue;
		}
		scan->at += (size_t)(special - from);
		if (*special == '\n')
			return scan_fail(scan, "a string contains the end of a line");
		scan->at++;
		if (*special == '"')
			return 1;
		ret = need_scan_byte(scan);
		if (ret < 0)
			return ret;
		scan->at++;
	}
	return ret;
}

/* ---- other values ----------------------------------------------------------- */

static bool is_scan_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '+' || c == '.';
}

/* Read a number, or a word such as "true". */
static int read_scan_word(struct json_scan *scan)
{
	int ret;

	scan->len = 0;
	scan->text_at = scan_get_position(scan);
	while ((ret = has_scan_byte(scan)) > 0 && is_scan_word(scan->buffer[scan->at]))
		keep_scan_byte(scan, scan->buffer[scan->at++]);
	scan->text[scan->len] = '\0';
	scan->text_end = scan_get_position(scan);
	if (ret >= 0 && !scan->len)
		return scan_fail(scan, scan_not_json);
	return ret < 0 ? ret : 1;
}

/* Skip an object or list. */
static int skip_scan_brackets(struct json_scan *scan)
{
	uint64_t depth = 0;
	int ret;

	while ((ret = need_scan_byte(scan)) > 0) {
		const char c = scan->buffer[scan->at];

		if (c == '"') {
			ret = skip_scan_string(scan);
			if (ret < 0)
				return ret;
			continue;
		}
		scan->at++;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && !--depth)
			return 1;
		else if (!c)
			return scan_fail(scan, "it contains a zero byte");
	}
	return ret;
}

int scan_skip(struct json_scan *scan)
{
	const int c = need_scan_peek(scan);

	if (c < 0)
		return c;
	if (c == '"')
		return skip_scan_string(scan);
	return c == '{' || c == '[' ? skip_scan_brackets(scan) : read_scan_word(scan);
}

int scan_text(struct json_scan *scan)
{
	const int c = need_scan_peek(scan);
	int ret;

	if (c < 0)
		return c;
	if (c == '"')
		return read_scan_string(scan);
	if (c == '-' || isdigit(c))
		return read_scan_word(scan);
	ret = scan_skip(scan);
	return ret < 0 ? ret : 0;
}

/* ---- objects and lists ------------------------------------------------------ */

int scan_enter(struct json_scan *scan, char bracket)
{
	const int c = need_scan_peek(scan);
	int ret;

	if (c == bracket) {
		scan->at++;
		scan->is_first = true;
		return 1;
	}
	ret = c < 0 ? c : scan_skip(scan);
	return ret < 0 ? ret : 0;
}

/* Go to the next member or element. Return 0 at @end. */
static int scan_separator(struct json_scan *scan, char end)
{
	int c = need_scan_peek(scan);

	if (c == end) {
		scan->at++;
		scan->is_first = false;
		return 0;
	}
	if (!scan->is_first) {
		if (c >= 0 && c != ',')
			return scan_fail(scan, scan_not_json);
		scan->at += c >= 0;
		c = c < 0 ? c : need_scan_peek(scan);
	}
	scan->is_first = false;
	return c < 0 ? c : 1;
}

int scan_element(struct json_scan *scan)
{
	return scan_separator(scan, ']');
}

int scan_member(struct json_scan *scan)
{
	int ret = scan_separator(scan, '}');

	if (ret <= 0)
		return ret;
	if (scan->buffer[scan->at] != '"')
		return scan_fail(scan, "a member has no name");
	ret = read_scan_string(scan);
	if (ret < 0)
		return ret;
	/* A name that is longer than all known names differs from all of them. */
	scan->key_len = scan->len < sizeof(scan->key) ? scan->len : 0;
	memcpy(scan->key, scan->text, scan->key_len);
	ret = need_scan_peek(scan);
	if (ret < 0)
		return ret;
	if (ret != ':')
		return scan_fail(scan, scan_not_json);
	scan->at++;
	return 1;
}

int scan_next_line(struct json_scan *scan)
{
	int ret;

	while ((ret = has_scan_byte(scan)) > 0) {
		const char *from = scan->buffer + scan->at;
		const char *line = memchr(from, '\n', scan->size - scan->at);

		scan->at = line ? scan->at + (size_t)(line - from) + 1 : scan->size;
		if (line)
			break;
	}
	return ret;
}
