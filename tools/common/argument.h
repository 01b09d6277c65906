/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments NAME=PATH. */
#ifndef NETSYNC_ARGUMENT_H
#define NETSYNC_ARGUMENT_H

#include <string.h>

/* The length of NAME, as netsync_io_add() splits an argument; 0: there is only a PATH. */
static inline size_t argument_name_length(const char *argument)
{
	const size_t len = strcspn(argument, "=/");

	return argument[len] == '=' ? len : 0;
}

#endif
