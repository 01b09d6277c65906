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

/* A field of an event; of several names, the first that the event has. */
struct field {
	const char **names;	/* FIELD_TID and the like are not of its payload */
	size_t num;
	enum field_format format;
};

struct template_piece {
	const char *text;	/* NULL: the piece is the field */
	struct field field;
};

/* A text with fields in braces, "{ls_id} {res_name}". */
struct template {
	struct template_piece *pieces;
	size_t num;		/* 0: the template was not given */
};

enum comparison {
	IS,			/* = */
	IS_NOT,			/* != */
	IS_LESS,		/* < */
	IS_MORE,		/* > */
	HAS,			/* all of the operand's bits are set */
	LACKS,			/* none of them is set */
};

struct operand {
	const char *glob;
	bool is_number;		/* the glob is a number as well */
	int64_t number;
};

struct condition {
	struct field field;
	enum comparison comparison;
	struct operand *operands;	/* IS: one of them; IS_NOT: none of them */
	size_t num;
};

enum action { BEGIN, CHANGE, END };

/*
 * What objects of several hosts share: those whose text is the same. With two templates,
 * the texts of one object are those of the other one, in either order (ends of a
 * connection).
 */
struct shared {
	struct template sides[2];	/* the second one may be empty */
};

struct rule {
	const char **events;	/* globs of their names */
	size_t num_events;
	struct condition *conditions;
	size_t num_conditions;
	/* Those that are given replace the definition's. */
	struct template object, name;
	struct shared shared;
	enum action action;
	struct template label;	/* of the state; not of END */
	unsigned int line;
};

struct label {
	bool is_other;		/* for all numbers without a label of their own */
	int64_t number;
	const char *text;
};

/* The texts that stand for the numbers of a field. */
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
	/*
	 * Of objects that share something, none is in an exclusive state while another
	 * one is in an exclusive state or in a state of @with.
	 */
	struct state_list exclusive, with;
	/* A waiting state lasts until another object leaves a holding one. */
	struct state_list waiting, holding;

	char *text;		/* the file's; the strings above point into it */
};

/*
 * Read a definition: a built-in one of this name, else the file of this name. Release
 * it in every case. False: what is wrong was said, with file, line and column.
 */
bool definition_read(struct definition *definition, const char *name);
void definition_release(struct definition *definition);

/* The names of built-in definitions; NULL after the last. */
extern const char *const definition_names[];
/* The text of a built-in definition; NULL: none has this name. */
const char *definition_text(const char *name);

/* Does one of the globs match the state? */
bool state_is_one_of(const struct state_list *list, const char *state);

/* Names of fields that every event has, beside its payload. */
#define FIELD_TID "@tid"
#define FIELD_COMM "@comm"
#define FIELD_CPU "@cpu"
#define FIELD_HOST "@host"
#define FIELD_EVENT "@event"
#define FIELD_REST "@rest"
#define FIELD_STATE "@state"

#endif
