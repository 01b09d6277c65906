/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read a JSON file (RFC 8259) of any size in parts: the members of its object, and the elements
 * of the one member that is a long list. json-c parses each of them; memory is bounded by
 * JSON_MAX_ITEM. Numbers keep their text, so that times are never rounded.
 */
#ifndef NETSYNC_IO_SPANS_JSON_H
#define NETSYNC_IO_SPANS_JSON_H

#include <json-c/json.h>

#include "io/io.h"
#include "io/spans/scan.h"

/*
 * Maximum size of an element or member (bytes). Chosen: call stacks in events have some KiB, and
 * json-c needs 260 bytes of memory for each byte of "[{},{},...]".
 */
#define JSON_MAX_ITEM (1 << 20)
/* Maximum depth of objects and lists in an element. Chosen: events have a depth of 4. */
#define JSON_MAX_DEPTH 32
/* Maximum size of the name of a member (bytes), with the terminating NUL. Chosen. */
#define JSON_KEY_SIZE 64

/* An element of the list, or a member of the file's object. */
struct json_item {
	/* Name of the member, truncated; the list's own name for its elements. */
	char key[JSON_KEY_SIZE];
	bool is_element;
	struct json_object *value; /* NULL for "null"; valid until the next item */
	const char *text;	   /* the bytes of the value, which are valid JSON */
	size_t size;
	uint64_t at; /* position of the value in the file (bytes, decompressed) */
};

struct json_items {
	struct json_scan scan;
	struct json_tokener *tokener;
	const char *list; /* name of the member that is the list */
	bool has_begun;
	bool is_in_list;
	bool has_ended;
	char *text; /* bytes of the current value */
	size_t text_size, text_room;
	struct json_item item;
};

/* Open a file that contains an object. Return 0, or a negative value after io_fail(). */
int json_items_open(struct json_items *items, struct netsync_io *io, const char *path,
		    const char *list);
/*
 * Read the next item into items->item. Return 1; 0 at the end; -EILSEQ if the file is damaged at
 * the position of items->scan, with a description in scan.problem; or another negative errno value.
 */
int json_items_next(struct json_items *items);
void json_items_close(struct json_items *items);

/* Get a member of an object. Return NULL if there is none, or @object is not an object. */
struct json_object *json_get(struct json_object *object, const char *key);
/* Get the text of a string or number. Return NULL for other values. */
const char *json_get_text(struct json_object *object, const char *key);
/* Get an integer from @lo to @hi. Return false if the member is not such an integer. */
bool json_get_integer(struct json_object *object, const char *key, int64_t lo, int64_t hi,
		      int64_t *value);

#endif
