// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the events and losses of a CTF stream one by one. */
#include <errno.h>
#include <stdlib.h>

#include "io/ctf/event-stream.h"
#include "util/array.h"

/* ---- beginning ------------------------------------------------------------ */

/* Find, or add, the classes of the stream. Return false if out of memory. */
static bool find_stream_classes(struct event_stream *stream, const bt_stream_class *class)
{
	struct event_trace *trace = stream->trace;
	struct event_classes *last;

	for (size_t i = 0; i < trace->num_classes; i++)
		if (trace->classes[i].stream == class) {
			stream->classes = i;
			return true;
		}
	last = array_add(&trace->classes, trace->num_classes, sizeof(*last));
	if (!last)
		return false;
	last->stream = class;
	stream->classes = trace->num_classes++;
	return true;
}

static int begin_event_stream(struct event_stream *stream, const bt_message *message)
{
	const bt_stream *bt = bt_message_stream_beginning_borrow_stream_const(message);
	const bt_stream_class *class = bt_stream_borrow_class_const(bt);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);

	stream->begun = true;
	if (!find_stream_classes(stream, class))
		return -ENOMEM;
	if (stream->trace->direct && clock && ctf_clock_set(&stream->clock, clock))
		stream->reader = direct_take_reader(stream->trace->direct, bt);
	return 0;
}

/* ---- events that are read directly ------------------------------------------- */

static void set_direct_event_time(struct event_stream *stream)
{
	stream->has_time = ctf_clock_time(&stream->clock, stream->direct_event.clock,
					  &stream->time_ns) &&
			   !__builtin_add_overflow(stream->time_ns, stream->trace->shift_ns,
						   &stream->time_ns);
}

/*
 * Read the next event directly. Return the same values as event_stream_find_next(), or -EILSEQ if
 * libbabeltrace2 must continue.
 */
static int read_next_event_directly(struct event_stream *stream)
{
	const int ret = direct_reader_read_event(stream->reader, &stream->direct_event);

	if (ret == -EILSEQ) {
		stream->already_read = *direct_reader_get_counts(stream->reader);
		direct_reader_free(stream->reader);
		stream->reader = NULL;
		return ret;
	}
	stream->message = NULL;
	stream->is_loss = ret == DIRECT_LOST;
	if (ret == DIRECT_EVENT) {
		set_direct_event_time(stream);
	} else {
		stream->has_time = false;
		stream->lost = stream->direct_event.lost ? stream->direct_event.lost :
							   NETSYNC_IO_LOST_SOME;
	}
	return ret != DIRECT_END;
}

/* ---- messages ------------------------------------------------------------- */

static void set_message_time(struct event_stream *stream)
{
	const bt_message *message = stream->message;
	const bt_event *event = bt_message_event_borrow_event_const(message);

	stream->has_time = false;
	if (!bt_stream_class_borrow_default_clock_class_const(
		    bt_stream_borrow_class_const(bt_event_borrow_stream_const(event))))
		return;
	if (bt_clock_snapshot_get_ns_from_origin(
		    bt_message_event_borrow_default_clock_snapshot_const(message),
		    &stream->time_ns)) {
		bt_current_thread_clear_error();
		return;
	}
	stream->has_time = !__builtin_add_overflow(stream->time_ns, stream->trace->shift_ns,
						   &stream->time_ns);
}

static void set_message_loss(struct event_stream *stream)
{
	uint64_t count;

	stream->has_time = false;
	stream->lost = bt_message_discarded_events_get_count(stream->message, &count) ==
					       BT_PROPERTY_AVAILABILITY_AVAILABLE &&
				       count ?
			       count :
			       NETSYNC_IO_LOST_SOME;
}

/*
 * Return whether a message was already read directly. If so, decrement the number of these
 * messages.
 */
static bool was_event_read_directly(struct event_stream *stream, bt_message_type type)
{
	return direct_counts_skip(&stream->already_read, type == BT_MESSAGE_TYPE_PACKET_BEGINNING,
				  type == BT_MESSAGE_TYPE_EVENT);
}

/* Use the next message. Return 1 if it is an event or a loss, 0 if it is not used, or -ENOMEM. */
static int use_event_message(struct event_stream *stream)
{
	const bt_message *message = stream->messages[stream->at];
	const bt_message_type type = bt_message_get_type(message);

	if (type == BT_MESSAGE_TYPE_STREAM_BEGINNING && !stream->begun) {
		const int ret = begin_event_stream(stream, message);

		/*
		 * If the stream can be read directly, this begins immediately, and messages remain
		 * queued.
		 */
		if (ret || stream->reader)
			return ret;
	}
	stream->message = message;
	stream->is_loss = type == BT_MESSAGE_TYPE_DISCARDED_EVENTS;
	if (!was_event_read_directly(stream, type) &&
	    (stream->is_loss || type == BT_MESSAGE_TYPE_EVENT)) {
		if (stream->is_loss)
			set_message_loss(stream);
		else
			set_message_time(stream);
		return 1;
	}
	stream->message = NULL;
	bt_message_put_ref(message);
	stream->at++;
	return 0;
}

static int receive_event_messages(struct event_stream *stream)
{
	const bt_message_iterator_next_status status = bt_message_iterator_next(stream->iterator,
										&stream->messages,
										&stream->num);

	stream->at = 0;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return 1;
	stream->num = 0;
	return status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END ? 0 : -EILSEQ;
}

/* ---- events from either reader --------------------------------------------- */

static int find_next_event(struct event_stream *stream)
{
	int ret = 0;

	if (stream->message) {
		bt_message_put_ref(stream->message);
		stream->message = NULL;
		stream->at++;
	}
	for (;;) {
		if (stream->reader) {
			ret = read_next_event_directly(stream);
			if (ret != -EILSEQ)
				return ret;
		}
		ret = stream->at < stream->num ? use_event_message(stream) :
						 receive_event_messages(stream);
		if (ret < 0)
			return ret;
		if (stream->message)
			return 1;
		if (!ret && !stream->num)
			return 0;
	}
}

int event_stream_find_next(struct event_stream *stream)
{
	const int ret = find_next_event(stream);

	if (ret > 0 && stream->has_time && stream->time_ns > stream->key_ns)
		stream->key_ns = stream->time_ns;
	return ret;
}

/* ---- reporting ------------------------------------------------------------ */

/* Get the field cpu_id from the packet's context. */
static uint32_t get_message_cpu(const bt_event *event)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(
		bt_event_borrow_stream_const(event));
	const bt_field *context = NULL, *field = NULL;
	bt_field_class_type type;
	int64_t cpu = -1;

	if (bt_stream_class_supports_packets(class))
		context = bt_packet_borrow_context_field_const(bt_event_borrow_packet_const(event));
	if (context)
		field = bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id");
	if (!field)
		return NETSYNC_IO_NO_CPU;
	type = bt_field_get_class_type(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		cpu = (int64_t)bt_field_integer_unsigned_get_value(field);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		cpu = bt_field_integer_signed_get_value(field);
	return cpu >= 0 && cpu < NETSYNC_IO_NO_CPU ? cpu : NETSYNC_IO_NO_CPU;
}

static int report_stream_loss(const struct event_stream *stream,
			      const struct event_reading *reading)
{
	const struct netsync_io_event event = {
		.size = sizeof(event),
		.cpu = stream->cpu,
		.time_ns = stream->key_ns,
		.lost = stream->lost,
		.system = "",
		.name = "",
	};

	return reading->each(reading->data, &event) ? 1 : 0;
}

static int report_stream_event(struct event_stream *stream, struct value_copies *copies,
			       const struct event_reading *reading)
{
	struct event_classes *classes = &stream->trace->classes[stream->classes];
	const bt_event *bt = stream->message ?
				     bt_message_event_borrow_event_const(stream->message) :
				     NULL;
	const struct ctf_event_class *class =
		bt ? event_classes_find(classes, bt_event_borrow_class_const(bt)) :
		     event_classes_find_by_id(classes, stream->direct_event.type->id);
	const struct ctf_raw raw = {
		{ ctf_get_value }, class, bt, &stream->direct_event, copies,
	};
	struct netsync_io_event event = {
		.size = sizeof(event),
		.time_ns = stream->time_ns,
		.system = "",
		.reserved = &raw,
	};
	int ret;

	if (!class)
		return -ENOMEM;
	if (bt)
		stream->cpu = get_message_cpu(bt);
	else
		stream->cpu = stream->direct_event.cpu < NETSYNC_IO_NO_CPU ?
				      stream->direct_event.cpu :
				      NETSYNC_IO_NO_CPU;
	event.cpu = stream->cpu;
	event.name = class->name;
	event.fields = class->names;
	event.num_fields = class->num;
	event.num_context = class->num_context;
	ret = reading->each(reading->data, &event);
	if (copies->num)
		value_copies_free(copies);
	return ret ? 1 : 0;
}

int event_stream_report(struct event_stream *stream, struct value_copies *copies,
			const struct event_reading *reading)
{
	if (stream->is_loss)
		return report_stream_loss(stream, reading);
	return stream->has_time ? report_stream_event(stream, copies, reading) : 0;
}

void event_stream_release(struct event_stream *stream)
{
	direct_reader_free(stream->reader);
	stream->reader = NULL;
	while (stream->at < stream->num)
		bt_message_put_ref(stream->messages[stream->at++]);
	bt_message_iterator_put_ref(stream->iterator);
	stream->iterator = NULL;
}
