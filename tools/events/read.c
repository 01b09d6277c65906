// SPDX-License-Identifier: GPL-2.0-only
/* Read the events of a host's traces with libnetsync-io. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

/*
 * Size of the buffer for an event's texts, in bytes. Longer texts are allocated. Chosen: most texts
 * are names.
 */
#define TEXTS_SIZE 4096
/* Prefix of fields that all events of a trace.dat file have. */
#define COMMON "common_"

struct event_reader {
	struct reading r; /* event types are found by the address of the library's name */
	bool failed;
};

/* Copies of an event's texts, because texts in the file have no terminating NUL. */
struct texts {
	char bytes[TEXTS_SIZE];
	size_t used;
	struct longer_text {
		struct longer_text *older;
		char bytes[];
	} * longer; /* list of texts that did not fit into the buffer */
};

/* The event whose fields are read, and the buffer for its texts. */
struct source {
	const struct netsync_io_event *event;
	struct texts *texts;
};

/* ---- fields -------------------------------------------------------------- */

#define NO_FIELD UINT32_MAX

/*
 * Return the index of the field with this name from index @from to before @to, or NO_FIELD if
 * there is none.
 */
static uint32_t find_field_number(const struct netsync_io_event *source, const char *name,
				  uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (!strcmp(source->fields[i], name))
			return i;
	return NO_FIELD;
}

static const struct netsync_io_event *get_event_source(const struct event *event)
{
	return ((const struct source *)event->source)->event;
}

/*
 * Read the value of a field by the field's number. Return false if the field does not exist or has
 * no value.
 */
static bool get_numbered_value(const struct netsync_io_event *source, uint32_t number,
			       struct netsync_io_value *value)
{
	value->size = sizeof(*value);
	return number != NO_FIELD && !netsync_io_event_value(source, number, value);
}

static bool find_field_value(const struct event *event, const char *name,
			     struct netsync_io_value *value)
{
	const struct netsync_io_event *source = get_event_source(event);
	struct event_place *place = &event->type->places[(uintptr_t)name / 4 % EVENT_NUM_PLACES];

	if (place->name != name) {
		place->name = name;
		place->field = find_field_number(source, name, source->num_context,
						 source->num_fields);
		if (place->field == NO_FIELD && !strncmp(name, COMMON, strlen(COMMON)))
			place->field = find_field_number(source, name, 0, source->num_context);
	}
	return get_numbered_value(source, place->field, value);
}

static bool find_context_value(const struct event *event, const char *name,
			       struct netsync_io_value *value)
{
	const struct netsync_io_event *source = get_event_source(event);

	return get_numbered_value(source, find_field_number(source, name, 0, source->num_context),
				  value);
}

static bool is_integer(const struct netsync_io_value *value)
{
	return value->kind == NETSYNC_IO_SIGNED || value->kind == NETSYNC_IO_UNSIGNED;
}

/* Return a terminated copy of a text, or NULL if out of memory. */
static const char *copy_event_text(const struct event *event, const struct netsync_io_value *value)
{
	struct texts *texts = ((const struct source *)event->source)->texts;
	const size_t length = value->num_bytes;
	char *copy = texts->bytes + texts->used;

	if (length < sizeof(texts->bytes) - texts->used) {
		texts->used += length + 1;
	} else {
		struct longer_text *longer = malloc(sizeof(*longer) + length + 1);

		if (!longer)
			return NULL;
		longer->older = texts->longer;
		texts->longer = longer;
		copy = longer->bytes;
	}
	memcpy(copy, value->bytes, length);
	copy[length] = '\0';
	return copy;
}

static void clear_event_texts(struct texts *texts)
{
	struct longer_text *longer;

	texts->used = 0;
	while ((longer = texts->longer)) {
		texts->longer = longer->older;
		free(longer);
	}
}

static bool get_event_integer(const struct event *event, const char *name, int64_t *number)
{
	struct netsync_io_value value;

	if (!find_field_value(event, name, &value) || !is_integer(&value))
		return false;
	*number = value.number;
	return true;
}

static const char *get_event_text(const struct event *event, const char *name)
{
	struct netsync_io_value value;

	return find_field_value(event, name, &value) && value.kind == NETSYNC_IO_TEXT ?
		       copy_event_text(event, &value) :
		       NULL;
}

/*
 * Set an argument to the value of a field. Return false if the field has members, if its number
 * fits no format, or if out of memory.
 */
static bool set_event_arg(const struct event *event, struct arg *arg,
			  const struct netsync_io_value *value)
{
	if (is_integer(value) && value->num_bytes) {
		arg->kind = ARG_LABEL;
		arg->text = copy_event_text(event, value);
		return arg->text;
	}
	switch (value->kind) {
	case NETSYNC_IO_SIGNED:
		arg->kind = ARG_SIGNED;
		arg->integer = value->number;
		return true;
	case NETSYNC_IO_UNSIGNED:
		arg->kind = ARG_UNSIGNED;
		arg->number = (uint64_t)value->number;
		return true;
	case NETSYNC_IO_TEXT:
		arg->kind = ARG_TEXT;
		arg->text = copy_event_text(event, value);
		return arg->text;
	case NETSYNC_IO_BOOL:
		arg->kind = ARG_BOOL;
		arg->truth = value->number;
		return true;
	case NETSYNC_IO_REAL:
		arg->kind = ARG_REAL;
		arg->real = value->real;
		return isfinite(arg->real);
	default:
		return false;
	}
}

static bool get_event_arg(const struct event *event, const char *name, struct arg *arg)
{
	struct netsync_io_value value;

	arg->name = name;
	return find_field_value(event, name, &value) && set_event_arg(event, arg, &value);
}

static size_t get_event_bytes(const struct event *event, const char *name, uint8_t *bytes,
			      size_t room)
{
	struct netsync_io_value value;

	if (!find_field_value(event, name, &value) || value.kind != NETSYNC_IO_BYTES)
		return 0;
	memcpy(bytes, value.bytes, value.num_bytes < room ? value.num_bytes : room);
	return value.num_bytes;
}

static bool get_all_event_args(const struct event *event, struct args *args)
{
	const struct netsync_io_event *source = get_event_source(event);

	for (uint32_t i = source->num_context; i < source->num_fields; i++) {
		struct netsync_io_value value = { .size = sizeof(value) };
		struct arg arg = { .name = source->fields[i] };

		if (!netsync_io_event_value(source, i, &value) &&
		    set_event_arg(event, &arg, &value) && !args_append(args, arg))
			return false;
	}
	return true;
}

/*
 * Find the thread of an event. The fields are named as by LTTng, in the kernel or in programs, or
 * as by ftrace.
 */
static bool get_event_task(const struct event *event, struct event_task *task)
{
	static const char *const names[] = { "tid", "vtid", "common_pid" };
	struct netsync_io_value value;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!find_context_value(event, names[i], &value) || !is_integer(&value) ||
		    value.number < 0 || value.number > EVENT_MAX_TID)
			continue;
		*task = (struct event_task){ .tid = value.number };
		if (find_context_value(event, "procname", &value) && value.kind == NETSYNC_IO_TEXT)
			task->name = copy_event_text(event, &value);
		return true;
	}
	return false;
}

static const struct event_fields library_fields = {
	get_event_integer, get_event_text,     get_event_arg,
	get_event_bytes,   get_all_event_args, get_event_task,
};

/* ---- events -------------------------------------------------------------- */

static bool report_lost_events(const struct event_reader *reader,
			       const struct netsync_io_event *from)
{
	const struct event_listener *listener = reader->r.listener;
	const struct event_loss loss = {
		.time_ns = reader->r.now_ns,
		.cpu = from->cpu < EVENT_MAX_CPUS ? from->cpu : EVENT_NO_CPU,
		.has_number = from->lost != NETSYNC_IO_LOST_SOME,
		.number = from->lost,
	};

	return listener->lost(listener->data, &loss);
}

static bool deliver_event(struct event_reader *reader, const struct netsync_io_event *from)
{
	const struct event_listener *listener = reader->r.listener;
	struct texts texts;
	const struct source source = { from, &texts };
	const struct event event = {
		.type = reading_find_type(&reader->r, from->name, from->name),
		.time_ns = reader->r.now_ns,
		.host_ns = from->time_ns + reader->r.host->shift_ns,
		.cpu = from->cpu < EVENT_MAX_CPUS ? from->cpu : EVENT_NO_CPU,
		.fields = &library_fields,
		.source = &source,
	};
	bool ok;

	texts.used = 0;
	texts.longer = NULL;
	ok = event.type && listener->event(listener->data, &event);
	clear_event_texts(&texts);
	return ok;
}

/* Pass an event from the library to the listener. To stop, return a value other than 0. */
static int use_library_event(void *data, const struct netsync_io_event *from)
{
	struct event_reader *reader = data;

	if (from->lost) {
		reader->failed = !report_lost_events(reader, from);
		return reader->failed;
	}
	switch (reading_advance(&reader->r, from->time_ns)) {
	case READING_ENOUGH:
		return 1;
	case READING_PASS:
		return 0;
	case READING_TAKE:
		break;
	}
	reader->failed = !deliver_event(reader, from);
	return reader->failed;
}

bool group_read_events(const struct event_group *group, const struct timebase *base,
		       const struct event_listener *listener, struct group_state *state,
		       int64_t *until_ns)
{
	struct event_reader reader = {
		.r = reading_make(group, base, listener, state),
	};
	const int ret = netsync_io_read_events(base->io, group->sources, group->num,
					       sizeof(*group->sources), use_library_event, &reader);

	*until_ns = reading_get_until(&reader.r);
	return !reader.failed && (!ret || ret == -ECANCELED);
}
