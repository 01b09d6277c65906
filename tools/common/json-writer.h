/* SPDX-License-Identifier: GPL-2.0-only */
/* Build the JSON of results with json-c. */
#ifndef NETSYNC_JSON_WRITER_H
#define NETSYNC_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json.h>

struct netsync;
struct netsync_io;

/*
 * State of writing. json-c returns NULL if out of memory, but also represents the JSON value null
 * by NULL. Therefore, json_put() and json_append() set @failed if they get NULL, and @failed is
 * checked once at the end.
 */
struct json_writer {
	const struct netsync *ns;
	const struct netsync_io *io;
	bool failed;
};

/* Add a value. The object or array then owns the value. */
void json_put(struct json_writer *w, json_object *object, const char *key, json_object *value);
void json_put_null(struct json_writer *w, json_object *object, const char *key);
void json_put_number(struct json_writer *w, json_object *object, const char *key, uint64_t number);
/* Add a time, or null for NETSYNC_UNKNOWN. */
void json_put_time(struct json_writer *w, json_object *object, const char *key, int64_t ns);
/* Add an array of two values. */
void json_put_pair(struct json_writer *w, json_object *object, const char *key, json_object *a,
		   json_object *b);
void json_append(struct json_writer *w, json_object *array, json_object *value);
void json_append_time(struct json_writer *w, json_object *array, int64_t ns);
/* Append a value, or null if it is not finite. */
void json_append_double(struct json_writer *w, json_object *array, double value);

/*
 * Print the root object with indentation, unless a value could not be added to it, and release it.
 * Return whether everything was printed.
 */
bool json_print_root(const struct json_writer *w, FILE *out, json_object *root);

/* Return a number with so many digits that a reader gets exactly the same double. */
json_object *new_json_double(double value);
/*
 * Return a string that is made from any bytes. JSON is UTF-8, so bytes that are not UTF-8 are
 * written as "\xff". Control characters are escaped when the string is printed.
 */
json_object *new_json_string(const char *text);

#endif
