// SPDX-License-Identifier: LGPL-2.1-or-later
/* Get the members, elements, selected option or value of an event field. */
#include <string.h>

#include "io/ctf/field.h"

struct ctf_field ctf_get_member(const struct ctf_field *structure, uint64_t index)
{
	struct ctf_field member = *structure;

	if (structure->bt) {
		member.bt = bt_field_structure_borrow_member_field_by_index_const(structure->bt,
										  index);
		return member;
	}
	member.type = structure->type->members[index].type;
	/*
	 * This cannot fail, because direct_reader_read_event() has already skipped all fields of the event.
	 */
	type_skip_to_member(structure->type, &member.at, index);
	return member;
}

uint64_t ctf_get_integer(const struct ctf_field *field, bool is_signed)
{
	struct bit_cursor at = field->at;
	uint64_t value = 0;

	if (!field->bt)
		type_read_integer(field->type, &at, &value);
	else if (is_signed)
		value = bt_field_integer_signed_get_value(field->bt);
	else
		value = bt_field_integer_unsigned_get_value(field->bt);
	return value;
}

static uint64_t read_array_elements(const struct ctf_field *array, uint64_t *values, uint64_t most)
{
	const struct ctf_type *type = array->type;
	const uint64_t num = type->kind == TYPE_ARRAY ? type->length : array->at.slots[type->slot];
	struct bit_cursor at = array->at;

	for (uint64_t i = 0; i < num && i < most; i++)
		type_read_integer(type->element, &at, &values[i]);
	return num;
}

uint64_t ctf_get_elements(const struct ctf_field *array, uint64_t *values, uint64_t most)
{
	uint64_t num;

	if (!array->bt)
		return read_array_elements(array, values, most);
	num = bt_field_array_get_length(array->bt);
	for (uint64_t i = 0; i < num && i < most; i++)
		values[i] = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(array->bt, i));
	return num;
}

uint64_t ctf_get_selected(const struct ctf_field *variant)
{
	ptrdiff_t option;

	if (variant->bt)
		return bt_field_variant_get_selected_option_index(variant->bt);
	option = type_choose_option(variant->type, variant->at.slots);
	return option < 0 ? UINT64_MAX : (uint64_t)option;
}

struct ctf_field ctf_get_option(const struct ctf_field *variant)
{
	struct ctf_field option = *variant;

	if (variant->bt)
		option.bt = bt_field_variant_borrow_selected_option_field_const(variant->bt);
	else
		option.type = variant->type->members[ctf_get_selected(variant)].type;
	return option;
}

uint64_t ctf_get_text(const struct ctf_field *string, const char **text)
{
	if (!string->bt) {
		*text = (const char *)string->at.data + string->at.at / 8;
		return strlen(*text);
	}
	/*
	 * Return the length: for an empty string, Babeltrace 2.0 does not remove the previous text.
	 */
	*text = bt_field_string_get_value(string->bt);
	return bt_field_string_get_length(string->bt);
}
