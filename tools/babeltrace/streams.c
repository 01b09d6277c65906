// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy traces and streams, and give them another clock. The metadata of events cannot be changed,
 * so all of the metadata is copied. The copy of a stream keeps its trace alive, which keeps all
 * classes alive. All clocks show the same time, but each machine has a clock of its own. By the
 * clock's uuid, Trace Compass distinguishes the threads of different machines.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fields.h"
#include "mip.h"
#include "streams.h"

/* ---- traces ------------------------------------------------------------ */

static bool copy_environment(bt_trace *to, const bt_trace *from)
{
	bool ok = true;

	for (uint64_t i = 0; ok && i < bt_trace_get_environment_entry_count(from); i++) {
		const bt_value *value;
		const char *name;

		bt_trace_borrow_environment_entry_by_index_const(from, i, &name, &value);
		if (bt_value_is_string(value))
			ok = !bt_trace_set_environment_entry_string(to, name,
								    bt_value_string_get(value));
		else
			ok = !bt_trace_set_environment_entry_integer(
				to, name, bt_value_integer_signed_get(value));
	}
	return ok;
}

static bool copy_trace_properties(const struct mip *mip, bt_trace *to, const bt_trace *from)
{
	const char *name = bt_trace_get_name(from);

	bt_trace_set_user_attributes(to, bt_trace_borrow_user_attributes_const(from));
	return (!name || !bt_trace_set_name(to, name)) && mip->identify_trace(to, from) &&
	       copy_environment(to, from);
}

static bt_trace_class *get_trace_class_copy(struct streams *streams, const bt_trace_class *from)
{
	bt_trace_class *to = map_get(&streams->copies, from);

	if (to) {
		bt_trace_class_get_ref(to);
		return to;
	}
	to = bt_trace_class_create(streams->component);
	if (!to)
		return NULL;
	bt_trace_class_set_assigns_automatic_stream_class_id(to, BT_FALSE);
	bt_trace_class_set_user_attributes(to, bt_trace_class_borrow_user_attributes_const(from));
	if (map_put(&streams->copies, from, to))
		return to;
	bt_trace_class_put_ref(to);
	return NULL;
}

/* Return the copy of a trace. The caller releases it with bt_trace_put_ref(). */
static bt_trace *get_trace_copy(struct streams *streams, const bt_trace *from)
{
	bt_trace *to = map_get(&streams->copies, from);
	bt_trace_class *class;

	if (to) {
		bt_trace_get_ref(to);
		return to;
	}
	class = get_trace_class_copy(streams, bt_trace_borrow_class_const(from));
	if (class)
		to = bt_trace_create(class);
	bt_trace_class_put_ref(class);
	if (to && copy_trace_properties(streams->mip, to, from) &&
	    map_put(&streams->copies, from, to))
		return to;
	bt_trace_put_ref(to);
	return NULL;
}

/* ---- clocks ------------------------------------------------------------ */

static bool describe_corrected_clock(const struct streams *streams, bt_clock_class *class,
				     const struct stream_correction *correction)
{
	char text[256];

	/* The copy counts nanoseconds. */
	if (correction->bound_ns >= 0 && correction->bound_ns != NETSYNC_UNKNOWN)
		streams->mip->set_clock_error(class, (uint64_t)correction->bound_ns);
	snprintf(text, sizeof(text), "corrected by netsync, to the clock of %s",
		 streams->reference);
	return !bt_clock_class_set_name(class, NETSYNC_IO_CORRECTED_CLOCK) &&
	       !bt_clock_class_set_description(class, text) &&
	       streams->mip->set_clock_uuid(class, correction->machine);
}

static bt_clock_class *get_clock_class_copy(struct streams *streams,
					    const struct stream_correction *correction)
{
	bt_clock_class *class = map_get(&streams->clock_classes, correction->clock);

	if (class)
		return class;
	class = bt_clock_class_create(streams->component);
	if (class && describe_corrected_clock(streams, class, correction) &&
	    map_put(&streams->clock_classes, correction->clock, class))
		return class;
	bt_clock_class_put_ref(class);
	return NULL;
}

static bool set_clock_class(struct streams *streams, bt_stream_class *to,
			    const struct stream_correction *correction)
{
	bt_clock_class *class = get_clock_class_copy(streams, correction);

	return class && !bt_stream_class_set_default_clock_class(to, class);
}

/* ---- stream classes and event classes ----------------------------------- */

/* Return the state for copying field classes, and the scopes to which they may refer. */
static struct field_classes make_field_classes(struct streams *streams, bt_trace_class *in,
					       const bt_stream_class *stream_class)
{
	return (struct field_classes){
		.trace_class = in,
		.mip = streams->mip,
		.copies = &streams->copies,
		.roots[BT_FIELD_PATH_SCOPE_PACKET_CONTEXT] =
			bt_stream_class_borrow_packet_context_field_class_const(stream_class),
		.roots[BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT] =
			bt_stream_class_borrow_event_common_context_field_class_const(stream_class),
	};
}

static bool copy_contexts(struct streams *streams, bt_stream_class *to, const bt_stream_class *from)
{
	struct field_classes classes = make_field_classes(streams,
							  bt_stream_class_borrow_trace_class(to),
							  from);
	const bt_field_class *packet = classes.roots[BT_FIELD_PATH_SCOPE_PACKET_CONTEXT];
	const bt_field_class *common = classes.roots[BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT];
	bt_field_class *class;
	bool ok = true;

	if (packet) {
		class = field_class_copy(&classes, packet);
		ok = class && !bt_stream_class_set_packet_context_field_class(to, class);
		bt_field_class_put_ref(class);
	}
	if (ok && common) {
		class = field_class_copy(&classes, common);
		ok = class && !bt_stream_class_set_event_common_context_field_class(to, class);
		bt_field_class_put_ref(class);
	}
	return ok;
}

static bool copy_stream_class(struct streams *streams, bt_stream_class *to,
			      const bt_stream_class *from,
			      const struct stream_correction *correction)
{
	const struct mip *mip = streams->mip;
	const char *name = bt_stream_class_get_name(from);

	if (correction->clock && !set_clock_class(streams, to, correction))
		return false;
	bt_stream_class_set_assigns_automatic_event_class_id(to, BT_FALSE);
	bt_stream_class_set_assigns_automatic_stream_id(to, BT_FALSE);
	bt_stream_class_set_supports_packets(
		to, bt_stream_class_supports_packets(from),
		bt_stream_class_packets_have_beginning_default_clock_snapshot(from),
		bt_stream_class_packets_have_end_default_clock_snapshot(from));
	bt_stream_class_set_supports_discarded_events(
		to, bt_stream_class_supports_discarded_events(from),
		bt_stream_class_discarded_events_have_default_clock_snapshots(from));
	bt_stream_class_set_supports_discarded_packets(
		to, bt_stream_class_supports_discarded_packets(from),
		bt_stream_class_discarded_packets_have_default_clock_snapshots(from));
	bt_stream_class_set_user_attributes(to, bt_stream_class_borrow_user_attributes_const(from));
	return (!name || !bt_stream_class_set_name(to, name)) &&
	       (!mip->identify_stream_class || mip->identify_stream_class(to, from)) &&
	       copy_contexts(streams, to, from);
}

/* Return the copy of a stream class. The stream class's trace class owns the copy. */
static bt_stream_class *get_stream_class_copy(struct streams *streams, bt_trace_class *in,
					      const bt_stream_class *from,
					      const struct stream_correction *correction)
{
	bt_stream_class *to = map_get(&streams->copies, from);

	if (to)
		return to;
	to = bt_stream_class_create_with_id(in, bt_stream_class_get_id(from));
	if (!to)
		return NULL;
	bt_stream_class_put_ref(to);
	return copy_stream_class(streams, to, from, correction) &&
			       map_put(&streams->copies, from, to) ?
		       to :
		       NULL;
}

static bool copy_event_field_classes(struct streams *streams, bt_event_class *to,
				     const bt_event_class *from)
{
	const bt_field_class *context = bt_event_class_borrow_specific_context_field_class_const(
		from);
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(from);
	struct field_classes classes = make_field_classes(
		streams, bt_stream_class_borrow_trace_class(bt_event_class_borrow_stream_class(to)),
		bt_event_class_borrow_stream_class_const(from));
	bt_field_class *class;
	bool ok = true;

	classes.roots[BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT] = context;
	classes.roots[BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD] = payload;
	if (context) {
		class = field_class_copy(&classes, context);
		ok = class && !bt_event_class_set_specific_context_field_class(to, class);
		bt_field_class_put_ref(class);
	}
	if (ok && payload) {
		class = field_class_copy(&classes, payload);
		ok = class && !bt_event_class_set_payload_field_class(to, class);
		bt_field_class_put_ref(class);
	}
	return ok;
}

static bool copy_event_class(struct streams *streams, bt_event_class *to,
			     const bt_event_class *from)
{
	const struct mip *mip = streams->mip;
	const char *name = bt_event_class_get_name(from);
	const char *uri = bt_event_class_get_emf_uri(from);
	bt_event_class_log_level level;

	if (bt_event_class_get_log_level(from, &level) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_event_class_set_log_level(to, level);
	bt_event_class_set_user_attributes(to, bt_event_class_borrow_user_attributes_const(from));
	return (!name || !bt_event_class_set_name(to, name)) &&
	       (!uri || !bt_event_class_set_emf_uri(to, uri)) &&
	       (!mip->identify_event_class || mip->identify_event_class(to, from)) &&
	       copy_event_field_classes(streams, to, from);
}

bt_event_class *streams_get_event_class(struct streams *streams, const struct stream_copy *stream,
					const bt_event_class *from)
{
	bt_event_class *to = map_get(&streams->copies, from);

	if (to)
		return to;
	to = bt_event_class_create_with_id(bt_stream_borrow_class(stream->to),
					   bt_event_class_get_id(from));
	if (!to)
		return NULL;
	/* The stream class owns the copy. */
	bt_event_class_put_ref(to);
	return copy_event_class(streams, to, from) && map_put(&streams->copies, from, to) ? to :
											    NULL;
}

/* ---- streams ----------------------------------------------------------- */

static bt_stream *create_stream_copy(struct streams *streams, const bt_stream *from,
				     const struct stream_correction *correction)
{
	bt_trace *trace = get_trace_copy(streams, bt_stream_borrow_trace_const(from));
	const char *name = bt_stream_get_name(from);
	bt_stream_class *class = NULL;
	bt_stream *to = NULL;

	if (trace)
		class = get_stream_class_copy(streams, bt_trace_borrow_class(trace),
					      bt_stream_borrow_class_const(from), correction);
	if (class)
		to = bt_stream_create_with_id(class, trace, bt_stream_get_id(from));
	bt_trace_put_ref(trace);
	if (!to)
		return NULL;
	bt_stream_set_user_attributes(to, bt_stream_borrow_user_attributes_const(from));
	if (!name || !bt_stream_set_name(to, name))
		return to;
	bt_stream_put_ref(to);
	return NULL;
}

static void free_stream_copy(struct stream_copy *stream)
{
	bt_packet_put_ref(stream->packet);
	bt_stream_put_ref(stream->to);
	bt_stream_put_ref(stream->from);
	free(stream);
}

struct stream_copy *streams_find(const struct streams *streams, const bt_stream *from)
{
	return map_get(&streams->copies, from);
}

struct stream_copy *streams_add(struct streams *streams, const bt_stream *from,
				const struct stream_correction *correction)
{
	struct stream_copy *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->to = create_stream_copy(streams, from, correction);
	if (!stream->to || !map_put(&streams->copies, from, stream)) {
		free_stream_copy(stream);
		return NULL;
	}
	bt_stream_get_ref(from);
	stream->from = from;
	stream->has_clock = correction->clock;
	stream->correction = *correction;
	stream->next = streams->first;
	streams->first = stream;
	return stream;
}

void streams_release(struct streams *streams)
{
	while (streams->first) {
		struct stream_copy *stream = streams->first;

		streams->first = stream->next;
		free_stream_copy(stream);
	}
	for (size_t i = 0; i < streams->clock_classes.room; i++)
		bt_clock_class_put_ref(streams->clock_classes.entries[i].value);
	map_release(&streams->clock_classes);
	map_release(&streams->copies);
}
