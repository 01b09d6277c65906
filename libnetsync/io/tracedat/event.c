// SPDX-License-Identifier: LGPL-2.1-or-later
/* A format, and an event of ftrace -> a packet event. */
#include <stdio.h>
#include <string.h>

#include "io/packet/address.h"
#include "io/tracedat/event.h"

/* ---- formats ----------------------------------------------------------- */

/* Cut the name out of "u8 saddr[16]", or "unsigned short common_type". */
static const char *field_name(char *declaration)
{
	char *bracket = strchr(declaration, '['), *space;

	if (bracket)
		*bracket = '\0';
	space = strrchr(declaration, ' ');
	return space ? space + 1 : declaration;
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
	char declaration[128];
	unsigned int at, size;

	*format = (struct dat_format){ 0 };
	*name = line && !strncmp(line, "name: ", 6) ? line + 6 : "";
	format->kind = event_kind(*name);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		sscanf(line, "ID: %hu", &format->id);
		if (sscanf(line, " field:%127[^;]; offset:%u; size:%u;",
			   declaration, &at, &size) == 3)
			add_field(format, field_name(declaration), at, size);
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
