/* SPDX-License-Identifier: GPL-2.0-only */
/* Parse arguments of the form NAME=PATH, which netsync_io_add() accepts. */
#ifndef NETSYNC_ARGUMENT_H
#define NETSYNC_ARGUMENT_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Return the length of NAME in an argument, as netsync_io_add() splits it, or 0 if there is
 * only a PATH.
 */
static inline size_t argument_get_name_length(const char *argument)
{
	const size_t len = strcspn(argument, "=/");

	return argument[len] == '=' ? len : 0;
}

/*
 * Return whether netsync_io_add() failed with @err because a file contains no packet or event. If
 * so, a warning was printed. Such files are normal: if a capture has many files, some are empty
 * because the network is idle at times.
 */
static inline bool argument_is_empty(const char *argument, int err)
{
	const size_t name = argument_get_name_length(argument);
	struct stat st;

	return err == -ENODATA && !stat(argument + (name ? name + 1 : 0), &st) &&
	       S_ISREG(st.st_mode);
}

#endif
