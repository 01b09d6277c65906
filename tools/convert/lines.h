/* SPDX-License-Identifier: GPL-2.0-only */
/* Correct the time in one column of each line of standard input. */
#ifndef NETSYNC_LINES_H
#define NETSYNC_LINES_H

#include <stdbool.h>

#include "common/result-file.h"
#include "stamp.h"

struct line_settings {
	unsigned int column; /* number of the column, which counts from 1 */
	char separator;	     /* 0 if any number of blanks and tabs separates columns */
	bool extrapolate;    /* also correct times that the result does not cover */
};

/* Convert all lines of standard input. Return the exit status. */
int convert_lines(struct model *model, const struct model_host *host,
		  const struct netsync_clock *clock, const struct line_settings *set,
		  const struct stamp_rules *rules);

#endif
