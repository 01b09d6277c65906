// SPDX-License-Identifier: GPL-2.0-only
/*
 * MIP version 0. Traces and clocks have UUIDs. If a field class depends on a field, it is created
 * with that field's class. The class precedes it and is found by a path of indexes.
 */
#include <string.h>

#include "fields.h"
#include "mip.h"

/* ---- identity ---------------------------------------------------------- */

static bool identify_mip0_trace(bt_trace *to, const bt_trace *from)
{
	bt_uuid uuid = bt_trace_get_uuid(from);

	if (uuid)
		bt_trace_set_uuid(to, uuid);
	return true;
}

static bool get_mip0_clock_uuid(const bt_clock_class *class, uint8_t uuid[MODEL_UUID_SIZE])
{
	bt_uuid found = bt_clock_class_get_uuid(class);

	if (found)
		memcpy(uuid, found, MODEL_UUID_SIZE);
	return found;
}

static bool set_mip0_clock_uuid(bt_clock_class *class, const uint8_t uuid[MODEL_UUID_SIZE])
{
	bt_clock_class_set_uuid(class, uuid);
	return true;
}

/* CTF 1.8 has only the precision: a true time is within it, before or after the clock's. */
static void set_mip0_clock_error(bt_clock_class *class, uint64_t cycles)
{
	bt_clock_class_set_precision(class, cycles);
}

/* ---- classes that depend on a field ------------------------------------- */

static const bt_field_class *follow_path_item(const bt_field_class *from,
					      const bt_field_path_item *item)
{
	uint64_t index;

	switch (bt_field_path_item_get_type(item)) {
	case BT_FIELD_PATH_ITEM_TYPE_CURRENT_ARRAY_ELEMENT:
		return bt_field_class_array_borrow_element_field_class_const(from);
	case BT_FIELD_PATH_ITEM_TYPE_CURRENT_OPTION_CONTENT:
		return bt_field_class_option_borrow_field_class_const(from);
	default:
		break;
	}
	index = bt_field_path_item_index_get_index(item);
	if (bt_field_class_get_type(from) == BT_FIELD_CLASS_TYPE_STRUCTURE)
		return bt_field_class_structure_member_borrow_field_class_const(
			bt_field_class_structure_borrow_member_by_index_const(from, index));
	return bt_field_class_variant_option_borrow_field_class_const(
		bt_field_class_variant_borrow_option_by_index_const(from, index));
}

/* Return the copy of the class at the end of a path. */
static bt_field_class *get_field_class_at(const struct field_classes *classes,
					  const bt_field_path *path)
{
	const bt_field_class *at = classes->roots[bt_field_path_get_root_scope(path)];

	for (uint64_t i = 0; i < bt_field_path_get_item_count(path); i++)
		at = follow_path_item(at, bt_field_path_borrow_item_by_index_const(path, i));
	return map_get(classes->copies, at);
}

static bt_field_class *new_mip0_array(const struct field_classes *classes,
				      const bt_field_class *from, bt_field_class *element)
{
	bt_field_class *length = NULL;

	if (bt_field_class_get_type(from) == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD)
		length = get_field_class_at(
			classes,
			bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(
				from));
	return bt_field_class_array_dynamic_create(classes->trace_class, element, length);
}

static bt_field_class *new_mip0_option(const struct field_classes *classes,
				       const bt_field_class *from, bt_field_class *content)
{
	const bt_field_class_type type = bt_field_class_get_type(from);
	bt_trace_class *in = classes->trace_class;
	bt_field_class *selector;

	if (type == BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD)
		return bt_field_class_option_without_selector_create(in, content);
	selector = get_field_class_at(
		classes,
		bt_field_class_option_with_selector_field_borrow_selector_field_path_const(from));
	switch (type) {
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD:
		return bt_field_class_option_with_selector_field_bool_create(in, content, selector);
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_option_with_selector_field_integer_unsigned_create(
			in, content, selector,
			bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(
				from));
	default:
		return bt_field_class_option_with_selector_field_integer_signed_create(
			in, content, selector,
			bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(
				from));
	}
}

static bt_field_class *new_mip0_variant(const struct field_classes *classes,
					const bt_field_class *from)
{
	bt_field_class *selector = NULL;

	if (bt_field_class_get_type(from) != BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD)
		selector = get_field_class_at(
			classes,
			bt_field_class_variant_with_selector_field_borrow_selector_field_path_const(
				from));
	return bt_field_class_variant_create(classes->trace_class, selector);
}

const struct mip mip_0 = {
	.identify_trace = identify_mip0_trace,
	.get_clock_uuid = get_mip0_clock_uuid,
	.set_clock_uuid = set_mip0_clock_uuid,
	.set_clock_error = set_mip0_clock_error,
	.new_array = new_mip0_array,
	.new_option = new_mip0_option,
	.new_variant = new_mip0_variant,
};
