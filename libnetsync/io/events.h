/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All events of traces, of any kind: what the readers of each format do for events.c. */
#ifndef NETSYNC_IO_EVENTS_H
#define NETSYNC_IO_EVENTS_H

#include "io/io.h"

/* netsync_io_event.reserved leads to the reader's own, which begins with this. */
struct event_raw {
	/* The value of a field that exists. As netsync_io_event_value(). */
	int (*value)(const struct event_raw *raw, uint32_t field, struct netsync_io_value *value);
};

/* A reading of events: its sources, and the function that gets the events. */
struct event_reading {
	struct netsync_io *io;
	const struct netsync_io_source *sources;
	uint32_t num;
	netsync_io_event_func each;
	void *data;
};

/* Read traces of one format. Return as netsync_io_read_events(). */
int ctf_read_events(const struct event_reading *reading);
int dat_read_events(const struct event_reading *reading);
int perf_read_events(const struct event_reading *reading);

/* Keep the error for a reading that @each stopped. */
int event_fail_stopped(const struct event_reading *reading);

#endif
