// SPDX-License-Identifier: GPL-2.0-only
/* The events of the trace.dat files of a host, as libnetsync-io reads them. */
#include <errno.h>
#include <string.h>

#include "reading.h"

/* For the texts of an event, which have no end in the file; longer ones are cut. */
#define TEXTS_SIZE 4096

struct reader {
	struct reading r;	/* types: by the library's pointers to their names */
	int64_t shift_ns;	/* of the file */
	bool failed;
};

/* What fields are read of. */
struct source {
	const struct netsync_io_event *event;
	char *texts;
	size_t used;		/* of these */
};

/* ---- fields -------------------------------------------------------------- */

/* False: there is none of this name, or it is none of these kinds. */
static bool find(const struct event *event, const char *name,
		 struct netsync_io_value *value)
{
	const struct netsync_io_event *source =
		((const struct source *)event->source)->event;

	*value = (struct netsync_io_value){ .size = sizeof(*value) };
	for (uint32_t i = 0; i < source->num_fields; i++)
		if (!strcmp(source->fields[i], name))
			return !netsync_io_event_value(source, i, value);
	return false;
}

static bool is_integer(const struct netsync_io_value *value)
{
	return value->kind == NETSYNC_IO_SIGNED ||
	       value->kind == NETSYNC_IO_UNSIGNED;
}

/* A copy with an end. */
static const char *copy_text(const struct event *event,
			     const struct netsync_io_value *value)
{
	struct source *source = (struct source *)event->source;
	size_t length = value->num_bytes;
	char *copy = source->texts + source->used;

	if (length > TEXTS_SIZE - 1 - source->used)
		length = TEXTS_SIZE - 1 - source->used;
	memcpy(copy, value->bytes, length);
	copy[length] = '\0';
	source->used += length + (source->used + length < TEXTS_SIZE - 1);
	return copy;
}

static bool get_integer(const struct event *event, const char *name,
			int64_t *number)
{
	struct netsync_io_value value;

	if (!find(event, name, &value) || !is_integer(&value))
		return false;
	*number = value.number;
	return true;
}

static const char *get_text(const struct event *event, const char *name)
{
	struct netsync_io_value value;

	return find(event, name, &value) && value.kind == NETSYNC_IO_TEXT ?
		copy_text(event, &value) : NULL;
}

static bool set_arg(const struct event *event, struct arg *arg,
		    const struct netsync_io_value *value)
{
	if (value->kind == NETSYNC_IO_SIGNED) {
		arg->kind = ARG_SIGNED;
		arg->integer = value->number;
	} else if (value->kind == NETSYNC_IO_UNSIGNED) {
		arg->kind = ARG_UNSIGNED;
		arg->number = (uint64_t)value->number;
	} else if (value->kind == NETSYNC_IO_TEXT) {
		arg->kind = ARG_TEXT;
		arg->text = copy_text(event, value);
	} else {
		return false;
	}
	return true;
}

static bool get_value(const struct event *event, const char *name,
		      struct arg *arg)
{
	struct netsync_io_value value;

	arg->name = name;
	return find(event, name, &value) && set_arg(event, arg, &value);
}

static size_t get_bytes(const struct event *event, const char *name,
			uint8_t *bytes, size_t room)
{
	struct netsync_io_value value;

	if (!find(event, name, &value) || value.kind != NETSYNC_IO_BYTES)
		return 0;
	memcpy(bytes, value.bytes, value.num_bytes < room ? value.num_bytes : room);
	return value.num_bytes;
}

/* But those that all events have. */
static bool get_all(const struct event *event, struct args *args)
{
	const struct netsync_io_event *source =
		((const struct source *)event->source)->event;

	for (uint32_t i = 0; i < source->num_fields; i++) {
		struct netsync_io_value value = { .size = sizeof(value) };
		struct arg arg = { .name = source->fields[i] };

		if (strncmp(arg.name, "common_", 7) &&
		    !netsync_io_event_value(source, i, &value) &&
		    set_arg(event, &arg, &value) && !args_add(args, arg))
			return false;
	}
	return true;
}

static bool get_task(const struct event *event, struct event_task *task)
{
	int64_t tid;

	if (!get_integer(event, "common_pid", &tid) || tid < 0 ||
	    tid > EVENT_MAX_TID)
		return false;
	*task = (struct event_task){ tid, NULL };
	return true;
}

static const struct event_fields tracedat_fields = {
	get_integer, get_text, get_value, get_bytes, get_all, get_task,
};

/* ---- events -------------------------------------------------------------- */

static bool tell(struct reader *reader, const struct netsync_io_event *from,
		 int64_t host_ns)
{
	const struct event_listener *listener = reader->r.listener;
	const struct event_loss loss = {
		.time_ns = reader->r.now_ns,
		.cpu = from->cpu < EVENT_MAX_CPUS ? from->cpu : EVENT_NO_CPU,
		.has_number = true,
		.number = from->lost,
	};
	char texts[TEXTS_SIZE];
	struct source source = { from, texts, 0 };
	const struct event event = {
		.type = reading_type(&reader->r, from->name, from->name),
		.time_ns = reader->r.now_ns,
		.host_ns = host_ns,
		.cpu = loss.cpu,
		.fields = &tracedat_fields,
		.source = &source,
	};

	return (!from->lost || listener->lost(listener->data, &loss)) &&
	       event.type && listener->event(listener->data, &event);
}

/* Not 0: to stop. */
static int take(void *data, const struct netsync_io_event *from)
{
	struct reader *reader = data;
	int64_t host_ns;

	if (__builtin_add_overflow(from->time_ns, reader->shift_ns, &host_ns))
		return 0;
	switch (reading_go_on(&reader->r, host_ns)) {
	case READING_ENOUGH:
		return 1;
	case READING_PASS:
		return 0;
	case READING_TAKE:
		break;
	}
	reader->failed = !tell(reader, from, host_ns + reader->r.host->shift_ns);
	return reader->failed;
}

bool tracedat_events(const struct group *group, const struct timebase *base,
		     const struct event_listener *listener,
		     struct group_state *state, int64_t *until_ns)
{
	struct reader reader = {
		.r = reading_of(group, base, listener, state),
	};

	/* Several are parts of one recording, one after the other. */
	for (uint32_t i = 0; i < group->num && !reader.r.is_cut; i++) {
		int ret;

		reader.shift_ns = group->inputs[i].shift_ns;
		ret = netsync_io_read_events(base->io, group->inputs[i].path, take,
					     &reader);
		if (reader.failed || (ret && ret != -ECANCELED))
			return false;
		/* The names were of that file. */
		map_release(&reader.r.types);
		reader.r.types = (struct map){ 0 };
	}
	*until_ns = reading_until(&reader.r);
	return true;
}
