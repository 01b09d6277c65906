/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse descriptions of the kernel's trace events in the format of tracefs, which trace-cmd and
 * perf save. Use the descriptions to fill in struct event_seen from raw bytes.
 */
#ifndef NETSYNC_TRACEFS_FORMAT_H
#define NETSYNC_TRACEFS_FORMAT_H

#include "io/packet/event.h"
#include "io/tracefs/cursor.h"

/* The systems to which netsync's events and the kernel's network events belong. */
#define TRACEFS_SYSTEM "netsync"
#define TRACEFS_NET_SYSTEM "net"

/* Offset and size of a field within an event (bytes). */
struct tracefs_field {
	enum meaning meaning;
	uint32_t at;
	uint32_t size;
};

/* The format of packet events of one type. */
struct tracefs_format {
	uint16_t id; /* the first bytes of each event of this type */
	const struct event_kind *kind;
	uint64_t has;
	struct tracefs_field fields[NUM_MEANINGS];
	size_t num_fields;
	uint32_t size; /* minimum size of an event that has all fields (bytes) */
};

/* The declaration of a field in a format. */
struct tracefs_declaration {
	char text[128];	  /* memory for the type and the name */
	const char *type; /* such as "unsigned char"; for an array, type of the elements */
	const char *name;
	unsigned int at;
	unsigned int size; /* size of the whole field (bytes) */
	int is_signed;
	bool is_array;
	bool is_data_loc; /* whether the value is the offset and size of the data */
	bool is_rel_loc;  /* like is_data_loc, but the offset is relative to the end of the field */
};

/* Parse the declaration of a field. If the line does not declare a field, return false. */
bool tracefs_parse_field(struct tracefs_declaration *field, const char *line);

/*
 * Parse the text of a format. In @text, the name of the event is terminated by a NUL. If the event
 * is not a packet event, or if its fields match no known version, return false.
 */
bool tracefs_parse_format(struct tracefs_format *format, char *text, const char **name);

/*
 * Decode an event. Return the same values as event_decode(). Also return false if the event is too
 * small for its fields.
 */
bool tracefs_decode_event(const struct tracefs_format *format, bool big_endian,
			  const uint8_t *event, uint32_t size, struct event_seen *seen);

/* ---- descriptions in a file --------------------------------------------- */

/* Receives the description of each event type in a file. */
typedef void (*tracefs_use_format)(void *data, const char *system, char *text);

/* Skip descriptions. The size of each description precedes it. */
void tracefs_skip_formats(struct cursor *cursor);
/*
 * Read all systems with their descriptions. Return 0 or -ENOMEM. If the input is invalid,
 * cursor->bad is set.
 */
int tracefs_read_systems(struct cursor *cursor, tracefs_use_format use, void *data);

/* ---- the packet events of a trace --------------------------------------- */

struct tracefs_formats {
	struct trace *trace; /* the trace with these formats */
	struct tracefs_format *list;
	size_t num;
	size_t room;  /* number of formats allocated */
	bool has_net; /* whether the trace has the kernel's own network events */
	bool no_memory;
};

/* Implement tracefs_use_format for a struct tracefs_formats: store the formats of packet events. */
void tracefs_keep_format(void *formats, const char *system, char *text);
/*
 * When all formats have been stored, set which events the trace has. If the trace has only the
 * kernel's own network events, print a warning that recommends @command, which records netsync's
 * events.
 */
void tracefs_end_formats(const struct tracefs_formats *formats, const char *command);
/*
 * Derive the name of a host from the name of a file: "/tmp/web.dat" gives "web". Return NULL if out
 * of memory.
 */
char *tracefs_get_host_of_file(const char *path);

/*
 * Return the format of a raw event, which its first bytes identify. If the event is not a packet
 * event, return NULL.
 */
const struct tracefs_format *tracefs_find_format(const struct tracefs_formats *formats,
						 bool big_endian, const uint8_t *event,
						 uint32_t size);

#endif
