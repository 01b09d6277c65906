/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types of CTF 1.8, as they lie in a stream: sizes, alignments and byte orders, which
 * libbabeltrace2 keeps to itself. All positions are in bits from the beginning of a
 * packet.
 */
#ifndef NETSYNC_CTF_TYPE_H
#define NETSYNC_CTF_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type_kind {
	TYPE_INTEGER,
	TYPE_FLOAT, /* skipped only */
	TYPE_STRING,
	TYPE_STRUCT,
	TYPE_ARRAY,
	TYPE_SEQUENCE,
	TYPE_VARIANT,
};

/* Of a field that nobody needs. */
#define NO_SLOT -1

/* Of a structure, or an option of a variant. */
struct type_member {
	char *name;
	const struct type *type;
	int slot; /* in cursor.slots, where others need its value */
	/* In a structure: whole bytes from here to @next, of which nothing is needed. */
	uint64_t run_bits;
	size_t next;
};

/* A label of an enumeration, by which variants choose. */
struct type_label {
	char *name;
	uint64_t lo,
		hi; /* as they are in the field, which is extended to 64 bits */
};

struct type {
	enum type_kind kind;
	uint32_t align; /* bits; a power of two */
	uint64_t size;	/* bits; of an integer, or of what is_fixed */
	/* Whole bytes, aligned to bytes, always as many, and nothing of it is needed. */
	bool is_fixed;
	bool is_signed;
	bool is_big_endian;
	bool is_clock; /* an integer that the clock shows */
	bool is_text;  /* elements of it are characters */
	bool is_enum;
	struct type_label *labels;
	size_t num_labels;
	struct type_member *members; /* or options */
	size_t num_members;
	const struct type *element;
	uint64_t length; /* of an array */
	int slot; /* with the length of a sequence, or the tag of a variant */
	const struct type *tag; /* of a variant, */
	ptrdiff_t *
		options; /* and which it has for each of the tag's labels; -1: none */
	struct type *older; /* all types of a trace are a list */
};

/* Where in a packet. */
struct cursor {
	const uint8_t *data;
	uint64_t at; /* bits */
	uint64_t end;
	bool was_big_endian; /* what was before, if at is inside of a byte */
	uint64_t *slots;     /* metadata.num_slots */
};

/* A type is complete: find out what can be skipped at once. */
void type_finish(struct type *type);

/* Pass a field. False: it is not within the packet, or not as CTF allows. */
bool type_skip(const struct type *type, struct cursor *c);

/* Pass an integer, extended to 64 bits by its sign. As type_skip(). */
bool type_read(const struct type *type, struct cursor *c, uint64_t *value);

/* Called for each integer of a structure, with those in its variants. */
typedef bool (*type_visit_func)(void *data, const char *name,
				const struct type *type, uint64_t value);

/* Pass a structure, and show its integers. False: as type_skip(), or @visit said so. */
bool type_visit(const struct type *type, struct cursor *c,
		type_visit_func visit, void *data);

/* Go on at a member, with the cursor at the beginning of its structure. */
bool type_enter(const struct type *type, struct cursor *c, size_t member);

/* Which option a variant has by its tag; -1: none. */
ptrdiff_t type_option(const struct type *variant, const uint64_t *slots);

#endif
