/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments NAME=PATH. */
#ifndef NETSYNC_ARGUMENT_H
#define NETSYNC_ARGUMENT_H

#include <string.h>

/* As netsync_io_add() takes one apart: the length of NAME; 0: it is a PATH alone. */
static inline size_t argument_name_length(const char *argument)
{
	const size_t len = strcspn(argument, "=/");

	return argument[len] == '=' ? len : 0;
}

#endif
