/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader for events of Retis: see README.md. */
#ifndef NETSYNC_IO_RETIS_RETIS_H
#define NETSYNC_IO_RETIS_RETIS_H

#include <json-c/json.h>

#include "io/io.h"
#include "io/packet/frame.h"
#include "io/unpack/unpack.h"

/* ---- lines ---------------------------------------------------------------- */

/*
 * Maximum size of a line (bytes). Chosen: an event has a few KiB, and a line of "retis sort" has all
 * events of a packet.
 */
#define RETIS_MAX_LINE (4 << 20)

struct retis_lines {
	struct unpacked file;
	struct json_tokener *tokener;
	uint8_t *buffer;
	size_t buffer_at, buffer_size;
	uint64_t at;	  /* number of bytes of complete lines */
	uint64_t read_at; /* number of bytes that were read into the buffer */
	char *text;	  /* the current line, without its newline, and a NUL */
	size_t size, room;
	bool has_newline;    /* whether a newline ends the current line */
	const char *problem; /* why the rest cannot be read; a clause */
};

/* Open a file. Return 0, or a negative value after io_fail(). Call retis_close_lines() in both cases. */
int retis_open_lines(struct retis_lines *lines, struct netsync_io *io, const char *path);
/*
 * Read the next line. Return 1; 0 at the end; -EILSEQ if the file is damaged after lines->at, with
 * a description in lines->problem; or another negative errno value.
 */
int retis_next_line(struct retis_lines *lines);
/* Parse the current line. Return its value, to be released by json_object_put(), or NULL. */
struct json_object *retis_parse_line(struct retis_lines *lines);
void retis_close_lines(struct retis_lines *lines);

/* ---- events ---------------------------------------------------------------- */

/* Maximum number of captured bytes of a packet. Retis captures at most 255. */
#define RETIS_MAX_PACKET 65536

struct retis_event {
	bool is_startup;
	bool has_offset;
	int64_t offset_ns; /* of the start: CLOCK_REALTIME - CLOCK_MONOTONIC */
	bool has_time;
	int64_t time_ns; /* CLOCK_MONOTONIC */
	/* The members below belong to events of network devices. */
	bool is_device;
	enum netsync_dir dir;
	uint32_t place; /* number of the tracepoint */
	uint64_t skb;
	uint32_t netns;	  /* 0 if unknown */
	uint32_t ifindex; /* 0 if unknown */
	uint32_t gso_size, gso_segs;
	bool has_gso;
	size_t captured; /* number of bytes of the packet, or 0 */
	size_t original;
};

/*
 * Read an event. @bytes has RETIS_MAX_PACKET bytes for the packet. Return false if the value is no
 * event.
 */
bool retis_read_event(struct json_object *value, struct retis_event *event, uint8_t *bytes);

#endif
