/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments NAME=PATH, as netsync_io_add() takes them. */
#ifndef NETSYNC_ARGUMENT_H
#define NETSYNC_ARGUMENT_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* The length of NAME, as netsync_io_add() splits an argument; 0: there is only a PATH. */
static inline size_t argument_name_length(const char *argument)
{
	const size_t len = strcspn(argument, "=/");

	return argument[len] == '=' ? len : 0;
}

/*
 * Did netsync_io_add() fail with @err since a file holds no packet or event, of which a
 * warning was given? So do some of many files on a network that is idle at times.
 */
static inline bool argument_is_empty(const char *argument, int err)
{
	const size_t name = argument_name_length(argument);
	struct stat st;

	return err == -ENODATA && !stat(argument + (name ? name + 1 : 0), &st) &&
	       S_ISREG(st.st_mode);
}

#endif
