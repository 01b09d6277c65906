/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CTF 1.8 types with sizes, alignments and byte orders, which libbabeltrace2 does not report. All
 * positions are in bits from the beginning of a packet.
 */
#ifndef NETSYNC_CTF_TYPE_H
#define NETSYNC_CTF_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type_kind {
	TYPE_INTEGER,
	TYPE_FLOAT, /* 32 or 64 bits */
	TYPE_STRING,
	TYPE_STRUCT,
	TYPE_ARRAY,
	TYPE_SEQUENCE,
	TYPE_VARIANT,
};

/* Slot of a field that no other field needs. */
#define NO_SLOT -1

/* A member of a structure, or an option of a variant. */
struct type_member {
	char *name;
	const struct ctf_type *type;
	int slot; /* index in cursor.slots; NO_SLOT if no other field needs the value */
	/*
	 * Number of bits before the structure's member @next, if all of them are whole bytes
	 * without slots. Otherwise 0.
	 */
	uint64_t run_bits;
	size_t next;
};

/* A label of an enumeration. Labels select the options of variants. */
struct type_label {
	char *name;
	uint64_t lo, hi; /* first and last value, extended to 64 bits like the field */
};

struct ctf_type {
	enum type_kind kind;
	uint32_t align; /* bits; a power of two */
	uint64_t size;	/* bits; set for integers, floats, or if is_fixed */
	/* Whether the type has a constant size in whole bytes, byte alignment and no slots. */
	bool is_fixed;
	bool is_signed;
	bool is_big_endian;
	bool is_clock; /* an integer mapped to the clock */
	bool is_text;  /* whether it is a character or an array of characters */
	bool is_enum;
	struct type_label *labels;
	size_t num_labels;
	struct type_member *members; /* members or options */
	size_t num_members;
	const struct ctf_type *element;
	uint64_t length;	    /* length of an array */
	int slot;		    /* slot of a sequence's length or a variant's tag */
	const struct ctf_type *tag; /* tag of a variant */
	ptrdiff_t *options;	    /* index of the option for each of the tag's labels, or -1 */
	struct ctf_type *older;	    /* next in the list of all types of a trace */
};

/* A position in a packet. */
struct bit_cursor {
	const uint8_t *data;
	uint64_t at; /* bits */
	uint64_t end;
	bool was_big_endian; /* byte order of the last integer, for partial bytes */
	uint64_t *slots;     /* array of metadata.num_slots */
};

/* Complete a type: compute its size if it is fixed, and its runs of members. */
void type_finish(struct ctf_type *type);

/* Skip a field. Return false if the field ends outside of the packet or is invalid in CTF. */
bool type_skip(const struct ctf_type *type, struct bit_cursor *c);

/*
 * Read an integer. If the integer is signed, extend its sign to 64 bits. Return false as
 * type_skip() does.
 */
bool type_read_integer(const struct ctf_type *type, struct bit_cursor *c, uint64_t *value);

/* Read a floating-point number. type_skip() must have skipped it before. */
double type_read_float(const struct ctf_type *type, struct bit_cursor *c);

/* Called for each integer in a structure, including those in variants. */
typedef bool (*type_visit_func)(void *data, const char *name, const struct ctf_type *type,
				uint64_t value);

/*
 * Skip a structure. Call @visit for its integers. Return false if type_skip() would, or if @visit
 * returned false.
 */
bool type_visit_integers(const struct ctf_type *type, struct bit_cursor *c, type_visit_func visit,
			 void *data);

/* Skip to a member, from the beginning of its structure. */
bool type_skip_to_member(const struct ctf_type *type, struct bit_cursor *c, size_t member);

/* Return the index of the variant's option that the tag selects, or -1. */
ptrdiff_t type_choose_option(const struct ctf_type *variant, const uint64_t *slots);

#endif
