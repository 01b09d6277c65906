// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files that who recorded a machine wrote beside its traces: where they are. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"

/* From the folder of a domain's channels up to that of the machine: HOST/1/kernel. */
#define LEVELS 3

/*
 * A link may lead to what is not of this recording; and in a folder above, as /tmp is,
 * anybody may put something: it has to belong to whom the trace belongs, or who reads.
 */
static bool is_file(const char *path, uid_t owner)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) &&
	       (st.st_uid == owner || st.st_uid == geteuid());
}

char *io_find_beside(const struct trace *trace, const char *name)
{
	size_t length = strlen(trace->real_path);
	struct stat st;
	char *path;

	if (stat(trace->real_path, &st))
		return NULL;
	for (int i = 0; i <= LEVELS && length; i++) {
		path = io_format("%.*s/%s", (int)length, trace->real_path, name);
		if (path && is_file(path, st.st_uid))
			return path;
		free(path);
		while (length && trace->real_path[--length] != '/')
			;
	}
	return NULL;
}
