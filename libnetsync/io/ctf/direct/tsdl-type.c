// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse declarations of types in metadata into struct ctf_type. */
#include <stdlib.h>
#include <string.h>

#include "io/ctf/direct/tsdl.h"
#include "util/array.h"

/* ---- types --------------------------------------------------------------- */

static struct ctf_type *new_tsdl_type(struct tsdl_parser *p, enum type_kind kind)
{
	struct ctf_type *type = calloc(1, sizeof(*type));

	p->no_memory |= !type;
	if (!type)
		return NULL;
	*type = (struct ctf_type){
		.kind = kind, .align = 1, .slot = NO_SLOT, .older = p->out->types
	};
	p->out->types = type;
	return type;
}

static const struct ctf_type *find_alias(const struct tsdl_parser *p, const char *name)
{
	for (size_t i = 0; i < p->out->num_aliases; i++)
		if (!strcmp(p->out->aliases[i].name, name))
			return p->out->aliases[i].type;
	return NULL;
}

/* Give a type a name. This function takes ownership of @name. */
bool tsdl_add_alias(struct tsdl_parser *p, char *name, const struct ctf_type *type)
{
	struct type_alias *last;

	if (!name || !type || p->out->num_aliases == MAX_ALIASES || find_alias(p, name)) {
		free(name);
		return false;
	}
	last = array_add(&p->out->aliases, p->out->num_aliases, sizeof(*last));
	if (!last) {
		p->no_memory = true;
		free(name);
		return false;
	}
	*last = (struct type_alias){ name, type };
	p->out->num_aliases++;
	return true;
}

/* Parse the name of a type, which has one or more words. */
static const struct ctf_type *parse_named_type(struct tsdl_parser *p)
{
	const struct ctf_type *type = NULL, *found;
	const char *end = p->at;
	char full[NAME_SIZE];
	size_t used = 0;

	while (tsdl_append_word(p, full, &used, ' ')) {
		/*
		 * Use the longest known name of a type. The word after it is the name of the field.
		 */
		found = find_alias(p, full);
		if (found) {
			type = found;
			end = p->at;
		}
	}
	p->at = end;
	return type;
}

static bool parse_type_align(struct tsdl_parser *p, struct ctf_type *type)
{
	uint64_t bits;

	if (!tsdl_parse_count(p, MAX_ALIGN, &bits) || !bits || bits & (bits - 1))
		return false;
	if (bits > type->align)
		type->align = bits;
	return true;
}

bool tsdl_parse_byte_order(struct tsdl_parser *p, struct ctf_type *type)
{
	if (tsdl_consume_word(p, "be") || tsdl_consume_word(p, "network"))
		type->is_big_endian = true;
	else if (tsdl_consume_word(p, "le"))
		type->is_big_endian = false;
	else
		return tsdl_consume_word(p, "native");
	return true;
}

static bool parse_signedness(struct tsdl_parser *p, struct ctf_type *type)
{
	uint64_t is;

	if (tsdl_consume_word(p, "true"))
		type->is_signed = true;
	else if (tsdl_parse_count(p, 1, &is))
		type->is_signed = is;
	else
		return tsdl_consume_word(p, "false");
	return true;
}

static bool parse_encoding(struct tsdl_parser *p, struct ctf_type *type)
{
	type->is_text = !tsdl_consume_word(p, "none");
	return !type->is_text || tsdl_consume_word(p, "UTF8") || tsdl_consume_word(p, "ASCII") ||
	       tsdl_consume_word(p, "utf8") || tsdl_consume_word(p, "ascii");
}

static bool parse_clock_map(struct tsdl_parser *p, struct ctf_type *type)
{
	type->is_clock = true;
	return tsdl_consume_word(p, "clock") && tsdl_consume_punctuation(p, ".") &&
	       tsdl_get_word_length(p) && (p->at += tsdl_get_word_length(p)) &&
	       tsdl_consume_punctuation(p, ".") && tsdl_consume_word(p, "value");
}

static bool parse_integer_base(struct tsdl_parser *p, struct ctf_type *type)
{
	uint64_t base;

	(void)type;
	return tsdl_parse_count(p, 36, &base) || tsdl_consume_word(p, "decimal") ||
	       tsdl_consume_word(p, "hex") || tsdl_consume_word(p, "octal") ||
	       tsdl_consume_word(p, "binary");
}

static bool parse_type_size(struct tsdl_parser *p, struct ctf_type *type)
{
	return tsdl_parse_count(p, 64, &type->size) && type->size;
}

/*
 * Parse the sizes of a floating-point number's parts. The size of the number is the sum of these
 * sizes.
 */
static bool parse_float_digits(struct tsdl_parser *p, struct ctf_type *type)
{
	uint64_t bits;

	if (!tsdl_parse_count(p, 64, &bits))
		return false;
	type->size += bits;
	return true;
}

static const struct attribute {
	const char *name;
	bool (*parse)(struct tsdl_parser *p, struct ctf_type *type);
} integer_attributes[] = {
	{ "size", parse_type_size }, { "align", parse_type_align },
	{ "signed", parse_signedness }, { "byte_order", tsdl_parse_byte_order },
	{ "base", parse_integer_base }, { "encoding", parse_encoding },
	{ "map", parse_clock_map }, { NULL, NULL },
}, float_attributes[] = {
	{ "exp_dig", parse_float_digits }, { "mant_dig", parse_float_digits },
	{ "align", parse_type_align }, { "byte_order", tsdl_parse_byte_order }, { NULL, NULL },
}, string_attributes[] = {
	{ "encoding", parse_encoding }, { NULL, NULL },
};

static bool parse_attributes(struct tsdl_parser *p, struct ctf_type *type,
			     const struct attribute *known)
{
	while (!tsdl_consume_punctuation(p, "}")) {
		const struct attribute *a = known;

		while (a->name && !tsdl_consume_word(p, a->name))
			a++;
		if (!a->name || !tsdl_consume_punctuation(p, "=") || !a->parse(p, type) ||
		    !tsdl_consume_punctuation(p, ";"))
			return false;
	}
	return true;
}

static const struct ctf_type *parse_integer_type(struct tsdl_parser *p)
{
	struct ctf_type *type = new_tsdl_type(p, TYPE_INTEGER);

	if (!type || !tsdl_consume_punctuation(p, "{"))
		return NULL;
	/* The alignment stays 0 if no attribute sets it. */
	type->align = 0;
	type->is_big_endian = p->big_endian;
	if (!parse_attributes(p, type, integer_attributes) || !type->size)
		return NULL;
	if (!type->align)
		type->align = type->size % 8 ? 1 : 8;
	type_finish(type);
	return type;
}

static const struct ctf_type *parse_float_type(struct tsdl_parser *p)
{
	struct ctf_type *type = new_tsdl_type(p, TYPE_FLOAT);

	if (!type || !tsdl_consume_punctuation(p, "{"))
		return NULL;
	type->is_big_endian = p->big_endian;
	if (!parse_attributes(p, type, float_attributes) || (type->size != 32 && type->size != 64))
		return NULL;
	if (type->align < 8)
		return NULL;
	type_finish(type);
	return type;
}

static const struct ctf_type *parse_string_type(struct tsdl_parser *p)
{
	struct ctf_type *type = new_tsdl_type(p, TYPE_STRING);

	if (!type ||
	    (tsdl_consume_punctuation(p, "{") && !parse_attributes(p, type, string_attributes)))
		return NULL;
	type->align = 8;
	return type;
}

/* ---- enumerations -------------------------------------------------------- */

static bool parse_enum_label(struct tsdl_parser *p, struct ctf_type *type, int64_t *next)
{
	int64_t lo = *next, hi;
	struct type_label *last;
	char *text = tsdl_parse_literal(p);

	if (!text)
		text = tsdl_parse_name(p);
	if (!text || type->num_labels == MAX_LABELS) {
		free(text);
		return false;
	}
	hi = lo;
	if ((tsdl_consume_punctuation(p, "=") && !(tsdl_parse_number(p, &lo) && (hi = lo, true))) ||
	    (tsdl_consume_punctuation(p, "...") && !tsdl_parse_number(p, &hi)))
		goto fail;
	*next = (int64_t)((uint64_t)hi + 1);
	last = array_add(&type->labels, type->num_labels, sizeof(*last));
	if (!last) {
		p->no_memory = true;
		goto fail;
	}
	*last = (struct type_label){ text, (uint64_t)lo, (uint64_t)hi };
	type->num_labels++;
	return true;
fail:
	free(text);
	return false;
}

static const struct ctf_type *parse_enum_type(struct tsdl_parser *p)
{
	const struct ctf_type *base;
	struct ctf_type *type, *older;
	int64_t next = 0;

	if (!tsdl_consume_punctuation(p, ":"))
		return NULL;
	base = tsdl_consume_word(p, "integer") ? parse_integer_type(p) : parse_named_type(p);
	if (!base || base->kind != TYPE_INTEGER || base->is_enum ||
	    !tsdl_consume_punctuation(p, "{"))
		return NULL;
	type = new_tsdl_type(p, TYPE_INTEGER);
	if (!type)
		return NULL;
	older = type->older;
	*type = *base;
	type->older = older;
	type->is_enum = true;
	while (!tsdl_consume_punctuation(p, "}")) {
		if (!parse_enum_label(p, type, &next))
			return NULL;
		if (!tsdl_consume_punctuation(p, ",") && (tsdl_skip_space(p), *p->at != '}'))
			return NULL;
	}
	return type;
}

/* ---- structures ---------------------------------------------------------- */

/* Add a member. This function takes ownership of @name. */
static bool add_type_member(struct tsdl_parser *p, struct ctf_type *type, char *name,
			    const struct ctf_type *inner)
{
	struct type_member *last = NULL;

	if (name && inner) {
		last = array_add(&type->members, type->num_members, sizeof(*last));
		p->no_memory |= !last;
	}
	if (!last) {
		free(name);
		return false;
	}
	*last = (struct type_member){ .name = name, .type = inner, .slot = NO_SLOT };
	type->num_members++;
	return true;
}

/*
 * Find a member in the open structures, beginning with the innermost. Leading underscores are
 * compared, too.
 */
static struct type_member *find_open_member(const struct tsdl_parser *p, const char *name)
{
	for (int depth = p->depth; depth-- > 0;) {
		struct ctf_type *type = p->open[depth];

		for (size_t i = type->num_members; type->kind == TYPE_STRUCT && i-- > 0;)
			if (!strcmp(type->members[i].name, name))
				return &type->members[i];
	}
	return NULL;
}

/* Return the slot of an earlier integer member. Return NO_SLOT if there is none. */
static int find_member_slot(struct tsdl_parser *p, const char *name, const struct ctf_type **type)
{
	struct type_member *m = name ? find_open_member(p, name) : NULL;

	if (!m || m->type->kind != TYPE_INTEGER)
		return NO_SLOT;
	*type = m->type;
	if (m->slot == NO_SLOT && p->out->num_slots < MAX_SLOTS)
		m->slot = p->out->num_slots++;
	return m->slot;
}

/* Parse the name of a member. Return the member's slot. */
static int parse_slot_name(struct tsdl_parser *p, const struct ctf_type **type)
{
	char *text = tsdl_parse_name(p);
	const int slot = find_member_slot(p, text, type);

	free(text);
	return slot;
}

/*
 * If brackets follow, parse an array or a sequence. Nested arrays are not supported, because no
 * tracer writes them.
 */
static const struct ctf_type *parse_array_brackets(struct tsdl_parser *p,
						   const struct ctf_type *element)
{
	const struct ctf_type *length;
	struct ctf_type *type;

	if (!tsdl_consume_punctuation(p, "["))
		return element;
	type = new_tsdl_type(p, TYPE_ARRAY);
	if (!type)
		return NULL;
	type->element = element;
	type->align = element->align;
	type->is_text = element->kind == TYPE_INTEGER && element->is_text;
	if (!tsdl_parse_count(p, UINT32_MAX, &type->length)) {
		type->kind = TYPE_SEQUENCE;
		type->slot = parse_slot_name(p, &length);
		if (type->slot == NO_SLOT || length->is_signed)
			return NULL;
	}
	type_finish(type);
	return tsdl_consume_punctuation(p, "]") ? type : NULL;
}

/* Parse the members of a structure, or the options of a variant. */
static bool parse_members(struct tsdl_parser *p, struct ctf_type *type)
{
	if (p->depth == MAX_DEPTH)
		return false;
	p->open[p->depth++] = type;
	while (!tsdl_consume_punctuation(p, "}")) {
		const struct ctf_type *inner = tsdl_parse_type(p);
		char *text = inner ? tsdl_parse_name(p) : NULL;

		if (text)
			inner = parse_array_brackets(p, inner);
		if (!add_type_member(p, type, text, inner) || !tsdl_consume_punctuation(p, ";"))
			return false;
		if (type->kind == TYPE_STRUCT && inner->align > type->align)
			type->align = inner->align;
	}
	p->depth--;
	return true;
}

const struct ctf_type *tsdl_parse_structure(struct tsdl_parser *p)
{
	char full[NAME_SIZE] = "struct ";
	const size_t before = strlen(full), length = tsdl_get_word_length(p);
	struct ctf_type *type;

	if (length >= sizeof(full) - before)
		return NULL;
	memcpy(full + before, p->at, length);
	p->at += length;
	if (!tsdl_consume_punctuation(p, "{"))
		return length ? find_alias(p, full) : NULL;
	type = new_tsdl_type(p, TYPE_STRUCT);
	if (!type || !parse_members(p, type) ||
	    (tsdl_consume_word(p, "align") &&
	     !(tsdl_consume_punctuation(p, "(") && parse_type_align(p, type) &&
	       tsdl_consume_punctuation(p, ")"))))
		return NULL;
	type_finish(type);
	if (length && !tsdl_add_alias(p, tsdl_copy_text(p, full, sizeof(full)), type))
		return NULL;
	return type;
}

/* Find the option for each label of a variant's tag. Both have the same name. */
static bool map_variant_options(struct tsdl_parser *p, struct ctf_type *variant)
{
	const struct ctf_type *tag = variant->tag;

	if (variant->num_members > MAX_OPTIONS)
		return false;
	variant->options = malloc((tag->num_labels + 1) * sizeof(*variant->options));
	p->no_memory |= !variant->options;
	for (size_t i = 0; variant->options && i < tag->num_labels; i++) {
		variant->options[i] = -1;
		for (size_t j = 0; j < variant->num_members; j++)
			if (!strcmp(tag->labels[i].name, variant->members[j].name))
				variant->options[i] = j;
	}
	return variant->options;
}

static const struct ctf_type *parse_variant_type(struct tsdl_parser *p)
{
	struct ctf_type *type = new_tsdl_type(p, TYPE_VARIANT);

	if (!type || !tsdl_consume_punctuation(p, "<"))
		return NULL;
	type->slot = parse_slot_name(p, &type->tag);
	if (type->slot == NO_SLOT || !type->tag->is_enum || !tsdl_consume_punctuation(p, ">") ||
	    !tsdl_consume_punctuation(p, "{") || !parse_members(p, type) ||
	    !map_variant_options(p, type))
		return NULL;
	return type;
}

const struct ctf_type *tsdl_parse_type(struct tsdl_parser *p)
{
	static const struct {
		const char *word;
		const struct ctf_type *(*parse)(struct tsdl_parser *p);
	} kinds[] = {
		{ "integer", parse_integer_type },  { "floating_point", parse_float_type },
		{ "string", parse_string_type },    { "enum", parse_enum_type },
		{ "struct", tsdl_parse_structure }, { "variant", parse_variant_type },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (tsdl_consume_word(p, kinds[i].word))
			return kinds[i].parse(p);
	return parse_named_type(p);
}
