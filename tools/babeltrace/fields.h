/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies of field classes, and of fields. */
#ifndef NETSYNC_BABELTRACE_FIELDS_H
#define NETSYNC_BABELTRACE_FIELDS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "map.h"

/* Scopes of fields that a field class can refer to. */
#define NUM_SCOPES (BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD + 1)

struct field_classes {
	bt_trace_class *trace_class;	/* that the copies belong to */
	const struct mip *mip;
	struct map *copies;		/* copies of field classes so far */
	const bt_field_class *roots[NUM_SCOPES];
};

/* NULL: there is not enough memory. */
bt_field_class *field_class_copy(struct field_classes *classes,
				 const bt_field_class *from);

/*
 * The value of a string field. Babeltrace 2.0 returns another event's value for an empty
 * string, from the time before the field was reused.
 */
const char *field_string(const bt_field *field);

/* Copy a field; @to has the copied class of @from. False: not enough memory. */
bool field_copy(const struct mip *mip, bt_field *to, const bt_field *from);

#endif
