/* SPDX-License-Identifier: GPL-2.0-only */
/* Copy traces and streams, and give them another clock. */
#ifndef NETSYNC_BABELTRACE_STREAMS_H
#define NETSYNC_BABELTRACE_STREAMS_H

#include <babeltrace2/babeltrace.h>
#include <stdint.h>

#include "corrections.h"
#include "map.h"

struct stream_copy {
	const bt_stream *from;
	bt_stream *to;
	bt_packet *packet; /* copy of the open packet, or NULL if no packet is open */
	bool has_clock;
	struct stream_correction correction;
	int64_t last_ns; /* latest corrected time so far */
	struct stream_copy *next;
};

struct streams {
	const struct mip *mip;
	struct map copies;	  /* from all objects except packets and events to their copies */
	struct map clock_classes; /* from each struct host_clock to the clock class of this host */
	const char *reference;	  /* name of the host whose time all clocks show */
	bt_self_component *component;
	struct stream_copy *first;
};

/* Return the copy of a stream, or NULL if the stream was not copied yet. */
struct stream_copy *streams_find(const struct streams *streams, const bt_stream *from);
/*
 * Copy a stream. @correction->clock is NULL for a stream without a clock. Return NULL if out of
 * memory.
 */
struct stream_copy *streams_add(struct streams *streams, const bt_stream *from,
				const struct stream_correction *correction);
/* Return the copy of an event class, or NULL if out of memory. */
bt_event_class *streams_get_event_class(struct streams *streams, const struct stream_copy *stream,
					const bt_event_class *from);
void streams_release(struct streams *streams);

#endif
