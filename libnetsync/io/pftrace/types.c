// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read descriptions of event types, and events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/pftrace/types.h"
#include "io/pftrace/wire.h"
#include "util/array.h"

/* Numbers of fields in Perfetto's messages (ftrace_event_bundle.proto, ftrace_event.proto). */
enum {
	DESCRIPTOR_ID = 1,   /* GenericEventDescriptor.field_id */
	DESCRIPTOR_TYPE = 2, /* GenericEventDescriptor.event_descriptor */
	TYPE_NAME = 1,	     /* DescriptorProto.name */
	TYPE_FIELD = 2,	     /* DescriptorProto.field */
	FIELD_NAME = 1,	     /* FieldDescriptorProto.name */
	FIELD_NUMBER = 3,    /* FieldDescriptorProto.number */
	EVENT_TIME = 1,	     /* FtraceEvent.timestamp */
	EVENT_GENERIC = 327, /* FtraceEvent.generic */
	GENERIC_NAME = 1,    /* GenericFtraceEvent.event_name */
	GENERIC_FIELD = 2,   /* GenericFtraceEvent.field */
	VALUE_NAME = 1,	     /* GenericFtraceEvent.Field.name */
	VALUE_SIGNED = 4,    /* GenericFtraceEvent.Field.int_value */
	VALUE_UNSIGNED = 5,  /* GenericFtraceEvent.Field.uint_value */
};

/* Lowest number of a described type in FtraceEvent (proto_translation_table.h). */
#define FIRST_TYPE_ID 65536

/*
 * Maximum number of types, so that an invalid file takes little memory. Chosen: netsync has 16 types
 * of events, which have other numbers after the module is loaded again.
 */
#define MAX_TYPES 64

/* ---- names ---------------------------------------------------------------- */

/*
 * Size of the longest name that is compared, with the NUL. Chosen; longer than any name of
 * netsync's events and fields.
 */
#define NAME_SIZE 64

/* Copy a name. A name that is too long is truncated, and then differs from all known names. */
static void copy_wire_name(char name[NAME_SIZE], const struct wire_field *field)
{
	const size_t length = field->value < NAME_SIZE ? field->value : NAME_SIZE - 1;

	memcpy(name, field->bytes, length);
	name[length] = '\0';
}

/* Return the kind of the events with this name, or NULL if netsync does not use them. */
static const struct event_kind *find_flat_kind(const struct wire_field *field)
{
	const struct event_kind *kind;
	char name[NAME_SIZE];

	copy_wire_name(name, field);
	kind = event_find_kind(name);
	return kind && kind->protocol ? kind : NULL;
}

/*
 * Find the meaning of a field with this name. Perfetto does not record arrays of bytes, so events
 * have no addresses; a number is not an address.
 */
static bool find_number_meaning(const char *name, enum meaning *meaning)
{
	for (const struct field_name *n = event_fields; n->name; n++) {
		if (strcmp(name, n->name) || n->meaning == SADDR || n->meaning == DADDR)
			continue;
		*meaning = n->meaning;
		return true;
	}
	return false;
}

/* ---- descriptions ----------------------------------------------------------- */

static void add_type_field(struct pftrace_type *type, struct bytes_take description)
{
	struct wire_field field;
	char name[NAME_SIZE] = "";
	uint64_t number = 0;
	enum meaning meaning;

	while (wire_take_field(&description, &field)) {
		if (wire_is_bytes(&field, FIELD_NAME))
			copy_wire_name(name, &field);
		else if (wire_is_varint(&field, FIELD_NUMBER))
			number = field.value;
	}
	if (description.bad || !number || number > UINT32_MAX ||
	    type->num_fields == PFTRACE_MAX_FIELDS || !find_number_meaning(name, &meaning))
		return;
	type->fields[type->num_fields].number = (uint32_t)number;
	type->fields[type->num_fields++].meaning = meaning;
}

static void describe_type(struct pftrace_type *type, struct bytes_take description)
{
	struct wire_field field;

	while (wire_take_field(&description, &field)) {
		if (wire_is_bytes(&field, TYPE_NAME))
			type->kind = find_flat_kind(&field);
		else if (wire_is_bytes(&field, TYPE_FIELD))
			add_type_field(type, wire_open_message(&field));
	}
	if (description.bad)
		type->kind = NULL;
}

static struct pftrace_type *find_described_type(const struct pftrace_types *types, uint32_t id)
{
	for (size_t i = 0; i < types->num; i++)
		if (types->list[i].id == id)
			return &types->list[i];
	return NULL;
}

int pftrace_add_type(struct pftrace_types *types, struct bytes_take descriptor)
{
	struct pftrace_type type = { 0 }, *last;
	struct wire_field field;

	while (wire_take_field(&descriptor, &field)) {
		if (wire_is_varint(&field, DESCRIPTOR_ID))
			type.id = field.value <= UINT32_MAX ? (uint32_t)field.value : 0;
		else if (wire_is_bytes(&field, DESCRIPTOR_TYPE))
			describe_type(&type, wire_open_message(&field));
	}
	if (descriptor.bad || !type.kind || type.id < FIRST_TYPE_ID)
		return 0;
	/* Each CPU's first bundle may describe the type again. */
	if (types->num == MAX_TYPES || find_described_type(types, type.id))
		return 0;
	last = array_add(&types->list, types->num, sizeof(*last));
	if (!last)
		return -ENOMEM;
	*last = type;
	types->num++;
	return 0;
}

void pftrace_free_types(struct pftrace_types *types)
{
	free(types->list);
	*types = (struct pftrace_types){ 0 };
}

/* ---- events ----------------------------------------------------------------- */

static void set_event_value(struct pftrace_event *event, enum meaning meaning, uint64_t value)
{
	event->values.number[meaning] = value;
	event->values.has |= BIT(meaning);
}

static bool read_described_event(const struct pftrace_type *type, struct bytes_take bytes,
				 struct pftrace_event *event)
{
	struct wire_field field;

	event->kind = type->kind;
	while (wire_take_field(&bytes, &field))
		for (size_t i = 0; i < type->num_fields; i++)
			if (wire_is_varint(&field, type->fields[i].number))
				set_event_value(event, type->fields[i].meaning, field.value);
	return !bytes.bad;
}

static bool read_generic_field(struct bytes_take bytes, struct pftrace_event *event)
{
	struct wire_field field;
	char name[NAME_SIZE] = "";
	bool has_value = false;
	uint64_t value = 0;
	enum meaning meaning;

	while (wire_take_field(&bytes, &field)) {
		if (wire_is_bytes(&field, VALUE_NAME)) {
			copy_wire_name(name, &field);
		} else if (wire_is_varint(&field, VALUE_SIGNED) ||
			   wire_is_varint(&field, VALUE_UNSIGNED)) {
			value = field.value;
			has_value = true;
		}
	}
	if (has_value && find_number_meaning(name, &meaning))
		set_event_value(event, meaning, value);
	return !bytes.bad;
}

static bool read_generic_event(struct bytes_take bytes, struct pftrace_event *event)
{
	struct wire_field field;

	while (wire_take_field(&bytes, &field)) {
		if (wire_is_bytes(&field, GENERIC_NAME))
			event->kind = find_flat_kind(&field);
		else if (wire_is_bytes(&field, GENERIC_FIELD) &&
			 !read_generic_field(wire_open_message(&field), event))
			return false;
	}
	return !bytes.bad;
}

bool pftrace_read_event(const struct pftrace_types *types, struct bytes_take bytes,
			struct pftrace_event *event)
{
	const struct pftrace_type *type;
	struct wire_field field;

	*event = (struct pftrace_event){ 0 };
	while (wire_take_field(&bytes, &field)) {
		if (wire_is_varint(&field, EVENT_TIME)) {
			event->has_time = field.value <= INT64_MAX;
			event->time_ns = (int64_t)field.value;
		} else if (wire_is_bytes(&field, EVENT_GENERIC)) {
			if (!read_generic_event(wire_open_message(&field), event))
				return false;
		} else if (field.type == WIRE_BYTES && field.number >= FIRST_TYPE_ID) {
			type = find_described_type(types, field.number);
			if (type && !read_described_event(type, wire_open_message(&field), event))
				return false;
		}
	}
	return !bytes.bad;
}
