/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse descriptions of the kernel's trace events, in the format of tracefs, as saved by
 * trace-cmd and perf, to fill in struct event_seen from raw bytes.
 */
#ifndef NETSYNC_TRACEFS_FORMAT_H
#define NETSYNC_TRACEFS_FORMAT_H

#include "io/packet/event.h"
#include "io/tracefs/cursor.h"

/* Systems of netsync's events, and of the kernel's network events. */
#define TRACEFS_SYSTEM "netsync"
#define TRACEFS_NET_SYSTEM "net"

/* Offset and size of a field in an event (bytes). */
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
	uint32_t size; /* minimum size of an event with all fields (bytes) */
};

/* The declaration of a field in a format. */
struct tracefs_declaration {
	char text[128];	  /* storage for type and name */
	const char *type; /* such as "unsigned char"; for an array, the type of its elements */
	const char *name;
	unsigned int at;
	unsigned int size; /* size of the whole field (bytes) */
	int is_signed;
	bool is_array;
	bool is_data_loc; /* the value is the offset and size of the data */
	bool is_rel_loc;  /* like is_data_loc, but the offset counts from the field's end */
};

/* Parse the declaration of a field. Return false if the line does not declare a field. */
bool tracefs_parse_field(struct tracefs_declaration *field, const char *line);

/*
 * Parse the text of a format, and separate the event name from @text. Return false if the event
 * is not a packet event, or if its fields match no known version.
 */
bool tracefs_parse_format(struct tracefs_format *format, char *text, const char **name);

/*
 * Decode an event. Return as event_decode() does, and also false if the event is too small for
 * its fields.
 */
bool tracefs_decode_event(const struct tracefs_format *format, bool big_endian,
			  const uint8_t *event, uint32_t size, struct event_seen *seen);

/* ---- descriptions in a file --------------------------------------------- */

/* Function that receives the description of each event type in a file. */
typedef void (*tracefs_use_format)(void *data, const char *system, char *text);

/* Skip descriptions, each of which follows its size. */
void tracefs_skip_formats(struct cursor *cursor);
/*
 * Read all systems, each with its descriptions. Return 0, possibly with cursor->bad set, or
 * -ENOMEM.
 */
int tracefs_read_systems(struct cursor *cursor, tracefs_use_format use, void *data);

/* ---- the packet events of a trace --------------------------------------- */

struct tracefs_formats {
	struct trace *trace; /* the trace with these formats */
	struct tracefs_format *list;
	size_t num;
	size_t room;  /* number of formats allocated */
	bool has_net; /* has the kernel's own network events */
	bool no_memory;
};

/* Implement tracefs_use_format for a struct tracefs_formats: keep the formats of packet events. */
void tracefs_keep_format(void *formats, const char *system, char *text);
/*
 * After all formats were kept, set which events the trace has. If it has only the kernel's own
 * network events, warn, and recommend @command, which records netsync's events.
 */
void tracefs_end_formats(const struct tracefs_formats *formats, const char *command);
/* Derive a host name from a file name: "/tmp/web.dat" gives "web". Return NULL if out of memory. */
char *tracefs_get_host_of_file(const char *path);

/*
 * Return the format of a raw event, identified by its first bytes, or NULL if it is not a
 * packet event.
 */
const struct tracefs_format *tracefs_find_format(const struct tracefs_formats *formats,
						 bool big_endian, const uint8_t *event,
						 uint32_t size);

#endif
