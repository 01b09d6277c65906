/* SPDX-License-Identifier: GPL-2.0-only */
/* A window of time that a user has specified. */
#ifndef NETSYNC_WINDOW_H
#define NETSYNC_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct netsync_io;

struct moment {
	const char *text; /* text that the user typed */
	enum {
		MOMENT_NONE, /* no time is given */
		MOMENT_ABSOLUTE,
		MOMENT_SINCE_BEGIN, /* time relative to the beginning of the traces */
		MOMENT_OF_DAY,	    /* time since midnight, in local time */
	} kind;
	int64_t ns;
};

struct time_window {
	struct moment begin, end;
};

/* The options --begin and --end, which set a struct time_window. */
extern const struct option_row window_options[];

static inline bool window_is_given(const struct time_window *window)
{
	return window->begin.kind != MOMENT_NONE || window->end.kind != MOMENT_NONE;
}

/*
 * Find the ends of the window for traces with this span. All times are corrected. An end that was
 * not given becomes INT64_MIN or INT64_MAX. @is_whole means that all events are within the span. If
 * the window is empty, print a message and return false.
 */
bool window_find(const struct time_window *window, int64_t first_ns, int64_t last_ns, bool is_whole,
		 int64_t *begin_ns, int64_t *end_ns);

/*
 * Let a reader read only the window, on each host's own clock. All input must already have been
 * added, but not read. If this is not possible, print a message and return false.
 */
bool window_read(const struct time_window *window, struct netsync_io *io);

#endif
