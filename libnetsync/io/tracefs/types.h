/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse descriptions of the kernel's trace events of any kind. Convert raw events to struct
 * netsync_io_event. Values of fields are plain numbers, texts and arrays. The form in which
 * libtraceevent would print them is not needed.
 */
#ifndef NETSYNC_TRACEFS_TYPES_H
#define NETSYNC_TRACEFS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/events.h"

struct tracefs_type;

/* All types of a file. */
struct tracefs_types {
	struct tracefs_type *list;
	size_t num;
	uint32_t *by_id; /* for each event id, index of the type in @list plus one, or 0 */
	bool no_memory;
};

/* A raw event. netsync_io_event_value() gets values from it. */
struct tracefs_raw {
	struct event_raw raw;
	const struct tracefs_type *type;
	const uint8_t *data;
	uint32_t size;
	bool big_endian;
};

/* Implement tracefs_use_format for a struct tracefs_types: add a type. */
void tracefs_add_type(void *types, const char *system, char *text);

/*
 * Fill in @event from @raw, except the time and the processor. @raw must have data, size and
 * big_endian, and must outlive @event. If the file does not describe this type of event, return
 * false.
 */
bool tracefs_fill_event(const struct tracefs_types *types, struct tracefs_raw *raw,
			struct netsync_io_event *event);

/*
 * Read the events of a source, and report them. @types has their types. Return 0 or a negative
 * value.
 */
typedef int (*tracefs_read_source)(const struct event_reading *reading,
				   const struct netsync_io_source *source,
				   struct tracefs_types *types);

/* Read all sources, one after the other. All of them are parts of one recording. */
int tracefs_read_sources(const struct event_reading *reading, tracefs_read_source read);

#endif
