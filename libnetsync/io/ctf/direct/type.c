// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the integers of a type at a position in a packet. Advance the position. */
#include <endian.h>
#include <string.h>

#include "io/ctf/direct/type.h"

#define BYTE 8 /* bits */

static bool align_cursor(struct bit_cursor *c, uint32_t bits)
{
	const uint64_t at = (c->at + bits - 1) & ~(uint64_t)(bits - 1);

	if (at < c->at || at > c->end)
		return false;
	c->at = at;
	return true;
}

static bool skip_bits(struct bit_cursor *c, uint64_t bits)
{
	if (bits > c->end - c->at)
		return false;
	c->at += bits;
	return true;
}

/* ---- layout of types ---------------------------------------------------- */

static bool has_whole_bytes(const struct ctf_type *type)
{
	switch (type->kind) {
	case TYPE_INTEGER:
	case TYPE_FLOAT:
		return type->align == BYTE && type->size % BYTE == 0;
	case TYPE_ARRAY:
		return type->element->is_fixed && type->length;
	case TYPE_STRUCT:
		for (size_t i = 0; i < type->num_members; i++)
			if (!type->members[i].type->is_fixed || type->members[i].slot != NO_SLOT)
				return false;
		return type->num_members && type->align == BYTE;
	default:
		return false;
	}
}

static void finish_structure(struct ctf_type *type)
{
	uint64_t bits = 0;

	for (size_t i = type->num_members; i-- > 0;) {
		struct type_member *m = &type->members[i];
		const struct type_member *after = i + 1 < type->num_members ? m + 1 : NULL;

		m->run_bits = 0;
		m->next = i + 1;
		if (!m->type->is_fixed || m->slot != NO_SLOT)
			continue;
		m->run_bits = m->type->size;
		if (after && after->run_bits) {
			m->run_bits += after->run_bits;
			m->next = after->next;
		}
	}
	for (size_t i = 0; type->is_fixed && i < type->num_members; i++)
		bits += type->members[i].type->size;
	if (type->is_fixed)
		type->size = bits;
}

void type_finish(struct ctf_type *type)
{
	type->is_fixed = has_whole_bytes(type);
	if (type->kind == TYPE_STRUCT)
		finish_structure(type);
	if (type->kind == TYPE_ARRAY && type->is_fixed)
		type->size = type->length * type->element->size;
}

/* ---- integers ------------------------------------------------------------ */

/* Read an integer that is not made of whole bytes, in the given byte order. */
static uint64_t gather_bits(const struct bit_cursor *c, uint64_t size, bool big_endian)
{
	uint64_t value = 0;

	for (uint64_t i = 0; i < size; i++) {
		const uint64_t bit = c->at + i;
		const unsigned int shift = big_endian ? 7 - bit % BYTE : bit % BYTE;
		const uint64_t one = c->data[bit / BYTE] >> shift & 1;

		value |= one << (big_endian ? size - 1 - i : i);
	}
	return value;
}

static uint64_t load_integer(const uint8_t *from, uint64_t bytes, bool big_endian)
{
	uint64_t value = 0;

	if (bytes == 4) {
		uint32_t half;

		memcpy(&half, from, sizeof(half));
		return big_endian ? be32toh(half) : le32toh(half);
	}
	if (bytes == 8) {
		memcpy(&value, from, sizeof(value));
		return big_endian ? be64toh(value) : le64toh(value);
	}
	for (uint64_t i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << BYTE * (big_endian ? bytes - 1 - i : i);
	return value;
}

/*
 * Align the position and check the byte order: a byte cannot be shared by integers of both orders.
 */
static bool check_integer_start(const struct ctf_type *type, struct bit_cursor *c)
{
	if (!align_cursor(c, type->align))
		return false;
	if (c->at % BYTE && c->was_big_endian != type->is_big_endian)
		return false;
	c->was_big_endian = type->is_big_endian;
	return type->size <= c->end - c->at;
}

bool type_read_integer(const struct ctf_type *type, struct bit_cursor *c, uint64_t *value)
{
	if (!check_integer_start(type, c))
		return false;
	*value = c->at % BYTE || type->size % BYTE ?
			 gather_bits(c, type->size, type->is_big_endian) :
			 load_integer(c->data + c->at / BYTE, type->size / BYTE,
				      type->is_big_endian);
	if (type->is_signed && type->size < 64 && *value >> (type->size - 1))
		*value |= ~UINT64_C(0) << type->size;
	c->at += type->size;
	return true;
}

double type_read_float(const struct ctf_type *type, struct bit_cursor *c)
{
	uint64_t bits = 0;
	uint32_t half;
	float single = 0;
	double value = 0;

	type_read_integer(type, c, &bits);
	if (type->size == 32) {
		half = (uint32_t)bits;
		memcpy(&single, &half, sizeof(single));
		return (double)single;
	}
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* ---- other types -------------------------------------------------------- */

ptrdiff_t type_choose_option(const struct ctf_type *variant, const uint64_t *slots)
{
	const struct ctf_type *tag = variant->tag;
	const uint64_t value = slots[variant->slot];

	for (size_t i = 0; i < tag->num_labels; i++) {
		const struct type_label *label = &tag->labels[i];
		const bool is_in = tag->is_signed ? (int64_t)label->lo <= (int64_t)value &&
							    (int64_t)value <= (int64_t)label->hi :
						    label->lo <= value && value <= label->hi;

		/* Several labels may have the same value. */
		if (is_in && variant->options[i] >= 0)
			return variant->options[i];
	}
	return -1;
}

static bool skip_string(struct bit_cursor *c)
{
	const uint8_t *from, *zero;

	if (!align_cursor(c, BYTE))
		return false;
	from = c->data + c->at / BYTE;
	zero = memchr(from, 0, (c->end - c->at) / BYTE);
	return zero && skip_bits(c, (zero + 1 - from) * BYTE);
}

static bool skip_elements(const struct ctf_type *type, struct bit_cursor *c, uint64_t length)
{
	uint64_t bits;

	if (!align_cursor(c, type->align))
		return false;
	if (type->element->is_fixed)
		return !__builtin_mul_overflow(length, type->element->size, &bits) &&
		       skip_bits(c, bits);
	/*
	 * If elements had size 0, reading them would not advance the cursor, and the loop could be
	 * endless.
	 */
	for (uint64_t i = 0; i < length; i++) {
		const uint64_t before = c->at;

		if (!type_skip(type->element, c))
			return false;
		if (c->at == before)
			break;
	}
	return true;
}

static bool skip_member(const struct type_member *m, struct bit_cursor *c)
{
	if (m->slot == NO_SLOT)
		return type_skip(m->type, c);
	return type_read_integer(m->type, c, &c->slots[m->slot]);
}

static bool skip_structure(const struct ctf_type *type, struct bit_cursor *c)
{
	if (!align_cursor(c, type->align))
		return false;
	for (size_t i = 0; i < type->num_members;) {
		const struct type_member *m = &type->members[i];

		if (m->run_bits) {
			if (!align_cursor(c, BYTE) || !skip_bits(c, m->run_bits))
				return false;
			i = m->next;
		} else {
			if (!skip_member(m, c))
				return false;
			i++;
		}
	}
	return true;
}

bool type_skip(const struct ctf_type *type, struct bit_cursor *c)
{
	ptrdiff_t option;

	switch (type->kind) {
	case TYPE_INTEGER:
	case TYPE_FLOAT:
		return check_integer_start(type, c) && skip_bits(c, type->size);
	case TYPE_STRING:
		return skip_string(c);
	case TYPE_ARRAY:
		return skip_elements(type, c, type->length);
	case TYPE_SEQUENCE:
		return skip_elements(type, c, c->slots[type->slot]);
	case TYPE_STRUCT:
		return skip_structure(type, c);
	case TYPE_VARIANT:
		option = type_choose_option(type, c->slots);
		return option >= 0 && type_skip(type->members[option].type, c);
	}
	return false;
}

bool type_skip_to_member(const struct ctf_type *type, struct bit_cursor *c, size_t member)
{
	if (!align_cursor(c, type->align))
		return false;
	for (size_t i = 0; i < member;) {
		const struct type_member *m = &type->members[i];
		uint64_t bits = m->run_bits;

		if (!bits) {
			if (!skip_member(m, c))
				return false;
			i++;
			continue;
		}
		/* Skip the run to its end or to the requested member. */
		if (m->next > member)
			bits -= type->members[member].run_bits;
		if (!align_cursor(c, BYTE) || !skip_bits(c, bits))
			return false;
		i = m->next;
	}
	return align_cursor(c, type->members[member].type->align);
}

bool type_visit_integers(const struct ctf_type *type, struct bit_cursor *c, type_visit_func visit,
			 void *data)
{
	if (!align_cursor(c, type->align))
		return false;
	for (size_t i = 0; i < type->num_members; i++) {
		const struct type_member *m = &type->members[i];
		const struct ctf_type *inner = m->type;
		ptrdiff_t option;
		uint64_t value;

		if (inner->kind == TYPE_VARIANT) {
			option = type_choose_option(inner, c->slots);
			if (option < 0)
				return false;
			inner = inner->members[option].type;
		}
		if (inner->kind == TYPE_STRUCT) {
			if (!type_visit_integers(inner, c, visit, data))
				return false;
		} else if (inner->kind == TYPE_INTEGER) {
			if (!type_read_integer(inner, c, &value))
				return false;
			if (m->slot != NO_SLOT)
				c->slots[m->slot] = value;
			if (!visit(data, m->name, inner, value))
				return false;
		} else if (!type_skip(inner, c)) {
			return false;
		}
	}
	return true;
}
