/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read the events and losses of a CTF stream one by one. They are read by a walk through the file
 * (direct/) and, from the point where the walk is not possible, from libbabeltrace2's messages.
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
	struct direct *direct;	       /* NULL if none of its streams can be walked */
	struct event_classes *classes; /* array with an element for each stream class */
	size_t num_classes;
};

struct event_stream {
	struct event_trace *trace;
	size_t classes; /* index in trace->classes */
	bool begun;

	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t num, at;

	struct ctf_walk *walk; /* if NULL, messages after @walked are used */
	struct walk_counts walked;
	struct ctf_clock clock; /* clock of the walk */

	/* The next event or loss. */
	const bt_message *message; /* NULL if the event is in @walked_event */
	struct walked walked_event;
	bool is_loss;
	uint64_t lost; /* as in struct netsync_io_event */
	bool has_time;
	int64_t time_ns; /* shifted time of the event, if it has one */
	uint32_t cpu;	 /* CPU of the last event reported */
	int64_t key_ns;	 /* latest time so far, by which streams are merged */
};

/*
 * Advance to the next event or loss. Return 1; 0 at the end; -ENOMEM; or -EILSEQ if the stream is
 * damaged.
 */
int event_stream_find_next(struct event_stream *stream);

/* Pass the event to @each. Return 0; 1 if @each requested a stop; or -ENOMEM. */
int event_stream_report(struct event_stream *stream, struct value_copies *copies,
			const struct event_reading *reading);

void event_stream_release(struct event_stream *stream);

#endif
