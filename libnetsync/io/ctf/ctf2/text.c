// SPDX-License-Identifier: LGPL-2.1-or-later
/* Append to texts, all of which share one limit, and store the reason of the first failure. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/ctf2/internal.h"
#include "util/array.h"

/* TSDL keywords, which are not valid names (CTF 1.8.3, C.1). */
static const char *const keywords[] = {
	"align",   "callsite", "char",	 "clock",	   "const",  "double",	 "enum",
	"env",	   "event",    "float",	 "floating_point", "int",    "integer",	 "long",
	"short",   "signed",   "stream", "string",	   "struct", "trace",	 "typealias",
	"typedef", "unsigned", "void",	 "variant",	   "_Bool",  "_Complex", "_Imaginary",
};

/* ---- errors ------------------------------------------------------------------ */

/* Store the first error. All later errors are consequences of the first one. */
static bool set_ctf2_error(struct ctf2 *p, int error, const char *format, va_list values)
{
	if (p->error)
		return false;
	p->error = error;
	vsnprintf(p->why, CTF2_WHY_SIZE, format, values);
	for (char *c = p->why; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	return false;
}

bool ctf2_refuse(struct ctf2 *p, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	set_ctf2_error(p, -ENOTSUP, format, values);
	va_end(values);
	return false;
}

bool ctf2_fail_damaged(struct ctf2 *p, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	set_ctf2_error(p, -EILSEQ, format, values);
	va_end(values);
	return false;
}

bool ctf2_fail_no_memory(struct ctf2 *p)
{
	p->error = -ENOMEM;
	return false;
}

/* ---- appending --------------------------------------------------------------- */

static bool reserve_text(struct ctf2 *p, struct ctf2_text *text, size_t length)
{
	size_t room = text->room ? text->room : 64;
	char *bigger;

	p->written += length;
	if (p->written > MAX_WRITTEN)
		return ctf2_refuse(p, "more field classes than netsync translates");
	while (room <= text->used + length)
		room *= 2;
	if (room == text->room)
		return true;
	bigger = realloc(text->bytes, room);
	if (!bigger)
		return ctf2_fail_no_memory(p);
	text->bytes = bigger;
	text->room = room;
	return true;
}

bool ctf2_add_text(struct ctf2 *p, struct ctf2_text *text, const char *format, ...)
{
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(NULL, 0, format, values);
	va_end(values);
	if (length < 0 || !reserve_text(p, text, length))
		return false;
	va_start(values, format);
	vsnprintf(text->bytes + text->used, length + 1, format, values);
	va_end(values);
	text->used += length;
	return true;
}

/*
 * Replace control characters by "_". TSDL allows neither these characters nor escapes for them in
 * strings.
 */
bool ctf2_add_quoted(struct ctf2 *p, struct ctf2_text *text, const char *string)
{
	const size_t length = strlen(string);
	char *to;

	if (!reserve_text(p, text, 2 * length + 2))
		return false;
	to = text->bytes + text->used;
	*to++ = '"';
	for (const char *c = string; *c; c++) {
		if (*c == '"' || *c == '\\')
			*to++ = '\\';
		*to++ = iscntrl((unsigned char)*c) ? '_' : *c;
	}
	*to++ = '"';
	*to = '\0';
	text->used = to - text->bytes;
	return true;
}

/* ---- names --------------------------------------------------------------- */

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

char *ctf2_make_name(struct ctf2 *p, const char *before, const char *name)
{
	const size_t length = strlen(before);
	char *text = malloc(length + strlen(name) + 1);

	if (!text) {
		ctf2_fail_no_memory(p);
		return NULL;
	}
	strcpy(text, before);
	strcpy(text + length, name);
	for (char *c = text; *c; c++)
		if (!is_name_byte(*c))
			*c = '_';
	return text;
}

bool ctf2_is_name(const char *text)
{
	const char *c = text;

	while (is_name_byte(*c))
		c++;
	if (*c || !*text || isdigit((unsigned char)*text))
		return false;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (!strcmp(text, keywords[i]))
			return false;
	return true;
}
