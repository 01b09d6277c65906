/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line of netsync-clocks(5), for callers that do not read it from a text file. */
#ifndef NETSYNC_IO_CLOCK_LINE_H
#define NETSYNC_IO_CLOCK_LINE_H

#include "io/names.h"
#include "netsync.h"

/*
 * Parse the line at @p, which ends in '\n' and is followed by WORD_SLACK bytes. Set the name,
 * and all members of the point except its host. Return the end of the line, or NULL if the line
 * is invalid.
 */
const char *parse_text_clock_line(const char *p, struct text_word *host,
				  struct netsync_clock_point *point);

#endif
