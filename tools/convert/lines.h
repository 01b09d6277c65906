/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of standard input -> the same with the time in one column corrected. */
#ifndef NETSYNC_LINES_H
#define NETSYNC_LINES_H

#include <stdbool.h>

#include "common/result-file.h"
#include "stamp.h"

struct line_settings {
	unsigned int column;	/* from 1 on */
	char separator;		/* 0: blanks and tabs, as many as there are */
	bool extrapolate;	/* also where the result does not hold */
};

/* Return: the exit status. */
int convert_lines(struct model *model, const struct model_host *host,
		  const struct netsync_clock *clock, const struct line_settings *set,
		  const struct stamp_rules *rules);

#endif
