// SPDX-License-Identifier: LGPL-2.1-or-later
/* Get properties of JSON objects, and check the properties' types and values. */
#include <inttypes.h>
#include <string.h>

#include "io/ctf/ctf2/internal.h"

static bool is_word_among(const char *known, const char *word)
{
	const size_t length = strlen(word);

	while (*known) {
		const size_t next = strcspn(known, " ");

		if (next == length && !strncmp(known, word, length))
			return true;
		known += next;
		known += *known == ' ';
	}
	return false;
}

/*
 * Check that all properties are known. Unknown properties and extensions (5.1) may change the
 * meaning of the bytes, but attributes (5.2) cannot.
 */
bool ctf2_check_properties(struct ctf2 *p, struct json_object *object, const char *known)
{
	struct json_object_iter it;

	if (!json_object_is_type(object, json_type_object))
		return ctf2_fail_damaged(p, "something that is not an object");
	json_object_object_foreachC(object, it) {
		if (strcmp(it.key, "type") && strcmp(it.key, "attributes") &&
		    !is_word_among(known, it.key))
			return ctf2_refuse(p, "a property \"%.40s\"", it.key);
	}
	return true;
}

bool ctf2_get_typed(struct ctf2 *p, struct json_object *object, const char *key,
		    enum json_type type, struct json_object **value)
{
	struct json_object *found;

	if (!json_object_object_get_ex(object, key, &found))
		return true;
	if (!json_object_is_type(found, type))
		return ctf2_fail_damaged(p, "an invalid property \"%.40s\"", key);
	*value = found;
	return true;
}

bool ctf2_get_string(struct ctf2 *p, struct json_object *object, const char *key,
		     const char **value)
{
	struct json_object *found = NULL;
	const char *text;

	if (!ctf2_get_typed(p, object, key, json_type_string, &found))
		return false;
	if (!found)
		return true;
	text = json_object_get_string(found);
	if (strlen(text) != (size_t)json_object_get_string_len(found))
		return ctf2_refuse(p, "a zero in the property \"%.40s\"", key);
	*value = text;
	return true;
}

/* If a number does not fit into 64 bits, json-c returns the nearest number that does. */
bool ctf2_get_count(struct ctf2 *p, struct json_object *object, const char *key, uint64_t most,
		    uint64_t *value)
{
	struct json_object *found = NULL;
	uint64_t number;

	if (!ctf2_get_typed(p, object, key, json_type_int, &found))
		return false;
	if (!found)
		return true;
	number = json_object_get_uint64(found);
	if (json_object_get_int64(found) < 0)
		return ctf2_fail_damaged(p, "an invalid property \"%.40s\"", key);
	if (number > most || number == UINT64_MAX)
		return ctf2_refuse(p, "the property \"%.40s\" with the value %" PRIu64, key,
				   number);
	*value = number;
	return true;
}

bool ctf2_get_number(struct ctf2 *p, struct json_object *object, const char *key, int64_t *value)
{
	struct json_object *found = NULL;
	int64_t number;

	if (!ctf2_get_typed(p, object, key, json_type_int, &found))
		return false;
	if (!found)
		return true;
	number = json_object_get_int64(found);
	if (number == INT64_MAX || number == INT64_MIN)
		return ctf2_refuse(p, "the property \"%.40s\" with the value %" PRId64, key,
				   number);
	*value = number;
	return true;
}

bool ctf2_add_range(struct ctf2 *p, struct ctf2_text *text, bool is_signed,
		    struct json_object *range)
{
	struct json_object *lo, *hi;

	if (!json_object_is_type(range, json_type_array) || json_object_array_length(range) != 2)
		return ctf2_fail_damaged(p, "an invalid range");
	lo = json_object_array_get_idx(range, 0);
	hi = json_object_array_get_idx(range, 1);
	if (!json_object_is_type(lo, json_type_int) || !json_object_is_type(hi, json_type_int))
		return ctf2_fail_damaged(p, "an invalid range");
	if (is_signed) {
		const int64_t from = json_object_get_int64(lo);
		const int64_t to = json_object_get_int64(hi);

		return from <= to ? ctf2_add_text(p, text, "%" PRId64 " ... %" PRId64, from, to) :
				    ctf2_fail_damaged(p, "an invalid range");
	}
	if (json_object_get_int64(lo) < 0 ||
	    json_object_get_uint64(lo) > json_object_get_uint64(hi) ||
	    json_object_get_int64(hi) < 0)
		return ctf2_fail_damaged(p, "an invalid range");
	return ctf2_add_text(p, text, "%" PRIu64 " ... %" PRIu64, json_object_get_uint64(lo),
			     json_object_get_uint64(hi));
}
