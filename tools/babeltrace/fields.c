// SPDX-License-Identifier: GPL-2.0-only
/* Copy the value of a field to a field of the same class in another trace. */
#include "fields.h"
#include "mip.h"

static bool copy_structure_field(const struct mip *mip, bt_field *to, const bt_field *from)
{
	const uint64_t num = bt_field_class_structure_get_member_count(
		bt_field_borrow_class_const(from));
	bool ok = true;

	for (uint64_t i = 0; i < num && ok; i++)
		ok = field_copy(mip, bt_field_structure_borrow_member_field_by_index(to, i),
				bt_field_structure_borrow_member_field_by_index_const(from, i));
	return ok;
}

static bool copy_array_field(const struct mip *mip, bt_field *to, const bt_field *from,
			     bt_field_class_type type)
{
	const uint64_t num = bt_field_array_get_length(from);
	bool ok = true;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY))
		ok = !bt_field_array_dynamic_set_length(to, num);
	for (uint64_t i = 0; i < num && ok; i++)
		ok = field_copy(mip, bt_field_array_borrow_element_field_by_index(to, i),
				bt_field_array_borrow_element_field_by_index_const(from, i));
	return ok;
}

static bool copy_option_field(const struct mip *mip, bt_field *to, const bt_field *from)
{
	const bt_field *content = bt_field_option_borrow_field_const(from);

	bt_field_option_set_has_field(to, content ? BT_TRUE : BT_FALSE);
	return !content || field_copy(mip, bt_field_option_borrow_field(to), content);
}

static bool copy_variant_field(const struct mip *mip, bt_field *to, const bt_field *from)
{
	return !bt_field_variant_select_option_by_index(
		       to, bt_field_variant_get_selected_option_index(from)) &&
	       field_copy(mip, bt_field_variant_borrow_selected_option_field(to),
			  bt_field_variant_borrow_selected_option_field_const(from));
}

const char *field_get_string(const bt_field *field)
{
	return bt_field_string_get_length(field) ? bt_field_string_get_value(field) : "";
}

bool field_copy(const struct mip *mip, bt_field *to, const bt_field *from)
{
	const bt_field_class_type type = bt_field_get_class_type(from);

	switch (type) {
	case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		bt_field_integer_unsigned_set_value(to, bt_field_integer_unsigned_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		bt_field_integer_signed_set_value(to, bt_field_integer_signed_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_STRING:
		return !bt_field_string_set_value(to, field_get_string(from));
	case BT_FIELD_CLASS_TYPE_STRUCTURE:
		return copy_structure_field(mip, to, from);
	case BT_FIELD_CLASS_TYPE_BOOL:
		bt_field_bool_set_value(to, bt_field_bool_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_BIT_ARRAY:
		bt_field_bit_array_set_value_as_integer(to, bt_field_bit_array_get_value_as_integer(
								    from));
		return true;
	case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
		bt_field_real_single_precision_set_value(
			to, bt_field_real_single_precision_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
		bt_field_real_double_precision_set_value(
			to, bt_field_real_double_precision_get_value(from));
		return true;
	default:
		break;
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return copy_array_field(mip, to, from, type);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return copy_option_field(mip, to, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return copy_variant_field(mip, to, from);
	return mip->copy_blob(to, from);
}
