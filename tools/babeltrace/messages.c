// SPDX-License-Identifier: GPL-2.0-only
/* Copy messages with corrected times. */
#include "fields.h"
#include "messages.h"

typedef bt_message_iterator_class_next_method_status status;

#define OK BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
#define FAILED BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR
#define NO_MEMORY BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR

#define FAIL(copier, ...)                                                               \
	(BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR((copier)->iterator, \
								    __VA_ARGS__),       \
	 FAILED)

/* ---- times ------------------------------------------------------------- */

static status fail_too_early(struct copier *copier, const struct stream_copy *stream)
{
	const char *name = bt_stream_get_name(stream->from);

	return FAIL(copier,
		    "Stream %s: a corrected time is before 1970 or does not fit into 64 bits.",
		    name ? name : "without name");
}

/*
 * Compute the corrected time. The corrected time is never before an earlier corrected time of the
 * stream, even though tracers may write packets that overlap slightly.
 */
static status correct_snapshot(struct copier *copier, struct stream_copy *stream,
			       const bt_clock_snapshot *snapshot, int64_t *raw_ns, int64_t *time_ns)
{
	const char *name = bt_stream_get_name(stream->from);
	struct correct_part *part = copier->part;
	int64_t moved;
	bool fits, is_inside;

	if (bt_clock_snapshot_get_ns_from_origin(snapshot, raw_ns)) {
		bt_current_thread_clear_error();
		return fail_too_early(copier, stream);
	}
	fits = !correction_apply(&stream->correction, *raw_ns, time_ns, &moved);
	is_inside = !fits || (*time_ns >= part->begin_ns && *time_ns <= part->end_ns);
	if (is_inside && !correction_is_valid_at(&stream->correction, *raw_ns))
		return FAIL(
			copier,
			"Stream %s has times far outside the times of the result. Use the result of this recording, or add the parameter extrapolate=yes.",
			name ? name : "without name");
	if (!fits)
		return fail_too_early(copier, stream);
	if (*time_ns < stream->last_ns) {
		moved += stream->last_ns - *time_ns;
		*time_ns = stream->last_ns;
	}
	if (!moved || !is_inside)
		return OK;
	part->num_moved++;
	if (moved > part->most_ns)
		part->most_ns = moved;
	return OK;
}

/* Set the corrected time of a message, which determines its order. */
static status set_corrected_time(struct copier *copier, struct timed *copy,
				 const bt_clock_snapshot *snapshot)
{
	status ret = correct_snapshot(copier, copy->stream, snapshot, &copy->raw_ns,
				      &copy->time_ns);

	copy->has_time = true;
	copy->stream->last_ns = copy->time_ns;
	return ret;
}

/* ---- streams and packets ----------------------------------------------- */

static status add_stream_copy(struct copier *copier, struct timed *copy, const bt_stream *from)
{
	struct stream_correction correction = { 0 };

	if (bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(from)) &&
	    corrections_find(copier->corrections, copier->streams.mip, copier->host, from,
			     &correction))
		return FAIL(copier, "%s", corrections_error(copier->corrections));
	copy->stream = streams_add(&copier->streams, from, &correction);
	copy->is_new = true;
	return copy->stream ? OK : NO_MEMORY;
}

static status find_stream_copy(struct copier *copier, struct timed *copy, const bt_stream *from)
{
	status ret = OK;

	copy->stream = streams_find(&copier->streams, from);
	if (!copy->stream)
		ret = add_stream_copy(copier, copy, from);
	if (!ret)
		copy->time_ns = copy->stream->last_ns;
	return ret;
}

struct stream_kind {
	const bt_stream *(*stream)(const bt_message *);
	bt_message *(*create)(bt_self_message_iterator *, const bt_stream *);
	bt_message_stream_clock_snapshot_state (*snapshot)(const bt_message *,
							   const bt_clock_snapshot **);
	void (*set_snapshot)(bt_message *, uint64_t);
};

static const struct stream_kind stream_beginning = {
	bt_message_stream_beginning_borrow_stream_const,
	bt_message_stream_beginning_create,
	bt_message_stream_beginning_borrow_default_clock_snapshot_const,
	bt_message_stream_beginning_set_default_clock_snapshot,
};

static const struct stream_kind stream_end = {
	bt_message_stream_end_borrow_stream_const,
	bt_message_stream_end_create,
	bt_message_stream_end_borrow_default_clock_snapshot_const,
	bt_message_stream_end_set_default_clock_snapshot,
};

static status copy_stream_message(struct copier *copier, const struct stream_kind *kind,
				  const bt_message *from, struct timed *copy)
{
	status ret = find_stream_copy(copier, copy, kind->stream(from));
	const bt_clock_snapshot *snapshot;
	bt_message *to;

	if (ret)
		return ret;
	to = kind->create(copier->iterator, copy->stream->to);
	copy->message = to;
	if (!to)
		return NO_MEMORY;
	if (!copy->stream->has_clock ||
	    kind->snapshot(from, &snapshot) != BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
		return OK;
	ret = set_corrected_time(copier, copy, snapshot);
	if (!ret)
		kind->set_snapshot(to, copy->time_ns);
	return ret;
}

struct packet_kind {
	const bt_packet *(*packet)(const bt_message *);
	bt_bool (*has_snapshot)(const bt_stream_class *);
	const bt_clock_snapshot *(*snapshot)(const bt_message *);
	bt_message *(*create)(bt_self_message_iterator *, const bt_packet *);
	bt_message *(*create_with_snapshot)(bt_self_message_iterator *, const bt_packet *,
					    uint64_t);
};

static const struct packet_kind packet_beginning = {
	bt_message_packet_beginning_borrow_packet_const,
	bt_stream_class_packets_have_beginning_default_clock_snapshot,
	bt_message_packet_beginning_borrow_default_clock_snapshot_const,
	bt_message_packet_beginning_create,
	bt_message_packet_beginning_create_with_default_clock_snapshot,
};

static const struct packet_kind packet_end = {
	bt_message_packet_end_borrow_packet_const,
	bt_stream_class_packets_have_end_default_clock_snapshot,
	bt_message_packet_end_borrow_default_clock_snapshot_const,
	bt_message_packet_end_create,
	bt_message_packet_end_create_with_default_clock_snapshot,
};

static status begin_packet_copy(const struct mip *mip, struct stream_copy *stream,
				const bt_packet *from)
{
	const bt_field *context = bt_packet_borrow_context_field_const(from);

	bt_packet_put_ref(stream->packet);
	stream->packet = bt_packet_create(stream->to);
	return stream->packet && (!context ||
				  field_copy(mip, bt_packet_borrow_context_field(stream->packet),
					     context)) ?
		       OK :
		       NO_MEMORY;
}

static status copy_packet_message(struct copier *copier, const struct packet_kind *kind,
				  const bt_message *from, struct timed *copy)
{
	const bt_packet *packet = kind->packet(from);
	status ret = find_stream_copy(copier, copy, bt_packet_borrow_stream_const(packet));

	if (!ret && kind == &packet_beginning)
		ret = begin_packet_copy(copier->streams.mip, copy->stream, packet);
	if (ret)
		return ret;
	if (kind->has_snapshot(bt_stream_borrow_class_const(copy->stream->from))) {
		ret = set_corrected_time(copier, copy, kind->snapshot(from));
		if (ret)
			return ret;
		copy->message = kind->create_with_snapshot(copier->iterator, copy->stream->packet,
							   copy->time_ns);
	} else {
		copy->message = kind->create(copier->iterator, copy->stream->packet);
	}
	return copy->message ? OK : NO_MEMORY;
}

/* ---- events ------------------------------------------------------------ */

static bt_message *new_event_message(struct copier *copier, const struct timed *copy,
				     const bt_event_class *class, bool in_packet)
{
	const struct stream_copy *stream = copy->stream;

	if (in_packet && stream->has_clock)
		return bt_message_event_create_with_packet_and_default_clock_snapshot(
			copier->iterator, class, stream->packet, copy->time_ns);
	if (in_packet)
		return bt_message_event_create_with_packet(copier->iterator, class, stream->packet);
	if (stream->has_clock)
		return bt_message_event_create_with_default_clock_snapshot(copier->iterator, class,
									   stream->to,
									   copy->time_ns);
	return bt_message_event_create(copier->iterator, class, stream->to);
}

static bool copy_event_fields(const struct mip *mip, bt_event *to, const bt_event *from)
{
	const bt_field *common = bt_event_borrow_common_context_field_const(from);
	const bt_field *specific = bt_event_borrow_specific_context_field_const(from);
	const bt_field *payload = bt_event_borrow_payload_field_const(from);

	return (!common || field_copy(mip, bt_event_borrow_common_context_field(to), common)) &&
	       (!specific ||
		field_copy(mip, bt_event_borrow_specific_context_field(to), specific)) &&
	       (!payload || field_copy(mip, bt_event_borrow_payload_field(to), payload));
}

static status copy_event_message(struct copier *copier, const bt_message *from, struct timed *copy)
{
	const bt_event *event = bt_message_event_borrow_event_const(from);
	status ret = find_stream_copy(copier, copy, bt_event_borrow_stream_const(event));
	const bt_event_class *class;
	bt_message *to;

	if (!ret && copy->stream->has_clock)
		ret = set_corrected_time(
			copier, copy, bt_message_event_borrow_default_clock_snapshot_const(from));
	if (ret)
		return ret;
	class = streams_get_event_class(&copier->streams, copy->stream,
					bt_event_borrow_class_const(event));
	if (!class)
		return NO_MEMORY;
	to = new_event_message(copier, copy, class,
			       bt_stream_class_supports_packets(
				       bt_stream_borrow_class_const(copy->stream->from)));
	copy->message = to;
	return to && copy_event_fields(copier->streams.mip, bt_message_event_borrow_event(to),
				       event) ?
		       OK :
		       NO_MEMORY;
}

/* ---- losses ------------------------------------------------------------ */

struct loss_kind {
	const bt_stream *(*stream)(const bt_message *);
	bt_bool (*have_snapshots)(const bt_stream_class *);
	const bt_clock_snapshot *(*begin)(const bt_message *);
	const bt_clock_snapshot *(*end)(const bt_message *);
	bt_message *(*create)(bt_self_message_iterator *, const bt_stream *);
	bt_message *(*create_with_snapshots)(bt_self_message_iterator *, const bt_stream *,
					     uint64_t, uint64_t);
	bt_property_availability (*count)(const bt_message *, uint64_t *);
	void (*set_count)(bt_message *, uint64_t);
};

static const struct loss_kind discarded_events = {
	bt_message_discarded_events_borrow_stream_const,
	bt_stream_class_discarded_events_have_default_clock_snapshots,
	bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const,
	bt_message_discarded_events_borrow_end_default_clock_snapshot_const,
	bt_message_discarded_events_create,
	bt_message_discarded_events_create_with_default_clock_snapshots,
	bt_message_discarded_events_get_count,
	bt_message_discarded_events_set_count,
};

static const struct loss_kind discarded_packets = {
	bt_message_discarded_packets_borrow_stream_const,
	bt_stream_class_discarded_packets_have_default_clock_snapshots,
	bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const,
	bt_message_discarded_packets_borrow_end_default_clock_snapshot_const,
	bt_message_discarded_packets_create,
	bt_message_discarded_packets_create_with_default_clock_snapshots,
	bt_message_discarded_packets_get_count,
	bt_message_discarded_packets_set_count,
};

static status copy_loss_message(struct copier *copier, const struct loss_kind *kind,
				const bt_message *from, struct timed *copy)
{
	const bt_stream *stream = kind->stream(from);
	status ret = find_stream_copy(copier, copy, stream);
	int64_t raw, end;
	bt_message *to;
	uint64_t count;

	if (ret)
		return ret;
	if (kind->have_snapshots(bt_stream_borrow_class_const(stream))) {
		ret = set_corrected_time(copier, copy, kind->begin(from));
		if (!ret)
			ret = correct_snapshot(copier, copy->stream, kind->end(from), &raw, &end);
		if (ret)
			return ret;
		to = kind->create_with_snapshots(copier->iterator, copy->stream->to, copy->time_ns,
						 end);
	} else {
		to = kind->create(copier->iterator, copy->stream->to);
	}
	copy->message = to;
	if (!to)
		return NO_MEMORY;
	if (kind->count(from, &count) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
		kind->set_count(to, count);
	return OK;
}

/* ---- any message -------------------------------------------------------- */

static status copy_inactivity(struct copier *copier, const bt_message *from, struct timed *copy)
{
	if (bt_clock_snapshot_get_ns_from_origin(
		    bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(from),
		    &copy->raw_ns)) {
		bt_current_thread_clear_error();
		return FAIL(copier, "The time of an inactive stream does not fit into 64 bits.");
	}
	copy->has_time = true;
	return OK;
}

status message_copy(struct copier *copier, const bt_message *from, struct timed *copy)
{
	*copy = (struct timed){ 0 };
	switch (bt_message_get_type(from)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return copy_stream_message(copier, &stream_beginning, from, copy);
	case BT_MESSAGE_TYPE_STREAM_END:
		return copy_stream_message(copier, &stream_end, from, copy);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return copy_packet_message(copier, &packet_beginning, from, copy);
	case BT_MESSAGE_TYPE_PACKET_END:
		return copy_packet_message(copier, &packet_end, from, copy);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return copy_loss_message(copier, &discarded_events, from, copy);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return copy_loss_message(copier, &discarded_packets, from, copy);
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		return copy_inactivity(copier, from, copy);
	default:
		return copy_event_message(copier, from, copy);
	}
}
