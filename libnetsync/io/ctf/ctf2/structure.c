// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Translate structures and variants to TSDL types, and find the fields to which other fields
 * refer.
 *
 * A field location is a path of member names from the root structure (its origin) or from the
 * innermost structure. TSDL instead uses one name, which it looks up in all open structures, the
 * inner ones first. Options of variants and elements of arrays are not part of the path.
 *
 *	{ "origin": "event-record-payload",		struct {
 *	  "path": ["header", "type"] }				... _kind;
 *								variant <_kind> {
 *									struct {
 *								->		... _type;
 *										variant <_type> ...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/ctf2/internal.h"
#include "util/array.h"

/* ---- field locations ----------------------------------------------------- */

/* Return the level of the structure to which a step leads, or -1 if no such structure is open. */
static int follow_path_step(const struct ctf2 *p, int level, struct json_object *step)
{
	if (!step)
		return level - 1;
	if (!json_object_is_type(step, json_type_string) || level + 1 >= p->num_open ||
	    !p->open[level].current || strcmp(p->open[level].current, json_object_get_string(step)))
		return -1;
	return level + 1;
}

static struct ctf2_member *find_member_by_path(struct ctf2 *p, struct json_object *path, int level)
{
	const size_t last = json_object_array_length(path) - 1;
	struct json_object *name = json_object_array_get_idx(path, last);
	const struct structure *in;

	for (size_t i = 0; i < last && level >= 0; i++)
		level = follow_path_step(p, level, json_object_array_get_idx(path, i));
	if (level < 0 || !json_object_is_type(name, json_type_string))
		return NULL;
	in = &p->open[level];
	for (size_t i = 0; i < in->num; i++)
		if (!strcmp(in->members[i].given, json_object_get_string(name)))
			return &in->members[i];
	return NULL;
}

/* Return whether a lookup by name in TSDL would find this member. */
static bool is_member_found_by_name(const struct ctf2 *p, const struct ctf2_member *wanted)
{
	for (int level = p->num_open; level-- > 0;) {
		const struct structure *in = &p->open[level];

		for (size_t i = in->num; i-- > 0;)
			if (!strcmp(in->members[i].name, wanted->name))
				return &in->members[i] == wanted;
	}
	return false;
}

struct ctf2_member *ctf2_find_located_member(struct ctf2 *p, struct json_object *class,
					     const char *key)
{
	struct json_object *location = NULL, *path = NULL;
	const char *origin = NULL;
	struct ctf2_member *found;

	if (!ctf2_get_typed(p, class, key, json_type_object, &location))
		return NULL;
	if (!location) {
		ctf2_fail_damaged(p, "a field class without \"%s\"", key);
		return NULL;
	}
	if (!ctf2_check_properties(p, location, "origin path") ||
	    !ctf2_get_string(p, location, "origin", &origin) ||
	    !ctf2_get_typed(p, location, "path", json_type_array, &path))
		return NULL;
	if (!path || !json_object_array_length(path)) {
		ctf2_fail_damaged(p, "a field location without a path");
		return NULL;
	}
	found = origin && strcmp(origin, p->origin) ?
			NULL :
			find_member_by_path(p, path, origin ? 0 : p->num_open - 1);
	if (found && found->made.is_integer && is_member_found_by_name(p, found))
		return found;
	ctf2_refuse(p, "a field location that does not lead to an earlier integer in the same %s",
		    p->origin);
	return NULL;
}

/* ---- members ------------------------------------------------------------- */

static bool is_member_name_taken(const struct structure *in, const char *name)
{
	for (size_t i = 0; i < in->num; i++)
		if (!strcmp(in->members[i].name, name))
			return true;
	return false;
}

/*
 * Name the last member. Like LTTng in CTF 1.8, put "_" before the name, because the name may be a
 * TSDL keyword. Readers remove the "_".
 */
static bool name_member(struct ctf2 *p, struct structure *in, const char *given)
{
	struct ctf2_member *m = &in->members[in->num];

	m->given = strdup(given);
	if (!m->given)
		return ctf2_fail_no_memory(p);
	if (!m->made.name && ctf2_has_meaning(p, given))
		return ctf2_refuse(p, "a field \"%.40s\" in %s without its role", given, p->origin);
	m->name = m->made.name ? strdup(m->made.name) : ctf2_make_name(p, "_", given);
	if (!m->name)
		return ctf2_fail_no_memory(p);
	return !is_member_name_taken(in, m->name) ||
	       ctf2_refuse(p, "several fields named \"%.40s\"", m->name);
}

static bool add_structure_member(struct ctf2 *p, struct structure *in, struct json_object *member,
				 uint64_t *align)
{
	struct json_object *class = NULL;
	struct ctf2_member *last;
	const char *name = NULL;

	if (!ctf2_check_properties(p, member, "name field-class") ||
	    !ctf2_get_string(p, member, "name", &name))
		return false;
	if (!name || !*name || !json_object_object_get_ex(member, "field-class", &class))
		return ctf2_fail_damaged(p, "a field without a name or a class");
	if (in->num == MAX_MEMBERS)
		return ctf2_refuse(p, "more than %d fields in one structure", MAX_MEMBERS);
	last = array_add(&in->members, in->num, sizeof(*last));
	if (!last)
		return ctf2_fail_no_memory(p);
	in->current = name;
	if (!ctf2_translate_class(p, class, &last->made) || !name_member(p, in, name)) {
		ctf2_made_release(&last->made);
		free(last->given);
		free(last->name);
		return false;
	}
	in->current = NULL;
	in->num++;
	if (last->made.align > *align)
		*align = last->made.align;
	return true;
}

static void release_members(struct structure *in)
{
	for (size_t i = 0; i < in->num; i++) {
		ctf2_made_release(&in->members[i].made);
		free(in->members[i].given);
		free(in->members[i].name);
	}
	free(in->members);
	*in = (struct structure){ 0 };
}

static bool add_members(struct ctf2 *p, struct structure *in, struct json_object *members,
			struct made *made, uint64_t align)
{
	const size_t num = members ? json_object_array_length(members) : 0;

	for (size_t i = 0; i < num; i++)
		if (!add_structure_member(p, in, json_object_array_get_idx(members, i), &align))
			return false;
	made->align = align;
	if (!ctf2_add_text(p, &made->type, "struct { "))
		return false;
	for (size_t i = 0; i < in->num; i++)
		if (!ctf2_add_declaration(p, &made->type, &in->members[i].made,
					  in->members[i].name))
			return false;
	return ctf2_add_text(p, &made->type, "} align(%" PRIu64 ")", align);
}

bool ctf2_translate_structure(struct ctf2 *p, struct json_object *class, struct made *made)
{
	struct structure *in = &p->open[p->num_open];
	struct json_object *members = NULL;
	uint64_t align = 1;
	bool ok;

	if (!ctf2_check_properties(p, class, "member-classes minimum-alignment") ||
	    !ctf2_get_count(p, class, "minimum-alignment", MAX_ALIGN, &align) ||
	    !ctf2_get_typed(p, class, "member-classes", json_type_array, &members))
		return false;
	if (!align || align & (align - 1))
		return ctf2_fail_damaged(p, "an invalid alignment");
	p->num_open++;
	ok = add_members(p, in, members, made, align);
	release_members(in);
	p->num_open--;
	return ok;
}

/* ---- variants ------------------------------------------------------------ */

/* Return whether the labels contain the name. */
static bool has_label_text(const struct ctf2_text *labels, const char *name)
{
	const size_t length = strlen(name);
	const char *at = labels->bytes;

	while (at && (at = strstr(at, name))) {
		if (at[-1] == '"' && at[length] == '"')
			return true;
		at += length;
	}
	return false;
}

/*
 * Add the ranges of an option to the labels of the selector. The label is the option's name. Do
 * nothing if a mapping with this name has the same ranges.
 */
static bool add_labels(struct ctf2 *p, struct ctf2_member *selector, const char *name,
		       struct json_object *option)
{
	struct json_object *ranges = NULL, *mapped;

	if (!ctf2_get_typed(p, option, "selector-field-ranges", json_type_array, &ranges))
		return false;
	if (!ranges || !json_object_array_length(ranges))
		return ctf2_fail_damaged(p, "an option without ranges");
	if (json_object_object_get_ex(selector->made.mappings, name, &mapped) &&
	    json_object_equal(mapped, ranges))
		return true;
	if (has_label_text(&selector->made.labels, name))
		return ctf2_refuse(p, "a mapping label equal to an option name, \"%.40s\"", name);
	return ctf2_add_ranges(p, &selector->made, name, ranges);
}

static bool note_option_name(struct ctf2 *p, struct made *made, const char *name)
{
	struct json_object *found;

	if (json_object_object_get_ex(made->options, name, &found))
		return ctf2_refuse(p, "two options named \"%.40s\"", name);
	return !json_object_object_add(made->options, name, NULL) || ctf2_fail_no_memory(p);
}

static bool add_option(struct ctf2 *p, struct ctf2_member *selector, const char *number,
		       struct json_object *option, struct made *made)
{
	struct json_object *class = NULL;
	struct made inner = { 0 };
	const char *given = number;
	char *name;
	bool ok;

	if (!ctf2_check_properties(p, option, "name field-class selector-field-ranges") ||
	    !ctf2_get_string(p, option, "name", &given))
		return false;
	if (!json_object_object_get_ex(option, "field-class", &class))
		return ctf2_fail_damaged(p, "an option without a class");
	name = ctf2_make_name(p, "_", given);
	ok = name && ctf2_translate_class(p, class, &inner);
	if (ok && inner.name)
		ok = ctf2_refuse(p, "a role for an option");
	ok = ok && ctf2_add_declaration(p, &made->type, &inner, name) &&
	     add_labels(p, selector, name, option) && note_option_name(p, made, name);
	ctf2_made_release(&inner);
	free(name);
	return ok;
}

bool ctf2_translate_variant(struct ctf2 *p, struct json_object *class, struct made *made)
{
	struct json_object *options = NULL;
	struct ctf2_member *selector;
	char number[24];
	size_t num;

	if (!ctf2_check_properties(p, class, "options selector-field-location") ||
	    !ctf2_get_typed(p, class, "options", json_type_array, &options))
		return false;
	num = options ? json_object_array_length(options) : 0;
	if (!num)
		return ctf2_fail_damaged(p, "a variant without options");
	if (num > MAX_MEMBERS)
		return ctf2_refuse(p, "more than %d options", MAX_MEMBERS);
	selector = ctf2_find_located_member(p, class, "selector-field-location");
	if (!selector)
		return false;
	if (selector->made.is_selector)
		return ctf2_refuse(p, "one selector for several variants");
	selector->made.is_selector = true;
	made->options = json_object_new_object();
	if (!made->options)
		return ctf2_fail_no_memory(p);
	if (!ctf2_add_text(p, &made->type, "variant <%s> { ", selector->name))
		return false;
	for (size_t i = 0; i < num; i++) {
		snprintf(number, sizeof(number), "%zu", i);
		if (!add_option(p, selector, number, json_object_array_get_idx(options, i), made))
			return false;
	}
	return ctf2_add_text(p, &made->type, "}");
}
