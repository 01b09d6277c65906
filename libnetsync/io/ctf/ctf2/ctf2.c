// SPDX-License-Identifier: LGPL-2.1-or-later
/* Translate CTF 2 metadata fragments (CTF2-SPEC-2.0, 5.4 to 5.9) to TSDL blocks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/ctf2/internal.h"
#include "io/ctf/uuid.h"
#include "util/array.h"

/*
 * Maximum depth of JSON. A field class is inside of up to three objects or arrays of the class that
 * encloses it.
 */
#define JSON_DEPTH (4 * MAX_DEPTH)

/* ---- field classes of fragments ------------------------------------------ */

/* Add "entry := TYPE; " for a property that is a structure. */
static bool add_root_structure(struct ctf2 *p, struct ctf2_text *text, struct json_object *fragment,
			       const char *key, const char *origin, const char *entry)
{
	struct json_object *class = NULL;
	const char *type = NULL;
	struct made made;
	bool ok;

	if (!json_object_object_get_ex(fragment, key, &class))
		return true;
	class = ctf2_resolve_class(p, class);
	if (!class || !ctf2_get_string(p, class, "type", &type))
		return false;
	if (!type || strcmp(type, "structure"))
		return ctf2_fail_damaged(p, "a \"%s\" that is not a structure", key);
	p->origin = origin;
	ok = ctf2_translate_class(p, class, &made) && ctf2_add_text(p, text, "%s := ", entry) &&
	     ctf2_add_declaration(p, text, &made, "") && ctf2_add_text(p, text, ";\n");
	ctf2_made_release(&made);
	return ok;
}

static bool translate_alias(struct ctf2 *p, struct json_object *fragment)
{
	struct json_object *class = NULL, *found;
	const char *name = NULL;

	if (!ctf2_check_properties(p, fragment, "name field-class") ||
	    !ctf2_get_string(p, fragment, "name", &name))
		return false;
	if (!name || !json_object_object_get_ex(fragment, "field-class", &class))
		return ctf2_fail_damaged(p, "an alias without a name or a class");
	class = ctf2_resolve_class(p, class);
	if (!class)
		return false;
	if (json_object_object_get_ex(p->aliases, name, &found))
		return ctf2_fail_damaged(p, "two aliases named \"%.40s\"", name);
	p->aliases_size += p->fragment_size;
	if (p->aliases_size > MAX_ALIASES_SIZE ||
	    json_object_object_length(p->aliases) == MAX_ALIASES)
		return ctf2_refuse(p, "more aliases than netsync translates");
	return !json_object_object_add(p->aliases, name, json_object_get(class)) ||
	       ctf2_fail_no_memory(p);
}

/* ---- preamble and trace -------------------------------------------------- */

static bool translate_uuid(struct ctf2 *p, struct json_object *bytes)
{
	char *at = p->uuid;

	if (json_object_array_length(bytes) != UUID_SIZE)
		return ctf2_fail_damaged(p, "an invalid uuid");
	for (size_t i = 0; i < UUID_SIZE; i++) {
		struct json_object *byte = json_object_array_get_idx(bytes, i);
		const int64_t value = json_object_get_int64(byte);

		if (!json_object_is_type(byte, json_type_int) || value < 0 || value > UINT8_MAX)
			return ctf2_fail_damaged(p, "an invalid uuid");
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		for (int shift = 4; shift >= 0; shift -= 4)
			*at++ = "0123456789abcdef"[value >> shift & 15];
	}
	return true;
}

static bool check_preamble(struct ctf2 *p, struct json_object *fragment)
{
	struct json_object *uuid = NULL;
	uint64_t version = 0;

	if (!ctf2_check_properties(p, fragment, "version uuid") ||
	    !ctf2_get_count(p, fragment, "version", INT64_MAX, &version) ||
	    !ctf2_get_typed(p, fragment, "uuid", json_type_array, &uuid))
		return false;
	if (version != 2)
		return ctf2_refuse(p, "version %" PRIu64, version);
	if (p->has_preamble)
		return ctf2_fail_damaged(p, "two preambles");
	p->has_preamble = true;
	return !uuid || translate_uuid(p, uuid);
}

static bool is_uuid_text(const char *text)
{
	uint8_t bytes[UUID_SIZE];

	return text && ctf_parse_uuid(bytes, text);
}

static bool add_environment_entry(struct ctf2 *p, struct ctf2_text *text, const char *key,
				  struct json_object *value)
{
	if (!ctf2_add_text(p, text, "\t%s = ", key))
		return false;
	if (json_object_is_type(value, json_type_string)) {
		if (!ctf2_add_quoted(p, text, json_object_get_string(value)))
			return false;
	} else if (!json_object_is_type(value, json_type_int)) {
		return ctf2_fail_damaged(p, "an invalid environment");
	} else if (!ctf2_add_text(p, text, "%" PRId64, json_object_get_int64(value))) {
		return false;
	}
	return ctf2_add_text(p, text, ";\n");
}

/*
 * Add the environment. Skip entries whose names are not valid in TSDL, because nothing depends on
 * them.
 */
static bool add_environment(struct ctf2 *p, struct json_object *fragment)
{
	struct json_object *environment = NULL;
	struct json_object_iter it;
	struct ctf2_text *text = &p->trace;

	if (!ctf2_get_typed(p, fragment, "environment", json_type_object, &environment))
		return false;
	if (!environment)
		return true;
	if (!ctf2_add_text(p, text, "env {\n"))
		return false;
	json_object_object_foreachC(environment, it) {
		if (ctf2_is_name(it.key) && !add_environment_entry(p, text, it.key, it.val))
			return false;
	}
	return ctf2_add_text(p, text, "};\n");
}

/*
 * Write the trace block. If packets contain a uuid, the block has the metadata's uuid. If a tracer
 * wrote both, the metadata's uuid is also the uuid of the trace.
 */
static bool write_trace_block(struct ctf2 *p, const char *uid, const struct ctf2_text *header)
{
	const char *uuid = p->has_uuid && *p->uuid ? p->uuid : is_uuid_text(uid) ? uid : NULL;

	if (p->has_uuid && !*p->uuid)
		return ctf2_fail_damaged(p, "a packet uuid but no trace uuid");
	return ctf2_add_text(p, &p->trace,
			     "/* CTF 1.8 */\ntrace {\n\tmajor = 1;\n\tminor = 8;\n") &&
	       (!uuid || ctf2_add_text(p, &p->trace, "\tuuid = \"%s\";\n", uuid)) &&
	       ctf2_add_text(p, &p->trace, "\tbyte_order = %s;\n%s};\n",
			     p->is_trace_big_endian ? "be" : "le",
			     header->used ? header->bytes : "");
}

static bool translate_trace_class(struct ctf2 *p, struct json_object *fragment)
{
	struct ctf2_text header = { 0 };
	const char *uid = NULL;
	bool ok;

	if (p->has_trace)
		return ctf2_fail_damaged(p, "two trace classes");
	p->has_trace = true;
	ok = ctf2_check_properties(p, fragment,
				   "namespace name uid environment packet-header-field-class") &&
	     ctf2_get_string(p, fragment, "uid", &uid) &&
	     add_root_structure(p, &header, fragment, "packet-header-field-class", "packet-header",
				"\tpacket.header") &&
	     write_trace_block(p, uid, &header) && add_environment(p, fragment);
	free(header.bytes);
	return ok;
}

/* ---- clocks -------------------------------------------------------------- */

static const char *find_clock_by_id(const struct ctf2 *p, const char *id)
{
	for (size_t i = 0; i < p->num_clocks; i++)
		if (!strcmp(p->clocks[i].id, id))
			return p->clocks[i].name;
	return NULL;
}

static bool add_clock_name(struct ctf2 *p, const char *id, const char *name)
{
	struct ctf2_clock *last;

	for (size_t i = 0; i < p->num_clocks; i++)
		if (!strcmp(p->clocks[i].id, id) || !strcmp(p->clocks[i].name, name))
			return ctf2_refuse(p, "two clocks named \"%.40s\"", name);
	/* No trace has more than one or two clocks. */
	if (p->num_clocks == MAX_MEMBERS)
		return ctf2_refuse(p, "more than %d clocks", MAX_MEMBERS);
	last = array_add(&p->clocks, p->num_clocks, sizeof(*last));
	if (!last)
		return ctf2_fail_no_memory(p);
	p->num_clocks++;
	last->id = strdup(id);
	last->name = strdup(name);
	return (last->id && last->name) || ctf2_fail_no_memory(p);
}

struct clock_values {
	const char *id, *name, *uid, *description;
	uint64_t frequency, precision, cycles;
	int64_t seconds;
	bool is_unix;
};

static bool read_clock_origin(struct ctf2 *p, struct json_object *fragment,
			      struct clock_values *values)
{
	struct json_object *origin, *offset = NULL;

	if (!ctf2_get_typed(p, fragment, "offset-from-origin", json_type_object, &offset))
		return false;
	if (offset && (!ctf2_check_properties(p, offset, "seconds cycles") ||
		       !ctf2_get_number(p, offset, "seconds", &values->seconds) ||
		       !ctf2_get_count(p, offset, "cycles", UINT64_MAX, &values->cycles)))
		return false;
	/* All other origins are objects. */
	if (!json_object_object_get_ex(fragment, "origin", &origin) ||
	    json_object_is_type(origin, json_type_object))
		return true;
	if (!json_object_is_type(origin, json_type_string) ||
	    strcmp(json_object_get_string(origin), "unix-epoch"))
		return ctf2_fail_damaged(p, "an invalid clock origin");
	values->is_unix = true;
	return true;
}

static bool write_clock(struct ctf2 *p, const struct clock_values *v)
{
	struct ctf2_text *text = &p->streams;

	return ctf2_add_text(p, text, "clock {\n\tname = \"%s\";\n", v->name) &&
	       (!is_uuid_text(v->uid) || ctf2_add_text(p, text, "\tuuid = \"%s\";\n", v->uid)) &&
	       ctf2_add_text(p, text, "\tdescription = ") &&
	       ctf2_add_quoted(p, text, v->description) &&
	       ctf2_add_text(p, text,
			     ";\n\tfreq = %" PRIu64 ";\n\tprecision = %" PRIu64
			     ";\n\toffset_s = %" PRId64 ";\n\toffset = %" PRIu64
			     ";\n\tabsolute = %s;\n};\n",
			     v->frequency, v->precision, v->seconds, v->cycles,
			     v->is_unix ? "true" : "false");
}

static bool translate_clock_class(struct ctf2 *p, struct json_object *fragment)
{
	struct clock_values v = { .description = "" };

	if (!ctf2_check_properties(
		    p, fragment,
		    "id namespace name uid description frequency precision accuracy origin offset-from-origin") ||
	    !ctf2_get_string(p, fragment, "id", &v.id) ||
	    !ctf2_get_string(p, fragment, "uid", &v.uid) ||
	    !ctf2_get_string(p, fragment, "description", &v.description) ||
	    !ctf2_get_count(p, fragment, "frequency", UINT64_MAX, &v.frequency) ||
	    !ctf2_get_count(p, fragment, "precision", UINT64_MAX, &v.precision))
		return false;
	v.name = v.id;
	if (!ctf2_get_string(p, fragment, "name", &v.name) || !read_clock_origin(p, fragment, &v))
		return false;
	if (!v.id || !v.frequency || v.cycles >= v.frequency)
		return ctf2_fail_damaged(p,
					 "a clock without a frequency, or with an invalid offset");
	if (!ctf2_is_name(v.name))
		return ctf2_refuse(p, "the clock name \"%.40s\"", v.name);
	return add_clock_name(p, v.id, v.name) && write_clock(p, &v);
}

/* ---- streams and events -------------------------------------------------- */

static bool translate_stream_class(struct ctf2 *p, struct json_object *fragment)
{
	struct ctf2_text *text = &p->streams;
	const char *clock = NULL;
	uint64_t id = 0;

	if (!ctf2_check_properties(
		    p, fragment,
		    "id namespace name uid default-clock-class-id packet-context-field-class event-record-header-field-class event-record-common-context-field-class") ||
	    !ctf2_get_count(p, fragment, "id", UINT64_MAX, &id) ||
	    !ctf2_get_string(p, fragment, "default-clock-class-id", &clock))
		return false;
	p->clock = clock ? find_clock_by_id(p, clock) : NULL;
	if (clock && !p->clock)
		return ctf2_fail_damaged(p, "a reference to an undefined clock \"%.40s\"", clock);
	p->has_stream = true;
	return ctf2_add_text(p, text, "stream {\n\tid = %" PRIu64 ";\n", id) &&
	       add_root_structure(p, text, fragment, "packet-context-field-class", "packet-context",
				  "\tpacket.context") &&
	       add_root_structure(p, text, fragment, "event-record-header-field-class",
				  "event-record-header", "\tevent.header") &&
	       add_root_structure(p, text, fragment, "event-record-common-context-field-class",
				  "event-record-common-context", "\tevent.context") &&
	       ctf2_add_text(p, text, "};\n");
}

static bool translate_event_class(struct ctf2 *p, struct json_object *fragment)
{
	struct ctf2_text *text = &p->streams;
	uint64_t id = 0, stream = 0;
	const char *name = NULL;

	if (!ctf2_check_properties(
		    p, fragment,
		    "id data-stream-class-id namespace name uid specific-context-field-class payload-field-class") ||
	    !ctf2_get_count(p, fragment, "id", UINT64_MAX, &id) ||
	    !ctf2_get_count(p, fragment, "data-stream-class-id", UINT64_MAX, &stream) ||
	    !ctf2_get_string(p, fragment, "name", &name))
		return false;
	if (!name)
		return ctf2_refuse(p, "an event record class without a name");
	p->clock = NULL;
	return ctf2_add_text(p, text, "event {\n\tname = ") && ctf2_add_quoted(p, text, name) &&
	       ctf2_add_text(p, text, ";\n\tid = %" PRIu64 ";\n\tstream_id = %" PRIu64 ";\n", id,
			     stream) &&
	       add_root_structure(p, text, fragment, "specific-context-field-class",
				  "event-record-specific-context", "\tcontext") &&
	       add_root_structure(p, text, fragment, "payload-field-class", "event-record-payload",
				  "\tfields") &&
	       ctf2_add_text(p, text, "};\n");
}

/* ---- fragments ----------------------------------------------------------- */

static const char begin[] = { CTF2_BEGIN, '\0' };

static const struct {
	const char *type;
	bool (*take)(struct ctf2 *p, struct json_object *fragment);
} kinds[] = {
	{ "field-class-alias", translate_alias },
	{ "trace-class", translate_trace_class },
	{ "clock-class", translate_clock_class },
	{ "data-stream-class", translate_stream_class },
	{ "event-record-class", translate_event_class },
};

static bool translate_fragment_object(struct ctf2 *p, struct json_object *fragment)
{
	const char *type = NULL;

	if (!json_object_is_type(fragment, json_type_object))
		return ctf2_fail_damaged(p, "a JSON text that is not an object");
	if (!ctf2_get_string(p, fragment, "type", &type))
		return false;
	if (!type)
		return ctf2_fail_damaged(p, "a fragment without a type");
	if (!strcmp(type, "preamble"))
		return check_preamble(p, fragment);
	if (!p->has_preamble)
		return ctf2_fail_damaged(p, "no preamble");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(type, kinds[i].type))
			return kinds[i].take(p, fragment);
	return ctf2_refuse(p, "a fragment of type \"%.40s\"", type);
}

static bool translate_fragment(struct ctf2 *p, const char *text, size_t size)
{
	struct json_tokener *tokener;
	struct json_object *fragment;
	enum json_tokener_error error;
	bool ok;

	if (size > MAX_FRAGMENT_SIZE)
		return ctf2_refuse(p, "a fragment of %zu bytes", size);
	p->fragment_size = size;
	tokener = json_tokener_new_ex(JSON_DEPTH);
	if (!tokener)
		return ctf2_fail_no_memory(p);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	fragment = json_tokener_parse_ex(tokener, text, (int)size);
	error = json_tokener_get_error(tokener);
	text += json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (error == json_tokener_error_depth)
		ok = ctf2_refuse(p, "JSON nested more than %d levels deep", JSON_DEPTH);
	else if (error || strspn(text, " \t\r\n") < strcspn(text, begin))
		ok = ctf2_fail_damaged(p, "text that is not JSON");
	else
		ok = translate_fragment_object(p, fragment);
	json_object_put(fragment);
	return ok;
}

static bool translate_fragments(struct ctf2 *p, const char *text)
{
	while (*text) {
		size_t size;

		if (*text++ != CTF2_BEGIN)
			return ctf2_fail_damaged(p, "no JSON text sequence");
		size = strcspn(text, begin);
		if (!translate_fragment(p, text, size))
			return false;
		text += size;
	}
	if (!p->has_stream)
		return ctf2_refuse(p, "no data stream class");
	if (!p->has_trace) {
		const struct ctf2_text none = { 0 };

		return write_trace_block(p, NULL, &none);
	}
	return true;
}

static void release_ctf2(struct ctf2 *p)
{
	for (size_t i = 0; i < p->num_clocks; i++) {
		free(p->clocks[i].id);
		free(p->clocks[i].name);
	}
	free(p->clocks);
	free(p->streams.bytes);
	json_object_put(p->aliases);
}

int ctf2_translate(const char *text, char **tsdl, char why[CTF2_WHY_SIZE])
{
	struct ctf2 p = { .why = why, .aliases = json_object_new_object() };
	bool ok;

	*tsdl = NULL;
	*why = '\0';
	ok = p.aliases ? translate_fragments(&p, text) : ctf2_fail_no_memory(&p);
	ok = ok && ctf2_add_text(&p, &p.trace, "%s", p.streams.bytes);
	release_ctf2(&p);
	if (ok)
		*tsdl = p.trace.bytes;
	else
		free(p.trace.bytes);
	return ok ? 0 : p.error;
}
