// SPDX-License-Identifier: LGPL-2.1-or-later
/* Compare the types that this folder's parser finds with the field classes of libbabeltrace2. */
#include <ctype.h>
#include <string.h>

#include "io/ctf/direct/agree.h"

static bool agree_on_type(const struct ctf_type *type, const bt_field_class *class);

/*
 * libbabeltrace2 removes a leading underscore from names in CTF 1.8, and from names that
 * io/ctf/ctf2/ translated from CTF 2.
 */
static bool is_same_field_name(const char *ours, const char *theirs)
{
	if (!theirs)
		return false;
	for (ours += *ours == '_'; *ours && *theirs; ours++, theirs++)
		if (*ours != (isalnum((unsigned char)*theirs) ? *theirs : '_'))
			return false;
	return *ours == *theirs;
}

static bool agree_on_integer(const struct ctf_type *type, const bt_field_class *class)
{
	const bt_field_class_type is = bt_field_class_get_type(class);

	return bt_field_class_type_is(is, BT_FIELD_CLASS_TYPE_INTEGER) &&
	       bt_field_class_integer_get_field_value_range(class) == type->size &&
	       bt_field_class_type_is(is, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) == type->is_signed;
}

static bool agree_on_structure(const struct ctf_type *type, const bt_field_class *class)
{
	if (bt_field_class_get_type(class) != BT_FIELD_CLASS_TYPE_STRUCTURE ||
	    bt_field_class_structure_get_member_count(class) != type->num_members)
		return false;
	for (size_t i = 0; i < type->num_members; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(class, i);

		if (!is_same_field_name(type->members[i].name,
					bt_field_class_structure_member_get_name(member)) ||
		    !agree_on_type(type->members[i].type,
				   bt_field_class_structure_member_borrow_field_class_const(member)))
			return false;
	}
	return true;
}

static bool agree_on_variant(const struct ctf_type *type, const bt_field_class *class)
{
	if (!bt_field_class_type_is(bt_field_class_get_type(class), BT_FIELD_CLASS_TYPE_VARIANT) ||
	    bt_field_class_variant_get_option_count(class) != type->num_members)
		return false;
	for (size_t i = 0; i < type->num_members; i++) {
		const bt_field_class_variant_option *option =
			bt_field_class_variant_borrow_option_by_index_const(class, i);
		const char *name = bt_field_class_variant_option_get_name(option);

		/* In CTF 2, options may lack a name. */
		if ((name && !is_same_field_name(type->members[i].name, name)) ||
		    !agree_on_type(type->members[i].type,
				   bt_field_class_variant_option_borrow_field_class_const(option)))
			return false;
	}
	return true;
}

static bool agree_on_array(const struct ctf_type *type, const bt_field_class *class)
{
	const bt_field_class_type is = bt_field_class_get_type(class);

	if (type->is_text)
		return is == BT_FIELD_CLASS_TYPE_STRING;
	if (type->kind == TYPE_ARRAY ?
		    is != BT_FIELD_CLASS_TYPE_STATIC_ARRAY ||
			    bt_field_class_array_static_get_length(class) != type->length :
		    !bt_field_class_type_is(is, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY))
		return false;
	return agree_on_type(type->element,
			     bt_field_class_array_borrow_element_field_class_const(class));
}

static bool agree_on_type(const struct ctf_type *type, const bt_field_class *class)
{
	const bt_field_class_type is = bt_field_class_get_type(class);

	switch (type->kind) {
	case TYPE_INTEGER:
		return agree_on_integer(type, class);
	case TYPE_FLOAT:
		return is == (type->size == 32 ? BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL :
						 BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL);
	case TYPE_STRING:
		return is == BT_FIELD_CLASS_TYPE_STRING;
	case TYPE_STRUCT:
		return agree_on_structure(type, class);
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		return agree_on_array(type, class);
	case TYPE_VARIANT:
		return agree_on_variant(type, class);
	}
	return false;
}

/* Return whether the type and the class agree, or are both missing. */
static bool agree_on_optional_type(const struct ctf_type *type, const bt_field_class *class)
{
	return type && class ? agree_on_type(type, class) : !type && !class;
}

static bool agree_on_event(const struct ctf_event_type *type, const struct stream_type *stream,
			   const bt_event_class *class)
{
	const char *name = bt_event_class_get_name(class);

	return name && !strcmp(type->name, name) &&
	       agree_on_optional_type(type->context,
				      bt_event_class_borrow_specific_context_field_class_const(
					      class)) &&
	       agree_on_optional_type(type->fields,
				      bt_event_class_borrow_payload_field_class_const(class)) &&
	       agree_on_optional_type(stream->event_context,
				      bt_stream_class_borrow_event_common_context_field_class_const(
					      bt_event_class_borrow_stream_class_const(class)));
}

bool agree_on_stream(const struct metadata *metadata, const bt_stream_class *class)
{
	const uint64_t id = bt_stream_class_get_id(class);
	const struct stream_type *stream = metadata_find_stream(metadata, id);
	uint64_t num = 0;

	for (size_t i = 0; stream && i < metadata->num_events; i++) {
		const struct ctf_event_type *type = &metadata->events[i];
		const bt_event_class *theirs;

		if (type->stream_id != id)
			continue;
		num++;
		theirs = bt_stream_class_borrow_event_class_by_id_const(class, type->id);
		if (!theirs || !agree_on_event(type, stream, theirs))
			return false;
	}
	return stream && num == bt_stream_class_get_event_class_count(class);
}
