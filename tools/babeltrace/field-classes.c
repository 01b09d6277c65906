// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of field classes. Those that refer to another field (its length, what
 * it selects) are made with the copy of that one's class, which always comes
 * before them.
 */
#include "fields.h"

static const bt_field_class *follow(const bt_field_class *from,
				    const bt_field_path_item *item)
{
	uint64_t index;

	switch (bt_field_path_item_get_type(item)) {
	case BT_FIELD_PATH_ITEM_TYPE_CURRENT_ARRAY_ELEMENT:
		return bt_field_class_array_borrow_element_field_class_const(
			from);
	case BT_FIELD_PATH_ITEM_TYPE_CURRENT_OPTION_CONTENT:
		return bt_field_class_option_borrow_field_class_const(from);
	default:
		break;
	}
	index = bt_field_path_item_index_get_index(item);
	if (bt_field_class_get_type(from) == BT_FIELD_CLASS_TYPE_STRUCTURE)
		return bt_field_class_structure_member_borrow_field_class_const(
			bt_field_class_structure_borrow_member_by_index_const(
				from, index));
	return bt_field_class_variant_option_borrow_field_class_const(
		bt_field_class_variant_borrow_option_by_index_const(from,
								    index));
}

/* The copy of the class that a path leads to. */
static bt_field_class *referred(const struct field_classes *classes,
				const bt_field_path *path)
{
	const bt_field_class *at =
		classes->roots[bt_field_path_get_root_scope(path)];

	for (uint64_t i = 0; i < bt_field_path_get_item_count(path); i++)
		at = follow(at, bt_field_path_borrow_item_by_index_const(path,
									 i));
	return map_get(classes->copies, at);
}

/* ---- scalars ----------------------------------------------------------- */

static bool copy_unsigned_mappings(bt_field_class *to,
				   const bt_field_class *from)
{
	bool ok = true;

	for (uint64_t i = 0;
	     i < bt_field_class_enumeration_get_mapping_count(from) && ok;
	     i++) {
		const bt_field_class_enumeration_unsigned_mapping *mapping =
			bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(
				from, i);

		ok = !bt_field_class_enumeration_unsigned_add_mapping(to,
			bt_field_class_enumeration_mapping_get_label(
				bt_field_class_enumeration_unsigned_mapping_as_mapping_const(
					mapping)),
			bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(
				mapping));
	}
	return ok;
}

static bool copy_signed_mappings(bt_field_class *to,
				 const bt_field_class *from)
{
	bool ok = true;

	for (uint64_t i = 0;
	     i < bt_field_class_enumeration_get_mapping_count(from) && ok;
	     i++) {
		const bt_field_class_enumeration_signed_mapping *mapping =
			bt_field_class_enumeration_signed_borrow_mapping_by_index_const(
				from, i);

		ok = !bt_field_class_enumeration_signed_add_mapping(to,
			bt_field_class_enumeration_mapping_get_label(
				bt_field_class_enumeration_signed_mapping_as_mapping_const(
					mapping)),
			bt_field_class_enumeration_signed_mapping_borrow_ranges_const(
				mapping));
	}
	return ok;
}

static bool copy_integer(bt_field_class *to, const bt_field_class *from)
{
	if (!to)
		return false;
	bt_field_class_integer_set_field_value_range(to,
		bt_field_class_integer_get_field_value_range(from));
	bt_field_class_integer_set_preferred_display_base(to,
		bt_field_class_integer_get_preferred_display_base(from));
	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		return copy_unsigned_mappings(to, from);
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		return copy_signed_mappings(to, from);
	default:
		return true;
	}
}

/* ---- what holds others ------------------------------------------------- */

static bool copy_members(struct field_classes *classes, bt_field_class *to,
			 const bt_field_class *from)
{
	bool ok = to;

	for (uint64_t i = 0;
	     ok && i < bt_field_class_structure_get_member_count(from); i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(
				from, i);
		bt_field_class *class = field_class_copy(classes,
			bt_field_class_structure_member_borrow_field_class_const(
				member));

		ok = class && !bt_field_class_structure_append_member(to,
			bt_field_class_structure_member_get_name(member),
			class);
		if (ok)
			bt_field_class_structure_member_set_user_attributes(
				bt_field_class_structure_borrow_member_by_index(
					to, i),
				bt_field_class_structure_member_borrow_user_attributes_const(
					member));
		bt_field_class_put_ref(class);
	}
	return ok;
}

static bool append_option(bt_field_class *to, const bt_field_class *from,
			  uint64_t index, const char *name,
			  bt_field_class *class)
{
	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		return !bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
			to, name, class,
			bt_field_class_variant_with_selector_field_integer_unsigned_option_borrow_ranges_const(
				bt_field_class_variant_with_selector_field_integer_unsigned_borrow_option_by_index_const(
					from, index)));
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
		return !bt_field_class_variant_with_selector_field_integer_signed_append_option(
			to, name, class,
			bt_field_class_variant_with_selector_field_integer_signed_option_borrow_ranges_const(
				bt_field_class_variant_with_selector_field_integer_signed_borrow_option_by_index_const(
					from, index)));
	default:
		return !bt_field_class_variant_without_selector_append_option(
			to, name, class);
	}
}

static bool copy_options(struct field_classes *classes, bt_field_class *to,
			 const bt_field_class *from)
{
	bool ok = to;

	for (uint64_t i = 0;
	     ok && i < bt_field_class_variant_get_option_count(from); i++) {
		const bt_field_class_variant_option *option =
			bt_field_class_variant_borrow_option_by_index_const(
				from, i);
		bt_field_class *class = field_class_copy(classes,
			bt_field_class_variant_option_borrow_field_class_const(
				option));

		ok = class && append_option(to, from, i,
			bt_field_class_variant_option_get_name(option), class);
		if (ok)
			bt_field_class_variant_option_set_user_attributes(
				bt_field_class_variant_borrow_option_by_index(
					to, i),
				bt_field_class_variant_option_borrow_user_attributes_const(
					option));
		bt_field_class_put_ref(class);
	}
	return ok;
}

static bt_field_class *new_variant(struct field_classes *classes,
				   const bt_field_class *from)
{
	bt_field_class *selector = NULL, *to;

	if (bt_field_class_get_type(from) !=
	    BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD)
		selector = referred(classes,
			bt_field_class_variant_with_selector_field_borrow_selector_field_path_const(
				from));
	to = bt_field_class_variant_create(classes->trace_class, selector);
	if (copy_options(classes, to, from))
		return to;
	bt_field_class_put_ref(to);
	return NULL;
}

static bt_field_class *new_option(struct field_classes *classes,
				  const bt_field_class *from)
{
	const bt_field_class_type type = bt_field_class_get_type(from);
	bt_field_class *content = field_class_copy(classes,
		bt_field_class_option_borrow_field_class_const(from));
	bt_trace_class *in = classes->trace_class;
	bt_field_class *selector = NULL, *to;

	if (!content)
		return NULL;
	if (type != BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD)
		selector = referred(classes,
			bt_field_class_option_with_selector_field_borrow_selector_field_path_const(
				from));
	switch (type) {
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD:
		to = bt_field_class_option_with_selector_field_bool_create(
			in, content, selector);
		if (to)
			bt_field_class_option_with_selector_field_bool_set_selector_is_reversed(
				to,
				bt_field_class_option_with_selector_field_bool_selector_is_reversed(
					from));
		break;
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		to = bt_field_class_option_with_selector_field_integer_unsigned_create(
			in, content, selector,
			bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(
				from));
		break;
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
		to = bt_field_class_option_with_selector_field_integer_signed_create(
			in, content, selector,
			bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(
				from));
		break;
	default:
		to = bt_field_class_option_without_selector_create(in, content);
	}
	bt_field_class_put_ref(content);
	return to;
}

static bt_field_class *new_array(struct field_classes *classes,
				 const bt_field_class *from)
{
	const bt_field_class_type type = bt_field_class_get_type(from);
	bt_field_class *element = field_class_copy(classes,
		bt_field_class_array_borrow_element_field_class_const(from));
	bt_field_class *length = NULL, *to;

	if (!element)
		return NULL;
	if (type == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD)
		length = referred(classes,
			bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(
				from));
	if (type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY)
		to = bt_field_class_array_static_create(classes->trace_class,
			element, bt_field_class_array_static_get_length(from));
	else
		to = bt_field_class_array_dynamic_create(classes->trace_class,
							 element, length);
	bt_field_class_put_ref(element);
	return to;
}

/* ---- all of them ------------------------------------------------------- */

static bt_field_class *new_class(struct field_classes *classes,
				 const bt_field_class *from)
{
	const bt_field_class_type type = bt_field_class_get_type(from);
	bt_trace_class *in = classes->trace_class;
	bt_field_class *to;
	bool ok = true;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return new_variant(classes, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return new_option(classes, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return new_array(classes, from);
	switch (type) {
	case BT_FIELD_CLASS_TYPE_BOOL:
		return bt_field_class_bool_create(in);
	case BT_FIELD_CLASS_TYPE_BIT_ARRAY:
		return bt_field_class_bit_array_create(in,
			bt_field_class_bit_array_get_length(from));
	case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
		return bt_field_class_real_single_precision_create(in);
	case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
		return bt_field_class_real_double_precision_create(in);
	case BT_FIELD_CLASS_TYPE_STRING:
		return bt_field_class_string_create(in);
	case BT_FIELD_CLASS_TYPE_STRUCTURE:
		to = bt_field_class_structure_create(in);
		ok = copy_members(classes, to, from);
		break;
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		to = bt_field_class_enumeration_unsigned_create(in);
		ok = copy_integer(to, from);
		break;
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		to = bt_field_class_enumeration_signed_create(in);
		ok = copy_integer(to, from);
		break;
	case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
		to = bt_field_class_integer_unsigned_create(in);
		ok = copy_integer(to, from);
		break;
	default:
		to = bt_field_class_integer_signed_create(in);
		ok = copy_integer(to, from);
	}
	if (ok)
		return to;
	bt_field_class_put_ref(to);
	return NULL;
}

bt_field_class *field_class_copy(struct field_classes *classes,
				 const bt_field_class *from)
{
	bt_field_class *to = new_class(classes, from);

	if (!to)
		return NULL;
	bt_field_class_set_user_attributes(to,
		bt_field_class_borrow_user_attributes_const(from));
	if (map_put(classes->copies, from, to))
		return to;
	bt_field_class_put_ref(to);
	return NULL;
}
