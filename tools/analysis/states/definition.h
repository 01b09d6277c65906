/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A definition of states, read from a file in the format of netsync-states(5). The definition
 * specifies which fields name the object, which events begin and end a state, and what objects on
 * several hosts share.
 */
#ifndef NETSYNC_STATES_DEFINITION_H
#define NETSYNC_STATES_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_format {
	FIELD_PLAIN,
	FIELD_HEX,     /* hexadecimal, as in {flags:x} */
	FIELD_ADDRESS, /* IPv4 or IPv6 address, as in {saddr:ip} */
	FIELD_DEVICE,  /* number of a block device in the kernel, such as "8:16", as in {dev:dev} */
};

/* A field of an event. If a field has several names, the first one that the event has is used. */
struct field {
	const char **names; /* fields such as FIELD_TID are not in the payload */
	size_t num;
	enum field_format format;
};

struct template_piece {
	const char *text; /* NULL if the piece is a field */
	struct field field;
};

/* A text that contains fields in braces, such as "{ls_id} {res_name}". */
struct template
{
	struct template_piece *pieces;
	size_t num; /* 0 if there is no template */
};

enum comparison {
	IS,	 /* operator = */
	IS_NOT,	 /* operator != */
	IS_LESS, /* operator < */
	IS_MORE, /* operator > */
	HAS,	 /* all bits of the operand are set */
	LACKS,	 /* no bit of the operand is set */
};

struct operand {
	const char *glob;
	bool is_number; /* the operand, which is a glob pattern, is also a number */
	int64_t number;
};

struct condition {
	struct field field;
	enum comparison comparison;
	struct operand *operands; /* for IS, the field equals one of these; for IS_NOT, none */
	size_t num;
};

enum action { BEGIN, CHANGE, END };

/*
 * The resource that objects on several hosts share. Objects with equal texts share a resource. If
 * there are two templates (for both ends of a connection), two objects share a resource if their
 * pairs of texts are equal in either order.
 */
struct shared {
	struct template sides[2]; /* templates of the resource; the second one may be empty */
};

struct rule {
	const char **events; /* globs of event names */
	size_t num_events;
	struct condition *conditions;
	size_t num_conditions;
	/* If given, these replace the templates of the definition. */
	struct template object, name;
	struct shared shared;
	enum action action;
	struct template label; /* name of the state; unused for END */
	unsigned int line;
};

struct label {
	bool is_other; /* this label is for all numbers that have no label of their own */
	int64_t number;
	const char *text;
};

/* Labels for the values of a numeric field. */
struct labels {
	const char *field;
	struct label *list;
	size_t num;
};

/* Glob patterns that match names of states. */
struct state_list {
	const char **globs;
	size_t num;
};

struct definition {
	const char *name; /* a built-in definition, such as "dlm", or a file's path */
	const char *title;
	struct template object, name_of;
	struct shared shared;
	const char **kept; /* fields whose last values an object keeps */
	size_t num_kept;
	struct labels *labels;
	size_t num_labels;
	struct rule *rules;
	size_t num_rules;
	/*
	 * While an object is in an exclusive state, no other object that shares its resource may be
	 * in an exclusive state or in a state of @with.
	 */
	struct state_list exclusive, with;
	/* A waiting state lasts until another object leaves one of the holding states. */
	struct state_list waiting, holding;

	char *text; /* the file's text, which the strings above point into */
};

/*
 * Read the built-in definition or the file with this name. If the definition is invalid, print a
 * message with file, line and column, and return false. The definition must be released in either
 * case.
 */
bool definition_read(struct definition *definition, const char *name);
void definition_release(struct definition *definition);

/* Names of the built-in definitions, followed by NULL. */
extern const char *const definition_names[];
/* Return the text of a built-in definition, or NULL if none has this name. */
const char *definition_find_text(const char *name);

/* Return whether one of the glob patterns matches the state. */
bool state_list_contains(const struct state_list *list, const char *state);

/* Names of fields that every event has, in addition to its payload. */
#define FIELD_TID "@tid"
#define FIELD_COMM "@comm"
#define FIELD_CPU "@cpu"
#define FIELD_HOST "@host"
#define FIELD_EVENT "@event"
#define FIELD_REST "@rest"
#define FIELD_STATE "@state"

#endif
