// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read fields of protocol buffers. Each field is a number and type, followed by a value. */
#include "io/pftrace/wire.h"

/* Highest number of a field (protobuf.dev, "Assigning Field Numbers"). */
#define MAX_FIELD ((UINT64_C(1) << 29) - 1)

bool wire_take_field(struct bytes_take *take, struct wire_field *field)
{
	uint64_t key;

	if (take->bad || take->at == take->end)
		return false;
	key = bytes_take_up_to(take, MAX_FIELD << 3 | 7);
	*field = (struct wire_field){ .number = (uint32_t)(key >> 3), .type = key & 7 };
	take->bad |= !field->number;
	switch (field->type) {
	case WIRE_VARINT:
		field->value = bytes_take_number(take);
		break;
	case WIRE_FIXED64:
		field->value = bytes_take_fixed(take, 8);
		break;
	case WIRE_FIXED32:
		field->value = bytes_take_fixed(take, 4);
		break;
	case WIRE_BYTES:
		field->value = bytes_take_number(take);
		field->bytes = take->bad ? NULL : bytes_take_raw(take, field->value);
		break;
	default:
		take->bad = true;
	}
	return !take->bad;
}
