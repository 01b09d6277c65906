// SPDX-License-Identifier: LGPL-2.1-or-later
/* Traces of a host -> all their events, by the reader of their format. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/events.h"

/* The sizes in the first version of the library; callers know no smaller ones. */
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

int event_stopped(const struct event_reading *reading)
{
	return io_fail(reading->io, -ECANCELED, "Reading was stopped.");
}

/* 1: all are folders (of CTF); 0: none is; or negative: io_fail() was called. */
static int are_folders(const struct event_reading *reading)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < reading->num; i++) {
		const char *path = reading->sources[i].path;
		struct stat st;

		if (stat(path, &st))
			return io_fail(reading->io, -errno, "%s: %s.", path,
				       strerror(errno));
		num += S_ISDIR(st.st_mode);
	}
	if (num && num < reading->num)
		return io_fail(reading->io, -EINVAL,
			       "Traces of one host are of one format, CTF or trace.dat; read each format by itself.");
	return num > 0;
}

int netsync_io_read_events(struct netsync_io *io,
			   const struct netsync_io_source *sources, uint32_t num,
			   size_t source_size, netsync_io_event_func each,
			   void *data)
{
	struct netsync_io_source *copies;
	struct event_reading reading;
	int ret;

	if (source_size < MIN_SOURCE_SIZE)
		return io_fail(io, -EINVAL, "A source has no such size.");
	copies = calloc(num + (size_t)1, sizeof(*copies));
	if (!copies)
		return io_no_memory(io);
	for (uint32_t i = 0; i < num; i++)
		memcpy(&copies[i], (const char *)sources + i * source_size,
		       sizeof(*copies));
	reading = (struct event_reading){ io, copies, num, each, data };
	ret = are_folders(&reading);
	if (ret >= 0)
		ret = ret ? ctf_read_events(&reading) : dat_read_events(&reading);
	free(copies);
	return ret;
}
