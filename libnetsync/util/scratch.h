/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find the directory for temporary files, and open unnamed files in this directory. */
#ifndef NETSYNC_UTIL_SCRATCH_H
#define NETSYNC_UTIL_SCRATCH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Return $TMPDIR if it is set. Otherwise, return /tmp. For large files, return /var/tmp, because
 * /tmp is often in memory.
 */
static inline const char *scratch_get_folder(bool is_large)
{
	const char *path = getenv("TMPDIR");

	return path && *path ? path : is_large ? "/var/tmp" : "/tmp";
}

/* Open an unnamed file for reading and writing. On failure, set errno and return -1. */
static inline int scratch_open_file(void)
{
	const char *folder = scratch_get_folder(false);
	int fd = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	/* Some file systems do not support O_TMPFILE. */
	if (fd < 0 && asprintf(&path, "%s/netsync-XXXXXX", folder) >= 0) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
		free(path);
	}
	return fd;
}

#endif
