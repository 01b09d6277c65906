/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From events of ftrace to struct event_seen. */
#ifndef NETSYNC_TRACEDAT_EVENT_H
#define NETSYNC_TRACEDAT_EVENT_H

#include "io/packet/event.h"
#include "io/tracedat/page.h"

/* The system that our events are of, and the one with those of the kernel. */
#define DAT_SYSTEM "netsync"
#define DAT_NET_SYSTEM "net"

/* Where one field is in an event, and how many bytes it has. */
struct dat_field {
	enum meaning meaning;
	uint32_t at;
	uint32_t size;
};

/* The events of one type, by what the kernel says of it. */
struct dat_format {
	uint16_t id;		/* how each begins */
	const struct event_kind *kind;
	uint64_t has;
	struct dat_field fields[NUM_MEANINGS];
	size_t num_fields;
	uint32_t size;		/* all fields are within that */
};

/* What a line of a format says of a field. */
struct dat_declaration {
	char text[128];		/* which these are in: */
	const char *type;	/* "unsigned char"; of an array that of its elements */
	const char *name;
	unsigned int at;
	unsigned int size;	/* of all of it */
	int is_signed;
	bool is_array;
	bool is_data_loc;	/* what is there says where its data are: */
	bool is_rel_loc;	/* from its own end on */
};

/* False: it is no such line. */
bool dat_parse_field(struct dat_declaration *field, const char *line);

/*
 * Find out from the text of a format. False: it is no packet event, or one whose
 * fields are not those of any known version; the name is cut out of @text.
 */
bool dat_parse_format(struct dat_format *format, char *text, const char **name);

/* As event_decode(). False also where the event is too small for its fields. */
bool dat_decode(const struct dat_file *file, const struct dat_format *format,
		const struct dat_event *event, struct event_seen *seen);

#endif
