/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of ftrace -> struct event_seen. */
#ifndef NETSYNC_TRACEDAT_EVENT_H
#define NETSYNC_TRACEDAT_EVENT_H

#include "io/packet/event.h"
#include "io/tracedat/page.h"

/* The systems of netsync's events, and of the kernel's network events. */
#define DAT_SYSTEM "netsync"
#define DAT_NET_SYSTEM "net"

/* Place and size of a field in an event, bytes. */
struct dat_field {
	enum meaning meaning;
	uint32_t at;
	uint32_t size;
};

/* The packet events of one type, by their format. */
struct dat_format {
	uint16_t id;		/* first bytes of each event */
	const struct event_kind *kind;
	uint64_t has;
	struct dat_field fields[NUM_MEANINGS];
	size_t num_fields;
	uint32_t size;		/* that contains all fields, bytes */
};

/* The declaration of a field in a format. */
struct dat_declaration {
	char text[128];		/* contains type and name */
	const char *type;	/* "unsigned char"; of an array, that of elements */
	const char *name;
	unsigned int at;
	unsigned int size;	/* of the whole field, bytes */
	int is_signed;
	bool is_array;
	bool is_data_loc;	/* the value is offset and size of the data */
	bool is_rel_loc;	/* the same; offsets count from the field's end */
};

/* False: the line declares no field. */
bool dat_parse_field(struct dat_declaration *field, const char *line);

/*
 * Read the text of a format. False: it is no packet event, or its fields are of no known
 * version; the name is cut out of @text.
 */
bool dat_parse_format(struct dat_format *format, char *text, const char **name);

/* As event_decode(). False also if the event is too small for its fields. */
bool dat_decode(const struct dat_file *file, const struct dat_format *format,
		const struct dat_event *event, struct event_seen *seen);

#endif
