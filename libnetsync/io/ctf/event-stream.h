/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read the events and losses of a CTF stream one by one. Events are read directly from the file
 * (direct/). From the point where this is not possible, libbabeltrace2's messages are used.
 */
#ifndef NETSYNC_CTF_EVENT_STREAM_H
#define NETSYNC_CTF_EVENT_STREAM_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/clock.h"
#include "io/ctf/direct/direct.h"
#include "io/ctf/event-class.h"

/* The trace to which streams belong. */
struct event_trace {
	int64_t shift_ns;
	struct direct *direct;	       /* NULL if none of its streams can be read directly */
	struct event_classes *classes; /* array with an element for each stream class */
	size_t num_classes;
};

struct event_stream {
	struct event_trace *trace;
	size_t classes; /* index of its classes in trace->classes */
	bool begun;

	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t num, at;

	struct direct_reader *reader; /* if NULL, messages after @already_read are used */
	struct direct_counts already_read;
	struct ctf_clock clock; /* clock for events that are read directly */

	/* The next event or loss. */
	const bt_message *message; /* NULL if the event is in @direct_event */
	struct direct_event direct_event;
	bool is_loss;
	uint64_t lost; /* number of lost events, as in struct netsync_io_event */
	bool has_time;
	int64_t time_ns; /* shifted time of the event, if it has one */
	uint32_t cpu;	 /* CPU of the event that was reported last */
	int64_t key_ns;	 /* latest time so far; streams are merged by this time */
};

/*
 * Advance to the next event or loss. Return 1, 0 at the end, -ENOMEM, or -EILSEQ if the stream is
 * damaged.
 */
int event_stream_find_next(struct event_stream *stream);

/* Pass the event to @each. Return 0, 1 if @each has requested to stop, or -ENOMEM. */
int event_stream_report(struct event_stream *stream, struct value_copies *copies,
			const struct event_reading *reading);

void event_stream_release(struct event_stream *stream);

#endif
