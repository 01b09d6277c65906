/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions shared by the files of the translation. After false, ctf2_refuse() has stored the
 * reason.
 */
#ifndef NETSYNC_CTF2_INTERNAL_H
#define NETSYNC_CTF2_INTERNAL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/ctf/ctf2/ctf2.h"

/*
 * Limits; what exceeds them is refused. All are chosen, many times what LTTng 2.16 and
 * sink.ctf.fs of Babeltrace 2.1 write.
 */
#define MAX_DEPTH 32			 /* field classes in field classes */
#define MAX_ALIGN 4096			 /* bits */
#define MAX_MEMBERS 256			 /* of a structure, options of a variant */
#define MAX_ALIASES 256			 /* names of field classes, */
#define MAX_ALIASES_SIZE (1 << 20)	 /* and bytes of their texts */
#define MAX_FRAGMENT_SIZE (1 << 20)	 /* bytes of a JSON text */
#define MAX_WRITTEN (UINT64_C(64) << 20) /* bytes, with parts of parts each time */

/* A text that grows; all zero: empty. */
struct ctf2_text {
	char *bytes; /* NULL, or with a 0 behind */
	size_t used, room;
};

/* A field class in TSDL. */
struct made {
	struct ctf2_text type;
	struct ctf2_text suffix;      /* behind the name: an array's length */
	struct ctf2_text labels;      /* of an integer, which they make an enumeration, */
	struct json_object *mappings; /* and those of them that were given */
	struct json_object *options;  /* keys: names of a variant's options */
	const char *name;	      /* that TSDL has for the integer's role; NULL if none */
	uint32_t align;		      /* bits */
	bool is_integer;
	bool is_signed;
	bool is_selector; /* of a variant */
};

struct ctf2_member {
	char *given; /* name in the metadata */
	char *name;  /* in TSDL */
	struct made made;
};

/* A structure of which not all members were made. */
struct structure {
	struct ctf2_member *members;
	size_t num;
	const char *current; /* name in the metadata of the member that is made */
};

struct ctf2_clock {
	char *id;
	char *name;
};

struct ctf2 {
	struct json_object *aliases; /* name -> field class */
	size_t aliases_size;
	struct ctf2_clock *clocks;
	size_t num_clocks;
	struct ctf2_text trace, streams; /* the result: this, and then that */
	bool has_preamble, has_trace, has_stream;
	char uuid[37]; /* of the metadata stream; "": none */
	bool has_uuid; /* packets have it */

	/* Of the root structure that is made. */
	const char *origin; /* as in field locations */
	const char *clock;  /* in TSDL, of its data stream class; NULL if none */
	bool is_trace_big_endian;
	struct structure open[MAX_DEPTH];
	int num_open;
	int depth;

	size_t fragment_size; /* bytes of the JSON text that is taken */
	uint64_t written;     /* bytes of all texts */
	int error;	      /* of the first failure */
	char *why;
};

/* ---- text.c -------------------------------------------------------------- */

/* Fail because the metadata has a feature that is not translated. Always return false. */
__attribute__((format(printf, 2, 3))) bool ctf2_refuse(struct ctf2 *p, const char *format, ...);
/* Fail, as the specification does not allow it. */
__attribute__((format(printf, 2, 3))) bool ctf2_fail_damaged(struct ctf2 *p, const char *format,
							     ...);
bool ctf2_fail_no_memory(struct ctf2 *p);

__attribute__((format(printf, 3, 4))) bool ctf2_add_text(struct ctf2 *p, struct ctf2_text *text,
							 const char *format, ...);
/* Add a string in quotation marks. */
bool ctf2_add_quoted(struct ctf2 *p, struct ctf2_text *text, const char *string);
/* Make a TSDL name of a CTF 2 name: each character that TSDL does not allow becomes "_". */
char *ctf2_make_name(struct ctf2 *p, const char *before, const char *name);
/* Is the text a name in TSDL without changes? */
bool ctf2_is_name(const char *text);

/* ---- json.c -------------------------------------------------------------- */

/* Have objects these properties only, of those that others have? @known: by spaces. */
bool ctf2_check_properties(struct ctf2 *p, struct json_object *object, const char *known);
/* Set @value to a property; without the property, @value remains unchanged. */
bool ctf2_get_string(struct ctf2 *p, struct json_object *object, const char *key,
		     const char **value);
bool ctf2_get_count(struct ctf2 *p, struct json_object *object, const char *key, uint64_t most,
		    uint64_t *value);
bool ctf2_get_number(struct ctf2 *p, struct json_object *object, const char *key, int64_t *value);
bool ctf2_get_typed(struct ctf2 *p, struct json_object *object, const char *key,
		    enum json_type type, struct json_object **value);
/* The ends of a range of integers as TSDL has them: "lo ... hi". */
bool ctf2_add_range(struct ctf2 *p, struct ctf2_text *text, bool is_signed,
		    struct json_object *range);

/* ---- class.c ------------------------------------------------------------- */

/* Make a field class; made_release() is needed in any case. */
bool ctf2_translate_class(struct ctf2 *p, struct json_object *class, struct made *made);
/*
 * Return the object of a field class, which may be given by an alias. After NULL, ctf2_refuse()
 * has stored the reason.
 */
struct json_object *ctf2_resolve_class(struct ctf2 *p, struct json_object *class);
void ctf2_made_release(struct made *made);
/* Add a label for these ranges to an integer. */
bool ctf2_add_ranges(struct ctf2 *p, struct made *made, const char *label,
		     struct json_object *ranges);
/* Add "TYPE name;" with all labels. */
bool ctf2_add_declaration(struct ctf2 *p, struct ctf2_text *text, const struct made *made,
			  const char *name);

/* ---- structure.c --------------------------------------------------------- */

bool ctf2_translate_structure(struct ctf2 *p, struct json_object *class, struct made *made);
bool ctf2_translate_variant(struct ctf2 *p, struct json_object *class, struct made *made);
/*
 * Return the earlier member that a field location refers to. After NULL, ctf2_refuse() has
 * stored the reason.
 */
struct ctf2_member *ctf2_find_located_member(struct ctf2 *p, struct json_object *class,
					     const char *key);

/* ---- role.c -------------------------------------------------------------- */

/* Set made->name to what TSDL calls a field of this class by its role, if it has one. */
bool ctf2_read_role(struct ctf2 *p, struct json_object *class, struct made *made, bool *is_clock);
/* Does the name have a meaning in TSDL inside the current root structure? */
bool ctf2_has_meaning(const struct ctf2 *p, const char *name);

#endif
