/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of fields: of an event, of what an object remembers, and of what both are. */
#ifndef NETSYNC_STATES_VALUE_H
#define NETSYNC_STATES_VALUE_H

#include "definition.h"
#include "events/event.h"

/* Longer ones are cut; a path has 4096 bytes at most, names of objects far less. */
#define TEXT_SIZE 512

/* The most bytes of an array that are looked at: chosen, DLM's names have 64. */
#define VALUE_BYTES 128

struct value {
	bool has_number;
	bool is_unsigned;
	int64_t number;
	const char *text;	/* NULL: none; a label, where it has a number, too */
	uint8_t bytes[VALUE_BYTES];
	size_t num_bytes;	/* 0: it is no array */
};

/* What an object remembers of a field. */
struct kept {
	bool is_known;
	struct value value;	/* its text is its own */
};

/* What fields are looked up in. */
struct scope {
	const struct definition *definition;
	const struct event *event;
	const char *rest;	/* what the last * of the event's glob stands for */
	const char *host;
	const struct event_task *task;	/* NULL: unknown */
	const struct kept *kept;	/* of the object; NULL: there is none yet */
	const char *state;	/* of it; NULL: it is not known which object it is */
};

/* The first of the field's names that there is. False: there is none. */
bool value_get(struct value *value, const struct field *field,
	       const struct scope *scope);

/* Is it so? False, too, where the field is not there: @missing is its name, then. */
bool condition_holds(const struct condition *condition, const struct scope *scope,
		     const char **missing);

/*
 * Put a text together, with labels for numbers where the definition has them.
 * False: a field is not there, and @missing is its name.
 */
bool template_expand(const struct template *template, const struct scope *scope,
		     char text[TEXT_SIZE], const char **missing);

/* Keep a copy. False: there is not enough memory. */
bool kept_set(struct kept *kept, const struct value *value);

#endif
