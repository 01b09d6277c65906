// SPDX-License-Identifier: LGPL-2.1-or-later
/* Translate field classes (CTF2-SPEC-2.0, 5.3) to TSDL types. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/ctf2/internal.h"

/* TSDL type for a byte of a text. */
#define CHARACTER "integer { size = 8; align = 8; signed = false; encoding = UTF8; }"

/* ---- fixed lengths ------------------------------------------------------- */

/* Get the properties of a bit array with at most @most bits. */
static bool read_bit_array_class(struct ctf2 *p, struct json_object *class, uint64_t most,
				 struct made *made, uint64_t *bits, const char **order)
{
	const char *bytes = NULL, *usual, *first = NULL;
	uint64_t align = 1;

	*bits = 0;
	if (!ctf2_get_count(p, class, "length", most, bits) ||
	    !ctf2_get_count(p, class, "alignment", MAX_ALIGN, &align) ||
	    !ctf2_get_string(p, class, "byte-order", &bytes) ||
	    !ctf2_get_string(p, class, "bit-order", &first))
		return false;
	if (!*bits || !align || align & (align - 1) || !bytes)
		return ctf2_fail_damaged(p, "a field without length, alignment or byte order");
	if (!strcmp(bytes, "little-endian")) {
		*order = "le";
		usual = "first-to-last";
	} else if (!strcmp(bytes, "big-endian")) {
		*order = "be";
		usual = "last-to-first";
	} else {
		return ctf2_fail_damaged(p, "the byte order \"%.40s\"", bytes);
	}
	if (first && strcmp(first, usual))
		return ctf2_refuse(p, "the bit order \"%.40s\" with the byte order %s", first,
				   bytes);
	made->align = align;
	return true;
}

bool ctf2_add_ranges(struct ctf2 *p, struct made *made, const char *label,
		     struct json_object *ranges)
{
	if (!json_object_is_type(ranges, json_type_array))
		return ctf2_fail_damaged(p, "an invalid mapping \"%.40s\"", label);
	for (size_t i = 0; i < json_object_array_length(ranges); i++)
		if (!ctf2_add_text(p, &made->labels, "%s", made->labels.used ? ", " : "") ||
		    !ctf2_add_quoted(p, &made->labels, label) ||
		    !ctf2_add_text(p, &made->labels, " = ") ||
		    !ctf2_add_range(p, &made->labels, made->is_signed,
				    json_object_array_get_idx(ranges, i)))
			return false;
	return true;
}

static bool add_mappings(struct ctf2 *p, struct json_object *class, struct made *made)
{
	struct json_object *mappings = NULL;
	struct json_object_iter it;

	if (!ctf2_get_typed(p, class, "mappings", json_type_object, &mappings))
		return false;
	made->mappings = mappings;
	if (!mappings)
		return true;
	json_object_object_foreachC(mappings, it) {
		if (!ctf2_add_ranges(p, made, it.key, it.val))
			return false;
	}
	return true;
}

static bool make_integer(struct ctf2 *p, struct json_object *class, struct made *made,
			 bool is_signed)
{
	const char *order;
	uint64_t bits, base = 10;
	bool is_clock;

	made->is_integer = true;
	made->is_signed = is_signed;
	if (!ctf2_check_properties(
		    p, class,
		    "length byte-order bit-order alignment preferred-display-base mappings roles") ||
	    !read_bit_array_class(p, class, 64, made, &bits, &order) ||
	    !ctf2_get_count(p, class, "preferred-display-base", 16, &base) ||
	    !ctf2_read_role(p, class, made, &is_clock) || !add_mappings(p, class, made))
		return false;
	if (base != 2 && base != 8 && base != 10 && base != 16)
		return ctf2_fail_damaged(p, "an invalid base");
	if (made->name && (is_signed || !strcmp(made->name, "uuid")))
		return ctf2_fail_damaged(p, "an invalid role");
	if (made->name && !strcmp(made->name, "magic"))
		p->is_trace_big_endian = *order == 'b';
	if (!ctf2_add_text(p, &made->type,
			   "integer { size = %" PRIu64 "; align = %" PRIu32
			   "; signed = %s; byte_order = %s; base = %" PRIu64 ";",
			   bits, made->align, is_signed ? "true" : "false", order, base))
		return false;
	return (!is_clock || !p->clock ||
		ctf2_add_text(p, &made->type, " map = clock.%s.value;", p->clock)) &&
	       ctf2_add_text(p, &made->type, " }");
}

static bool make_unsigned(struct ctf2 *p, struct json_object *class, struct made *made)
{
	return make_integer(p, class, made, false);
}

static bool make_signed(struct ctf2 *p, struct json_object *class, struct made *made)
{
	return make_integer(p, class, made, true);
}

static bool make_float(struct ctf2 *p, struct json_object *class, struct made *made)
{
	const char *order;
	uint64_t bits;

	if (!ctf2_check_properties(p, class, "length byte-order bit-order alignment") ||
	    !read_bit_array_class(p, class, 64, made, &bits, &order))
		return false;
	if (bits != 32 && bits != 64)
		return ctf2_refuse(p, "a floating-point number of %" PRIu64 " bits", bits);
	return ctf2_add_text(p, &made->type,
			     "floating_point { exp_dig = %d; mant_dig = %d; align = %" PRIu32
			     "; byte_order = %s; }",
			     bits == 32 ? 8 : 11, bits == 32 ? 24 : 53, made->align, order);
}

/* ---- texts --------------------------------------------------------------- */

static bool check_text_encoding(struct ctf2 *p, struct json_object *class)
{
	const char *encoding = "utf-8";

	if (!ctf2_get_string(p, class, "encoding", &encoding))
		return false;
	return !strcmp(encoding, "utf-8") || ctf2_refuse(p, "the encoding \"%.40s\"", encoding);
}

static bool make_string(struct ctf2 *p, struct json_object *class, struct made *made)
{
	made->align = 8;
	return ctf2_check_properties(p, class, "encoding") && check_text_encoding(p, class) &&
	       ctf2_add_text(p, &made->type, "string");
}

/* Add the length of a type whose length is constant. */
static bool add_constant_length(struct ctf2 *p, struct json_object *class, struct made *made)
{
	uint64_t length = UINT64_MAX;

	if (!ctf2_get_count(p, class, "length", UINT32_MAX, &length))
		return false;
	if (length == UINT64_MAX)
		return ctf2_fail_damaged(p, "an array without a length");
	return ctf2_add_text(p, &made->suffix, "[%" PRIu64 "]", length);
}

/* Add the name of the field that contains the length. */
static bool add_length_field(struct ctf2 *p, struct json_object *class, struct made *made)
{
	const struct ctf2_member *length = ctf2_find_located_member(p, class,
								    "length-field-location");

	return length && ctf2_add_text(p, &made->suffix, "[ %s ]", length->name);
}

static bool make_fixed_text(struct ctf2 *p, struct json_object *class, struct made *made)
{
	made->align = 8;
	return ctf2_check_properties(p, class, "encoding length") &&
	       check_text_encoding(p, class) && ctf2_add_text(p, &made->type, CHARACTER) &&
	       add_constant_length(p, class, made);
}

static bool make_text(struct ctf2 *p, struct json_object *class, struct made *made)
{
	made->align = 8;
	return ctf2_check_properties(p, class, "encoding length-field-location") &&
	       check_text_encoding(p, class) && ctf2_add_text(p, &made->type, CHARACTER) &&
	       add_length_field(p, class, made);
}

/*
 * Translate a BLOB. CTF 1.8 has no BLOBs. Only the uuid in a packet header is a field in CTF 1.8.
 */
static bool make_blob(struct ctf2 *p, struct json_object *class, struct made *made)
{
	uint64_t length = 0;
	bool is_clock;

	made->align = 8;
	if (!ctf2_check_properties(p, class, "length media-type roles") ||
	    !ctf2_get_count(p, class, "length", UINT32_MAX, &length) ||
	    !ctf2_read_role(p, class, made, &is_clock))
		return false;
	if (!made->name || strcmp(made->name, "uuid") || length != 16)
		return ctf2_refuse(p, "a field class of type \"static-length-blob\"");
	p->has_uuid = true;
	return ctf2_add_text(p, &made->type, "integer { size = 8; align = 8; signed = false; }") &&
	       ctf2_add_text(p, &made->suffix, "[16]");
}

/* ---- arrays -------------------------------------------------------------- */

/*
 * Add the class of an array's elements. Reject nested arrays: no tracer writes them, and neither of
 * the two TSDL readers accepts them.
 */
static bool add_element_class(struct ctf2 *p, struct json_object *class, struct made *made)
{
	struct json_object *of = NULL;
	struct made element = { 0 };
	uint64_t align = 1;
	bool ok;

	if (!ctf2_get_count(p, class, "minimum-alignment", MAX_ALIGN, &align))
		return false;
	if (!json_object_object_get_ex(class, "element-field-class", &of))
		return ctf2_fail_damaged(p, "an array without an element class");
	ok = ctf2_translate_class(p, of, &element);
	if (ok && element.suffix.used)
		ok = ctf2_refuse(p, "an array of arrays");
	if (ok && align > element.align)
		ok = ctf2_refuse(p, "an array with its own alignment");
	if (ok && element.name)
		ok = ctf2_refuse(p, "a role for the elements of an array");
	if (ok) {
		made->align = element.align;
		ok = ctf2_add_declaration(p, &made->type, &element, "");
	}
	ctf2_made_release(&element);
	return ok;
}

static bool make_fixed_array(struct ctf2 *p, struct json_object *class, struct made *made)
{
	return ctf2_check_properties(p, class, "element-field-class length minimum-alignment") &&
	       add_element_class(p, class, made) && add_constant_length(p, class, made);
}

static bool make_array(struct ctf2 *p, struct json_object *class, struct made *made)
{
	return ctf2_check_properties(
		       p, class, "element-field-class length-field-location minimum-alignment") &&
	       add_length_field(p, class, made) && add_element_class(p, class, made);
}

/* ---- all field classes --------------------------------------------------- */

static const struct {
	const char *type;
	bool (*make)(struct ctf2 *p, struct json_object *class, struct made *made);
} kinds[] = {
	{ "fixed-length-unsigned-integer", make_unsigned },
	{ "fixed-length-signed-integer", make_signed },
	{ "fixed-length-floating-point-number", make_float },
	{ "null-terminated-string", make_string },
	{ "static-length-string", make_fixed_text },
	{ "dynamic-length-string", make_text },
	{ "static-length-blob", make_blob },
	{ "static-length-array", make_fixed_array },
	{ "dynamic-length-array", make_array },
	{ "structure", ctf2_translate_structure },
	{ "variant", ctf2_translate_variant },
};

#define NUM_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct json_object *ctf2_resolve_class(struct ctf2 *p, struct json_object *class)
{
	struct json_object *found = class;

	if (json_object_is_type(class, json_type_string) &&
	    !json_object_object_get_ex(p->aliases, json_object_get_string(class), &found))
		found = NULL;
	if (json_object_is_type(found, json_type_object))
		return found;
	ctf2_fail_damaged(p, "an invalid field class");
	return NULL;
}

bool ctf2_translate_class(struct ctf2 *p, struct json_object *class, struct made *made)
{
	const char *type = NULL;
	size_t i = 0;
	bool ok;

	*made = (struct made){ .align = 1 };
	class = ctf2_resolve_class(p, class);
	if (!class || !ctf2_get_string(p, class, "type", &type))
		return false;
	if (!type)
		return ctf2_fail_damaged(p, "a field class without a type");
	if (p->depth == MAX_DEPTH)
		return ctf2_refuse(p, "field classes nested more than %d deep", MAX_DEPTH);
	while (i < NUM_KINDS && strcmp(type, kinds[i].type))
		i++;
	if (i == NUM_KINDS)
		return ctf2_refuse(p, "a field class of type \"%.60s\"", type);
	p->depth++;
	ok = kinds[i].make(p, class, made);
	p->depth--;
	return ok;
}

void ctf2_made_release(struct made *made)
{
	free(made->type.bytes);
	free(made->suffix.bytes);
	free(made->labels.bytes);
	json_object_put(made->options);
}

bool ctf2_add_declaration(struct ctf2 *p, struct ctf2_text *text, const struct made *made,
			  const char *name)
{
	const bool is_enum = made->labels.used;

	return ctf2_add_text(p, text, "%s%s", is_enum ? "enum : " : "", made->type.bytes) &&
	       (!is_enum || ctf2_add_text(p, text, " { %s }", made->labels.bytes)) &&
	       (!*name || ctf2_add_text(p, text, " %s%s; ", name,
					made->suffix.used ? made->suffix.bytes : ""));
}
