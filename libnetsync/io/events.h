/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the reader for a format implements so that events.c can read events of any kind.
 */
#ifndef NETSYNC_IO_EVENTS_H
#define NETSYNC_IO_EVENTS_H

#include "io/io.h"

/* First member of the reader's own event structure, to which netsync_io_event.reserved points. */
struct event_raw {
	/* Get the value of an existing field, like netsync_io_event_value(). */
	int (*value)(const struct event_raw *raw, uint32_t field, struct netsync_io_value *value);
};

/*
 * One call of netsync_io_read_events(): its sources, and the function to which events are passed.
 */
struct event_reading {
	struct netsync_io *io;
	const struct netsync_io_source *sources;
	uint32_t num;
	netsync_io_event_func each;
	void *data;
};

/* Read traces of one format. Return the result of netsync_io_read_events(). */
int ctf_read_events(const struct event_reading *reading);
int dat_read_events(const struct event_reading *reading);
int perf_read_events(const struct event_reading *reading);

/* @each has stopped the reading: store the error, and return the value of @each. */
int event_fail_stopped(const struct event_reading *reading);

#endif
