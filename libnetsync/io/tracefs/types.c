// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse descriptions of events of any kind. Get the values of fields in raw events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/tracefs/format.h"
#include "io/tracefs/types.h"
#include "util/array.h"

/* Number of ids of event types. An id has 16 bits. */
#define NUM_IDS 65536
/* Names of fields that all events have begin with this. */
#define COMMON "common_"

enum field_kind { KIND_NONE, KIND_NUMBER, KIND_TEXT, KIND_BYTES };

struct tracefs_type_field {
	uint32_t at;
	uint32_t size;
	uint8_t kind; /* enum field_kind */
	bool is_signed;
	bool is_data_loc, is_rel_loc;
};

struct tracefs_type {
	char *system;
	char *name;
	const char **names; /* names of fields, each of which must be freed */
	struct tracefs_type_field *fields;
	uint32_t num;
	uint32_t num_common; /* how many of the first fields are common to all events */
};

/* ---- types --------------------------------------------------------------- */

static bool is_number_size(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static enum field_kind find_field_kind(const struct tracefs_declaration *field)
{
	static const char *const bytes[] = {
		"unsigned char", "u8", "__u8", "uint8_t", "signed char", "s8",
	};
	const bool is_dynamic = field->is_data_loc || field->is_rel_loc;

	if (is_dynamic && field->size != 4)
		return KIND_NONE;
	if (!field->is_array && !is_dynamic)
		return is_number_size(field->size) ? KIND_NUMBER : KIND_NONE;
	if (!strcmp(field->type, "char"))
		return KIND_TEXT;
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		if (!strcmp(field->type, bytes[i]))
			return KIND_BYTES;
	return KIND_NONE;
}

static bool add_type_field(struct tracefs_type *type, const struct tracefs_declaration *from)
{
	struct tracefs_type_field *field = array_add(&type->fields, type->num, sizeof(*field));
	const char **name = array_add(&type->names, type->num, sizeof(*name));

	if (!field || !name)
		return false;
	*name = strdup(from->name);
	if (!*name)
		return false;
	*field = (struct tracefs_type_field){
		.at = from->at,
		.size = from->size,
		.kind = find_field_kind(from),
		.is_signed = from->is_signed,
		.is_data_loc = from->is_data_loc,
		.is_rel_loc = from->is_rel_loc,
	};
	type->num_common += type->num == type->num_common &&
			    !strncmp(from->name, COMMON, strlen(COMMON));
	type->num++;
	return true;
}

/* Add the type that a description declares. Return false if out of memory. */
static bool add_type(struct tracefs_types *types, const char *system, char *text)
{
	struct tracefs_type *type = array_add(&types->list, types->num, sizeof(*type));
	char *rest, *line = strtok_r(text, "\n", &rest);
	struct tracefs_declaration field;
	bool has_id = false;
	uint16_t id = 0;

	if (!type)
		return false;
	types->num++;
	type->system = strdup(system);
	type->name = strdup(line && !strncmp(line, "name: ", 6) ? line + 6 : "");
	if (!type->system || !type->name)
		return false;
	while ((line = strtok_r(NULL, "\n", &rest))) {
		if (!strncmp(line, "print fmt:", 10))
			break;
		has_id |= sscanf(line, "ID: %hu", &id) == 1;
		if (tracefs_parse_field(&field, line) && !add_type_field(type, &field))
			return false;
	}
	if (has_id)
		types->by_id[id] = types->num;
	return true;
}

/* Initialize types. Return false if out of memory. */
static bool init_tracefs_types(struct tracefs_types *types)
{
	*types = (struct tracefs_types){
		.by_id = calloc(NUM_IDS, sizeof(*types->by_id)),
	};
	return types->by_id;
}

void tracefs_add_type(void *data, const char *system, char *text)
{
	struct tracefs_types *types = data;

	types->no_memory |= !add_type(types, system, text);
}

/*
 * Free data that are only needed while events are read. free_tracefs_types() frees all other data.
 */
static void free_type_index(struct tracefs_types *types)
{
	free(types->by_id);
	types->by_id = NULL;
}

static void free_tracefs_types(struct tracefs_types *types)
{
	for (size_t i = 0; i < types->num; i++) {
		struct tracefs_type *type = &types->list[i];

		for (uint32_t j = 0; j < type->num; j++)
			free((char *)type->names[j]);
		free(type->names);
		free(type->fields);
		free(type->system);
		free(type->name);
	}
	free(types->list);
	free_type_index(types);
}

/* ---- values -------------------------------------------------------------- */

/* Find the data of a field. If the data are not within the event, return false. */
static bool find_field_data(const struct tracefs_raw *raw, const struct tracefs_type_field *field,
			    uint32_t *at, uint32_t *size)
{
	uint32_t word;

	*at = field->at;
	*size = field->size;
	if (*at > raw->size || *size > raw->size - *at)
		return false;
	if (!field->is_data_loc && !field->is_rel_loc)
		return true;
	word = bytes_to_number(raw->data + *at, 4, raw->big_endian);
	*at = (word & 0xffff) + (field->is_rel_loc ? *at + 4 : 0);
	*size = word >> 16;
	return *at <= raw->size && *size <= raw->size - *at;
}

static int64_t extend_sign(uint64_t number, uint32_t size)
{
	const unsigned int unused = 64 - 8 * size;

	return (int64_t)(number << unused) >> unused;
}

static void set_number_value(struct netsync_io_value *value, const struct tracefs_raw *raw,
			     const struct tracefs_type_field *field, uint32_t at)
{
	const uint64_t number = bytes_to_number(raw->data + at, field->size, raw->big_endian);

	value->kind = field->is_signed ? NETSYNC_IO_SIGNED : NETSYNC_IO_UNSIGNED;
	value->number = field->is_signed ? extend_sign(number, field->size) : (int64_t)number;
}

static int tracefs_get_value(const struct event_raw *of, uint32_t number,
			     struct netsync_io_value *value)
{
	const struct tracefs_raw *raw = (const struct tracefs_raw *)of;
	const struct tracefs_type_field *field = &raw->type->fields[number];
	uint32_t at, size;

	if (field->kind == KIND_NONE || !find_field_data(raw, field, &at, &size))
		return -ENODATA;
	if (field->kind == KIND_NUMBER) {
		set_number_value(value, raw, field, at);
		return 0;
	}
	value->bytes = raw->data + at;
	value->num_bytes = size;
	value->kind = field->kind == KIND_TEXT ? NETSYNC_IO_TEXT : NETSYNC_IO_BYTES;
	if (field->kind == KIND_TEXT)
		value->num_bytes = strnlen((const char *)value->bytes, size);
	return 0;
}

bool tracefs_fill_event(const struct tracefs_types *types, struct tracefs_raw *raw,
			struct netsync_io_event *event)
{
	const uint32_t number =
		raw->size < 2 ? 0 : types->by_id[bytes_to_number(raw->data, 2, raw->big_endian)];
	const struct tracefs_type *type = number ? &types->list[number - 1] : NULL;

	raw->raw.value = tracefs_get_value;
	raw->type = type;
	event->size = sizeof(*event);
	event->reserved = raw;
	if (!type)
		return false;
	event->num_fields = type->num;
	event->num_context = type->num_common;
	event->system = type->system;
	event->name = type->name;
	event->fields = type->names;
	return true;
}

/* ---- reading --------------------------------------------------------------- */

int tracefs_read_sources(const struct event_reading *reading, tracefs_read_source read)
{
	struct tracefs_types *types = calloc(reading->num + (size_t)1, sizeof(*types));
	int ret = types ? 0 : io_fail_no_memory(reading->io);

	for (uint32_t i = 0; i < reading->num && !ret; i++) {
		ret = init_tracefs_types(&types[i]) ?
			      read(reading, &reading->sources[i], &types[i]) :
			      io_fail_no_memory(reading->io);
		free_type_index(&types[i]);
	}
	/*
	 * Free the types only now, because types of different files must have different addresses.
	 */
	for (uint32_t i = 0; i < reading->num && types; i++)
		free_tracefs_types(&types[i]);
	free(types);
	return ret;
}
