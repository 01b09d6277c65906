/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where that is kept which is needed for a while, and files of it that have no name. */
#ifndef NETSYNC_UTIL_SCRATCH_H
#define NETSYNC_UTIL_SCRATCH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* $TMPDIR, or else /tmp, which is often memory, so that what is large is kept elsewhere. */
static inline const char *scratch_folder(bool is_large)
{
	const char *path = getenv("TMPDIR");

	return path && *path ? path : is_large ? "/var/tmp" : "/tmp";
}

/* A file for reading and writing; -1: errno says why there is none. */
static inline int scratch_file(void)
{
	const char *folder = scratch_folder(false);
	int fd = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	/* Not every file system has nameless files. */
	if (fd < 0 && asprintf(&path, "%s/netsync-XXXXXX", folder) >= 0) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
		free(path);
	}
	return fd;
}

#endif
