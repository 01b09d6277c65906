/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fields of events, of libbabeltrace2 or as they lie in a stream: one way to read both. */
#ifndef NETSYNC_CTF_FIELD_H
#define NETSYNC_CTF_FIELD_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/type.h"

struct ctf_field {
	const bt_field *bt; /* NULL: it is of this type, and there */
	const struct type *type;
	struct cursor at;
};

/* Each function is for fields of one kind of class, which who calls has seen. */

struct ctf_field ctf_member(const struct ctf_field *structure, uint64_t index);

/* As 64 bits, of which a signed one fills all. */
uint64_t ctf_integer(const struct ctf_field *field, bool is_signed);

/* Of an array of unsigned integers: all, or @most of them. Return: how many there are. */
uint64_t ctf_elements(const struct ctf_field *array, uint64_t *values,
		      uint64_t most);

/* UINT64_MAX: none. */
uint64_t ctf_selected(const struct ctf_field *variant);
/* The field that is selected. */
struct ctf_field ctf_option(const struct ctf_field *variant);

/* How long it is; @text does not end with a 0. */
uint64_t ctf_text(const struct ctf_field *string, const char **text);

#endif
