/* SPDX-License-Identifier: GPL-2.0-only */
/* Copy field classes and fields. */
#ifndef NETSYNC_BABELTRACE_FIELDS_H
#define NETSYNC_BABELTRACE_FIELDS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "map.h"

/* Number of scopes that a field class can refer to. */
#define NUM_SCOPES (BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD + 1)

struct field_classes {
	bt_trace_class *trace_class; /* trace class to which the copies belong */
	const struct mip *mip;
	struct map *copies; /* from field classes to their copies */
	const bt_field_class *roots[NUM_SCOPES];
};

/* Copy a field class. Return NULL if out of memory. */
bt_field_class *field_class_copy(struct field_classes *classes, const bt_field_class *from);

/*
 * Return the value of a string field. Use this function in place of Babeltrace's own: for an empty
 * string, Babeltrace 2.0 returns the value of an earlier event that used the same field.
 */
const char *field_get_string(const bt_field *field);

/*
 * Copy a field. The class of @to must be a copy of the class of @from. Return false if
 * out of memory.
 */
bool field_copy(const struct mip *mip, bt_field *to, const bt_field *from);

#endif
