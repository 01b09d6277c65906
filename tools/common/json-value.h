/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read untrusted JSON values, which come from a file or another machine. Each value must have the
 * correct type and be within limits. json-c's own getters convert any type into any other, and some
 * of them abort the program.
 */
#ifndef NETSYNC_JSON_VALUE_H
#define NETSYNC_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

/*
 * Set *@number to an integer. If @value is not an integer from @least to @most, do not change
 * *@number and return false.
 */
bool value_get_int(struct json_object *value, int64_t least, int64_t most, int64_t *number);
/* Set *@number to a number. Return false if @value is not a finite number. */
bool value_get_double(struct json_object *value, double *number);
/*
 * Return a string. Return NULL if @value is not a string, if it is longer than @most bytes, or if
 * it contains a NUL.
 */
const char *value_get_text(struct json_object *value, size_t most);

/* Return the number of elements of an array, or 0 if @value is not an array. */
size_t value_get_length(struct json_object *value);
/* Return an element of an array, or NULL if the element does not exist. */
struct json_object *value_get_element(struct json_object *value, size_t index);

/* Return a member, or NULL if @object is not an object or has no such member. */
struct json_object *value_get_member(struct json_object *object, const char *key);
/*
 * Return a member of the given type. If the member is missing or has another type, return "", 0 or
 * false.
 */
const char *member_get_text(struct json_object *object, const char *key);
int64_t member_get_int(struct json_object *object, const char *key);
bool member_get_flag(struct json_object *object, const char *key);

#endif
