/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the parts of the parser of metadata (TSDL). It is no judge of metadata:
 * libbabeltrace2 has read them before. What is not known here is refused, and left to
 * it.
 */
#ifndef NETSYNC_CTF_TSDL_H
#define NETSYNC_CTF_TSDL_H

#include "io/ctf/direct/metadata.h"

/* Structures in structures; chosen: LTTng has 5. */
#define MAX_DEPTH 32
/* Alignments, bits; chosen: LTTng has 64 at most. */
#define MAX_ALIGN 4096
/* A name of a type, with all its words; chosen. */
#define NAME_SIZE 256
/*
 * So many of a trace, as each is searched for: fields that say how long another one is,
 * or which option it has; labels of an enumeration; options of a variant; names of
 * types; ids of events. Chosen: LTTng's metadata of all events of a kernel has some
 * 600, 260, 4, 20 and 2,500.
 */
#define MAX_SLOTS 4096
#define MAX_LABELS 1024
#define MAX_OPTIONS 64
#define MAX_ALIASES 256
#define MAX_EVENT_ID 65534

/* Where nothing says another byte order, it is the trace's. */
struct parser {
	struct metadata *out;
	const char *at;
	bool big_endian;
	bool no_memory;
	struct type *open[MAX_DEPTH]; /* structures that are not complete */
	int depth;
};

/* ---- tsdl-words.c: false or NULL where the text goes on with something else -- */

void tsdl_skip_space(struct parser *p); /* and comments */
/* Of the word that is next; 0: there is none. */
size_t tsdl_word_length(struct parser *p);
bool tsdl_take(struct parser *p, const char *punctuation);
bool tsdl_take_word(struct parser *p, const char *word);
/* What these return is given back with free(). */
char *tsdl_copy(struct parser *p, const char *from, size_t length);
char *tsdl_name(struct parser *p);
/* What is between quotation marks, where nothing in it has another meaning. */
char *tsdl_quoted(struct parser *p);
/* Of 64 bits, with a sign or not. */
bool tsdl_number(struct parser *p, int64_t *value);
bool tsdl_count(struct parser *p, uint64_t most, uint64_t *value);
/* Add the next word to those of a name, of which @used bytes are there. */
bool tsdl_add_word(struct parser *p, char full[NAME_SIZE], size_t *used,
		   char between);

/* ---- tsdl-type.c: NULL or false: as above, or there is no memory ------------- */

const struct type *tsdl_type(struct parser *p);
/* What follows the word "struct". */
const struct type *tsdl_structure(struct parser *p);
bool tsdl_order(struct parser *p, struct type *type);
/* Takes @name. */
bool tsdl_add_alias(struct parser *p, char *name, const struct type *type);

#endif
