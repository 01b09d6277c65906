/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A field of an event -> its value, whether libbabeltrace2 reads the event or direct/. */
#ifndef NETSYNC_CTF_FIELD_H
#define NETSYNC_CTF_FIELD_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/type.h"

struct ctf_field {
	const bt_field *bt; /* NULL: the field has this type and position in a stream: */
	const struct ctf_type *type;
	struct bit_cursor at;
};

/* The caller has checked that the class of the field is what a function takes. */

struct ctf_field ctf_get_member(const struct ctf_field *structure, uint64_t index);

/* The value of an integer, extended to 64 bits by its sign. */
uint64_t ctf_get_integer(const struct ctf_field *field, bool is_signed);

/* Copy up to @most unsigned integers of an array. Return the array's length. */
uint64_t ctf_get_elements(const struct ctf_field *array, uint64_t *values, uint64_t most);

/* Return the index of a variant's selected option, or UINT64_MAX if none is selected. */
uint64_t ctf_get_selected(const struct ctf_field *variant);
/* The field of the selected option. */
struct ctf_field ctf_get_option(const struct ctf_field *variant);

/* The bytes of a string; *@text has no 0 at its end. */
uint64_t ctf_get_text(const struct ctf_field *string, const char **text);

#endif
