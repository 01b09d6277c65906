/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse descriptions of the kernel's trace events, in the format of tracefs, as saved by
 * trace-cmd and perf, to fill in struct event_seen from raw bytes.
 */
#ifndef NETSYNC_TRACEFS_FORMAT_H
#define NETSYNC_TRACEFS_FORMAT_H

#include "io/packet/event.h"
#include "io/tracefs/cursor.h"

/* The systems of netsync's events, and of the kernel's network events. */
#define TRACEFS_SYSTEM "netsync"
#define TRACEFS_NET_SYSTEM "net"

/* Place and size of a field in an event, bytes. */
struct tracefs_field {
	enum meaning meaning;
	uint32_t at;
	uint32_t size;
};

/* The packet events of one type, by their format. */
struct tracefs_format {
	uint16_t id; /* first bytes of each event */
	const struct event_kind *kind;
	uint64_t has;
	struct tracefs_field fields[NUM_MEANINGS];
	size_t num_fields;
	uint32_t size; /* that contains all fields, bytes */
};

/* The declaration of a field in a format. */
struct tracefs_declaration {
	char text[128];	  /* contains type and name */
	const char *type; /* "unsigned char"; of an array, that of elements */
	const char *name;
	unsigned int at;
	unsigned int size; /* of the whole field, bytes */
	int is_signed;
	bool is_array;
	bool is_data_loc; /* the value is offset and size of the data */
	bool is_rel_loc;  /* the same; offsets count from the field's end */
};

/* Return false if the line does not declare a field. */
bool tracefs_parse_field(struct tracefs_declaration *field, const char *line);

/*
 * Parse the text of a format, and cut the event name out of @text. Return false if the event is
 * not a packet event, or if its fields match no known version.
 */
bool tracefs_parse_format(struct tracefs_format *format, char *text, const char **name);

/* Decode an event. Return as event_decode(), and false if the event is too small for its fields. */
bool tracefs_decode_event(const struct tracefs_format *format, bool big_endian,
			  const uint8_t *event, uint32_t size, struct event_seen *seen);

/* ---- descriptions in a file --------------------------------------------- */

/* Takes the description of each type of events in a file. */
typedef void (*tracefs_use_format)(void *data, const char *system, char *text);

/* Skip descriptions, each of which follows its size. */
void tracefs_skip_formats(struct cursor *cursor);
/* Read all systems, each with its descriptions. 0, cursor->bad being set, or -ENOMEM. */
int tracefs_read_systems(struct cursor *cursor, tracefs_use_format use, void *data);

/* ---- the packet events of a trace --------------------------------------- */

struct tracefs_formats {
	struct trace *trace; /* whose they are */
	struct tracefs_format *list;
	size_t num;
	size_t room;  /* formats allocated */
	bool has_net; /* has the kernel's own network events */
	bool no_memory;
};

/* A tracefs_use_format, of a struct tracefs_formats: keep those of packet events. */
void tracefs_keep_format(void *formats, const char *system, char *text);
/*
 * All were kept: fill in what the trace has. @command records ours, for a warning if it has
 * the kernel's own network events only.
 */
void tracefs_end_formats(const struct tracefs_formats *formats, const char *command);
/* A host's name by that of its file: "/tmp/web.dat" is of "web". Return NULL if out of memory. */
char *tracefs_get_host_of_file(const char *path);

/*
 * Return the format of a raw event, identified by its first bytes, or NULL if it is not a
 * packet event.
 */
const struct tracefs_format *tracefs_find_format(const struct tracefs_formats *formats,
						 bool big_endian, const uint8_t *event,
						 uint32_t size);

#endif
