// SPDX-License-Identifier: GPL-2.0-only
/* Copy field classes. */
#include "fields.h"
#include "mip.h"

/* ---- scalars ----------------------------------------------------------- */

static bool copy_unsigned_mappings(bt_field_class *to, const bt_field_class *from)
{
	bool ok = true;

	for (uint64_t i = 0; i < bt_field_class_enumeration_get_mapping_count(from) && ok; i++) {
		const bt_field_class_enumeration_unsigned_mapping *mapping =
			bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(from, i);

		ok = !bt_field_class_enumeration_unsigned_add_mapping(
			to,
			bt_field_class_enumeration_mapping_get_label(
				bt_field_class_enumeration_unsigned_mapping_as_mapping_const(
					mapping)),
			bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(mapping));
	}
	return ok;
}

static bool copy_signed_mappings(bt_field_class *to, const bt_field_class *from)
{
	bool ok = true;

	for (uint64_t i = 0; i < bt_field_class_enumeration_get_mapping_count(from) && ok; i++) {
		const bt_field_class_enumeration_signed_mapping *mapping =
			bt_field_class_enumeration_signed_borrow_mapping_by_index_const(from, i);

		ok = !bt_field_class_enumeration_signed_add_mapping(
			to,
			bt_field_class_enumeration_mapping_get_label(
				bt_field_class_enumeration_signed_mapping_as_mapping_const(mapping)),
			bt_field_class_enumeration_signed_mapping_borrow_ranges_const(mapping));
	}
	return ok;
}

static bool copy_integer_class(bt_field_class *to, const bt_field_class *from)
{
	if (!to)
		return false;
	bt_field_class_integer_set_field_value_range(
		to, bt_field_class_integer_get_field_value_range(from));
	bt_field_class_integer_set_preferred_display_base(
		to, bt_field_class_integer_get_preferred_display_base(from));
	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		return copy_unsigned_mappings(to, from);
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		return copy_signed_mappings(to, from);
	default:
		return true;
	}
}

/* ---- compound classes --------------------------------------------------- */

static bool copy_members(struct field_classes *classes, bt_field_class *to,
			 const bt_field_class *from)
{
	bool ok = to;

	for (uint64_t i = 0; ok && i < bt_field_class_structure_get_member_count(from); i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(from, i);
		bt_field_class *class = field_class_copy(
			classes, bt_field_class_structure_member_borrow_field_class_const(member));

		ok = class && !bt_field_class_structure_append_member(
				      to, bt_field_class_structure_member_get_name(member), class);
		if (ok)
			bt_field_class_structure_member_set_user_attributes(
				bt_field_class_structure_borrow_member_by_index(to, i),
				bt_field_class_structure_member_borrow_user_attributes_const(
					member));
		bt_field_class_put_ref(class);
	}
	return ok;
}

static bool append_option(bt_field_class *to, const bt_field_class *from, uint64_t index,
			  const char *name, bt_field_class *class)
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
		return !bt_field_class_variant_without_selector_append_option(to, name, class);
	}
}

static bool copy_options(struct field_classes *classes, bt_field_class *to,
			 const bt_field_class *from)
{
	bool ok = to;

	for (uint64_t i = 0; ok && i < bt_field_class_variant_get_option_count(from); i++) {
		const bt_field_class_variant_option *option =
			bt_field_class_variant_borrow_option_by_index_const(from, i);
		bt_field_class *class = field_class_copy(
			classes, bt_field_class_variant_option_borrow_field_class_const(option));

		ok = class && append_option(to, from, i,
					    bt_field_class_variant_option_get_name(option), class);
		if (ok)
			bt_field_class_variant_option_set_user_attributes(
				bt_field_class_variant_borrow_option_by_index(to, i),
				bt_field_class_variant_option_borrow_user_attributes_const(option));
		bt_field_class_put_ref(class);
	}
	return ok;
}

static bt_field_class *copy_variant_class(struct field_classes *classes, const bt_field_class *from)
{
	bt_field_class *to = classes->mip->new_variant(classes, from);

	if (copy_options(classes, to, from))
		return to;
	bt_field_class_put_ref(to);
	return NULL;
}

static bt_field_class *copy_option_class(struct field_classes *classes, const bt_field_class *from)
{
	bt_field_class *content = field_class_copy(
		classes, bt_field_class_option_borrow_field_class_const(from));
	bt_field_class *to;

	if (!content)
		return NULL;
	to = classes->mip->new_option(classes, from, content);
	bt_field_class_put_ref(content);
	if (to &&
	    bt_field_class_get_type(from) == BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD)
		bt_field_class_option_with_selector_field_bool_set_selector_is_reversed(
			to,
			bt_field_class_option_with_selector_field_bool_selector_is_reversed(from));
	return to;
}

static bt_field_class *copy_array_class(struct field_classes *classes, const bt_field_class *from)
{
	bt_field_class *element = field_class_copy(
		classes, bt_field_class_array_borrow_element_field_class_const(from));
	bt_field_class *to;

	if (!element)
		return NULL;
	if (bt_field_class_get_type(from) == BT_FIELD_CLASS_TYPE_STATIC_ARRAY)
		to = bt_field_class_array_static_create(classes->trace_class, element,
							bt_field_class_array_static_get_length(
								from));
	else
		to = classes->mip->new_array(classes, from, element);
	bt_field_class_put_ref(element);
	return to;
}

/* ---- any class ---------------------------------------------------------- */

static bt_field_class *copy_field_class(struct field_classes *classes, const bt_field_class *from)
{
	const bt_field_class_type type = bt_field_class_get_type(from);
	bt_trace_class *in = classes->trace_class;
	bt_field_class *to;
	bool ok = true;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return copy_variant_class(classes, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return copy_option_class(classes, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return copy_array_class(classes, from);
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
		ok = copy_integer_class(to, from);
		break;
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		to = bt_field_class_enumeration_signed_create(in);
		ok = copy_integer_class(to, from);
		break;
	case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
		to = bt_field_class_integer_unsigned_create(in);
		ok = copy_integer_class(to, from);
		break;
	case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
		to = bt_field_class_integer_signed_create(in);
		ok = copy_integer_class(to, from);
		break;
	default:
		return classes->mip->new_blob(classes, from);
	}
	if (ok)
		return to;
	bt_field_class_put_ref(to);
	return NULL;
}

bt_field_class *field_class_copy(struct field_classes *classes, const bt_field_class *from)
{
	const struct mip *mip = classes->mip;
	bt_field_class *to = copy_field_class(classes, from);

	if (!to)
		return NULL;
	bt_field_class_set_user_attributes(to, bt_field_class_borrow_user_attributes_const(from));
	if ((!mip->copy_properties || mip->copy_properties(to, from)) &&
	    map_put(classes->copies, from, to))
		return to;
	bt_field_class_put_ref(to);
	return NULL;
}
