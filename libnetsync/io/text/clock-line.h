/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse a line in the format of netsync-clocks(5), for callers that do not read it from a text
 * file.
 */
#ifndef NETSYNC_IO_CLOCK_LINE_H
#define NETSYNC_IO_CLOCK_LINE_H

#include "io/names.h"
#include "netsync.h"

/*
 * Parse the line at @p. The line must end in ' ', and WORD_SLACK bytes must follow. Set the name,
 * and all members of the point except its host. Return the end of the line. If the line is invalid,
 * return NULL.
 */
const char *parse_text_clock_line(const char *p, struct text_word *host,
				  struct netsync_clock_point *point);

#endif
