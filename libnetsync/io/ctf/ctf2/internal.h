/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the files of the translation share. If a function returns false, ctf2_refuse() has
 * stored the reason.
 */
#ifndef NETSYNC_CTF2_INTERNAL_H
#define NETSYNC_CTF2_INTERNAL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/ctf/ctf2/ctf2.h"

/*
 * Limits. Metadata that exceeds them is rejected. All are chosen to be many times what LTTng 2.16
 * and sink.ctf.fs of Babeltrace 2.1 write.
 */
#define MAX_DEPTH 32			 /* nesting depth of field classes */
#define MAX_ALIGN 4096			 /* bits */
#define MAX_MEMBERS 256			 /* members of a structure or options of a variant */
#define MAX_ALIASES 256			 /* names of field classes */
#define MAX_ALIASES_SIZE (1 << 20)	 /* total size of the aliases' texts (bytes) */
#define MAX_FRAGMENT_SIZE (1 << 20)	 /* size of a JSON text (bytes) */
#define MAX_WRITTEN (UINT64_C(64) << 20) /* bytes written; nested text counts once for each level */

/* A text that grows. If all members are zero, the text is empty. */
struct ctf2_text {
	char *bytes; /* NULL, or followed by a terminating NUL */
	size_t used, room;
};

/* The TSDL translation of a field class. */
struct made {
	struct ctf2_text type;
	struct ctf2_text suffix;      /* text that follows the name, such as an array's length */
	struct ctf2_text labels;      /* labels, which turn an integer into an enumeration */
	struct json_object *mappings; /* the labels that the metadata contains */
	struct json_object *options;  /* the names of a variant's options are the keys */
	const char *name;	      /* TSDL's name for the integer's role; NULL if none */
	uint32_t align;		      /* bits */
	bool is_integer;
	bool is_signed;
	bool is_selector; /* whether it is the selector of a variant */
};

struct ctf2_member {
	char *given; /* name in the metadata */
	char *name;  /* name in TSDL */
	struct made made;
};

/* A structure whose members are being translated. */
struct structure {
	struct ctf2_member *members;
	size_t num;
	const char *current; /* name of the current member in the metadata */
};

struct ctf2_clock {
	char *id;
	char *name;
};

struct ctf2 {
	struct json_object *aliases; /* field classes by name */
	size_t aliases_size;
	struct ctf2_clock *clocks;
	size_t num_clocks;
	struct ctf2_text trace, streams; /* the result: @trace followed by @streams */
	bool has_preamble, has_trace, has_stream;
	char uuid[37]; /* uuid of the metadata stream, or "" */
	bool has_uuid; /* whether packets contain the uuid */

	/* State of the root structure that is being translated. */
	const char *origin; /* its name in field locations */
	const char *clock;  /* TSDL name for the clock of its data stream class, or NULL */
	bool is_trace_big_endian;
	struct structure open[MAX_DEPTH];
	int num_open;
	int depth;

	size_t fragment_size; /* size of the current JSON text (bytes) */
	uint64_t written;     /* size of all texts written so far (bytes) */
	int error;	      /* error of the first failure */
	char *why;
};

/* ---- text.c -------------------------------------------------------------- */

/* Fail because the metadata has a feature that cannot be translated. Always return false. */
__attribute__((format(printf, 2, 3))) bool ctf2_refuse(struct ctf2 *p, const char *format, ...);
/* Fail because the metadata violates the specification. Always return false. */
__attribute__((format(printf, 2, 3))) bool ctf2_fail_damaged(struct ctf2 *p, const char *format,
							     ...);
bool ctf2_fail_no_memory(struct ctf2 *p);

__attribute__((format(printf, 3, 4))) bool ctf2_add_text(struct ctf2 *p, struct ctf2_text *text,
							 const char *format, ...);
/* Add a string in quotation marks. */
bool ctf2_add_quoted(struct ctf2 *p, struct ctf2_text *text, const char *string);
/* Make a TSDL name from a CTF 2 name. "_" replaces each character that TSDL does not allow. */
char *ctf2_make_name(struct ctf2 *p, const char *before, const char *name);
/* Return whether the text is a valid TSDL name without changes. */
bool ctf2_is_name(const char *text);

/* ---- json.c -------------------------------------------------------------- */

/* Check that an object has only properties in @known, a list separated by spaces. */
bool ctf2_check_properties(struct ctf2 *p, struct json_object *object, const char *known);
/* Set @value to a property. If the object does not have the property, do not change @value. */
bool ctf2_get_string(struct ctf2 *p, struct json_object *object, const char *key,
		     const char **value);
bool ctf2_get_count(struct ctf2 *p, struct json_object *object, const char *key, uint64_t most,
		    uint64_t *value);
bool ctf2_get_number(struct ctf2 *p, struct json_object *object, const char *key, int64_t *value);
bool ctf2_get_typed(struct ctf2 *p, struct json_object *object, const char *key,
		    enum json_type type, struct json_object **value);
/* Add an integer range in TSDL: "lo ... hi". */
bool ctf2_add_range(struct ctf2 *p, struct ctf2_text *text, bool is_signed,
		    struct json_object *range);

/* ---- class.c ------------------------------------------------------------- */

/* Translate a field class. Call ctf2_made_release() in every case. */
bool ctf2_translate_class(struct ctf2 *p, struct json_object *class, struct made *made);
/*
 * Return the object that describes a field class. The metadata may refer to it by an alias. If the
 * result is NULL, ctf2_refuse() has stored the reason.
 */
struct json_object *ctf2_resolve_class(struct ctf2 *p, struct json_object *class);
void ctf2_made_release(struct made *made);
/* Add a label for these ranges of an integer. */
bool ctf2_add_ranges(struct ctf2 *p, struct made *made, const char *label,
		     struct json_object *ranges);
/* Add "TYPE name;" with all labels. */
bool ctf2_add_declaration(struct ctf2 *p, struct ctf2_text *text, const struct made *made,
			  const char *name);

/* ---- structure.c --------------------------------------------------------- */

bool ctf2_translate_structure(struct ctf2 *p, struct json_object *class, struct made *made);
bool ctf2_translate_variant(struct ctf2 *p, struct json_object *class, struct made *made);
/*
 * Return the earlier member to which a field location refers. If the result is NULL, ctf2_refuse()
 * has stored the reason.
 */
struct ctf2_member *ctf2_find_located_member(struct ctf2 *p, struct json_object *class,
					     const char *key);

/* ---- role.c -------------------------------------------------------------- */

/* If a field of this class has a role, set made->name to TSDL's name for the role. */
bool ctf2_read_role(struct ctf2 *p, struct json_object *class, struct made *made, bool *is_clock);
/* Return whether the name has a special meaning in TSDL inside of the current root structure. */
bool ctf2_has_meaning(const struct ctf2 *p, const char *name);

#endif
