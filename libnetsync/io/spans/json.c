// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read a JSON file in parts: see json.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/json.h"

int json_items_open(struct json_items *items, struct netsync_io *io, const char *path,
		    const char *list)
{
	int ret;

	*items = (struct json_items){ .list = list };
	ret = scan_open(&items->scan, io, path);
	if (ret)
		return ret;
	items->tokener = json_tokener_new_ex(JSON_MAX_DEPTH);
	if (!items->tokener)
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
	scan_close(&items->scan);
	free(items->text);
	*items = (struct json_items){ 0 };
}

/* ---- values ----------------------------------------------------------------- */

static int keep_json_text(struct json_items *items, const char *bytes, size_t num)
{
	const size_t size = items->text_size + num;

	if (size > JSON_MAX_ITEM)
		return scan_fail(&items->scan, "one of its values has more than 1 MiB");
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
	struct json_scan *scan = &items->scan;
	const char *bytes = scan->buffer + scan->at;
	const size_t num = scan->size - scan->at;
	enum json_tokener_error err;
	size_t used;
	int ret;

	items->item.value = json_tokener_parse_ex(items->tokener, bytes, (int)num);
	err = json_tokener_get_error(items->tokener);
	if (err != json_tokener_success && err != json_tokener_continue)
		return scan_fail(scan, err == json_tokener_error_depth ?
					       "its values are nested too deeply" :
					       scan_not_json);
	used = err == json_tokener_continue ? num : json_tokener_get_parse_end(items->tokener);
	ret = keep_json_text(items, bytes, used);
	scan->at += used;
	return ret ? ret : err == json_tokener_success;
}

/* Read a value into items->item. Return 1 or a negative value. */
static int read_json_value(struct json_items *items)
{
	struct json_item *item = &items->item;
	int ret = scan_peek(&items->scan);

	json_object_put(item->value);
	item->value = NULL;
	json_tokener_reset(items->tokener);
	items->text_size = 0;
	item->at = scan_get_position(&items->scan);
	while (ret >= 0) {
		ret = scan_need_byte(&items->scan);
		if (ret > 0)
			ret = parse_json_bytes(items);
		if (ret > 0)
			break;
	}
	item->text = items->text;
	item->size = items->text_size;
	return ret;
}

/* ---- items ------------------------------------------------------------------ */

/* Enter the object of the file. Return 1 or a negative value. */
static int enter_json_file(struct json_items *items)
{
	const int ret = scan_peek(&items->scan);

	if (ret > 0 && ret != '{')
		return scan_fail(&items->scan, scan_not_json);
	items->has_begun = true;
	return ret < 0 ? ret : scan_enter(&items->scan, '{');
}

int json_items_next(struct json_items *items)
{
	struct json_scan *scan = &items->scan;
	struct json_item *item = &items->item;
	int ret = items->has_begun ? 1 : enter_json_file(items);

	while (ret > 0 && !items->has_ended) {
		item->is_element = items->is_in_list;
		if (items->is_in_list) {
			ret = scan_element(scan);
			if (ret)
				return ret < 0 ? ret : read_json_value(items);
			items->is_in_list = false;
		}
		item->is_element = false;
		ret = scan_member(scan);
		items->has_ended = !ret;
		if (ret <= 0)
			break;
		snprintf(item->key, sizeof(item->key), "%.*s", (int)scan->key_len, scan->key);
		if (scan_peek(scan) != '[' || strcmp(item->key, items->list))
			return read_json_value(items);
		ret = scan_enter(scan, '[');
		items->is_in_list = true;
	}
	return ret < 0 ? ret : 0;
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
