/* SPDX-License-Identifier: GPL-2.0-only */
/* Building the JSON of results with json-c. */
#ifndef NETSYNC_JSON_WRITER_H
#define NETSYNC_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <json.h>

struct netsync;
struct netsync_io;

/*
 * json-c returns NULL if out of memory, but its null value is also NULL. json_put() and
 * json_append() therefore set failed if they are given NULL; it is checked once at the
 * end.
 */
struct json_writer {
	const struct netsync *ns;
	const struct netsync_io *io;
	bool failed;
};

/* The object or array owns the values that are added to it. */
void json_put(struct json_writer *w, json_object *object, const char *key, json_object *value);
void json_put_null(struct json_writer *w, json_object *object, const char *key);
void json_put_number(struct json_writer *w, json_object *object, const char *key, uint64_t number);
/* Writes null for NETSYNC_UNKNOWN. */
void json_put_time(struct json_writer *w, json_object *object, const char *key, int64_t ns);
/* Put an array of two values. */
void json_put_pair(struct json_writer *w, json_object *object, const char *key, json_object *a,
		   json_object *b);
void json_append(struct json_writer *w, json_object *array, json_object *value);
void json_append_time(struct json_writer *w, json_object *array, int64_t ns);
/* Write null for a value that is not finite. */
void json_append_double(struct json_writer *w, json_object *array, double value);

/* A number with enough digits to restore the same double. */
json_object *new_double(double value);
/*
 * A string with any bytes: JSON is UTF-8, so other bytes become "\xff"; control
 * characters are escaped when it is printed.
 */
json_object *new_string(const char *text);

#endif
