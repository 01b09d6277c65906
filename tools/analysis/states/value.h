/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of fields, which come from the event or were kept by the object, and texts that are
 * composed of values.
 */
#ifndef NETSYNC_STATES_VALUE_H
#define NETSYNC_STATES_VALUE_H

#include "definition.h"
#include "events/event.h"

/* Maximum size of a text. Longer texts are truncated. Chosen; names of objects are far shorter. */
#define TEXT_SIZE 512

/* Maximum number of bytes that are read from an array. Chosen; DLM resource names have 64 bytes. */
#define VALUE_BYTES 128

struct value {
	bool has_number;
	bool is_unsigned;
	int64_t number;
	const char *text; /* or NULL; a label if the value also has a number */
	uint8_t bytes[VALUE_BYTES];
	size_t num_bytes; /* 0 if the value is not an array */
};

/* The last value of a field that an object keeps. */
struct kept {
	bool is_known;
	struct value value; /* the value, with a copy of its text */
};

/* The event and the object in which fields are looked up. */
struct scope {
	const struct definition *definition;
	const struct event *event;
	const char *rest; /* the part of the event's name that the last * of the pattern matches */
	const char *host;
	const struct event_task *task; /* NULL if unknown */
	const struct kept *kept;       /* kept by the object; NULL before it is known */
	/* State of the object, or NULL while the object is not known. */
	const char *state;
};

/*
 * Look up a field by the first of its names that exists. Return false if none of its names
 * exists.
 */
bool value_get(struct value *value, const struct field *field, const struct scope *scope);

/*
 * Return whether a condition is true. If a field is missing, set @missing to its name and return
 * false.
 */
bool condition_is_true(const struct condition *condition, const struct scope *scope,
		       const char **missing);

/*
 * Replace the fields in a template by their values, or by the labels that the definition has for
 * these values. If a field is missing, set @missing to its name and return false.
 */
bool template_expand(const struct template *template, const struct scope *scope,
		     char text[TEXT_SIZE], const char **missing);

/* Keep a copy of a value. Return false if out of memory. */
bool kept_set_value(struct kept *kept, const struct value *value);

#endif
