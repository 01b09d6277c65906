// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All events of a trace.dat file, of all processors and buffers, in the order of time,
 * with fields as the formats in the file declare them. Values of fields are plain
 * (numbers, texts, arrays); how libtraceevent would print them is not needed.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/tracedat/event.h"
#include "util/array.h"
#include "util/time-heap.h"

/* Types have numbers of 16 bits. */
#define NUM_IDS 65536

enum field_kind { KIND_NONE, KIND_NUMBER, KIND_TEXT, KIND_BYTES };

struct field {
	uint32_t at;
	uint32_t size;
	uint8_t kind;		/* enum field_kind */
	bool is_signed;
	bool is_data_loc, is_rel_loc;
};

/* A type of events. */
struct type {
	char *system;
	char *name;
	const char **names;	/* names of fields; each is freed */
	struct field *fields;
	uint32_t num;
};

struct stream {
	struct dat_pages pages;
	struct dat_event event;	/* the next event */
	int64_t time_ns;
	uint64_t lost;		/* events lost before it */
};

struct events {
	struct netsync_io *io;
	struct dat_file file;
	struct type *types;
	size_t num_types;
	uint32_t *by_id;	/* index of the type + 1 */
	struct stream *streams;
	struct time_heap heap;	/* of streams that have not ended */
	size_t num_streams;
	bool no_memory;
};

/* What netsync_io_event_value() reads from. */
struct raw {
	const struct events *events;
	const struct type *type;
	const struct dat_event *event;
};

/* ---- types --------------------------------------------------------------- */

static bool is_number(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static enum field_kind kind_of(const struct dat_declaration *field)
{
	static const char *const bytes[] = {
		"unsigned char", "u8", "__u8", "uint8_t", "signed char", "s8",
	};
	const bool is_dynamic = field->is_data_loc || field->is_rel_loc;

	if (is_dynamic && field->size != 4)
		return KIND_NONE;
	if (!field->is_array && !is_dynamic)
		return is_number(field->size) ? KIND_NUMBER : KIND_NONE;
	if (!strcmp(field->type, "char"))
		return KIND_TEXT;
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		if (!strcmp(field->type, bytes[i]))
			return KIND_BYTES;
	return KIND_NONE;
}

static bool add_field(struct type *type, const struct dat_declaration *from)
{
	struct field *field = array_add(&type->fields, type->num, sizeof(*field));
	const char **name = array_add(&type->names, type->num, sizeof(*name));

	if (!field || !name)
		return false;
	*name = strdup(from->name);
	if (!*name)
		return false;
	*field = (struct field){
		.at = from->at,
		.size = from->size,
		.kind = kind_of(from),
		.is_signed = from->is_signed,
		.is_data_loc = from->is_data_loc,
		.is_rel_loc = from->is_rel_loc,
	};
	type->num++;
	return true;
}

static bool add_type(struct events *events, const char *system, char *text)
{
	struct type *type = array_add(&events->types, events->num_types,
				      sizeof(*type));
	char *rest, *line = strtok_r(text, "\n", &rest);
	struct dat_declaration field;
	bool has_id = false;
	uint16_t id = 0;

	if (!type)
		return false;
	events->num_types++;
	type->system = strdup(system);
	type->name = strdup(line && !strncmp(line, "name: ", 6) ? line + 6 : "");
	if (!type->system || !type->name)
		return false;
	while ((line = strtok_r(NULL, "\n", &rest))) {
		if (!strncmp(line, "print fmt:", 10))
			break;
		has_id |= sscanf(line, "ID: %hu", &id) == 1;
		if (dat_parse_field(&field, line) && !add_field(type, &field))
			return false;
	}
	if (has_id)
		events->by_id[id] = events->num_types;
	return true;
}

static void use_format(void *data, const char *system, char *text)
{
	struct events *events = data;

	events->no_memory |= !add_type(events, system, text);
}

/* ---- streams, merged by time --------------------------------------------- */

/* 1: there is another event; 0: there is none, or the rest is damaged; -ENOMEM. */
static int go_on(const struct events *events, struct stream *stream)
{
	const int ret = dat_next(&stream->pages, &stream->event);

	if (ret == -ENOMEM)
		return ret;
	stream->lost = stream->pages.lost;
	stream->pages.lost = 0;
	if (ret > 0)
		stream->time_ns = dat_time(&events->file,
					   stream->pages.cpu->number,
					   stream->event.ts);
	return ret > 0;
}

static int open_streams(struct events *events)
{
	const struct dat_file *file = &events->file;
	const char *clock = dat_clock(file);
	size_t num = 0;

	for (size_t i = 0; i < file->num_buffers; i++)
		num += file->buffers[i].num_cpus;
	events->streams = calloc(num + 1, sizeof(*events->streams));
	events->heap.items = calloc(num + 1, sizeof(*events->heap.items));
	if (!events->streams || !events->heap.items)
		return -ENOMEM;
	for (size_t i = 0; i < file->num_buffers; i++) {
		const struct dat_buffer *buffer = &file->buffers[i];

		if (!dat_has_data(buffer) ||
		    strcmp(dat_clock_of(file, buffer), clock))
			continue;
		for (uint32_t cpu = 0; cpu < buffer->num_cpus; cpu++) {
			struct stream *stream =
				&events->streams[events->num_streams++];
			int ret = dat_first(&stream->pages, file, buffer,
					    &buffer->cpus[cpu]);

			if (!ret)
				ret = go_on(events, stream);
			if (ret == -ENOMEM)
				return ret;
			if (ret > 0)
				events->heap.items[events->heap.num++] =
					(struct time_heap_item){ stream->time_ns,
								 stream };
		}
	}
	time_heap_order(&events->heap);
	return 0;
}

/* ---- values -------------------------------------------------------------- */

/* Find the data of a field. False: they are not within the event. */
static bool find_data(const struct raw *raw, const struct field *field,
		      uint32_t *at, uint32_t *size)
{
	uint32_t word;

	*at = field->at;
	*size = field->size;
	if (*at > raw->event->size || *size > raw->event->size - *at)
		return false;
	if (!field->is_data_loc && !field->is_rel_loc)
		return true;
	word = dat_number(&raw->events->file, raw->event->data + *at, 4);
	*at = (word & 0xffff) + (field->is_rel_loc ? *at + 4 : 0);
	*size = word >> 16;
	return *at <= raw->event->size && *size <= raw->event->size - *at;
}

static int64_t extend_sign(uint64_t number, uint32_t size)
{
	const unsigned int unused = 64 - 8 * size;

	return (int64_t)(number << unused) >> unused;
}

static void put_number(struct netsync_io_value *value, const struct raw *raw,
		       const struct field *field, uint32_t at)
{
	const uint64_t number = dat_number(&raw->events->file,
					   raw->event->data + at, field->size);

	value->kind = field->is_signed ? NETSYNC_IO_SIGNED : NETSYNC_IO_UNSIGNED;
	value->number = field->is_signed ? extend_sign(number, field->size) :
					   (int64_t)number;
}

static int get_value(const struct raw *raw, const struct field *field,
		     struct netsync_io_value *value)
{
	uint32_t at, size;

	if (field->kind == KIND_NONE || !find_data(raw, field, &at, &size))
		return -ENODATA;
	if (field->kind == KIND_NUMBER) {
		put_number(value, raw, field, at);
		return 0;
	}
	value->bytes = raw->event->data + at;
	value->num_bytes = size;
	value->kind = field->kind == KIND_TEXT ? NETSYNC_IO_TEXT :
						 NETSYNC_IO_BYTES;
	if (field->kind == KIND_TEXT)
		value->num_bytes = strnlen((const char *)value->bytes, size);
	return 0;
}

/* The size of a value in the first version of the library. */
#define MIN_VALUE_SIZE (offsetof(struct netsync_io_value, num_bytes) + \
			sizeof(((struct netsync_io_value *)0)->num_bytes))

int netsync_io_event_value(const struct netsync_io_event *event, uint32_t field,
			   struct netsync_io_value *value)
{
	const struct raw *raw = event->reserved;
	struct netsync_io_value found = { .size = value->size };
	int ret;

	if (field >= event->num_fields || value->size < MIN_VALUE_SIZE)
		return -EINVAL;
	ret = get_value(raw, &raw->type->fields[field], &found);
	memcpy(value, &found,
	       value->size < sizeof(found) ? value->size : sizeof(found));
	return ret;
}

/* ---- reading a file ----------------------------------------------------- */

/* NULL: the file has no format for the event. */
static const struct type *type_of(const struct events *events,
				  const struct dat_event *event)
{
	uint32_t number = event->size < 2 ? 0 :
		events->by_id[dat_number(&events->file, event->data, 2)];

	return number ? &events->types[number - 1] : NULL;
}

static int tell(const struct events *events, const struct stream *stream,
		netsync_io_event_func each, void *data)
{
	const struct type *type = type_of(events, &stream->event);
	const struct raw raw = { events, type, &stream->event };
	const struct netsync_io_event event = {
		.size = sizeof(event),
		.cpu = stream->pages.cpu->number,
		.time_ns = stream->time_ns,
		.lost = stream->lost,
		.num_fields = type ? type->num : 0,
		.system = type ? type->system : "",
		.name = type ? type->name : "",
		.fields = type ? type->names : NULL,
		.reserved = &raw,
	};

	return type && each(data, &event) ? -ECANCELED : 0;
}

static int read_events(struct events *events, netsync_io_event_func each,
		       void *data)
{
	int ret = dat_read_formats(&events->file, use_format, events);

	if (!ret && events->no_memory)
		ret = -ENOMEM;
	if (!ret)
		ret = open_streams(events);
	while (!ret && events->heap.num) {
		struct stream *stream = events->heap.items[0].stream;

		ret = tell(events, stream, each, data);
		if (ret)
			return io_fail(events->io, ret, "Reading was stopped.");
		ret = go_on(events, stream);
		if (!ret)
			time_heap_end_first(&events->heap);
		if (ret <= 0)
			continue;
		time_heap_go_on(&events->heap, stream->time_ns);
		ret = 0;
	}
	return ret;
}

static void release(struct events *events)
{
	for (size_t i = 0; i < events->num_streams; i++)
		dat_release(&events->streams[i].pages);
	for (size_t i = 0; i < events->num_types; i++) {
		struct type *type = &events->types[i];

		for (uint32_t j = 0; j < type->num; j++)
			free((char *)type->names[j]);
		free(type->names);
		free(type->fields);
		free(type->system);
		free(type->name);
	}
	free(events->types);
	free(events->by_id);
	free(events->streams);
	free(events->heap.items);
	dat_close(&events->file);
}

int netsync_io_read_events(struct netsync_io *io, const char *path,
			   netsync_io_event_func each, void *data)
{
	struct events events = {
		.io = io,
		.by_id = calloc(NUM_IDS, sizeof(*events.by_id)),
	};
	int ret;

	if (!events.by_id)
		return io_no_memory(io);
	ret = dat_open(&events.file, path);
	if (!ret)
		ret = read_events(&events, each, data);
	if (ret && ret != -ECANCELED)
		ret = dat_fail(&events.file, io, path, ret);
	release(&events);
	return ret;
}
