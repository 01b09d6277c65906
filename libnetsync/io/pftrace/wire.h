/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read the fields of a message in the wire format of protocol buffers, without copying them. */
#ifndef NETSYNC_IO_WIRE_H
#define NETSYNC_IO_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"

/* Types of fields (protobuf.dev, "Encoding"). */
enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2, /* text, or another message */
	WIRE_FIXED32 = 5,
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;	      /* value of a number, or size of bytes */
	const uint8_t *bytes; /* for WIRE_BYTES, value bytes; otherwise NULL */
};

/* Read the next field. Return false at the end, or if the message is invalid (take->bad). */
bool wire_take_field(struct bytes_take *take, struct wire_field *field);

/* Begin to read the message in a field. */
static inline struct bytes_take wire_open_message(const struct wire_field *field)
{
	return bytes_take_all(field->bytes, (size_t)field->value);
}

/* Return whether a field contains bytes, and has this number. */
static inline bool wire_is_bytes(const struct wire_field *field, uint32_t number)
{
	return field->number == number && field->type == WIRE_BYTES;
}

/* Return whether a field is an integer, and has this number. */
static inline bool wire_is_varint(const struct wire_field *field, uint32_t number)
{
	return field->number == number && field->type == WIRE_VARINT;
}

#endif
