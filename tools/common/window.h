/* SPDX-License-Identifier: GPL-2.0-only */
/* From when to when, as people say it. */
#ifndef NETSYNC_WINDOW_H
#define NETSYNC_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct netsync_io;

struct moment {
	const char *text;	/* as it was given */
	enum {
		MOMENT_NONE,	/* it was not given */
		MOMENT_ABSOLUTE,
		MOMENT_SINCE_BEGIN,	/* of the traces */
		MOMENT_OF_DAY,	/* since midnight, local time */
	} kind;
	int64_t ns;
};

struct time_window {
	struct moment begin, end;
};

/* --begin and --end, for a struct time_window. */
extern const struct option_row window_options[];

static inline bool window_is_given(const struct time_window *window)
{
	return window->begin.kind != MOMENT_NONE || window->end.kind != MOMENT_NONE;
}

/*
 * What they are for traces of that span, all in corrected time; INT64_MIN and
 * INT64_MAX where they were not given. @is_whole: nothing is outside of that span.
 * False: nothing is between them, and that was said.
 */
bool window_find(const struct time_window *window, int64_t first_ns,
		 int64_t last_ns, bool is_whole, int64_t *begin_ns,
		 int64_t *end_ns);

/*
 * Have a reader, to which all was added and nothing read, read only what is between them
 * by each host's own clock. False: that cannot be, as was said.
 */
bool window_read(const struct time_window *window, struct netsync_io *io);

#endif
