// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write values that JSON cannot express directly, such as unknown times and text that is not UTF-8.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netsync.h>

#include "../../libnetsync/util/utf8.h"
#include "json-writer.h"

void json_put(struct json_writer *w, json_object *object, const char *key, json_object *value)
{
	if (!value || json_object_object_add(object, key, value))
		w->failed = true;
}

void json_append(struct json_writer *w, json_object *array, json_object *value)
{
	if (!value || json_object_array_add(array, value))
		w->failed = true;
}

void json_put_null(struct json_writer *w, json_object *object, const char *key)
{
	if (json_object_object_add(object, key, NULL))
		w->failed = true;
}

void json_put_number(struct json_writer *w, json_object *object, const char *key, uint64_t number)
{
	json_put(w, object, key, json_object_new_uint64(number));
}

void json_put_time(struct json_writer *w, json_object *object, const char *key, int64_t ns)
{
	if (ns == NETSYNC_UNKNOWN)
		json_put_null(w, object, key);
	else
		json_put(w, object, key, json_object_new_int64(ns));
}

void json_append_time(struct json_writer *w, json_object *array, int64_t ns)
{
	if (ns != NETSYNC_UNKNOWN)
		json_append(w, array, json_object_new_int64(ns));
	else if (json_object_array_add(array, NULL))
		w->failed = true;
}

/* With 17 significant digits, a reader gets exactly the same double. */
json_object *new_json_double(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.17g", value);
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
	return json_object_new_double_s(value, text);
}

void json_append_double(struct json_writer *w, json_object *array, double value)
{
	if (isfinite(value))
		json_append(w, array, new_json_double(value));
	else if (json_object_array_add(array, NULL))
		w->failed = true;
}

/*
 * Print control characters as "\u0080". JSON does not require this, but terminals interpret control
 * characters.
 */
static int print_without_controls(json_object *object, struct printbuf *out, int level, int flags)
{
	json_object *plain = json_object_new_string(json_object_get_string(object));
	const char *text = plain ? json_object_to_json_string_ext(plain, flags) : "\"\"";
	char code[8];

	(void)level;
	while (*text) {
		const size_t length = utf8_length(text, strlen(text));

		if (utf8_is_control(text, length)) {
			snprintf(code, sizeof(code), "\\u%04x", (unsigned char)text[length - 1]);
			printbuf_memappend(out, code, strlen(code));
		} else {
			printbuf_memappend(out, text, length);
		}
		text += length;
	}
	json_object_put(plain);
	return 0;
}

json_object *new_json_string(const char *text)
{
	char *copy = utf8_escape(text, false);
	json_object *object = copy ? json_object_new_string(copy) : NULL;

	if (object && !utf8_is_plain(copy, strlen(copy)))
		json_object_set_serializer(object, print_without_controls, NULL, NULL);
	free(copy);
	return object;
}

void json_put_pair(struct json_writer *w, json_object *object, const char *key, json_object *a,
		   json_object *b)
{
	json_object *array = json_object_new_array_ext(2);

	json_append(w, array, a);
	json_append(w, array, b);
	json_put(w, object, key, array);
}

bool json_print_root(const struct json_writer *w, FILE *out, json_object *root)
{
	const char *text = w->failed ? NULL :
				       json_object_to_json_string_ext(
					       root, JSON_C_TO_STRING_PRETTY |
							     JSON_C_TO_STRING_NOSLASHESCAPE);

	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(root);
	return text && !ferror(out);
}
