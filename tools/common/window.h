/* SPDX-License-Identifier: GPL-2.0-only */
/* A window of time, as people give it. */
#ifndef NETSYNC_WINDOW_H
#define NETSYNC_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct netsync_io;

struct moment {
	const char *text; /* as given */
	enum {
		MOMENT_NONE, /* not given */
		MOMENT_ABSOLUTE,
		MOMENT_SINCE_BEGIN, /* since the beginning of the traces */
		MOMENT_OF_DAY,	    /* since midnight, local time */
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
 * Find the ends of the window for traces of this span, all in corrected time; INT64_MIN and
 * INT64_MAX for ends that were not given. @is_whole means that no event is outside the span. If
 * the window is empty, print a message and return false.
 */
bool window_find(const struct time_window *window, int64_t first_ns, int64_t last_ns, bool is_whole,
		 int64_t *begin_ns, int64_t *end_ns);

/*
 * Make a reader read only the window, on each host's own clock. All input must have been added,
 * and not yet read. If this is not possible, print a message and return false.
 */
bool window_read(const struct time_window *window, struct netsync_io *io);

#endif
