/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of standard input -> the same lines with the time in one column corrected. */
#ifndef NETSYNC_LINES_H
#define NETSYNC_LINES_H

#include <stdbool.h>

#include "common/result-file.h"
#include "stamp.h"

struct line_settings {
	unsigned int column; /* counted from 1 */
	char separator;	     /* 0: any number of blanks and tabs */
	bool extrapolate;    /* also where the result does not apply */
};

/* Return the exit status. */
int convert_lines(struct model *model, const struct model_host *host,
		  const struct netsync_clock *clock, const struct line_settings *set,
		  const struct stamp_rules *rules);

#endif
