/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line of netsync-clocks(5), for callers that do not read it from a text file. */
#ifndef NETSYNC_IO_CLOCK_LINE_H
#define NETSYNC_IO_CLOCK_LINE_H

#include "io/names.h"
#include "netsync.h"

/*
 * Take the line at @p, which ends in '\n' and has WORD_SLACK bytes behind it: the name
 * and all of the point but its host. Return: its end; NULL: it is no such line.
 */
const char *take_clock_line(const char *p, struct text_word *host,
			    struct netsync_clock_point *point);

#endif
