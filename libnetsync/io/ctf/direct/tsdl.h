/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the files of the TSDL parser share. The parser does not check whether metadata is
 * valid, because libbabeltrace2 has already read it. If metadata has an unknown feature, the parser
 * gives up, and libbabeltrace2 reads the trace.
 */
#ifndef NETSYNC_CTF_TSDL_H
#define NETSYNC_CTF_TSDL_H

#include "io/ctf/direct/metadata.h"

/*
 * Limits of the parser. If metadata exceeds them, libbabeltrace2 reads the trace. All are chosen to
 * be many times what the metadata of LTTng 2.13 in selftests/data needs.
 */
#define MAX_DEPTH 32	   /* nesting depth of structures */
#define MAX_ALIGN 4096	   /* bits */
#define NAME_SIZE 256	   /* size of a type's name, which may have several words (bytes) */
#define MAX_SLOTS 4096	   /* fields that are the length or the tag of another field */
#define MAX_LABELS 1024	   /* labels of an enumeration */
#define MAX_OPTIONS 64	   /* options of a variant */
#define MAX_ALIASES 256	   /* names of types */
#define MAX_EVENT_ID 65534 /* id of an event in its stream class */

/*
 * State of the parser. big_endian is the byte order of the trace, which applies to integers without
 * a byte order of their own.
 */
struct tsdl_parser {
	struct metadata *out;
	const char *at;
	bool big_endian;
	bool no_memory;
	struct ctf_type *open[MAX_DEPTH]; /* structures that are not complete */
	int depth;
};

/* ---- tsdl-words.c: return false or NULL if the next token differs -------- */

void tsdl_skip_space(struct tsdl_parser *p); /* also skips comments */
/* Return the length of the next word, or 0 if there is none. */
size_t tsdl_get_word_length(struct tsdl_parser *p);
bool tsdl_consume_punctuation(struct tsdl_parser *p, const char *punctuation);
bool tsdl_consume_word(struct tsdl_parser *p, const char *word);
/* The caller frees the results of the following functions. */
char *tsdl_copy_text(struct tsdl_parser *p, const char *from, size_t length);
char *tsdl_parse_name(struct tsdl_parser *p);
/*
 * Consume a string literal. Return NULL if the next token is not a string literal, or if the
 * literal contains a backslash.
 */
char *tsdl_parse_literal(struct tsdl_parser *p);
/* Consume a signed 64-bit number. tsdl_parse_count() consumes an unsigned number up to @most. */
bool tsdl_parse_number(struct tsdl_parser *p, int64_t *value);
bool tsdl_parse_count(struct tsdl_parser *p, uint64_t most, uint64_t *value);
/* Append @between and the next word to a name. The name already has @used bytes. */
bool tsdl_append_word(struct tsdl_parser *p, char full[NAME_SIZE], size_t *used, char between);

/* ---- tsdl-type.c: NULL or false also if out of memory -------------------- */

const struct ctf_type *tsdl_parse_type(struct tsdl_parser *p);
/* Parse a structure, after the word "struct". */
const struct ctf_type *tsdl_parse_structure(struct tsdl_parser *p);
bool tsdl_parse_byte_order(struct tsdl_parser *p, struct ctf_type *type);
/* Give a type a name. This function takes ownership of @name. */
bool tsdl_add_alias(struct tsdl_parser *p, char *name, const struct ctf_type *type);

#endif
