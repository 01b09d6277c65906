/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Converts events of the kernel module (inet_dev_xmit and inet_dev_receive; module/netsync-events.h)
 * to frames. An event has the fields of a packet's headers instead of its bytes, so the headers are
 * made from the fields.
 */
#ifndef NETSYNC_RECORDER_EVENT_FRAME_H
#define NETSYNC_RECORDER_EVENT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

/* The fields of an event that are used, as in the tables of events. */
#define EVENT_FIELDS(FIELD) \
	FIELD(ifindex)      \
	FIELD(protocol)     \
	FIELD(len)          \
	FIELD(netns)        \
	FIELD(id)           \
	FIELD(family)       \
	FIELD(sport)        \
	FIELD(dport)        \
	FIELD(seq)          \
	FIELD(ack_seq)      \
	FIELD(tsval)        \
	FIELD(tsecr)        \
	FIELD(check)        \
	FIELD(window)       \
	FIELD(flags)        \
	FIELD(has_ts)       \
	FIELD(saddr)        \
	FIELD(daddr)

#define EVENT_FIELD_NUMBER(name) EVENT_##name,
enum event_field { EVENT_FIELDS(EVENT_FIELD_NUMBER) NUM_EVENT_FIELDS };

/* Where an event's fields are in its data. */
struct event_format {
	struct event_field_place {
		uint16_t at;   /* offset, bytes */
		uint16_t size; /* bytes; 0 if the event has no such field */
	} place[NUM_EVENT_FIELDS];
	size_t size; /* number of bytes that contain all fields */
};

/* Maximum size of the headers of a frame: IPv6, and TCP with all options, bytes. */
#define LONGEST_EVENT_HEADERS (40 + 60)

/*
 * Find the fields in the text of a "format" file of tracefs. Return false if a field is missing or
 * has an unexpected size.
 */
bool event_parse_format(const char *text, struct event_format *format);

/* Return the value of a field of at most 4 bytes. */
uint32_t event_get(const struct event_format *format, const uint8_t *event, enum event_field field);

/*
 * Make a frame without a link header from an event of at least format->size bytes. The headers are
 * written to @headers. The caller sets the time and the direction. Return false if the event
 * describes no packet.
 */
bool event_make_frame(const struct event_format *format, const uint8_t *event,
		      uint8_t headers[LONGEST_EVENT_HEADERS], struct seen_frame *frame);

#endif
