/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How events make states, as a file in the format of netsync-states(5) says: which
 * fields name the object, which event begins a state, which ends it, and what objects
 * of several hosts have in common.
 */
#ifndef NETSYNC_STATES_DEFINITION_H
#define NETSYNC_STATES_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_format {
	FIELD_PLAIN,
	FIELD_HEX,		/* {flags:x} */
	FIELD_ADDRESS,		/* {saddr:ip}: of IPv4 or IPv6 */
	FIELD_DEVICE,		/* {dev:dev}: "8:16", as the kernel numbers block devices */
};

/* A field of an event: the first of these that it has. */
struct field {
	const char **names;	/* with "@": what is not of its fields */
	size_t num;
	enum field_format format;
};

struct piece {
	const char *text;	/* NULL: it is the field */
	struct field field;
};

/* A text with fields in it, "{ls_id} {res_name}". */
struct template {
	struct piece *pieces;
	size_t num;		/* 0: it was not given */
};

enum comparison {
	IS,			/* = */
	IS_NOT,			/* != */
	IS_LESS,		/* < */
	IS_MORE,		/* > */
	HAS,			/* all of these bits */
	LACKS,			/* each of these bits */
};

struct operand {
	const char *glob;
	bool is_number;		/* it can be taken for one, too */
	int64_t number;
};

struct condition {
	struct field field;
	enum comparison comparison;
	struct operand *operands;	/* IS: one of them; IS_NOT: none of them */
	size_t num;
};

enum action { BEGIN, CHANGE, END };

/* What two objects have in common where these are the same, in either order. */
struct shared {
	struct template sides[2];	/* the second one need not be there */
};

struct rule {
	const char **events;	/* globs of their names */
	size_t num_events;
	struct condition *conditions;
	size_t num_conditions;
	/* In place of those of the definition, if they are given. */
	struct template object, name;
	struct shared shared;
	enum action action;
	struct template label;	/* of the state; not of END */
	unsigned int line;
};

struct label {
	bool is_other;		/* of all numbers that have no other one */
	int64_t number;
	const char *text;
};

/* What the numbers of a field are called. */
struct labels {
	const char *field;
	struct label *list;
	size_t num;
};

/* Globs of states. */
struct state_list {
	const char **globs;
	size_t num;
};

struct definition {
	const char *name;	/* "dlm", or the path of the file */
	const char *title;
	struct template object, name_of;
	struct shared shared;
	const char **kept;	/* fields that an object remembers */
	size_t num_kept;
	struct labels *labels;
	size_t num_labels;
	struct rule *rules;
	size_t num_rules;
	/* No two objects that share something are in one of these at once, */
	struct state_list exclusive;
	/* nor one in one of those, and another one in one of these. */
	struct state_list with;
	/* These wait until another object leaves one of those. */
	struct state_list waiting, holding;

	char *text;		/* of the file; strings above are in it */
};

/*
 * Read a definition: that which is built in under this name, else a file. It is to be
 * released in every case. False: what is wrong was said, with file, line and column.
 */
bool definition_read(struct definition *definition, const char *name);
void definition_release(struct definition *definition);

/* One of those that are built in, by number; NULL: there are no more. */
const char *definition_name(size_t number);
/* The text of one by its name; NULL: there is none. */
const char *definition_text(const char *name);

/* Is a text like one of them? */
bool state_is_one_of(const struct state_list *list, const char *state);

/* The fields that have no "@". */
#define FIELD_TID "@tid"
#define FIELD_COMM "@comm"
#define FIELD_CPU "@cpu"
#define FIELD_HOST "@host"
#define FIELD_EVENT "@event"
#define FIELD_REST "@rest"
#define FIELD_STATE "@state"

#endif
