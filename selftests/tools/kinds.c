// SPDX-License-Identifier: GPL-2.0-only
/*
 * A Babeltrace 2 plug-in with source.kinds.all: one stream with every kind of message and
 * field, and with all their properties in the newest version of the Message Interchange
 * Protocol (MIP). Tests use it to check that copies are equal.
 */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUM_MESSAGES 11

BT_PLUGIN_MODULE();
BT_PLUGIN(kinds);

struct kinds {
	bt_stream *stream;
	bt_event_class *event_class;
};

struct iterator {
	uint64_t next;
	bt_packet *packet;
};

static bt_value *make_attributes(const char *name)
{
	bt_value *outer = bt_value_map_create(), *inner;

	bt_value_map_insert_empty_map_entry(outer, "kinds", &inner);
	bt_value_map_insert_string_entry(inner, "name", name);
	return outer;
}

#define SET_ATTRIBUTES(set, object, name)              \
	do {                                           \
		bt_value *map = make_attributes(name); \
		set(object, map);                      \
		bt_value_put_ref(map);                 \
	} while (0)

/* ---- links ---------------------------------------------------------------- */

/* A reference to the field on which another field depends: its class, or its place. */
struct link {
#if MAX_MIP
	bt_field_location *location;
#else
	bt_field_class *class;
#endif
};

/*
 * Refer to a member by its name: a member of the structure of a scope, or of a structure
 * within that structure.
 */
static struct link make_link_to(bt_trace_class *in, bt_field_path_scope scope, const char *outer,
				bt_field_class *structure, const char *name)
{
#if MAX_MIP
	const char *names[] = { outer, name };

	(void)structure;
	return (struct link){ bt_field_location_create(in, (bt_field_location_scope)scope,
						       names + !outer, 1 + !!outer) };
#else
	(void)in;
	(void)scope;
	(void)outer;
	return (struct link){ bt_field_class_structure_member_borrow_field_class(
		bt_field_class_structure_borrow_member_by_name(structure, name)) };
#endif
}

static void put_link(struct link link)
{
#if MAX_MIP
	bt_field_location_put_ref(link.location);
#else
	(void)link;
#endif
}

static bt_field_class *make_sequence(bt_trace_class *in, bt_field_class *element,
				     const struct link *length)
{
#if MAX_MIP
	return length ? bt_field_class_array_dynamic_with_length_field_location_create(
				in, element, length->location) :
			bt_field_class_array_dynamic_without_length_field_location_create(in,
											  element);
#else
	return bt_field_class_array_dynamic_create(in, element, length ? length->class : NULL);
#endif
}

static bt_field_class *make_option(bt_trace_class *in, bt_field_class *content)
{
#if MAX_MIP
	return bt_field_class_option_without_selector_field_location_create(in, content);
#else
	return bt_field_class_option_without_selector_create(in, content);
#endif
}

static bt_field_class *make_option_by_bool(bt_trace_class *in, bt_field_class *content,
					   struct link selector)
{
#if MAX_MIP
	return bt_field_class_option_with_selector_field_location_bool_create(in, content,
									      selector.location);
#else
	return bt_field_class_option_with_selector_field_bool_create(in, content, selector.class);
#endif
}

static bt_field_class *make_option_by_unsigned(bt_trace_class *in, bt_field_class *content,
					       struct link selector,
					       const bt_integer_range_set_unsigned *ranges)
{
#if MAX_MIP
	return bt_field_class_option_with_selector_field_location_integer_unsigned_create(
		in, content, selector.location, ranges);
#else
	return bt_field_class_option_with_selector_field_integer_unsigned_create(in, content,
										 selector.class,
										 ranges);
#endif
}

static bt_field_class *make_option_by_signed(bt_trace_class *in, bt_field_class *content,
					     struct link selector,
					     const bt_integer_range_set_signed *ranges)
{
#if MAX_MIP
	return bt_field_class_option_with_selector_field_location_integer_signed_create(
		in, content, selector.location, ranges);
#else
	return bt_field_class_option_with_selector_field_integer_signed_create(in, content,
									       selector.class,
									       ranges);
#endif
}

enum which { NO_SELECTOR, UNSIGNED_SELECTOR, SIGNED_SELECTOR };

static bt_field_class *make_empty_variant(bt_trace_class *in, enum which which,
					  struct link selector)
{
#if MAX_MIP
	switch (which) {
	case UNSIGNED_SELECTOR:
		return bt_field_class_variant_with_selector_field_location_integer_unsigned_create(
			in, selector.location);
	case SIGNED_SELECTOR:
		return bt_field_class_variant_with_selector_field_location_integer_signed_create(
			in, selector.location);
	default:
		return bt_field_class_variant_without_selector_field_location_create(in);
	}
#else
	(void)which;
	return bt_field_class_variant_create(in, selector.class);
#endif
}

/* ---- field classes ------------------------------------------------------- */

/* Append a member to a structure, which then owns it. */
static bt_field_class *add_kind_member(bt_field_class *structure, const char *name,
				       bt_field_class *class)
{
	SET_ATTRIBUTES(bt_field_class_set_user_attributes, class, name);
	bt_field_class_structure_append_member(structure, name, class);
	SET_ATTRIBUTES(bt_field_class_structure_member_set_user_attributes,
		       bt_field_class_structure_borrow_member_by_name(structure, name), "member");
	bt_field_class_put_ref(class);
	return class;
}

static bt_field_class *make_unsigned(bt_trace_class *in, uint64_t bits)
{
	bt_field_class *class = bt_field_class_integer_unsigned_create(in);

	bt_field_class_integer_set_field_value_range(class, bits);
	bt_field_class_integer_set_preferred_display_base(
		class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static bt_integer_range_set_unsigned *make_unsigned_range(uint64_t from, uint64_t to)
{
	bt_integer_range_set_unsigned *set = bt_integer_range_set_unsigned_create();

	bt_integer_range_set_unsigned_add_range(set, from, to);
	bt_integer_range_set_unsigned_add_range(set, to + 10, to + 20);
	return set;
}

static bt_integer_range_set_signed *make_signed_range(int64_t from, int64_t to)
{
	bt_integer_range_set_signed *set = bt_integer_range_set_signed_create();

	bt_integer_range_set_signed_add_range(set, from, to);
	return set;
}

static bt_field_class *make_enumeration(bt_trace_class *in, bool is_signed)
{
	bt_integer_range_set_unsigned *some = make_unsigned_range(0, 3);
	bt_integer_range_set_signed *others = make_signed_range(-7, 3);
	bt_field_class *class = is_signed ? bt_field_class_enumeration_signed_create(in) :
					    bt_field_class_enumeration_unsigned_create(in);

	bt_field_class_integer_set_field_value_range(class, 12);
	if (is_signed) {
		bt_field_class_enumeration_signed_add_mapping(class, "minus", others);
		bt_field_class_enumeration_signed_add_mapping(class, "too", others);
	} else {
		bt_field_class_enumeration_unsigned_add_mapping(class, "few", some);
		bt_field_class_enumeration_unsigned_add_mapping(class, "too", some);
	}
	bt_integer_range_set_unsigned_put_ref(some);
	bt_integer_range_set_signed_put_ref(others);
	return class;
}

static void set_option_attributes(bt_field_class *class)
{
	for (uint64_t i = 0; i < bt_field_class_variant_get_option_count(class); i++)
		SET_ATTRIBUTES(bt_field_class_variant_option_set_user_attributes,
			       bt_field_class_variant_borrow_option_by_index(class, i), "option");
}

/* Make a variant with a string (selected by 0 to 3, or by fewer numbers) and a structure. */
static bt_field_class *make_variant(bt_trace_class *in, enum which which, struct link selector)
{
	bt_field_class *class = make_empty_variant(in, which, selector);
	bt_field_class *text = bt_field_class_string_create(in);
	bt_field_class *rest = bt_field_class_structure_create(in);
	bt_integer_range_set_unsigned *some = make_unsigned_range(0, 3);
	bt_integer_range_set_unsigned *more = make_unsigned_range(50, 60);
	bt_integer_range_set_signed *minus = make_signed_range(-9, -1);
	bt_integer_range_set_signed *plus = make_signed_range(0, 9);

	add_kind_member(rest, "inside", make_unsigned(in, 7));
	if (which == UNSIGNED_SELECTOR) {
		bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
			class, "text", text, some);
		bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
			class, "rest", rest, more);
	} else if (which == SIGNED_SELECTOR) {
		bt_field_class_variant_with_selector_field_integer_signed_append_option(
			class, "text", text, minus);
		bt_field_class_variant_with_selector_field_integer_signed_append_option(class,
											"rest",
											rest, plus);
	} else {
		bt_field_class_variant_without_selector_append_option(class, "text", text);
		bt_field_class_variant_without_selector_append_option(class, "rest", rest);
	}
	set_option_attributes(class);
	bt_integer_range_set_unsigned_put_ref(some);
	bt_integer_range_set_unsigned_put_ref(more);
	bt_integer_range_set_signed_put_ref(minus);
	bt_integer_range_set_signed_put_ref(plus);
	bt_field_class_put_ref(text);
	bt_field_class_put_ref(rest);
	return class;
}

static void add_option_kinds(bt_trace_class *in, bt_field_class *to, struct link flag,
			     struct link number, struct link minus)
{
	bt_integer_range_set_unsigned *some = make_unsigned_range(0, 3);
	bt_integer_range_set_signed *others = make_signed_range(-9, -1);
	bt_field_class *class[4];

	for (int i = 0; i < 4; i++)
		class[i] = make_unsigned(in, 20 + i);
	add_kind_member(to, "option", make_option(in, class[0]));
	bt_field_class_option_with_selector_field_bool_set_selector_is_reversed(
		add_kind_member(to, "option_bool", make_option_by_bool(in, class[1], flag)),
		BT_TRUE);
	add_kind_member(to, "option_unsigned", make_option_by_unsigned(in, class[2], number, some));
	add_kind_member(to, "option_signed", make_option_by_signed(in, class[3], minus, others));
	for (int i = 0; i < 4; i++)
		bt_field_class_put_ref(class[i]);
	bt_integer_range_set_unsigned_put_ref(some);
	bt_integer_range_set_signed_put_ref(others);
}

static void add_array_kinds(bt_trace_class *in, bt_field_class *to, struct link length)
{
	bt_field_class *class[3], *text = bt_field_class_string_create(in);
	struct link inner;

	for (int i = 0; i < 3; i++) {
		class[i] = bt_field_class_structure_create(in);
		add_kind_member(class[i], "length", make_unsigned(in, 30));
	}
	/* This length is in the element itself. */
	inner = make_link_to(in, BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD, "counted", class[2], "length");
	add_kind_member(class[2], "texts", make_sequence(in, text, &inner));
	put_link(inner);
	bt_field_class_put_ref(text);
	add_kind_member(to, "array", bt_field_class_array_static_create(in, class[0], 3));
	add_kind_member(to, "any", make_sequence(in, class[1], NULL));
	add_kind_member(to, "counted", make_sequence(in, class[2], &length));
	for (int i = 0; i < 3; i++)
		bt_field_class_put_ref(class[i]);
}

/* Make the fields of a scope to which other fields refer. */
static bt_field_class *make_kinds_context(bt_trace_class *in)
{
	bt_field_class *class = bt_field_class_structure_create(in);

	add_kind_member(class, "flag", bt_field_class_bool_create(in));
	add_kind_member(class, "number", make_unsigned(in, 64));
	add_kind_member(class, "minus", bt_field_class_integer_signed_create(in));
	return class;
}

/* Add the kinds that only the newest version has. */
static void add_new_kinds(bt_trace_class *in, bt_field_class *to, struct link length)
{
#if MAX_MIP
	bt_integer_range_set_unsigned *some = make_unsigned_range(0, 2);
	bt_field_class *class = add_kind_member(to, "flags",
						bt_field_class_bit_array_create(in, 23));

	bt_field_class_bit_array_add_flag(class, "some", some);
	bt_integer_range_set_unsigned_put_ref(some);
	class = add_kind_member(to, "small", make_unsigned(in, 64));
	bt_field_class_integer_set_field_value_hints(class,
						     BT_FIELD_CLASS_INTEGER_FIELD_VALUE_HINT_SMALL);
	class = add_kind_member(to, "blob", bt_field_class_blob_static_create(in, 5));
	bt_field_class_blob_set_media_type(class, "image/webp");
	add_kind_member(to, "blob_any",
			bt_field_class_blob_dynamic_without_length_field_location_create(in));
	add_kind_member(
		to, "blob_counted",
		bt_field_class_blob_dynamic_with_length_field_location_create(in, length.location));
#else
	(void)in;
	(void)to;
	(void)length;
#endif
}

static bt_field_class *make_kinds_payload(bt_trace_class *in, bt_field_class *packet,
					  bt_field_class *common, bt_field_class *specific)
{
	bt_field_class *class = make_kinds_context(in);
	struct link flag = make_link_to(in, BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD, NULL, class, "flag");
	struct link minus = make_link_to(in, BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD, NULL, class,
					 "minus");
	struct link length = make_link_to(in, BT_FIELD_PATH_SCOPE_PACKET_CONTEXT, NULL, packet,
					  "number");
	struct link number = make_link_to(in, BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT, NULL,
					  common, "number");
	struct link lower = make_link_to(in, BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT, NULL,
					 specific, "minus");

	add_kind_member(class, "bits", bt_field_class_bit_array_create(in, 13));
	add_kind_member(class, "few", make_enumeration(in, false));
	add_kind_member(class, "signed", make_enumeration(in, true));
	add_kind_member(class, "single", bt_field_class_real_single_precision_create(in));
	add_kind_member(class, "double", bt_field_class_real_double_precision_create(in));
	add_kind_member(class, "text", bt_field_class_string_create(in));
	add_option_kinds(in, class, flag, number, lower);
	add_array_kinds(in, class, length);
	add_kind_member(class, "variant", make_variant(in, NO_SELECTOR, (struct link){ 0 }));
	add_kind_member(class, "variant_unsigned", make_variant(in, UNSIGNED_SELECTOR, length));
	add_kind_member(class, "variant_signed", make_variant(in, SIGNED_SELECTOR, minus));
	add_new_kinds(in, class, length);
	put_link(flag);
	put_link(minus);
	put_link(length);
	put_link(number);
	put_link(lower);
	return class;
}

/* ---- values: a walk that fills in all fields ------------------------------ */

static void fill_field(bt_field *field, uint64_t seed)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	const bt_field_class_type type = bt_field_get_class_type(field);
	char text[32];

	if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		bt_field_bool_set_value(field, seed & 1);
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		bt_field_bit_array_set_value_as_integer(field, 0x1555 ^ seed);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		bt_field_integer_unsigned_set_value(field, seed & 3);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		bt_field_integer_signed_set_value(field, -3 + (int64_t)(seed & 3));
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		bt_field_real_single_precision_set_value(field, seed / 3.0f);
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		bt_field_real_double_precision_set_value(field, seed / 3.0);
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		snprintf(text, sizeof(text), "text %llu", (unsigned long long)seed);
		bt_field_string_set_value(field, text);
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(class); i++)
			fill_field(bt_field_structure_borrow_member_field_by_index(field, i),
				   seed + i);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY))
			bt_field_array_dynamic_set_length(field, seed & 3);
		for (uint64_t i = 0; i < bt_field_array_get_length(field); i++)
			fill_field(bt_field_array_borrow_element_field_by_index(field, i),
				   seed + i);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		bt_field_option_set_has_field(field, seed & 1);
		if (seed & 1)
			fill_field(bt_field_option_borrow_field(field), seed);
#if MAX_MIP
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BLOB)) {
		if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB))
			bt_field_blob_dynamic_set_length(field, seed & 3);
		memset(bt_field_blob_get_data(field), (int)seed, bt_field_blob_get_length(field));
#endif
	} else {
		bt_field_variant_select_option_by_index(field, seed & 1);
		fill_field(bt_field_variant_borrow_selected_option_field(field), seed);
	}
}

/* ---- the source ----------------------------------------------------------- */

static bt_clock_class *make_clock(bt_self_component *self)
{
	bt_clock_class *clock = bt_clock_class_create(self);

	bt_clock_class_set_name(clock, "ticks");
	bt_clock_class_set_frequency(clock, 1000);
	bt_clock_class_set_offset(clock, 1700000000, 500);
#if MAX_MIP
	bt_clock_class_set_uid(clock, "6b696e64-7327-206f-776e-20636c6f636b");
#else
	bt_clock_class_set_uuid(clock, (bt_uuid) "kinds' own clock");
#endif
	return clock;
}

static void make_stream_class(struct kinds *kinds, bt_trace *trace, bt_trace_class *in,
			      bt_clock_class *clock)
{
	bt_stream_class *class = bt_stream_class_create(in);
	bt_field_class *packet = make_kinds_context(in), *common = make_kinds_context(in);
	bt_field_class *specific = make_kinds_context(in), *payload;
	bt_event_class *event;

	bt_stream_class_set_name(class, "streams");
#if MAX_MIP
	bt_stream_class_set_namespace(class, "kinds.example");
	bt_stream_class_set_uid(class, "this class's own");
#endif
	bt_stream_class_set_default_clock_class(class, clock);
	bt_stream_class_set_supports_packets(class, BT_TRUE, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_events(class, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_packets(class, BT_TRUE, BT_TRUE);
	bt_stream_class_set_packet_context_field_class(class, packet);
	bt_stream_class_set_event_common_context_field_class(class, common);
	SET_ATTRIBUTES(bt_stream_class_set_user_attributes, class, "stream class");
	event = bt_event_class_create(class);
	bt_event_class_set_name(event, "every:kind");
#if MAX_MIP
	bt_event_class_set_namespace(event, "kinds.example");
	bt_event_class_set_uid(event, "this event's own");
#endif
	bt_event_class_set_log_level(event, BT_EVENT_CLASS_LOG_LEVEL_NOTICE);
	bt_event_class_set_emf_uri(event, "https://kinds.example/");
	bt_event_class_set_specific_context_field_class(event, specific);
	payload = make_kinds_payload(in, packet, common, specific);
	bt_event_class_set_payload_field_class(event, payload);
	SET_ATTRIBUTES(bt_event_class_set_user_attributes, event, "event class");
	kinds->event_class = event;
	kinds->stream = bt_stream_create(class, trace);
	bt_stream_set_name(kinds->stream, "/traces/kinds/stream");
	SET_ATTRIBUTES(bt_stream_set_user_attributes, kinds->stream, "stream");
	bt_field_class_put_ref(packet);
	bt_field_class_put_ref(common);
	bt_field_class_put_ref(specific);
	bt_field_class_put_ref(payload);
	bt_stream_class_put_ref(class);
}

static bt_component_class_initialize_method_status
kinds_initialize(bt_self_component_source *self,
		 bt_self_component_source_configuration *configuration, const bt_value *params,
		 void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	struct kinds *kinds = calloc(1, sizeof(*kinds));
	bt_trace_class *class = bt_trace_class_create(component);
	bt_clock_class *clock = make_clock(component);
	bt_trace *trace = bt_trace_create(class);

	(void)configuration;
	(void)params;
	(void)data;
	SET_ATTRIBUTES(bt_trace_class_set_user_attributes, class, "trace class");
	SET_ATTRIBUTES(bt_trace_set_user_attributes, trace, "trace");
	bt_trace_set_name(trace, "kinds");
#if MAX_MIP
	bt_trace_set_namespace(trace, "kinds.example");
	bt_trace_set_uid(trace, "this trace's own");
#else
	bt_trace_set_uuid(trace, (bt_uuid) "this trace's own");
#endif
	bt_trace_set_environment_entry_string(trace, "hostname", "web");
	bt_trace_set_environment_entry_integer(trace, "number", -5);
	make_stream_class(kinds, trace, class, clock);
	bt_clock_class_put_ref(clock);
	bt_trace_class_put_ref(class);
	bt_trace_put_ref(trace);
	bt_self_component_set_data(component, kinds);
	bt_self_component_source_add_output_port(self, "out", NULL, NULL);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void kinds_finalize(bt_self_component_source *self)
{
	struct kinds *kinds = bt_self_component_get_data(
		bt_self_component_source_as_self_component(self));

	bt_event_class_put_ref(kinds->event_class);
	bt_stream_put_ref(kinds->stream);
	free(kinds);
}

/* ---- messages -------------------------------------------------------------- */

static bt_message *make_kinds_event(bt_self_message_iterator *self, const struct kinds *kinds,
				    const struct iterator *it)
{
	bt_message *message = bt_message_event_create_with_packet_and_default_clock_snapshot(
		self, kinds->event_class, it->packet, it->next * 10);
	bt_event *event = bt_message_event_borrow_event(message);

	fill_field(bt_event_borrow_common_context_field(event), it->next);
	fill_field(bt_event_borrow_specific_context_field(event), it->next);
	fill_field(bt_event_borrow_payload_field(event), it->next);
	return message;
}

static bt_message *begin_packet(bt_self_message_iterator *self, const struct kinds *kinds,
				struct iterator *it)
{
	bt_packet_put_ref(it->packet);
	it->packet = bt_packet_create(kinds->stream);
	fill_field(bt_packet_borrow_context_field(it->packet), it->next);
	return bt_message_packet_beginning_create_with_default_clock_snapshot(self, it->packet,
									      it->next * 10);
}

static bt_message *make_next_kinds_message(bt_self_message_iterator *self,
					   const struct kinds *kinds, struct iterator *it)
{
	const uint64_t at = it->next * 10;
	bt_message *message;

	switch (it->next) {
	case 0:
		message = bt_message_stream_beginning_create(self, kinds->stream);
		bt_message_stream_beginning_set_default_clock_snapshot(message, at);
		return message;
	case 1:
	case 7:
		return begin_packet(self, kinds, it);
	case 4:
	case 9:
		return bt_message_packet_end_create_with_default_clock_snapshot(self, it->packet,
										at);
	case 5:
		message = bt_message_discarded_events_create_with_default_clock_snapshots(
			self, kinds->stream, at, at + 5);
		bt_message_discarded_events_set_count(message, 77);
		return message;
	case 6:
		message = bt_message_discarded_packets_create_with_default_clock_snapshots(
			self, kinds->stream, at, at + 5);
		bt_message_discarded_packets_set_count(message, 3);
		return message;
	case 10:
		message = bt_message_stream_end_create(self, kinds->stream);
		bt_message_stream_end_set_default_clock_snapshot(message, at);
		return message;
	default:
		return make_kinds_event(self, kinds, it);
	}
}

static bt_message_iterator_class_initialize_method_status
kinds_iterator_initialize(bt_self_message_iterator *self,
			  bt_self_message_iterator_configuration *configuration,
			  bt_self_component_port_output *port)
{
	(void)configuration;
	(void)port;
	bt_self_message_iterator_set_data(self, calloc(1, sizeof(struct iterator)));
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void kinds_iterator_finalize(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	bt_packet_put_ref(it->packet);
	free(it);
}

static bt_message_iterator_class_next_method_status kinds_next(bt_self_message_iterator *self,
							       bt_message_array_const messages,
							       uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	const struct kinds *kinds = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));

	if (it->next == NUM_MESSAGES)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	for (*count = 0; *count < capacity && it->next < NUM_MESSAGES; it->next++)
		messages[(*count)++] = make_next_kinds_message(self, kinds, it);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static bt_component_class_get_supported_mip_versions_method_status
kinds_get_mip_versions(bt_self_component_class_source *self, const bt_value *params, void *data,
		       bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	(void)self;
	(void)params;
	(void)data;
	(void)level;
	bt_integer_range_set_unsigned_add_range(versions, MAX_MIP, MAX_MIP);
	return BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_OK;
}

BT_PLUGIN_SOURCE_COMPONENT_CLASS(all, kinds_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(all, kinds_get_mip_versions);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(all, kinds_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(all, kinds_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
	all, kinds_iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(all,
									kinds_iterator_finalize);
