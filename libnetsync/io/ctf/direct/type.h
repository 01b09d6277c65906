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

/* Slot of a field whose value no other field needs. */
#define NO_SLOT -1

/* A member of a structure, or an option of a variant. */
struct type_member {
	char *name;
	const struct ctf_type *type;
	int slot; /* index in cursor.slots, if other fields need the value */
	/*
	 * Number of bits up to member @next of a structure, if they are whole bytes without
	 * slots; otherwise 0.
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
	/* The type has a constant size in whole bytes, is aligned to bytes, and has no slots. */
	bool is_fixed;
	bool is_signed;
	bool is_big_endian;
	bool is_clock; /* an integer mapped to the clock */
	bool is_text;  /* characters, or an array of them */
	bool is_enum;
	struct type_label *labels;
	size_t num_labels;
	struct type_member *members; /* members or options */
	size_t num_members;
	const struct ctf_type *element;
	uint64_t length;	    /* length of an array */
	int slot;		    /* slot of a sequence's length or a variant's tag */
	const struct ctf_type *tag; /* a variant's tag */
	ptrdiff_t *options;	    /* index of the option, by label of the tag; -1 if none */
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

/* Complete a type: compute its fixed size, and runs of members. */
void type_finish(struct ctf_type *type);

/* Skip a field. Return false if the field exceeds the packet, or if CTF does not allow it. */
bool type_skip(const struct ctf_type *type, struct bit_cursor *c);

/* Read an integer, sign-extended to 64 bits if it is signed. Return as type_skip() does. */
bool type_read_integer(const struct ctf_type *type, struct bit_cursor *c, uint64_t *value);

/* Read a floating-point number at a position that type_skip() has skipped. */
double type_read_float(const struct ctf_type *type, struct bit_cursor *c);

/* Called for each integer of a structure, including those in variants. */
typedef bool (*type_visit_func)(void *data, const char *name, const struct ctf_type *type,
				uint64_t value);

/*
 * Skip a structure, calling @visit for its integers. Return false as type_skip() does, or if
 * @visit returned false.
 */
bool type_visit_integers(const struct ctf_type *type, struct bit_cursor *c, type_visit_func visit,
			 void *data);

/* Skip to a member, from the beginning of its structure. */
bool type_skip_to_member(const struct ctf_type *type, struct bit_cursor *c, size_t member);

/* Return the index of a variant's option by its tag, or -1 if there is none. */
ptrdiff_t type_choose_option(const struct ctf_type *variant, const uint64_t *slots);

#endif
