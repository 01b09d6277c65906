/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Untrusted values in JSON, from a file or another machine: each must have the right type
 * and be within limits. json-c's own getters convert any type into any other, and some
 * abort the program.
 */
#ifndef NETSYNC_JSON_VALUE_H
#define NETSYNC_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

/* Return false if @value is not an integer from @least to @most; *@number stays unchanged. */
bool value_int(struct json_object *value, int64_t least, int64_t most, int64_t *number);
/* Return false if @value is not a number, or not finite. */
bool value_double(struct json_object *value, double *number);
/* Return NULL if @value is not a string, is longer than @most bytes, or contains a 0 byte. */
const char *value_text(struct json_object *value, size_t most);

/* The number of elements; 0 also if it is not an array. */
size_t value_length(struct json_object *value);
/* Return an element of an array, or NULL if there is none. */
struct json_object *value_at(struct json_object *value, size_t index);

/* Return a member, or NULL if there is none or if @object is not an object. */
struct json_object *value_member(struct json_object *object, const char *key);
/* Members of these types; "", 0 or false if the member is missing or has another type. */
const char *member_text(struct json_object *object, const char *key);
int64_t member_int(struct json_object *object, const char *key);
bool member_flag(struct json_object *object, const char *key);

#endif
