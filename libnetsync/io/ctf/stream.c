// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decode the messages of a recorded or live stream to packet events. Find the host and the clock of
 * the stream.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/ctf/stream.h"
#include "io/ctf/uuid.h"
#include "io/packet/event.h"
#include "util/array.h"
#include "util/since-1970.h"

/* ---- event classes ----------------------------------------------------- */

/*
 * Return whether "perf data convert --to-ctf" has written a netsync event. This program puts the
 * events' system before their name, and writes addresses as texts, which end at the first zero
 * byte.
 */
static bool is_event_cut_by_perf(const char *name)
{
	static const char prefix[] = "netsync:";

	return name && !strncmp(name, prefix, sizeof(prefix) - 1) &&
	       event_find_kind(name + sizeof(prefix) - 1);
}

/*
 * If events of the netsync modules cannot be used, print a warning with the reason. In this case,
 * no other warning is needed.
 */
static void warn_of_unusable_events(struct ctf_stream *stream, const char *format, const char *name)
{
	stream->all->is.has_unusable = true;
	io_warn(stream->all->io, format, stream->all->path, name);
}

static int add_decoder(struct ctf_stream *stream, const bt_event_class *class)
{
	const char *name = bt_event_class_get_name(class);
	struct ctf_decoder *decoder, **last;
	int ret;

	if (!event_find_kind(name)) {
		if (is_event_cut_by_perf(name))
			warn_of_unusable_events(
				stream,
				"%s: \"perf data convert\" truncates packet addresses, so the events %s are not used; specify the original perf.data file instead.",
				name);
		return 0;
	}
	ret = ctf_decoder_new(class, &decoder);
	if (ret < 0)
		return ret;
	if (!decoder) {
		warn_of_unusable_events(
			stream,
			"%s: the events %s lack the TCP header fields and are not used; record with lttng-modules 2.9 or later.",
			name);
		return 0;
	}
	last = array_add(&stream->decoders, stream->num_decoders, sizeof(*last));
	if (!last) {
		free(decoder);
		return -ENOMEM;
	}
	*last = decoder;
	stream->num_decoders++;
	stream->all->is.has_netns |= ctf_decoder_has_netns(decoder);
	return 0;
}

/* Add decoders for new event classes. In live streams, new classes can appear at any time. */
static int add_decoders(struct ctf_stream *stream, const bt_stream_class *class)
{
	uint64_t num = bt_stream_class_get_event_class_count(class);
	int ret = 0;

	while (stream->num_classes < num && !ret)
		ret = add_decoder(stream, bt_stream_class_borrow_event_class_by_index_const(
						  class, stream->num_classes++));
	return ret;
}

static void drop_decoders(struct ctf_stream *stream)
{
	for (size_t i = 0; i < stream->num_decoders; i++)
		free(stream->decoders[i]);
	free(stream->decoders);
	stream->decoders = NULL;
	stream->num_decoders = 0;
}

/* ---- uuids ------------------------------------------------------------- */

static bool copy_bt_uuid(uint8_t to[UUID_SIZE], bt_uuid uuid)
{
	if (uuid)
		memcpy(to, uuid, UUID_SIZE);
	return uuid;
}

#if MAX_MIP
/* Get the clock's UUID. In CTF 2, an identifier may be any text, but tracers write UUIDs. */
static bool get_bt_clock_uuid(uint8_t to[UUID_SIZE], const bt_clock_class *clock)
{
	return bt_clock_class_get_graph_mip_version(clock) ?
		       ctf_parse_uuid(to, bt_clock_class_get_uid(clock)) :
		       copy_bt_uuid(to, bt_clock_class_get_uuid(clock));
}

static bool get_bt_trace_uuid(uint8_t to[UUID_SIZE], const bt_trace *trace)
{
	return bt_trace_class_get_graph_mip_version(bt_trace_borrow_class_const(trace)) ?
		       ctf_parse_uuid(to, bt_trace_get_uid(trace)) :
		       copy_bt_uuid(to, bt_trace_get_uuid(trace));
}
#else
static bool get_bt_clock_uuid(uint8_t to[UUID_SIZE], const bt_clock_class *clock)
{
	return copy_bt_uuid(to, bt_clock_class_get_uuid(clock));
}

static bool get_bt_trace_uuid(uint8_t to[UUID_SIZE], const bt_trace *trace)
{
	return copy_bt_uuid(to, bt_trace_get_uuid(trace));
}
#endif

/* ---- host and clock ---------------------------------------------------- */

static void set_host_name(struct ctf_streams *all, const bt_trace *bt)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(bt,
										      "hostname");
	const char *name = NULL;

	if (value && bt_value_is_string(value))
		name = bt_value_string_get(value);
	if (!name || !*name)
		name = strrchr(all->real_path, '/') + 1;
	snprintf(all->is.host_name, sizeof(all->is.host_name), "%s", *name ? name : "host");
}

static void set_identity_clock(struct ctf_identity *is, const struct ctf_stream *stream,
			       const bt_clock_class *clock)
{
	const char *name = bt_clock_class_get_name(clock);

	is->epoch_ns = stream->clock.epoch_ns;
	is->has_clock_uuid = get_bt_clock_uuid(is->clock_uuid, clock);
	is->is_corrected = name && !strcmp(name, NETSYNC_IO_CORRECTED_CLOCK);
	is->is_tai = name && (!strcasecmp(name, "tai") || !strcasecmp(name, "clock_tai"));
}

/*
 * Use the host and clock of the first stream that has network events. If there is none, use those
 * of the first stream.
 */
static int identify_stream(struct ctf_stream *stream, const bt_stream *bt,
			   const bt_clock_class *clock)
{
	struct ctf_streams *all = stream->all;
	const bt_trace *trace = bt_stream_borrow_trace_const(bt);
	bool better = stream->num_decoders && !all->is.has_network;
	const bool fits = ctf_clock_set(&stream->clock, clock);

	if (all->clock && !better) {
		if (stream->num_decoders && clock != all->clock) {
			io_warn(all->io,
				"%s: stream %s has a different clock from the other streams and was not used.",
				all->path, stream->name);
			drop_decoders(stream);
			stream->usable = false;
		}
		return 0;
	}
	if (!fits)
		return -ERANGE;
	all->clock = clock;
	all->is.has_clock = true;
	all->is.has_network = stream->num_decoders;
	all->is.has_uuid = get_bt_trace_uuid(all->is.uuid, trace);
	set_host_name(all, trace);
	set_identity_clock(&all->is, stream, clock);
	return 0;
}

static int set_stream_name(struct ctf_stream *stream, const bt_stream *bt)
{
	const char *name = bt_stream_get_name(bt), *slash;

	if (!name)
		return 0;
	slash = strrchr(name, '/');
	free(stream->name);
	stream->name = strdup(slash ? slash + 1 : name);
	return stream->name ? 0 : -ENOMEM;
}

int ctf_stream_begin(struct ctf_stream *stream, const bt_message *message)
{
	const bt_stream *bt = bt_message_stream_beginning_borrow_stream_const(message);
	const bt_stream_class *class = bt_stream_borrow_class_const(bt);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	int ret = set_stream_name(stream, bt);

	if (!ret)
		ret = add_decoders(stream, class);
	if (ret < 0)
		return ret;
	stream->usable = clock;
	if (clock)
		return identify_stream(stream, bt, clock);
	if (stream->num_decoders)
		io_warn(stream->all->io,
			"%s: stream %s has no clock, so its events have no times; it was not used.",
			stream->all->path, stream->name);
	drop_decoders(stream);
	return 0;
}

/* ---- messages ---------------------------------------------------------- */

/*
 * Set an event's time. Return false if the event cannot be used, for example if it is a clock event
 * in a corrected trace.
 */
static bool set_seen_time(struct event_seen *seen, const struct ctf_identity *is, int64_t time)
{
	int64_t shown;

	if (seen->is_clock && is->is_corrected)
		return false;
	return !__builtin_sub_overflow(time, is->epoch_ns, &shown) &&
	       event_set_time(seen, time, shown);
}

static void note_stream_time(struct ctf_stream *stream, int64_t time)
{
	if (!stream->any || time > stream->last_ns)
		stream->last_ns = time;
	stream->any = true;
	if (range_contains(&stream->all->window, time))
		range_extend(&stream->span, time, time);
}

static int decode_stream_event(struct ctf_stream *stream, const struct ctf_decoder *decoder,
			       const struct ctf_field *payload, int64_t time,
			       struct event_seen *seen)
{
	return decoder && range_contains(&stream->all->window, time) &&
	       ctf_decode_event(decoder, payload, seen) &&
	       set_seen_time(seen, &stream->all->is, time);
}

static int use_bt_event(struct ctf_stream *stream, const bt_message *message,
			struct event_seen *seen)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_event_class *class = bt_event_borrow_class_const(event);
	const struct ctf_field payload = {
		.bt = bt_event_borrow_payload_field_const(event),
	};
	struct ctf_decoder *decoder = NULL;
	int64_t time;
	int ret;

	if (!stream->usable)
		return 0;
	ret = add_decoders(stream, bt_event_class_borrow_stream_class_const(class));
	if (ret < 0)
		return ret;
	if (bt_clock_snapshot_get_ns_from_origin(
		    bt_message_event_borrow_default_clock_snapshot_const(message), &time)) {
		bt_current_thread_clear_error();
		stream->all->counts.out_of_range++;
		return 0;
	}
	note_stream_time(stream, time);
	for (size_t i = 0; i < stream->num_decoders && !decoder; i++)
		if (ctf_decoder_get_class(stream->decoders[i]) == class)
			decoder = stream->decoders[i];
	return decode_stream_event(stream, decoder, &payload, time, seen);
}

int ctf_stream_use_event(struct ctf_stream *stream, const struct ctf_decoder *decoder,
			 const struct ctf_field *payload, uint64_t cycles, struct event_seen *seen)
{
	int64_t time;

	if (!ctf_clock_time(&stream->clock, cycles, &time)) {
		stream->all->counts.out_of_range++;
		return 0;
	}
	note_stream_time(stream, time);
	return decode_stream_event(stream, decoder, payload, time, seen);
}

/* Return whether a time is before the requested range. */
static bool is_snapshot_before_window(const struct ctf_stream *stream,
				      const bt_clock_snapshot *clock)
{
	int64_t time;

	if (!bt_clock_snapshot_get_ns_from_origin(clock, &time))
		return time < stream->all->window.lo;
	bt_current_thread_clear_error();
	return false;
}

/* Return whether the loss occurred before the requested range. */
static bool was_lost_before_window(const struct ctf_stream *stream, const bt_message *message)
{
	const bool is_events = bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_EVENTS;
	const bt_stream_class *class = bt_stream_borrow_class_const(
		is_events ? bt_message_discarded_events_borrow_stream_const(message) :
			    bt_message_discarded_packets_borrow_stream_const(message));

	if (stream->all->window.lo == INT64_MIN)
		return false;
	if (is_events)
		return bt_stream_class_discarded_events_have_default_clock_snapshots(class) &&
		       is_snapshot_before_window(
			       stream,
			       bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
				       message));
	return bt_stream_class_discarded_packets_have_default_clock_snapshots(class) &&
	       is_snapshot_before_window(
		       stream, bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
				       message));
}

static void count_loss_message(struct ctf_stream *stream, const bt_message *message)
{
	struct ctf_counts *counts = &stream->all->counts;
	uint64_t count;

	if (was_lost_before_window(stream, message))
		return;
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
		if (bt_message_discarded_events_get_count(message, &count) !=
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			count = 1;
		counts->lost_events += count;
	} else {
		if (bt_message_discarded_packets_get_count(message, &count) !=
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			count = 1;
		counts->lost_packets += count;
	}
}

int ctf_stream_use(struct ctf_stream *stream, const bt_message *message, struct event_seen *seen)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		return use_bt_event(stream, message, seen);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		count_loss_message(stream, message);
		return 0;
	default:
		return 0;
	}
}

int ctf_set_identity(struct trace *trace, const struct ctf_identity *is)
{
	trace->epoch_ns = is->epoch_ns;
	trace->has_wall = is_since_1970(trace->range.lo) && !is->is_tai;
	trace->has_clock_uuid = is->has_clock_uuid;
	memcpy(trace->clock_uuid, is->clock_uuid, UUID_SIZE);
	trace->has_uuid = is->has_uuid;
	memcpy(trace->uuid, is->uuid, UUID_SIZE);
	trace->has_network = is->has_network;
	trace->has_netns = is->has_netns;
	trace->has_unusable = is->has_unusable;
	trace->host_name = strndup(is->host_name, sizeof(is->host_name) - 1);
	if (is->is_corrected)
		trace->clock_name = strdup(NETSYNC_IO_CORRECTED_CLOCK);
	return trace->host_name && (trace->clock_name || !is->is_corrected) ?
		       0 :
		       io_fail_no_memory(trace->io);
}

void ctf_stream_release(struct ctf_stream *stream)
{
	drop_decoders(stream);
	free(stream->name);
}
