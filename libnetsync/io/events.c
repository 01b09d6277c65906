// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read all events of a host's traces with the reader of the traces' format. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/events.h"

/* Sizes in the first version of the library. No caller passes a smaller size. */
#define MIN_VALUE_SIZE sizeof(struct netsync_io_value)
#define MIN_SOURCE_SIZE sizeof(struct netsync_io_source)

int netsync_io_event_value(const struct netsync_io_event *event, uint32_t field,
			   struct netsync_io_value *value)
{
	const struct event_raw *raw = event->reserved;

	if (field >= event->num_fields || value->size < MIN_VALUE_SIZE)
		return -EINVAL;
	*value = (struct netsync_io_value){ .size = value->size };
	return raw->value(raw, field, value);
}

int event_fail_stopped(const struct event_reading *reading)
{
	return io_fail(reading->io, -ECANCELED, "Reading was stopped.");
}

/*
 * Return the reader for the trace @number. On failure, call io_fail(), set *@ret to the result of
 * io_fail(), and return NULL.
 */
static const struct trace_reader *find_event_reader(const struct event_reading *reading,
						    uint32_t number, int *ret)
{
	const char *path = reading->sources[number].path;
	const struct trace_reader *reader = NULL;
	struct stat st;
	struct found found = { .path = path, .st = &st };

	*ret = io_stat_file(reading->io, path, &st) ? -errno : 0;
	if (!*ret)
		reader = io_find_reader(reading->io, &found, ret);
	if (*ret)
		io_fail(reading->io, *ret, "%s: %s.", path, strerror(-*ret));
	else if (!reader || !reader->read_events)
		*ret = io_fail(reading->io, -EPROTONOSUPPORT,
			       "%s: not a trace whose events can be read.", path);
	return *ret ? NULL : reader;
}

/*
 * Return the reader for the format that all traces have. On failure, call io_fail(), set *@ret to
 * the result of io_fail(), and return NULL.
 */
static const struct trace_reader *find_common_event_reader(const struct event_reading *reading,
							   int *ret)
{
	const struct trace_reader *all = NULL;

	for (uint32_t i = 0; i < reading->num; i++) {
		const struct trace_reader *reader = find_event_reader(reading, i, ret);

		if (!reader)
			return NULL;
		if (all && reader != all) {
			*ret = io_fail(
				reading->io, -EINVAL,
				"All traces of one host must have the same format: CTF, trace.dat or perf.data; read each format separately.");
			return NULL;
		}
		all = reader;
	}
	return all;
}

int netsync_io_read_events(struct netsync_io *io, const struct netsync_io_source *sources,
			   uint32_t num, size_t source_size, netsync_io_event_func each, void *data)
{
	struct netsync_io_source *copies;
	const struct trace_reader *reader;
	struct event_reading reading;
	int ret = 0;

	if (source_size < MIN_SOURCE_SIZE)
		return io_fail(io, -EINVAL, "The size of a source is invalid.");
	copies = calloc(num + (size_t)1, sizeof(*copies));
	if (!copies)
		return io_fail_no_memory(io);
	for (uint32_t i = 0; i < num; i++)
		memcpy(&copies[i], (const char *)sources + i * source_size, sizeof(*copies));
	reading = (struct event_reading){ io, copies, num, each, data };
	reader = find_common_event_reader(&reading, &ret);
	if (reader)
		ret = reader->read_events(&reading);
	free(copies);
	return ret;
}
