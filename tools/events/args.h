/* SPDX-License-Identifier: GPL-2.0-only */
/* Values of an event's fields, by name. */
#ifndef NETSYNC_EVENTS_ARGS_H
#define NETSYNC_EVENTS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arg_kind {
	ARG_TEXT,
	ARG_LABEL, /* text that is one of a few texts */
	ARG_BOOL,
	ARG_UNSIGNED,
	ARG_SIGNED,
	ARG_TIME, /* signed number of ns, which may exceed the precision of a double */
	ARG_REAL, /* finite number */
};

struct arg {
	const char *name;
	enum arg_kind kind;
	union {
		const char *text;
		bool truth;
		uint64_t number;
		int64_t integer;
		double real;
	};
};

struct args {
	struct arg *list;
	size_t num;
	size_t room;
};

/* Append an argument. Return false if out of memory. */
bool args_append(struct args *args, struct arg arg);
void args_release(struct args *args);

#endif
