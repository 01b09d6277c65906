/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Check and escape untrusted text, such as names and paths, which may contain any bytes. The
 * encoding is UTF-8 (RFC 3629).
 */
#ifndef NETSYNC_UTF8_H
#define NETSYNC_UTF8_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Return the size in bytes of the first character of @text, which has @size bytes. Return 0 if the
 * text does not begin with a valid character. Overlong encodings, surrogates and codes above
 * U+10FFFF are not valid.
 */
static inline size_t utf8_length(const char *text, size_t size)
{
	const unsigned char *c = (const unsigned char *)text;
	const size_t length = !size		      ? 0 :
			      *c < 0x80		      ? 1 :
			      *c >= 0xc2 && *c < 0xe0 ? 2 :
			      *c >= 0xe0 && *c < 0xf0 ? 3 :
			      *c >= 0xf0 && *c < 0xf5 ? 4 :
							0;

	if (length > size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
	    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
		return 0;
	return length;
}

/*
 * Return whether a character is a control character of ISO 6429: C0, DEL, or C1 (U+0080 to U+009F).
 */
static inline bool utf8_is_control(const char *text, size_t length)
{
	const unsigned char *c = (const unsigned char *)text;

	return (length == 1 && (*c < ' ' || *c == 0x7f)) ||
	       (length == 2 && *c == 0xc2 && c[1] < 0xa0);
}

/*
 * Escape bytes that are not valid characters as "\xff". In names, also escape control characters,
 * and escape each "\" that begins what looks like an escape, so that different names remain
 * different. Return a string that the caller frees, or NULL if out of memory.
 */
static inline char *utf8_escape(const char *text, bool is_name)
{
	size_t left = strlen(text), at = 0;
	char *escaped = malloc(4 * left + 1);

	while (escaped && left) {
		size_t length = utf8_length(text, left);
		const size_t taken = length ? length : 1;
		const bool looks_escaped = left > 3 && text[0] == '\\' && text[1] == 'x' &&
					   isxdigit((unsigned char)text[2]) &&
					   isxdigit((unsigned char)text[3]);

		if (!length || (is_name && (looks_escaped || utf8_is_control(text, length)))) {
			for (size_t i = 0; i < taken; i++)
				at += sprintf(escaped + at, "\\x%02x", (unsigned char)text[i]);
		} else {
			memcpy(escaped + at, text, taken);
			at += taken;
		}
		text += taken;
		left -= taken;
	}
	if (escaped)
		escaped[at] = '\0';
	return escaped;
}

/* Return whether the text can be printed without escapes. */
static inline bool utf8_is_plain(const char *text, size_t size)
{
	while (size) {
		const size_t length = utf8_length(text, size);

		if (!length || utf8_is_control(text, length))
			return false;
		text += length;
		size -= length;
	}
	return true;
}

#endif
