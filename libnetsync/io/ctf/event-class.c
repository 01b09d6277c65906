// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The fields of an event and their values, described by libbabeltrace2's classes. Events that
 * libbabeltrace2 has read have decoded fields. Fields of events that direct/ has read are decoded
 * on request. In both cases, libbabeltrace2 provides the labels of enumerations.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/event-class.h"
#include "util/array.h"

/* Number of event ids in event_classes.by_id, which are all ids that direct/ supports. */
#define NUM_QUICK_IDS 65536

static bool is_field_class_of(const bt_field_class *class, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_class_get_type(class), type);
}

/* ---- classes ------------------------------------------------------------- */

static const bt_field_class *get_scope_class(const bt_event_class *bt, enum event_scope scope)
{
	switch (scope) {
	case SCOPE_SPECIFIC:
		return bt_event_class_borrow_specific_context_field_class_const(bt);
	case SCOPE_COMMON:
		return bt_stream_class_borrow_event_common_context_field_class_const(
			bt_event_class_borrow_stream_class_const(bt));
	default:
		return bt_event_class_borrow_payload_field_class_const(bt);
	}
}

static uint64_t count_structure_members(const bt_field_class *structure)
{
	return structure ? bt_field_class_structure_get_member_count(structure) : 0;
}

static void add_scope_fields(struct ctf_event_class *class, enum event_scope scope)
{
	const bt_field_class *structure = get_scope_class(class->bt, scope);
	const uint64_t num = count_structure_members(structure);

	for (uint64_t i = 0; i < num; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(structure, i);

		class->names[class->num] = bt_field_class_structure_member_get_name(member);
		class->places[class->num++] = (struct ctf_field_place){
			scope,
			i,
			bt_field_class_structure_member_borrow_field_class_const(member),
		};
	}
	if (scope != SCOPE_PAYLOAD)
		class->num_context = class->num;
}

static void free_event_class(struct ctf_event_class *class)
{
	if (!class)
		return;
	free(class->names);
	free(class->places);
	free(class);
}

static struct ctf_event_class *new_event_class(const bt_event_class *bt)
{
	struct ctf_event_class *class = calloc(1, sizeof(*class));
	uint64_t num = 0;

	if (!class)
		return NULL;
	for (enum event_scope i = 0; i < NUM_SCOPES; i++)
		num += count_structure_members(get_scope_class(bt, i));
	class->bt = bt;
	class->name = bt_event_class_get_name(bt);
	if (!class->name)
		class->name = "";
	class->names = calloc(num + 1, sizeof(*class->names));
	class->places = calloc(num + 1, sizeof(*class->places));
	if (!class->names || !class->places || num > UINT32_MAX) {
		free_event_class(class);
		return NULL;
	}
	for (enum event_scope i = 0; i < NUM_SCOPES; i++)
		add_scope_fields(class, i);
	return class;
}

/* Index a class for event_classes_find_by_id(). Return false if out of memory. */
static bool index_class_by_id(struct event_classes *classes, struct ctf_event_class *class)
{
	const uint64_t id = bt_event_class_get_id(class->bt);
	struct ctf_event_class **more;

	if (id >= NUM_QUICK_IDS)
		return true;
	if (id >= classes->num_ids) {
		more = realloc(classes->by_id, (id + 1) * sizeof(*more));
		if (!more)
			return false;
		memset(more + classes->num_ids, 0, (id + 1 - classes->num_ids) * sizeof(*more));
		classes->by_id = more;
		classes->num_ids = id + 1;
	}
	classes->by_id[id] = class;
	return true;
}

const struct ctf_event_class *event_classes_find(struct event_classes *classes,
						 const bt_event_class *bt)
{
	const uint64_t id = bt_event_class_get_id(bt);
	struct ctf_event_class **last;

	if (id < classes->num_ids && classes->by_id[id])
		return classes->by_id[id];
	for (size_t i = 0; i < classes->num && id >= NUM_QUICK_IDS; i++)
		if (classes->list[i]->bt == bt)
			return classes->list[i];
	last = array_add(&classes->list, classes->num, sizeof(*last));
	if (!last)
		return NULL;
	*last = new_event_class(bt);
	if (!*last)
		return NULL;
	classes->num++;
	return index_class_by_id(classes, *last) ? *last : NULL;
}

const struct ctf_event_class *event_classes_find_by_id(struct event_classes *classes, uint64_t id)
{
	const bt_event_class *bt;

	if (id < classes->num_ids && classes->by_id[id])
		return classes->by_id[id];
	bt = bt_stream_class_borrow_event_class_by_id_const(classes->stream, id);
	/* agree_on_stream() has already checked that the class exists. */
	return bt ? event_classes_find(classes, bt) : NULL;
}

void event_classes_release(struct event_classes *classes)
{
	for (size_t i = 0; i < classes->num; i++)
		free_event_class(classes->list[i]);
	free(classes->list);
	free(classes->by_id);
}

/* ---- values, for both kinds of events ---------------------------------------- */

void value_copies_free(struct value_copies *copies)
{
	for (size_t i = 0; i < copies->num; i++)
		free(copies->list[i]);
	free(copies->list);
	*copies = (struct value_copies){ 0 };
}

static uint8_t *new_value_copy(struct value_copies *copies, uint64_t size)
{
	void **last = array_add(&copies->list, copies->num, sizeof(*last));

	if (!last || size > SIZE_MAX - 1)
		return NULL;
	*last = malloc(size + 1);
	copies->num += !!*last;
	return *last;
}

/* Set a text that ends with a NUL, or the label of an integer, which is NULL without a label. */
static void set_text_value(struct netsync_io_value *value, const char *text, uint64_t length)
{
	value->bytes = (const uint8_t *)text;
	/* No event is as long as this limit. */
	value->num_bytes = length < UINT32_MAX ? length : UINT32_MAX;
}

static int set_integer_value(struct netsync_io_value *value, const bt_field_class *class,
			     uint64_t number)
{
	bt_field_class_enumeration_mapping_label_array labels;
	const bool is_signed = is_field_class_of(class, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	uint64_t num = 0;

	value->kind = is_signed ? NETSYNC_IO_SIGNED : NETSYNC_IO_UNSIGNED;
	value->number = (int64_t)number;
	if (is_field_class_of(class, BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION))
		bt_field_class_enumeration_unsigned_get_mapping_labels_for_value(class, number,
										 &labels, &num);
	else if (is_field_class_of(class, BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION))
		bt_field_class_enumeration_signed_get_mapping_labels_for_value(class,
									       (int64_t)number,
									       &labels, &num);
	if (num)
		set_text_value(value, labels[0], strlen(labels[0]));
	return 0;
}

/* Return whether the class is an array of bytes. */
static bool is_byte_array(const bt_field_class *class)
{
	const bt_field_class *element;

	if (!is_field_class_of(class, BT_FIELD_CLASS_TYPE_ARRAY))
		return false;
	element = bt_field_class_array_borrow_element_field_class_const(class);
	return is_field_class_of(element, BT_FIELD_CLASS_TYPE_INTEGER) &&
	       bt_field_class_integer_get_field_value_range(element) == 8;
}

/* ---- values that libbabeltrace2 has read --------------------------------- */

static const bt_field *get_scope_field(const bt_event *event, enum event_scope scope)
{
	switch (scope) {
	case SCOPE_SPECIFIC:
		return bt_event_borrow_specific_context_field_const(event);
	case SCOPE_COMMON:
		return bt_event_borrow_common_context_field_const(event);
	default:
		return bt_event_borrow_payload_field_const(event);
	}
}

static int copy_array_elements(const struct ctf_raw *raw, const bt_field *array,
			       struct netsync_io_value *value)
{
	const uint64_t num = bt_field_array_get_length(array);
	uint8_t *copy = new_value_copy(raw->copies, num);

	if (!copy)
		return -ENOMEM;
	for (uint64_t i = 0; i < num; i++) {
		const bt_field *element = bt_field_array_borrow_element_field_by_index_const(array,
											     i);

		if (is_field_class_of(bt_field_borrow_class_const(element),
				      BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
			copy[i] = bt_field_integer_signed_get_value(element);
		else
			copy[i] = bt_field_integer_unsigned_get_value(element);
	}
	value->kind = NETSYNC_IO_BYTES;
	set_text_value(value, (char *)copy, num);
	return 0;
}

static int get_bt_value(const struct ctf_raw *raw, const bt_field *field,
			const bt_field_class *class, struct netsync_io_value *value)
{
	if (is_field_class_of(class, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return set_integer_value(value, class, bt_field_integer_unsigned_get_value(field));
	if (is_field_class_of(class, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return set_integer_value(value, class, bt_field_integer_signed_get_value(field));
	if (is_field_class_of(class, BT_FIELD_CLASS_TYPE_STRING)) {
		value->kind = NETSYNC_IO_TEXT;
		/*
		 * Use the length: for an empty string, Babeltrace 2.0 does not remove the previous
		 * text.
		 */
		set_text_value(value, bt_field_string_get_value(field),
			       bt_field_string_get_length(field));
	} else if (is_field_class_of(class, BT_FIELD_CLASS_TYPE_BOOL)) {
		value->kind = NETSYNC_IO_BOOL;
		value->number = bt_field_bool_get_value(field);
	} else if (is_field_class_of(class, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)) {
		value->kind = NETSYNC_IO_REAL;
		value->real = bt_field_real_single_precision_get_value(field);
	} else if (is_field_class_of(class, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)) {
		value->kind = NETSYNC_IO_REAL;
		value->real = bt_field_real_double_precision_get_value(field);
	} else {
		return is_byte_array(class) ? copy_array_elements(raw, field, value) : -ENODATA;
	}
	return 0;
}

/* ---- values that direct/ has read ---------------------------------------- */

static const struct ctf_type *get_scope_type(const struct direct_event *direct,
					     enum event_scope scope)
{
	return scope == SCOPE_SPECIFIC ? direct->type->context :
	       scope == SCOPE_COMMON   ? direct->common :
					 direct->type->fields;
}

static struct bit_cursor get_scope_cursor(const struct direct_event *direct, enum event_scope scope)
{
	return scope == SCOPE_SPECIFIC ? direct->specific :
	       scope == SCOPE_COMMON   ? direct->context :
					 direct->fields;
}

/* Get the bytes in an array of 8-bit integers. Return 0 or -ENOMEM. */
static int read_array_bytes(const struct ctf_raw *raw, const struct ctf_type *type,
			    struct bit_cursor at, struct netsync_io_value *value)
{
	const uint64_t num = type->kind == TYPE_ARRAY ? type->length : at.slots[type->slot];
	uint8_t *copy;

	if (type->element->is_fixed) {
		set_text_value(value, (const char *)at.data + at.at / 8, num);
		return 0;
	}
	copy = new_value_copy(raw->copies, num);
	if (!copy)
		return -ENOMEM;
	for (uint64_t i = 0; i < num; i++) {
		uint64_t element = 0;

		type_read_integer(type->element, &at, &element);
		copy[i] = element;
	}
	set_text_value(value, (char *)copy, num);
	return 0;
}

static int read_array_value(const struct ctf_raw *raw, const struct ctf_type *type,
			    const struct bit_cursor *at, const bt_field_class *class,
			    struct netsync_io_value *value)
{
	int ret;

	if (type->element->kind != TYPE_INTEGER || type->element->size != 8)
		return -ENODATA;
	if (!type->is_text && !is_byte_array(class))
		return -ENODATA;
	ret = read_array_bytes(raw, type, *at, value);
	value->kind = type->is_text ? NETSYNC_IO_TEXT : NETSYNC_IO_BYTES;
	if (!ret && type->is_text)
		value->num_bytes = strnlen((const char *)value->bytes, value->num_bytes);
	return ret;
}

static int read_direct_value(const struct ctf_raw *raw, const struct ctf_field_place *place,
			     struct netsync_io_value *value)
{
	const struct ctf_type *structure = get_scope_type(raw->direct, place->scope);
	const struct ctf_type *type = structure->members[place->member].type;
	struct bit_cursor at = get_scope_cursor(raw->direct, place->scope);
	uint64_t number = 0;

	/*
	 * This call and the next ones cannot fail, because direct_reader_read_event() has already skipped
	 * all fields.
	 */
	type_skip_to_member(structure, &at, place->member);
	switch (type->kind) {
	case TYPE_INTEGER:
		type_read_integer(type, &at, &number);
		return set_integer_value(value, place->class, number);
	case TYPE_FLOAT:
		value->kind = NETSYNC_IO_REAL;
		value->real = type_read_float(type, &at);
		return 0;
	case TYPE_STRING:
		value->kind = NETSYNC_IO_TEXT;
		set_text_value(value, (const char *)at.data + at.at / 8,
			       strlen((const char *)at.data + at.at / 8));
		return 0;
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		return read_array_value(raw, type, &at, place->class, value);
	default:
		return -ENODATA;
	}
}

int ctf_get_value(const struct event_raw *of, uint32_t field, struct netsync_io_value *value)
{
	const struct ctf_raw *raw = (const struct ctf_raw *)of;
	const struct ctf_field_place *place = &raw->class->places[field];

	if (!raw->bt)
		return read_direct_value(raw, place, value);
	return get_bt_value(raw,
			    bt_field_structure_borrow_member_field_by_index_const(
				    get_scope_field(raw->bt, place->scope), place->member),
			    place->class, value);
}
