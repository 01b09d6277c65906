/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How events make states, as specified by a file in the format of netsync-states(5):
 * which fields name the object, which event begins a state, which ends it, and what
 * objects of several hosts share.
 */
#ifndef NETSYNC_STATES_DEFINITION_H
#define NETSYNC_STATES_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_format {
	FIELD_PLAIN,
	FIELD_HEX,     /* {flags:x} */
	FIELD_ADDRESS, /* {saddr:ip}: of IPv4 or IPv6 */
	FIELD_DEVICE,  /* {dev:dev}: "8:16", the kernel's number of a block device */
};

/* A field of an event; of several names, the first one that the event has. */
struct field {
	const char **names; /* FIELD_TID and the like are not in the payload */
	size_t num;
	enum field_format format;
};

struct template_piece {
	const char *text; /* NULL if the piece is a field */
	struct field field;
};

/* A text with fields in braces, "{ls_id} {res_name}". */
struct template
{
	struct template_piece *pieces;
	size_t num; /* 0 if no template */
};

enum comparison {
	IS,	 /* = */
	IS_NOT,	 /* != */
	IS_LESS, /* < */
	IS_MORE, /* > */
	HAS,	 /* all of the operand's bits are set */
	LACKS,	 /* none of them is set */
};

struct operand {
	const char *glob;
	bool is_number; /* the glob is also a number */
	int64_t number;
};

struct condition {
	struct field field;
	enum comparison comparison;
	struct operand *operands; /* IS: equals one of them; IS_NOT: equals none */
	size_t num;
};

enum action { BEGIN, CHANGE, END };

/*
 * Shared things of objects on several hosts: objects with the same text share one. With
 * two templates, two objects share one if their pairs of texts are equal in either order
 * (ends of a connection).
 */
struct shared {
	struct template sides[2]; /* the second may be empty */
};

struct rule {
	const char **events; /* globs of event names */
	size_t num_events;
	struct condition *conditions;
	size_t num_conditions;
	/* If given, they replace the definition's. */
	struct template object, name;
	struct shared shared;
	enum action action;
	struct template label; /* of the state; not for END */
	unsigned int line;
};

struct label {
	bool is_other; /* for all numbers without their own label */
	int64_t number;
	const char *text;
};

/* Labels for the numbers of a field. */
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
	const char *name; /* "dlm", or the path of the file */
	const char *title;
	struct template object, name_of;
	struct shared shared;
	const char **kept; /* fields that an object keeps */
	size_t num_kept;
	struct labels *labels;
	size_t num_labels;
	struct rule *rules;
	size_t num_rules;
	/*
	 * While an object is in an exclusive state, no other object that shares the same
	 * resource is in an exclusive state or in a state of @with.
	 */
	struct state_list exclusive, with;
	/* A waiting state lasts until another object leaves a holding one. */
	struct state_list waiting, holding;

	char *text; /* the file's text; the strings above point into it */
};

/*
 * Read the built-in definition or the file with this name. Release the definition in every
 * case. If it is invalid, print a message with file, line and column, and return false.
 */
bool definition_read(struct definition *definition, const char *name);
void definition_release(struct definition *definition);

/* The names of built-in definitions; NULL after the last. */
extern const char *const definition_names[];
/* Return the text of a built-in definition, or NULL if none has this name. */
const char *definition_text(const char *name);

/* Does one of the globs match the state? */
bool state_is_one_of(const struct state_list *list, const char *state);

/* Names of fields that every event has, in addition to its payload. */
#define FIELD_TID "@tid"
#define FIELD_COMM "@comm"
#define FIELD_CPU "@cpu"
#define FIELD_HOST "@host"
#define FIELD_EVENT "@event"
#define FIELD_REST "@rest"
#define FIELD_STATE "@state"

#endif
