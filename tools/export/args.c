// SPDX-License-Identifier: GPL-2.0-only
/* Fields of events, as arguments of what viewers show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/array.h"
#include "babeltrace/fields.h"
#include "perfetto.h"

char *tcp_flags(uint16_t word, char text[TCP_FLAGS_SIZE])
{
	/* RFC 9293, 3.1, from the lowest bit on; AE is of RFC 9768, NS before. */
	static const char *const names[] = { "FIN", "SYN", "RST", "PSH", "ACK",
					     "URG", "ECE", "CWR", "AE" };
	size_t length = 0;

	*text = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (word & 1U << i)
			length += snprintf(text + length, TCP_FLAGS_SIZE - length,
					   "%s%s", length ? "|" : "", names[i]);
	return text;
}

bool args_add(struct args *args, struct arg arg)
{
	if (array_grow(&args->list, &args->room, args->num, sizeof(arg)))
		return false;
	args->list[args->num++] = arg;
	return true;
}

void args_release(struct args *args)
{
	free(args->list);
	args->list = NULL;
}

/* ---- values ------------------------------------------------------------- */

static bool is_a(const bt_field *field, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_get_class_type(field), type);
}

static double real_value(const bt_field *field)
{
	return bt_field_get_class_type(field) ==
	       BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL ?
	       bt_field_real_single_precision_get_value(field) :
	       bt_field_real_double_precision_get_value(field);
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

static void name_flags(struct args *args, struct arg *arg)
{
	if (arg->kind != ARG_UNSIGNED || strcmp(arg->name, "flags"))
		return;
	arg->kind = ARG_LABEL;
	arg->text = tcp_flags(arg->number, args->flags);
}

bool args_read(struct args *args, const bt_field *structure, bool has_flags)
{
	const bt_field_class *class = structure ?
		bt_field_borrow_class_const(structure) : NULL;
	const uint64_t num = class ?
		bt_field_class_structure_get_member_count(class) : 0;

	args->num = 0;
	for (uint64_t i = 0; i < num; i++) {
		struct arg arg = {
			.name = bt_field_class_structure_member_get_name(
				bt_field_class_structure_borrow_member_by_index_const(
					class, i)),
		};

		if (!set_value(&arg,
			       bt_field_structure_borrow_member_field_by_index_const(
				       structure, i)))
			continue;
		if (has_flags)
			name_flags(args, &arg);
		if (!args_add(args, arg))
			return false;
	}
	return true;
}

/* ---- members ------------------------------------------------------------ */

static const bt_field *member(const bt_field *structure, const char *name)
{
	return structure ?
		bt_field_structure_borrow_member_field_by_name_const(structure,
								     name) :
		NULL;
}

bool field_integer(const bt_field *structure, const char *name, int64_t *value)
{
	const bt_field *field = member(structure, name);

	if (field && is_a(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*value = (int64_t)bt_field_integer_unsigned_get_value(field);
	else if (field && is_a(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*value = bt_field_integer_signed_get_value(field);
	else
		return false;
	return true;
}

const char *field_text(const bt_field *structure, const char *name)
{
	const bt_field *field = member(structure, name);

	return field && is_a(field, BT_FIELD_CLASS_TYPE_STRING) ?
		field_string(field) : NULL;
}
