/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access the fields of events that either libbabeltrace2 or direct/ has read. */
#ifndef NETSYNC_CTF_FIELD_H
#define NETSYNC_CTF_FIELD_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/type.h"

struct ctf_field {
	const bt_field *bt; /* NULL if the field has @type at the position @at in a stream */
	const struct ctf_type *type;
	struct bit_cursor at;
};

/* The caller must check that the field has the class that a function expects. */

struct ctf_field ctf_get_member(const struct ctf_field *structure, uint64_t index);

/* Return the value of an integer. If the integer is signed, its sign is extended to 64 bits. */
uint64_t ctf_get_integer(const struct ctf_field *field, bool is_signed);

/* Copy at most @most unsigned integers of an array. Return the length of the whole array. */
uint64_t ctf_get_elements(const struct ctf_field *array, uint64_t *values, uint64_t most);

/* Return the index of a variant's selected option, or UINT64_MAX if none is selected. */
uint64_t ctf_get_selected(const struct ctf_field *variant);
/* Return the field of the selected option. */
struct ctf_field ctf_get_option(const struct ctf_field *variant);

/* Get the bytes of a string. *@text has no terminating NUL. Return the number of bytes. */
uint64_t ctf_get_text(const struct ctf_field *string, const char **text);

#endif
