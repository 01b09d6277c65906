// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"

void put(struct writer *w, json_object *object, const char *key,
		json_object *value)
{
	if (!value || json_object_object_add(object, key, value))
		w->failed = true;
}

void append(struct writer *w, json_object *array, json_object *value)
{
	if (!value || json_object_array_add(array, value))
		w->failed = true;
}

void put_null(struct writer *w, json_object *object, const char *key)
{
	if (json_object_object_add(object, key, NULL))
		w->failed = true;
}

void put_time(struct writer *w, json_object *object, const char *key,
		     int64_t ns)
{
	if (ns == NETSYNC_UNKNOWN)
		put_null(w, object, key);
	else
		put(w, object, key, json_object_new_int64(ns));
}

void append_time(struct writer *w, json_object *array, int64_t ns)
{
	if (ns != NETSYNC_UNKNOWN)
		append(w, array, json_object_new_int64(ns));
	else if (json_object_array_add(array, NULL))
		w->failed = true;
}

/* 17 significant digits are enough to get the same double back. */
json_object *new_double(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.17g", value);
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
	return json_object_new_double_s(value, text);
}

void append_double(struct writer *w, json_object *array, double value)
{
	if (isfinite(value))
		append(w, array, new_double(value));
	else if (json_object_array_add(array, NULL))
		w->failed = true;
}

/* How many bytes the UTF-8 character at @text has; 0: it is not one. */
static size_t utf8_length(const unsigned char *text)
{
	size_t length = *text < 0x80 ? 1 : *text >= 0xc2 && *text < 0xe0 ? 2 :
			*text >= 0xe0 && *text < 0xf0 ? 3 :
			*text >= 0xf0 && *text < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* JSON is UTF-8, paths and names are bytes: others become '?'. */
json_object *new_string(const char *text)
{
	char *copy = strdup(text);
	json_object *object;

	if (!copy)
		return NULL;
	for (char *at = copy; *at;) {
		size_t length = utf8_length((unsigned char *)at);

		if (!length)
			*at = '?';
		at += length ? length : 1;
	}
	object = json_object_new_string(copy);
	free(copy);
	return object;
}

void put_pair(struct writer *w, json_object *object, const char *key,
		     json_object *a, json_object *b)
{
	json_object *array = json_object_new_array_ext(2);

	append(w, array, a);
	append(w, array, b);
	put(w, object, key, array);
}
