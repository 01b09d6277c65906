// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse the blocks of metadata: trace, streams and events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/ctf2/ctf2.h"
#include "io/ctf/direct/tsdl.h"
#include "io/ctf/uuid.h"
#include "util/array.h"

/* ---- blocks -------------------------------------------------------------- */

static bool parse_type_alias(struct tsdl_parser *p)
{
	const struct ctf_type *type = tsdl_parse_type(p);
	char full[NAME_SIZE];
	size_t used = 0;

	if (!type || !tsdl_consume_punctuation(p, ":="))
		return false;
	while (tsdl_append_word(p, full, &used, ' '))
		;
	return used && tsdl_add_alias(p, tsdl_copy_text(p, full, used), type) &&
	       tsdl_consume_punctuation(p, ";");
}

/* Consume the name of an entry, which may contain dots. */
static bool parse_entry_name(struct tsdl_parser *p, char full[NAME_SIZE])
{
	size_t used = 0;

	while (tsdl_append_word(p, full, &used, '.'))
		if (!tsdl_consume_punctuation(p, "."))
			return true;
	return false;
}

/* Skip the value of an unknown entry: a number, a string or words. */
static bool skip_entry_value(struct tsdl_parser *p)
{
	char full[NAME_SIZE];
	const char *text;
	int64_t value;

	tsdl_skip_space(p);
	if (*p->at != '"')
		return tsdl_parse_number(p, &value) || parse_entry_name(p, full);
	/* A string may contain any escaped characters. */
	for (text = p->at + 1; *text && *text != '"'; text++)
		if (*text == '\\' && !*++text)
			return false;
	p->at = text + !!*text;
	return *text == '"';
}

/* The entries of a block that the parser uses. */
struct tsdl_block {
	uint64_t id, stream_id;
	bool has_id;
	char *name, *uuid;
	const struct ctf_type *packet_header, *packet_context, *event_header, *event_context,
		*context, *fields;
};

static bool parse_entry_value(struct tsdl_parser *p, struct tsdl_block *b, const char *entry)
{
	char **text = !strcmp(entry, "name") ? &b->name : !strcmp(entry, "uuid") ? &b->uuid : NULL;

	if (!strcmp(entry, "id"))
		return b->has_id = tsdl_parse_count(p, UINT64_MAX, &b->id);
	if (!strcmp(entry, "stream_id"))
		return tsdl_parse_count(p, UINT64_MAX, &b->stream_id);
	if (!text)
		return skip_entry_value(p);
	if (*text)
		return false;
	*text = tsdl_parse_literal(p);
	return *text;
}

static bool parse_entry_type(struct tsdl_parser *p, struct tsdl_block *b, const char *entry)
{
	const struct {
		const char *entry;
		const struct ctf_type **type;
	} all[] = {
		{ "packet.header", &b->packet_header },
		{ "packet.context", &b->packet_context },
		{ "event.header", &b->event_header },
		{ "event.context", &b->event_context },
		{ "context", &b->context },
		{ "fields", &b->fields },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(entry, all[i].entry))
			continue;
		if (*all[i].type)
			return false;
		*all[i].type = tsdl_parse_type(p);
		return *all[i].type && (*all[i].type)->kind == TYPE_STRUCT;
	}
	return false;
}

static bool parse_block(struct tsdl_parser *p, struct tsdl_block *b)
{
	char entry[NAME_SIZE];

	if (!tsdl_consume_punctuation(p, "{"))
		return false;
	while (!tsdl_consume_punctuation(p, "}")) {
		if (!parse_entry_name(p, entry))
			return false;
		if (tsdl_consume_punctuation(p, ":=") ?
			    !parse_entry_type(p, b, entry) :
			    !tsdl_consume_punctuation(p, "=") || !parse_entry_value(p, b, entry))
			return false;
		if (!tsdl_consume_punctuation(p, ";"))
			return false;
	}
	return tsdl_consume_punctuation(p, ";");
}

static bool add_stream_type(struct tsdl_parser *p, const struct tsdl_block *b)
{
	struct metadata *out = p->out;
	struct stream_type *last;

	if (!b->packet_context || !b->event_header || metadata_find_stream(out, b->id))
		return false;
	last = array_add(&out->streams, out->num_streams, sizeof(*last));
	p->no_memory |= !last;
	if (!last)
		return false;
	*last = (struct stream_type){ .id = b->id,
				      .packet_context = b->packet_context,
				      .event_header = b->event_header,
				      .event_context = b->event_context };
	out->num_streams++;
	return true;
}

/* Add an event. This function takes ownership of the event's name. */
static bool add_event_type(struct tsdl_parser *p, struct tsdl_block *b)
{
	struct metadata *out = p->out;
	struct ctf_event_type *last;

	if (!b->name || !b->has_id)
		return false;
	last = array_add(&out->events, out->num_events, sizeof(*last));
	p->no_memory |= !last;
	if (!last)
		return false;
	*last = (struct ctf_event_type){ b->stream_id, b->id, b->name, b->context, b->fields };
	b->name = NULL;
	out->num_events++;
	return true;
}

static bool add_trace_type(struct tsdl_parser *p, struct tsdl_block *b)
{
	if (p->out->packet_header || !b->packet_header)
		return false;
	p->out->packet_header = b->packet_header;
	p->out->has_uuid = b->uuid;
	return !b->uuid || ctf_parse_uuid(p->out->uuid, b->uuid);
}

static bool parse_named_block(struct tsdl_parser *p)
{
	struct tsdl_block b = { 0 };
	bool ok;

	if (tsdl_consume_word(p, "trace"))
		ok = parse_block(p, &b) && add_trace_type(p, &b);
	else if (tsdl_consume_word(p, "stream"))
		ok = parse_block(p, &b) && add_stream_type(p, &b);
	else if (tsdl_consume_word(p, "event"))
		ok = parse_block(p, &b) && add_event_type(p, &b);
	else
		ok = (tsdl_consume_word(p, "env") || tsdl_consume_word(p, "clock")) &&
		     parse_block(p, &b);
	free(b.name);
	free(b.uuid);
	return ok;
}

static bool parse_declarations(struct tsdl_parser *p)
{
	for (;;) {
		tsdl_skip_space(p);
		if (!*p->at)
			return true;
		if (tsdl_consume_word(p, "typealias") ? !parse_type_alias(p) :
		    tsdl_consume_word(p, "struct")    ? !(tsdl_parse_structure(p) &&
							  tsdl_consume_punctuation(p, ";")) :
							!parse_named_block(p))
			return false;
	}
}

/* ---- public functions --------------------------------------------------- */

/*
 * Find the byte order, which must be known before the first integer is parsed. LTTng writes it in
 * this form in one place only.
 */
static bool find_tsdl_byte_order(struct tsdl_parser *p, const char *text)
{
	static const char words[] = "\tbyte_order = ";
	const char *at = strstr(text, words);
	struct ctf_type order = { 0 };

	if (!at)
		return false;
	p->at = at + sizeof(words) - 1;
	if (!tsdl_consume_word(p, "native") && !tsdl_parse_byte_order(p, &order))
		return false;
	p->big_endian = order.is_big_endian;
	return tsdl_consume_punctuation(p, ";") && !strstr(p->at, words);
}

/* Index a stream's events by their ids. LTTng assigns ids from 0 on. */
static bool index_stream_events(struct tsdl_parser *p, struct stream_type *stream)
{
	const struct metadata *out = p->out;

	for (size_t i = 0; i < out->num_events; i++) {
		const struct ctf_event_type *e = &out->events[i];

		if (e->stream_id != stream->id)
			continue;
		if (e->id > MAX_EVENT_ID)
			return false;
		if (e->id >= stream->num_events)
			stream->num_events = e->id + 1;
	}
	stream->events = calloc(stream->num_events + 1, sizeof(*stream->events));
	p->no_memory |= !stream->events;
	for (size_t i = 0; stream->events && i < out->num_events; i++) {
		const struct ctf_event_type *e = &out->events[i];

		if (e->stream_id != stream->id)
			continue;
		if (stream->events[e->id])
			return false;
		stream->events[e->id] = e;
	}
	return stream->events;
}

static bool index_all_events(struct tsdl_parser *p)
{
	for (size_t i = 0; i < p->out->num_streams; i++)
		if (!index_stream_events(p, &p->out->streams[i]))
			return false;
	return true;
}

static int parse_metadata_text(struct metadata *metadata, const char *text)
{
	struct tsdl_parser p = { .out = metadata };

	if (!find_tsdl_byte_order(&p, text))
		return -ENOTSUP;
	p.at = text;
	if (parse_declarations(&p) && metadata->packet_header && index_all_events(&p))
		return 0;
	return p.no_memory ? -ENOMEM : -ENOTSUP;
}

int metadata_parse(struct metadata *metadata, const char *text)
{
	char why[CTF2_WHY_SIZE], *tsdl;
	int ret;

	memset(metadata, 0, sizeof(*metadata));
	if (*text != CTF2_BEGIN)
		return parse_metadata_text(metadata, text);
	ret = ctf2_translate(text, &tsdl, why);
	if (!ret)
		ret = parse_metadata_text(metadata, tsdl);
	free(tsdl);
	return ret == -EILSEQ ? -ENOTSUP : ret;
}

static void free_type(struct ctf_type *type)
{
	/* An enumeration owns its labels. The integer type that it refers to has no labels. */
	for (size_t i = 0; i < type->num_labels; i++)
		free(type->labels[i].name);
	free(type->labels);
	for (size_t i = 0; i < type->num_members; i++)
		free(type->members[i].name);
	free(type->members);
	free(type->options);
	free(type);
}

void metadata_release(struct metadata *metadata)
{
	while (metadata->types) {
		struct ctf_type *type = metadata->types;

		metadata->types = type->older;
		free_type(type);
	}
	for (size_t i = 0; i < metadata->num_aliases; i++)
		free(metadata->aliases[i].name);
	free(metadata->aliases);
	for (size_t i = 0; i < metadata->num_events; i++)
		free(metadata->events[i].name);
	free(metadata->events);
	for (size_t i = 0; i < metadata->num_streams; i++)
		free(metadata->streams[i].events);
	free(metadata->streams);
	memset(metadata, 0, sizeof(*metadata));
}

const struct stream_type *metadata_find_stream(const struct metadata *metadata, uint64_t id)
{
	for (size_t i = 0; i < metadata->num_streams; i++)
		if (metadata->streams[i].id == id)
			return &metadata->streams[i];
	return NULL;
}
