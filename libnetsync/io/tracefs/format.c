// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse descriptions of events, and decode raw events to packet events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/packet/address.h"
#include "io/tracefs/format.h"
#include "util/array.h"

/* ---- formats ----------------------------------------------------------- */

/*
 * Remove a prefix which says that the data are at another position in the event. If there is no
 * such prefix, return false.
 */
static bool skip_declaration_prefix(char **declaration, const char *prefix)
{
	const size_t length = strlen(prefix);

	if (strncmp(*declaration, prefix, length))
		return false;
	*declaration += length;
	return true;
}

/* Parse a line that describes a field, such as "u8 saddr[16]" or "__data_loc char[] name". */
bool tracefs_parse_field(struct tracefs_declaration *field, const char *line)
{
	char *begin = field->text, *bracket, *space;

	field->is_signed = false;
	if (sscanf(line, " field:%127[^;]; offset:%u; size:%u; signed:%d;", field->text, &field->at,
		   &field->size, &field->is_signed) < 3)
		return false;
	field->is_data_loc = skip_declaration_prefix(&begin, "__data_loc ");
	field->is_rel_loc = skip_declaration_prefix(&begin, "__rel_loc ");
	bracket = strchr(begin, '[');
	field->is_array = bracket;
	if (bracket && !field->is_data_loc && !field->is_rel_loc)
		*bracket = '\0';
	space = strrchr(begin, ' ');
	field->name = space ? space + 1 : begin;
	if (bracket)
		*bracket = '\0';
	if (space)
		*space = '\0';
	field->type = space ? begin : "";
	return true;
}

static bool can_field_have_meaning(enum meaning meaning, uint32_t size)
{
	if (meaning == SADDR || meaning == DADDR)
		return size == 4 || size == 16;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void add_format_field(struct tracefs_format *format, const char *name, uint32_t at,
			     uint32_t size)
{
	for (const struct field_name *n = event_fields; n->name; n++) {
		if (strcmp(name, n->name) || !can_field_have_meaning(n->meaning, size) ||
		    at > UINT16_MAX || (format->has & BIT(n->meaning)))
			continue;
		format->has |= BIT(n->meaning);
		format->fields[format->num_fields++] = (struct tracefs_field){ n->meaning, at,
									       size };
		if (format->size < at + size)
			format->size = at + size;
	}
}

/*
 *	name: inet_udp_local_in
 *	ID: 1480
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 */
bool tracefs_parse_format(struct tracefs_format *format, char *text, const char **name)
{
	char *rest, *line = strtok_r(text, "\n", &rest);
	struct tracefs_declaration field;

	*format = (struct tracefs_format){ 0 };
	*name = line && !strncmp(line, "name: ", 6) ? line + 6 : "";
	format->kind = event_find_kind(*name);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		sscanf(line, "ID: %hu", &format->id);
		if (tracefs_parse_field(&field, line))
			add_format_field(format, field.name, field.at, field.size);
	}
	return format->kind && format->kind->protocol &&
	       event_has_wanted_fields(format->kind, format->has);
}

/* ---- events ------------------------------------------------------------ */

bool tracefs_decode_event(const struct tracefs_format *format, bool big_endian,
			  const uint8_t *event, uint32_t size, struct event_seen *seen)
{
	struct event_values v;

	if (size < format->size)
		return false;
	v.has = format->has;
	for (size_t i = 0; i < format->num_fields; i++) {
		const struct tracefs_field *field = &format->fields[i];
		const uint8_t *bytes = event + field->at;

		if (field->meaning == SADDR)
			address_copy(v.saddr, bytes, field->size);
		else if (field->meaning == DADDR)
			address_copy(v.daddr, bytes, field->size);
		else
			v.number[field->meaning] = bytes_to_number(bytes, field->size, big_endian);
	}
	memset(seen, 0, sizeof(*seen));
	return event_decode(format->kind, &v, seen);
}

/* ---- descriptions in a file --------------------------------------------- */

void tracefs_skip_formats(struct cursor *cursor)
{
	uint32_t num = cursor_read_number(cursor, 4);

	while (num-- && !cursor->bad)
		cursor_skip(cursor, cursor_read_number(cursor, 8));
}

int tracefs_read_systems(struct cursor *cursor, tracefs_use_format use, void *data)
{
	uint32_t systems = cursor_read_number(cursor, 4);
	char system[256];

	while (systems-- && !cursor->bad) {
		uint32_t num;

		cursor_read_word(cursor, system, sizeof(system));
		num = cursor_read_number(cursor, 4);
		while (num-- && !cursor->bad) {
			char *text = cursor_read_text(cursor, cursor_read_number(cursor, 8));

			if (!text && !cursor->bad)
				return -ENOMEM;
			if (text && !cursor->bad)
				use(data, system, text);
			free(text);
		}
	}
	return 0;
}

/* ---- the packet events of a trace --------------------------------------- */

static bool has_format_of_kind(const struct tracefs_formats *formats, const struct event_kind *kind)
{
	for (size_t i = 0; i < formats->num; i++)
		if (formats->list[i].kind == kind)
			return true;
	return false;
}

void tracefs_keep_format(void *data, const char *system, char *text)
{
	struct tracefs_formats *formats = data;
	struct trace *trace = formats->trace;
	struct tracefs_format format;
	const char *name;
	bool whole;

	if (strcmp(system, TRACEFS_SYSTEM)) {
		formats->has_net |= !strcmp(system, TRACEFS_NET_SYSTEM);
		return;
	}
	whole = tracefs_parse_format(&format, text, &name);
	if (!whole && event_find_kind(name)) {
		trace->has_unusable = true;
		io_warn(trace->io,
			"%s: the events %s lack the fields of all known versions and are not used.",
			trace->path, name);
	}
	if (!whole || has_format_of_kind(formats, format.kind))
		return;
	if (array_grow(&formats->list, &formats->room, formats->num, sizeof(*formats->list)))
		formats->no_memory = true;
	else
		formats->list[formats->num++] = format;
}

void tracefs_end_formats(const struct tracefs_formats *formats, const char *command)
{
	struct trace *trace = formats->trace;

	trace->has_network = formats->num;
	for (size_t i = 0; i < formats->num; i++)
		trace->has_netns |= !!(formats->list[i].has & BIT(NETNS));
	if (formats->num || !formats->has_net)
		return;
	trace->has_unusable = true;
	io_warn(trace->io,
		"%s: the kernel's own network events (net:net_dev_queue, net:netif_receive_skb) report no addresses to ftrace and cannot be used; record the netsync events with \"%s\".",
		trace->path, command);
}

const struct tracefs_format *tracefs_find_format(const struct tracefs_formats *formats,
						 bool big_endian, const uint8_t *event,
						 uint32_t size)
{
	uint16_t id;

	if (size < sizeof(id))
		return NULL;
	id = bytes_to_number(event, sizeof(id), big_endian);
	for (size_t i = 0; i < formats->num; i++)
		if (formats->list[i].id == id)
			return &formats->list[i];
	return NULL;
}

char *tracefs_get_host_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}
