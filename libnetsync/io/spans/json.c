// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read a JSON file in parts: see json.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/json.h"

/* Size of the buffer of decompressed bytes. Chosen. */
#define BUFFER_SIZE (1 << 16)

static const char ends_early[] = "the file ends before its last closing brace";
static const char not_json[] = "it is not valid JSON there";

int json_items_open(struct json_items *items, struct netsync_io *io, const char *path,
		    const char *list)
{
	int ret;

	*items = (struct json_items){ .list = list };
	ret = io_open_unpacked(io, path, &items->file);
	if (ret)
		return ret;
	items->buffer = malloc(BUFFER_SIZE);
	items->tokener = json_tokener_new_ex(JSON_MAX_DEPTH);
	if (!items->buffer || !items->tokener)
		return io_fail_no_memory(io);
	json_tokener_set_flags(items->tokener,
			       JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
	return 0;
}

void json_items_close(struct json_items *items)
{
	json_object_put(items->item.value);
	if (items->tokener)
		json_tokener_free(items->tokener);
	unpacked_close(&items->file);
	free(items->buffer);
	free(items->text);
	*items = (struct json_items){ 0 };
}

/* ---- bytes ------------------------------------------------------------------ */

static int fail_json(struct json_items *items, const char *problem)
{
	items->problem = problem;
	return -EILSEQ;
}

/* Make at least one byte available. Return 1; 0 at the end of the file; or a negative value. */
static int fill_json_buffer(struct json_items *items)
{
	ssize_t len;

	if (items->buffer_at < items->buffer_size)
		return 1;
	len = unpacked_read(&items->file, items->buffer, BUFFER_SIZE, items->at);
	if (len == -EILSEQ)
		return fail_json(items, items->file.damage);
	items->buffer_at = 0;
	items->buffer_size = len > 0 ? (size_t)len : 0;
	return len < 0 ? (int)len : len > 0;
}

static void consume_json_bytes(struct json_items *items, size_t num)
{
	items->buffer_at += num;
	items->at += num;
}

/*
 * Return the next byte that is not white space, without consuming it; 0 at the end of the file;
 * or a negative value.
 */
static int peek_json_byte(struct json_items *items)
{
	int ret;

	while ((ret = fill_json_buffer(items)) > 0) {
		const uint8_t c = items->buffer[items->buffer_at];

		if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
			return c ? c : fail_json(items, "it contains a zero byte");
		consume_json_bytes(items, 1);
	}
	return ret;
}

/* Consume one of two bytes. Return it, or a negative value. */
static int expect_json_byte(struct json_items *items, char a, char b)
{
	const int c = peek_json_byte(items);

	if (c < 0)
		return c;
	if (!c)
		return fail_json(items, ends_early);
	if (c != a && c != b)
		return fail_json(items, not_json);
	consume_json_bytes(items, 1);
	return c;
}

/* ---- values ----------------------------------------------------------------- */

static int keep_json_text(struct json_items *items, const uint8_t *bytes, size_t num)
{
	const size_t size = items->text_size + num;

	if (size > JSON_MAX_ITEM)
		return fail_json(items, "one of its values has more than 1 MiB");
	if (size + 1 > items->text_room) {
		const size_t room = (size + 1) * 2;
		char *bigger = realloc(items->text, room);

		if (!bigger)
			return -ENOMEM;
		items->text = bigger;
		items->text_room = room;
	}
	memcpy(items->text + items->text_size, bytes, num);
	items->text_size = size;
	items->text[size] = '\0';
	return 0;
}

/* Parse some more bytes of a value. Return 1 if the value is complete; 0; or a negative value. */
static int parse_json_bytes(struct json_items *items)
{
	const uint8_t *bytes = items->buffer + items->buffer_at;
	const size_t num = items->buffer_size - items->buffer_at;
	enum json_tokener_error err;
	size_t used;
	int ret;

	items->item.value = json_tokener_parse_ex(items->tokener, (const char *)bytes, (int)num);
	err = json_tokener_get_error(items->tokener);
	if (err != json_tokener_success && err != json_tokener_continue)
		return fail_json(items, err == json_tokener_error_depth ?
						"its values are nested too deeply" :
						not_json);
	used = err == json_tokener_continue ? num : json_tokener_get_parse_end(items->tokener);
	ret = keep_json_text(items, bytes, used);
	consume_json_bytes(items, used);
	return ret ? ret : err == json_tokener_success;
}

/* Read a value into items->item. Return 1 or a negative value. */
static int read_json_value(struct json_items *items)
{
	struct json_item *item = &items->item;
	int ret = peek_json_byte(items);

	json_object_put(item->value);
	item->value = NULL;
	json_tokener_reset(items->tokener);
	items->text_size = 0;
	item->at = items->at;
	while (ret >= 0) {
		ret = fill_json_buffer(items);
		if (!ret)
			return fail_json(items, ends_early);
		if (ret > 0)
			ret = parse_json_bytes(items);
		if (ret > 0)
			break;
	}
	item->text = items->text;
	item->size = items->text_size;
	return ret;
}

/* Read the name of a member, and the colon. Return 1 or a negative value. */
static int read_json_key(struct json_items *items)
{
	struct json_item *item = &items->item;
	int ret = peek_json_byte(items);

	if (ret > 0 && ret != '"')
		return fail_json(items, "a member has no name");
	ret = read_json_value(items);
	if (ret < 0)
		return ret;
	snprintf(item->key, sizeof(item->key), "%s", json_object_get_string(item->value));
	return expect_json_byte(items, ':', ':');
}

/* ---- items ------------------------------------------------------------------ */

/* Enter the object, or go to its next member. Return 1; 0 at the end; or a negative value. */
static int go_to_json_member(struct json_items *items)
{
	int ret;

	if (items->has_begun) {
		ret = expect_json_byte(items, ',', '}');
	} else {
		ret = expect_json_byte(items, '{', '{');
		items->has_begun = true;
		if (ret > 0)
			ret = peek_json_byte(items);
	}
	items->has_ended = ret == '}';
	return ret < 0 ? ret : !items->has_ended;
}

/* Read the next element of the list. Return 1; 0 after the last one; or a negative value. */
static int read_json_element(struct json_items *items, bool is_first)
{
	int ret;

	if (is_first) {
		ret = peek_json_byte(items);
		if (ret == ']')
			consume_json_bytes(items, 1);
	} else {
		ret = expect_json_byte(items, ',', ']');
	}
	items->is_in_list = ret > 0 && ret != ']';
	if (ret > 0 && !items->is_in_list)
		return 0;
	items->item.is_element = true;
	return ret < 0 ? ret : read_json_value(items);
}

int json_items_next(struct json_items *items)
{
	int ret;

	if (items->has_ended)
		return 0;
	if (items->is_in_list) {
		ret = read_json_element(items, false);
		if (ret)
			return ret;
	}
	items->item.is_element = false;
	while ((ret = go_to_json_member(items)) > 0) {
		ret = read_json_key(items);
		if (ret < 0)
			return ret;
		ret = peek_json_byte(items);
		if (ret != '[' || strcmp(items->item.key, items->list))
			return read_json_value(items);
		consume_json_bytes(items, 1);
		ret = read_json_element(items, true);
		if (ret)
			return ret;
	}
	return ret;
}

/* ---- parts of values ---------------------------------------------------------- */

struct json_object *json_get(struct json_object *object, const char *key)
{
	struct json_object *found = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &found);
	return found;
}

const char *json_get_text(struct json_object *object, const char *key)
{
	struct json_object *found = json_get(object, key);
	const enum json_type type = json_object_get_type(found);

	if (type != json_type_string && type != json_type_int && type != json_type_double)
		return NULL;
	/* json-c returns the text from which a double was parsed. */
	return json_object_get_string(found);
}

bool json_get_integer(struct json_object *object, const char *key, int64_t lo, int64_t hi,
		      int64_t *value)
{
	struct json_object *found = json_get(object, key);

	if (!json_object_is_type(found, json_type_int))
		return false;
	*value = json_object_get_int64(found);
	return *value >= lo && *value <= hi;
}
