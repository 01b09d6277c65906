// SPDX-License-Identifier: GPL-2.0-only
/* Read and check JSON values. */
#include <math.h>
#include <string.h>

#include "json-value.h"

bool value_get_int(struct json_object *value, int64_t least, int64_t most, int64_t *number)
{
	int64_t found;

	if (!json_object_is_type(value, json_type_int))
		return false;
	found = json_object_get_int64(value);
	/* For numbers that do not fit, json-c returns the limits of int64_t. */
	if (found == INT64_MIN || found == INT64_MAX || found < least || found > most)
		return false;
	*number = found;
	return true;
}

bool value_get_double(struct json_object *value, double *number)
{
	if (!json_object_is_type(value, json_type_double) &&
	    !json_object_is_type(value, json_type_int))
		return false;
	*number = json_object_get_double(value);
	return isfinite(*number);
}

const char *value_get_text(struct json_object *value, size_t most)
{
	const char *text;
	size_t size;

	if (!json_object_is_type(value, json_type_string))
		return NULL;
	text = json_object_get_string(value);
	size = json_object_get_string_len(value);
	return size <= most && strlen(text) == size ? text : NULL;
}

size_t value_get_length(struct json_object *value)
{
	return json_object_is_type(value, json_type_array) ? json_object_array_length(value) : 0;
}

struct json_object *value_get_element(struct json_object *value, size_t index)
{
	return index < value_get_length(value) ? json_object_array_get_idx(value, index) : NULL;
}

struct json_object *value_get_member(struct json_object *object, const char *key)
{
	struct json_object *member;

	/*
	 * Do not call json_object_object_get_ex() for other types, because this is undocumented and
	 * may abort the program.
	 */
	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &member))
		return NULL;
	return member;
}

const char *member_get_text(struct json_object *object, const char *key)
{
	const char *text = value_get_text(value_get_member(object, key), SIZE_MAX);

	return text ? text : "";
}

int64_t member_get_int(struct json_object *object, const char *key)
{
	int64_t number = 0;

	value_get_int(value_get_member(object, key), INT64_MIN, INT64_MAX, &number);
	return number;
}

bool member_get_flag(struct json_object *object, const char *key)
{
	struct json_object *value = value_get_member(object, key);

	return json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}
