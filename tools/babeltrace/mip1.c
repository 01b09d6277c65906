// SPDX-License-Identifier: GPL-2.0-only
/*
 * MIP version 1. Traces, clocks and classes have a namespace and a unique identifier, which are
 * texts. If a field class depends on a field, it has a path of names, which is the same in copies.
 */
#if MAX_MIP

#include <string.h>
#include <uuid.h>

#include "fields.h"
#include "mip.h"

/* ---- identity ---------------------------------------------------------- */

static bool identify_mip1_trace(bt_trace *to, const bt_trace *from)
{
	const char *space = bt_trace_get_namespace(from);
	const char *uid = bt_trace_get_uid(from);

	return (!space || !bt_trace_set_namespace(to, space)) &&
	       (!uid || !bt_trace_set_uid(to, uid));
}

static bool identify_stream_class(bt_stream_class *to, const bt_stream_class *from)
{
	const char *space = bt_stream_class_get_namespace(from);
	const char *uid = bt_stream_class_get_uid(from);

	return (!space || !bt_stream_class_set_namespace(to, space)) &&
	       (!uid || !bt_stream_class_set_uid(to, uid));
}

static bool identify_event_class(bt_event_class *to, const bt_event_class *from)
{
	const char *space = bt_event_class_get_namespace(from);
	const char *uid = bt_event_class_get_uid(from);

	return (!space || !bt_event_class_set_namespace(to, space)) &&
	       (!uid || !bt_event_class_set_uid(to, uid));
}

/* An identifier can be any text, but tracers write UUIDs. */
static bool get_mip1_clock_uuid(const bt_clock_class *class, uint8_t uuid[MODEL_UUID_SIZE])
{
	const char *uid = bt_clock_class_get_uid(class);

	return uid && !uuid_parse(uid, uuid);
}

static bool set_mip1_clock_uuid(bt_clock_class *class, const uint8_t uuid[MODEL_UUID_SIZE])
{
	char text[UUID_STR_LEN];

	uuid_unparse_lower(uuid, text);
	return !bt_clock_class_set_uid(class, text);
}

/*
 * CTF 2 distinguishes the precision, which is how well a clock agrees with itself, from the accuracy,
 * which is how well it agrees with others.
 */
static void set_mip1_clock_error(bt_clock_class *class, uint64_t cycles)
{
	bt_clock_class_set_accuracy(class, cycles);
}

/* ---- classes that depend on a field ------------------------------------- */

static bt_field_class *new_mip1_array(const struct field_classes *classes,
				      const bt_field_class *from, bt_field_class *element)
{
	bt_trace_class *in = classes->trace_class;

	if (bt_field_class_get_type(from) == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITHOUT_LENGTH_FIELD)
		return bt_field_class_array_dynamic_without_length_field_location_create(in,
											 element);
	return bt_field_class_array_dynamic_with_length_field_location_create(
		in, element,
		bt_field_class_array_dynamic_with_length_field_borrow_length_field_location_const(
			from));
}

static bt_field_class *new_mip1_option(const struct field_classes *classes,
				       const bt_field_class *from, bt_field_class *content)
{
	const bt_field_class_type type = bt_field_class_get_type(from);
	bt_trace_class *in = classes->trace_class;
	const bt_field_location *selector;

	if (type == BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD)
		return bt_field_class_option_without_selector_field_location_create(in, content);
	selector = bt_field_class_option_with_selector_field_borrow_selector_field_location_const(
		from);
	switch (type) {
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD:
		return bt_field_class_option_with_selector_field_location_bool_create(in, content,
										      selector);
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_option_with_selector_field_location_integer_unsigned_create(
			in, content, selector,
			bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(
				from));
	default:
		return bt_field_class_option_with_selector_field_location_integer_signed_create(
			in, content, selector,
			bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(
				from));
	}
}

static bt_field_class *new_mip1_variant(const struct field_classes *classes,
					const bt_field_class *from)
{
	const bt_field_class_type type = bt_field_class_get_type(from);
	bt_trace_class *in = classes->trace_class;
	const bt_field_location *selector;

	if (type == BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD)
		return bt_field_class_variant_without_selector_field_location_create(in);
	selector = bt_field_class_variant_with_selector_field_borrow_selector_field_location_const(
		from);
	if (type == BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD)
		return bt_field_class_variant_with_selector_field_location_integer_unsigned_create(
			in, selector);
	return bt_field_class_variant_with_selector_field_location_integer_signed_create(in,
											 selector);
}

/* ---- properties -------------------------------------------------------- */

static bool copy_flag_class(bt_field_class *to, const bt_field_class *from)
{
	bool ok = true;

	for (uint64_t i = 0; i < bt_field_class_bit_array_get_flag_count(from) && ok; i++) {
		const bt_field_class_bit_array_flag *flag =
			bt_field_class_bit_array_borrow_flag_by_index_const(from, i);

		ok = !bt_field_class_bit_array_add_flag(
			to, bt_field_class_bit_array_flag_get_label(flag),
			bt_field_class_bit_array_flag_borrow_index_ranges_const(flag));
	}
	return ok;
}

static bool copy_class_properties(bt_field_class *to, const bt_field_class *from)
{
	const bt_field_class_type type = bt_field_class_get_type(from);
	const char *media;

	if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		return copy_flag_class(to, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER))
		bt_field_class_integer_set_field_value_hints(
			to, bt_field_class_integer_get_field_value_hints(from));
	if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BLOB))
		return true;
	media = bt_field_class_blob_get_media_type(from);
	return !media || !bt_field_class_blob_set_media_type(to, media);
}

/* ---- blobs ------------------------------------------------------------- */

static bt_field_class *new_blob_class(const struct field_classes *classes,
				      const bt_field_class *from)
{
	bt_trace_class *in = classes->trace_class;

	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_STATIC_BLOB:
		return bt_field_class_blob_static_create(in, bt_field_class_blob_static_get_length(
								     from));
	case BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITHOUT_LENGTH_FIELD:
		return bt_field_class_blob_dynamic_without_length_field_location_create(in);
	default:
		return bt_field_class_blob_dynamic_with_length_field_location_create(
			in,
			bt_field_class_blob_dynamic_with_length_field_borrow_length_field_location_const(
				from));
	}
}

static bool copy_blob_field(bt_field *to, const bt_field *from)
{
	const uint64_t length = bt_field_blob_get_length(from);

	if (bt_field_class_type_is(bt_field_get_class_type(from),
				   BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB) &&
	    bt_field_blob_dynamic_set_length(to, length))
		return false;
	if (length)
		memcpy(bt_field_blob_get_data(to), bt_field_blob_get_data_const(from), length);
	return true;
}

const struct mip mip_1 = {
	.identify_trace = identify_mip1_trace,
	.get_clock_uuid = get_mip1_clock_uuid,
	.set_clock_uuid = set_mip1_clock_uuid,
	.set_clock_error = set_mip1_clock_error,
	.new_array = new_mip1_array,
	.new_option = new_mip1_option,
	.new_variant = new_mip1_variant,
	.identify_stream_class = identify_stream_class,
	.identify_event_class = identify_event_class,
	.copy_properties = copy_class_properties,
	.new_blob = new_blob_class,
	.copy_blob = copy_blob_field,
};

#endif
