// SPDX-License-Identifier: GPL-2.0-only
/* The events of the CTF traces of a host, as libbabeltrace2 reads them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <babeltrace2/babeltrace.h>

#include "babeltrace/fields.h"
#include "reading.h"

struct reader {
	struct reading r;
	uint32_t *cpus; /* of streams, where these were last */
	uint32_t num_cpus;
};

/* ---- values ------------------------------------------------------------- */

static bool is_a(const bt_field *field, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_get_class_type(field), type);
}

static double real_value(const bt_field *field)
{
	return bt_field_get_class_type(field) ==
			       BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL
		       ? bt_field_real_single_precision_get_value(field)
		       : bt_field_real_double_precision_get_value(field);
}

/* The first of its labels; NULL: it has none. */
static const char *label_of(const bt_field *field)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t num = 0;

	if (is_a(field, BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION))
		bt_field_enumeration_unsigned_get_mapping_labels(field, &labels,
								 &num);
	else if (is_a(field, BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION))
		bt_field_enumeration_signed_get_mapping_labels(field, &labels,
							       &num);
	return num ? labels[0] : NULL;
}

static bool set_integer(const bt_field *field, int64_t *value)
{
	if (field && is_a(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*value = (int64_t)bt_field_integer_unsigned_get_value(field);
	else if (field && is_a(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*value = bt_field_integer_signed_get_value(field);
	else
		return false;
	return true;
}

/* False: it has parts, or no format has such a number. */
static bool set_value(struct arg *arg, const bt_field *field)
{
	arg->text = label_of(field);
	if (arg->text) {
		arg->kind = ARG_LABEL;
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		arg->kind = ARG_UNSIGNED;
		arg->number = bt_field_integer_unsigned_get_value(field);
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		arg->kind = ARG_SIGNED;
		arg->integer = bt_field_integer_signed_get_value(field);
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_STRING)) {
		arg->kind = ARG_TEXT;
		arg->text = field_string(field);
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_BOOL)) {
		arg->kind = ARG_BOOL;
		arg->truth = bt_field_bool_get_value(field);
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_REAL)) {
		arg->kind = ARG_REAL;
		arg->real = real_value(field);
		return isfinite(arg->real);
	} else {
		return false;
	}
	return true;
}

/* ---- fields of events --------------------------------------------------- */

static const bt_field *payload_of(const struct event *event)
{
	return bt_event_borrow_payload_field_const(event->source);
}

/* NULL: there is none. */
static const bt_field *member(const bt_field *structure, const char *name)
{
	return structure ? bt_field_structure_borrow_member_field_by_name_const(
				   structure, name)
			 : NULL;
}

static bool get_integer(const struct event *event, const char *name,
			int64_t *value)
{
	return set_integer(member(payload_of(event), name), value);
}

static const char *text_of(const bt_field *field)
{
	return field && is_a(field, BT_FIELD_CLASS_TYPE_STRING)
		       ? field_string(field)
		       : NULL;
}

static const char *get_text(const struct event *event, const char *name)
{
	return text_of(member(payload_of(event), name));
}

static bool get_value(const struct event *event, const char *name,
		      struct arg *value)
{
	const bt_field *field = member(payload_of(event), name);

	value->name = name;
	return field && set_value(value, field);
}

static size_t get_bytes(const struct event *event, const char *name,
			uint8_t *bytes, size_t room)
{
	const bt_field *field = member(payload_of(event), name);
	uint64_t num = field && is_a(field, BT_FIELD_CLASS_TYPE_ARRAY)
			       ? bt_field_array_get_length(field)
			       : 0;

	for (uint64_t i = 0; i < num && i < room; i++) {
		int64_t value;

		if (!set_integer(
			    bt_field_array_borrow_element_field_by_index_const(
				    field, i),
			    &value) ||
		    value < INT8_MIN || value > UINT8_MAX)
			return 0;
		bytes[i] = value;
	}
	return num;
}

static bool get_all(const struct event *event, struct args *args)
{
	const bt_field *payload = payload_of(event);
	const bt_field_class *class = payload ? bt_field_borrow_class_const(
							payload)
					      : NULL;
	const uint64_t num = class ? bt_field_class_structure_get_member_count(
					     class)
				   : 0;

	for (uint64_t i = 0; i < num; i++) {
		struct arg arg = {
			.name = bt_field_class_structure_member_get_name(
				bt_field_class_structure_borrow_member_by_index_const(
					class, i)),
		};

		if (set_value(
			    &arg,
			    bt_field_structure_borrow_member_field_by_index_const(
				    payload, i)) &&
		    !args_add(args, arg))
			return false;
	}
	return true;
}

/* Of the kernel's or of a program's events. */
static bool context_task(const bt_field *context, struct event_task *task)
{
	int64_t tid;

	if ((!set_integer(member(context, "tid"), &tid) || tid < 0 ||
	     tid > EVENT_MAX_TID) &&
	    (!set_integer(member(context, "vtid"), &tid) || tid < 0 ||
	     tid > EVENT_MAX_TID))
		return false;
	*task = (struct event_task){ tid,
				     text_of(member(context, "procname")) };
	return true;
}

static bool get_task(const struct event *event, struct event_task *task)
{
	return context_task(bt_event_borrow_specific_context_field_const(
				    event->source),
			    task) ||
	       context_task(bt_event_borrow_common_context_field_const(
				    event->source),
			    task);
}

static const struct event_fields ctf_fields = {
	get_integer, get_text, get_value, get_bytes, get_all, get_task,
};

/* ---- events ------------------------------------------------------------- */

static uint32_t cpu_of(const bt_event *event)
{
	const bt_stream *stream = bt_event_borrow_stream_const(event);
	const bt_field *context = NULL;
	int64_t cpu;

	if (bt_stream_class_supports_packets(
		    bt_stream_borrow_class_const(stream)))
		context = bt_packet_borrow_context_field_const(
			bt_event_borrow_packet_const(event));
	return set_integer(member(context, "cpu_id"), &cpu) && cpu >= 0 &&
			       cpu < EVENT_MAX_CPUS
		       ? cpu
		       : EVENT_NO_CPU;
}

/* False: there is not enough memory. */
static bool set_cpu(struct reader *reader, uint32_t stream, uint32_t cpu)
{
	uint32_t *more;

	if (stream >= reader->num_cpus) {
		more = realloc(reader->cpus, (stream + 1) * sizeof(*more));
		if (!more)
			return false;
		reader->cpus = more;
		while (reader->num_cpus <= stream)
			more[reader->num_cpus++] = EVENT_NO_CPU;
	}
	reader->cpus[stream] = cpu;
	return true;
}

static bool take_lost(const struct reader *reader,
		      const struct ctf_message *message)
{
	struct event_loss loss = {
		.time_ns = reader->r.now_ns,
		.cpu = message->stream < reader->num_cpus
			       ? reader->cpus[message->stream]
			       : EVENT_NO_CPU,
	};

	loss.has_number = bt_message_discarded_events_get_count(
				  message->message, &loss.number) ==
			  BT_PROPERTY_AVAILABILITY_AVAILABLE;
	return reader->r.listener->lost(reader->r.listener->data, &loss);
}

static bool take_event(struct reader *reader, const struct ctf_message *message)
{
	const bt_event *source = bt_message_event_borrow_event_const(
		message->message);
	const bt_event_class *class = bt_event_borrow_class_const(source);
	const struct event event = {
		.type = reading_type(&reader->r, class,
				     bt_event_class_get_name(class)),
		.time_ns = reader->r.now_ns,
		.host_ns = message->time_ns + reader->r.host->shift_ns,
		.cpu = cpu_of(source),
		.fields = &ctf_fields,
		.source = source,
	};

	return event.type && set_cpu(reader, message->stream, event.cpu) &&
	       reader->r.listener->event(reader->r.listener->data, &event);
}

static enum ctf_next take_message(void *data, const struct ctf_message *message)
{
	struct reader *reader = data;

	if (bt_message_get_type(message->message) != BT_MESSAGE_TYPE_EVENT)
		return take_lost(reader, message) ? CTF_GO_ON : CTF_FAILED;
	if (!message->has_time)
		return CTF_GO_ON;
	switch (reading_go_on(&reader->r, message->time_ns)) {
	case READING_ENOUGH:
		return CTF_ENOUGH;
	case READING_PASS:
		return CTF_GO_ON;
	case READING_TAKE:
		break;
	}
	return take_event(reader, message) ? CTF_GO_ON : CTF_FAILED;
}

bool ctf_events(const struct group *group, const struct timebase *base,
		const struct event_listener *listener, struct group_state *state,
		int64_t *until_ns)
{
	struct reader reader = {
		.r = reading_of(group, base, listener, state),
	};
	const bool ok = read_ctf(group->inputs, group->num, take_message,
				 &reader);

	*until_ns = reading_until(&reader.r);
	return ok;
}
