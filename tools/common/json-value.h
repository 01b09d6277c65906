/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values in JSON that somebody else has written, a file or another machine:
 * each is taken by its type and within limits, or not at all. json-c's own
 * getters convert anything into anything, and some end the program instead.
 */
#ifndef NETSYNC_JSON_VALUE_H
#define NETSYNC_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

/* False: it is no integer from @least to @most; *@number stays unchanged. */
bool value_int(struct json_object *value, int64_t least, int64_t most,
	       int64_t *number);
/* False: it is no number, or not a finite one. */
bool value_double(struct json_object *value, double *number);
/* NULL: it is no string, has more than @most bytes, or contains a byte of 0. */
const char *value_text(struct json_object *value, size_t most);

/* The number of elements; 0 also if it is no array. */
size_t value_length(struct json_object *value);
/* An element; NULL: there is none. */
struct json_object *value_at(struct json_object *value, size_t index);

/* A member; NULL: there is none, or @object is no object. */
struct json_object *value_member(struct json_object *object, const char *key);
/* Members of these types; "", 0 or false if there is none, or one of another type. */
const char *member_text(struct json_object *object, const char *key);
int64_t member_int(struct json_object *object, const char *key);
bool member_flag(struct json_object *object, const char *key);

#endif
