/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse a line in the format of netsync-clocks(5), for callers that do not read it from a text
 * file.
 */
#ifndef NETSYNC_IO_CLOCK_LINE_H
#define NETSYNC_IO_CLOCK_LINE_H

#include "io/names.h"
#include "netsync.h"

/* Columns of a line that struct netsync_clock_point does not have. */
struct clock_line_more {
	int64_t utc_within_ns; /* bound on the clock's difference from UTC; 0 if unknown */
};

/*
 * Parse the line at @p. The line must end in ' ', and WORD_SLACK bytes must follow. Set the name,
 * all members of the point except its host, and the other columns. Return the end of the line. If the line is invalid,
 * return NULL.
 */
const char *parse_text_clock_line(const char *p, struct text_word *host,
				  struct netsync_clock_point *point, struct clock_line_more *more);

#endif
