// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All events of a trace.dat file, of all processors and buffers, in the order of time,
 * with fields as the formats in the file declare them. Values of fields are plain
 * (numbers, texts, arrays); how libtraceevent would print them is not needed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/events.h"
#include "io/tracedat/event.h"
#include "util/array.h"
#include "util/time-heap.h"

/* Types have numbers of 16 bits. */
#define NUM_IDS 65536
/* How the names of fields begin that all events have. */
#define COMMON "common_"

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
	uint32_t num_common;	/* the first fields, which all events have */
};

struct stream {
	struct dat_pages pages;
	struct dat_event event;	/* the next event */
	int64_t time_ns;	/* of it; while lost is not 0: of the event before it */
	uint64_t lost;		/* events lost before it, of which nobody was told yet */
};

struct events {
	const struct event_reading *reading;
	int64_t shift_ns;
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
	struct event_raw raw;
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
	type->num_common += type->num == type->num_common &&
			    !strncmp(from->name, COMMON, strlen(COMMON));
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

static void find_time(const struct events *events, struct stream *stream)
{
	stream->time_ns = dat_time(&events->file, stream->pages.cpu->number,
				   stream->event.ts);
}

/* 1: there is another event; 0: there is none, or the rest is damaged; -ENOMEM. */
static int go_on(const struct events *events, struct stream *stream)
{
	const int ret = dat_next(&stream->pages, &stream->event);

	if (ret == -ENOMEM)
		return ret;
	stream->lost = ret > 0 ? stream->pages.lost : 0;
	stream->pages.lost = 0;
	/* A loss is as late as the event before it. */
	if (ret > 0 && !stream->lost)
		find_time(events, stream);
	return ret > 0;
}

static int open_stream(struct events *events, const struct dat_buffer *buffer,
		       uint32_t cpu)
{
	struct stream *stream = &events->streams[events->num_streams++];
	int ret;

	stream->time_ns = INT64_MIN;
	ret = dat_first(&stream->pages, &events->file, buffer,
			&buffer->cpus[cpu]);
	if (!ret)
		ret = go_on(events, stream);
	if (ret > 0)
		events->heap.items[events->heap.num++] =
			(struct time_heap_item){ stream->time_ns, stream };
	return ret;
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
		for (uint32_t cpu = 0; cpu < buffer->num_cpus; cpu++)
			if (open_stream(events, buffer, cpu) == -ENOMEM)
				return -ENOMEM;
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

static int get_value(const struct event_raw *of, uint32_t number,
		     struct netsync_io_value *value)
{
	const struct raw *raw = (const struct raw *)of;
	const struct field *field = &raw->type->fields[number];
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

/* ---- reading a file ----------------------------------------------------- */

/* NULL: the file has no format for the event. */
static const struct type *type_of(const struct events *events,
				  const struct dat_event *event)
{
	uint32_t number = event->size < 2 ? 0 :
		events->by_id[dat_number(&events->file, event->data, 2)];

	return number ? &events->types[number - 1] : NULL;
}

static int tell_loss(const struct events *events, const struct stream *stream)
{
	struct netsync_io_event event = {
		.size = sizeof(event),
		.cpu = stream->pages.cpu->number,
		.lost = stream->lost,
		.system = "",
		.name = "",
	};

	if (stream->time_ns == INT64_MIN ||
	    __builtin_add_overflow(stream->time_ns, events->shift_ns,
				   &event.time_ns))
		event.time_ns = INT64_MIN;
	return events->reading->each(events->reading->data, &event);
}

static int tell(const struct events *events, const struct stream *stream)
{
	const struct type *type = type_of(events, &stream->event);
	const struct raw raw = { { get_value }, events, type, &stream->event };
	struct netsync_io_event event = {
		.size = sizeof(event),
		.cpu = stream->pages.cpu->number,
		.num_fields = type ? type->num : 0,
		.num_context = type ? type->num_common : 0,
		.system = type ? type->system : "",
		.name = type ? type->name : "",
		.fields = type ? type->names : NULL,
		.reserved = &raw,
	};

	if (!type || __builtin_add_overflow(stream->time_ns, events->shift_ns,
					    &event.time_ns))
		return 0;
	return events->reading->each(events->reading->data, &event);
}

/* Tell of the next event of a stream, or of a loss before it. 0; not 0: to stop. */
static int tell_next(struct events *events, struct stream *stream)
{
	int ret;

	if (stream->lost) {
		ret = tell_loss(events, stream);
		stream->lost = 0;
		find_time(events, stream);
		time_heap_go_on(&events->heap, stream->time_ns);
		return ret ? event_stopped(events->reading) : 0;
	}
	if (tell(events, stream))
		return event_stopped(events->reading);
	ret = go_on(events, stream);
	if (ret > 0)
		time_heap_go_on(&events->heap, stream->time_ns);
	else if (!ret)
		time_heap_end_first(&events->heap);
	return ret < 0 ? ret : 0;
}

static int read_events(struct events *events)
{
	int ret = dat_read_formats(&events->file, use_format, events);

	if (!ret && events->no_memory)
		ret = -ENOMEM;
	if (!ret)
		ret = open_streams(events);
	while (!ret && events->heap.num)
		ret = tell_next(events, events->heap.items[0].stream);
	return ret;
}

static void release_types(struct events *events)
{
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
}

static void release(struct events *events)
{
	for (size_t i = 0; i < events->num_streams; i++)
		dat_release(&events->streams[i].pages);
	free(events->by_id);
	free(events->streams);
	free(events->heap.items);
	dat_close(&events->file);
}

/* The types are released later: those of different files have different pointers. */
static int read_file(struct events *events,
		     const struct event_reading *reading, uint32_t number)
{
	const struct netsync_io_source *source = &reading->sources[number];
	int ret;

	*events = (struct events){
		.reading = reading,
		.shift_ns = source->shift_ns,
		.by_id = calloc(NUM_IDS, sizeof(*events->by_id)),
	};
	if (!events->by_id)
		return io_no_memory(reading->io);
	ret = dat_open(&events->file, source->path);
	if (!ret)
		ret = read_events(events);
	if (ret && ret != -ECANCELED)
		ret = dat_fail(&events->file, reading->io, source->path, ret);
	release(events);
	return ret;
}

int dat_read_events(const struct event_reading *reading)
{
	struct events *files = calloc(reading->num + (size_t)1, sizeof(*files));
	int ret = files ? 0 : io_no_memory(reading->io);

	/* Several are parts of one recording, one after the other. */
	for (uint32_t i = 0; i < reading->num && !ret; i++)
		ret = read_file(&files[i], reading, i);
	for (uint32_t i = 0; i < reading->num && files; i++)
		release_types(&files[i]);
	free(files);
	return ret;
}
