// SPDX-License-Identifier: LGPL-2.1-or-later
/* Formats, and events of ftrace -> packet events. */
#include <stdio.h>
#include <string.h>

#include "io/packet/address.h"
#include "io/tracedat/event.h"

/* ---- formats ----------------------------------------------------------- */

/* Remove a prefix that marks data elsewhere in the event. False: there is none. */
static bool take_prefix(char **declaration, const char *prefix)
{
	const size_t length = strlen(prefix);

	if (strncmp(*declaration, prefix, length))
		return false;
	*declaration += length;
	return true;
}

/* The line of a field, such as "u8 saddr[16]", "__data_loc char[] name". */
bool dat_parse_field(struct dat_declaration *field, const char *line)
{
	char *begin = field->text, *bracket, *space;

	field->is_signed = false;
	if (sscanf(line, " field:%127[^;]; offset:%u; size:%u; signed:%d;",
		   field->text, &field->at, &field->size, &field->is_signed) < 3)
		return false;
	field->is_data_loc = take_prefix(&begin, "__data_loc ");
	field->is_rel_loc = take_prefix(&begin, "__rel_loc ");
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

static bool fits(enum meaning meaning, uint32_t size)
{
	if (meaning == SADDR || meaning == DADDR)
		return size == 4 || size == 16;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void add_field(struct dat_format *format, const char *name, uint32_t at,
		      uint32_t size)
{
	for (const struct field_name *n = event_fields; n->name; n++) {
		if (strcmp(name, n->name) || !fits(n->meaning, size) ||
		    at > UINT16_MAX || (format->has & BIT(n->meaning)))
			continue;
		format->has |= BIT(n->meaning);
		format->fields[format->num_fields++] =
			(struct dat_field){ n->meaning, at, size };
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
bool dat_parse_format(struct dat_format *format, char *text, const char **name)
{
	char *rest, *line = strtok_r(text, "\n", &rest);
	struct dat_declaration field;

	*format = (struct dat_format){ 0 };
	*name = line && !strncmp(line, "name: ", 6) ? line + 6 : "";
	format->kind = event_kind(*name);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		sscanf(line, "ID: %hu", &format->id);
		if (dat_parse_field(&field, line))
			add_field(format, field.name, field.at, field.size);
	}
	return format->kind && format->kind->protocol &&
	       event_is_whole(format->kind, format->has);
}

/* ---- events ------------------------------------------------------------ */

bool dat_decode(const struct dat_file *file, const struct dat_format *format,
		const struct dat_event *event, struct event_seen *seen)
{
	struct event_values v;

	if (event->size < format->size)
		return false;
	v.has = format->has;
	for (size_t i = 0; i < format->num_fields; i++) {
		const struct dat_field *field = &format->fields[i];
		const uint8_t *bytes = event->data + field->at;

		if (field->meaning == SADDR)
			address_set(v.saddr, bytes, field->size);
		else if (field->meaning == DADDR)
			address_set(v.daddr, bytes, field->size);
		else
			v.number[field->meaning] = dat_number(file, bytes,
							      field->size);
	}
	memset(seen, 0, sizeof(*seen));
	return event_decode(format->kind, &v, seen);
}
