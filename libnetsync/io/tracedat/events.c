// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read all events of all processors and buffers from a trace.dat file in order of time. The formats
 * in the file declare the fields.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/events.h"
#include "io/tracedat/page.h"
#include "io/tracefs/types.h"
#include "util/time-heap.h"

struct dat_event_stream {
	struct dat_pages pages;
	struct dat_event event; /* the next event */
	int64_t time_ns; /* time of the event; while @lost is not 0, time of the event before it */
	uint64_t lost;	 /* number of events before it that were lost but not reported yet */
};

struct dat_events {
	const struct event_reading *reading;
	int64_t shift_ns;
	struct dat_file file;
	struct tracefs_types *types;
	struct dat_event_stream *streams;
	struct time_heap heap; /* heap of streams that have not ended */
	size_t num_streams;
};

/* ---- streams, merged by time --------------------------------------------- */

static void set_stream_time(const struct dat_events *events, struct dat_event_stream *stream)
{
	stream->time_ns = dat_convert_stamp(&events->file, stream->pages.cpu->number,
					    stream->event.ts);
}

/*
 * Read the next event of a stream. Return 1, 0 if there is none or the rest is damaged, or -ENOMEM.
 */
static int advance_dat_stream(const struct dat_events *events, struct dat_event_stream *stream)
{
	const int ret = dat_next_event(&stream->pages, &stream->event);

	if (ret == -ENOMEM)
		return ret;
	stream->lost = ret > 0 ? stream->pages.lost : 0;
	stream->pages.lost = 0;
	/* A loss gets the time of the event before it. */
	if (ret > 0 && !stream->lost)
		set_stream_time(events, stream);
	return ret > 0;
}

static int open_dat_stream(struct dat_events *events, const struct dat_buffer *buffer, uint32_t cpu)
{
	struct dat_event_stream *stream = &events->streams[events->num_streams++];
	int ret;

	stream->time_ns = INT64_MIN;
	ret = dat_begin_events(&stream->pages, &events->file, buffer, &buffer->cpus[cpu]);
	if (!ret)
		ret = advance_dat_stream(events, stream);
	if (ret > 0)
		events->heap.items[events->heap.num++] = (struct time_heap_item){ stream->time_ns,
										  stream, 0 };
	return ret;
}

static int open_dat_streams(struct dat_events *events)
{
	const struct dat_file *file = &events->file;
	const char *clock = dat_get_clock(file);
	size_t num = 0;

	for (size_t i = 0; i < file->num_buffers; i++)
		num += file->buffers[i].num_cpus;
	events->streams = calloc(num + 1, sizeof(*events->streams));
	events->heap.items = calloc(num + 1, sizeof(*events->heap.items));
	if (!events->streams || !events->heap.items)
		return -ENOMEM;
	for (size_t i = 0; i < file->num_buffers; i++) {
		const struct dat_buffer *buffer = &file->buffers[i];

		if (!dat_has_data(buffer) || strcmp(dat_get_buffer_clock(file, buffer), clock))
			continue;
		for (uint32_t cpu = 0; cpu < buffer->num_cpus; cpu++)
			if (open_dat_stream(events, buffer, cpu) == -ENOMEM)
				return -ENOMEM;
	}
	time_heap_restore_order(&events->heap);
	return 0;
}

/* ---- reading a file ----------------------------------------------------- */

static int report_dat_loss(const struct dat_events *events, const struct dat_event_stream *stream)
{
	struct netsync_io_event event = {
		.size = sizeof(event),
		.cpu = stream->pages.cpu->number,
		.lost = stream->lost,
		.system = "",
		.name = "",
	};

	if (stream->time_ns == INT64_MIN ||
	    __builtin_add_overflow(stream->time_ns, events->shift_ns, &event.time_ns))
		event.time_ns = INT64_MIN;
	return events->reading->each(events->reading->data, &event);
}

static int report_dat_event(const struct dat_events *events, const struct dat_event_stream *stream)
{
	struct tracefs_raw raw = {
		.data = stream->event.data,
		.size = stream->event.size,
		.big_endian = events->file.big_endian,
	};
	struct netsync_io_event event = { .cpu = stream->pages.cpu->number };

	if (!tracefs_fill_event(events->types, &raw, &event) ||
	    __builtin_add_overflow(stream->time_ns, events->shift_ns, &event.time_ns))
		return 0;
	return events->reading->each(events->reading->data, &event);
}

/* Report the next event of a stream, or the loss before it. Return 0, or another value to stop. */
static int report_next_dat_event(struct dat_events *events, struct dat_event_stream *stream)
{
	int ret;

	if (stream->lost) {
		ret = report_dat_loss(events, stream);
		stream->lost = 0;
		set_stream_time(events, stream);
		time_heap_advance_first(&events->heap, stream->time_ns);
		return ret ? event_fail_stopped(events->reading) : 0;
	}
	if (report_dat_event(events, stream))
		return event_fail_stopped(events->reading);
	ret = advance_dat_stream(events, stream);
	if (ret > 0)
		time_heap_advance_first(&events->heap, stream->time_ns);
	else if (!ret)
		time_heap_end_first(&events->heap);
	return ret < 0 ? ret : 0;
}

static int read_open_dat_file(struct dat_events *events)
{
	int ret = dat_read_formats(&events->file, tracefs_add_type, events->types);

	if (!ret && events->types->no_memory)
		ret = -ENOMEM;
	if (!ret)
		ret = open_dat_streams(events);
	while (!ret && events->heap.num)
		ret = report_next_dat_event(events, events->heap.items[0].stream);
	return ret;
}

static void release_dat_events(struct dat_events *events)
{
	for (size_t i = 0; i < events->num_streams; i++)
		dat_release_pages(&events->streams[i].pages);
	free(events->streams);
	free(events->heap.items);
	dat_close(&events->file);
}

static int read_dat_source(const struct event_reading *reading,
			   const struct netsync_io_source *source, struct tracefs_types *types)
{
	struct dat_events events = {
		.reading = reading,
		.shift_ns = source->shift_ns,
		.types = types,
	};
	int ret = dat_open(&events.file, reading->io, source->path);

	if (!ret)
		ret = read_open_dat_file(&events);
	if (ret && ret != -ECANCELED)
		ret = dat_fail(&events.file, reading->io, source->path, ret);
	release_dat_events(&events);
	return ret;
}

int dat_read_events(const struct event_reading *reading)
{
	return tracefs_read_sources(reading, read_dat_source);
}
