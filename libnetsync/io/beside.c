// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files that who recorded a machine wrote beside its traces: where they are. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/io.h"

/* From the folder of a domain's channels up to that of the machine: HOST/1/kernel. */
#define LEVELS 3

/* A link may lead to what is not of this recording. */
static bool is_file(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode);
}

char *io_find_beside(const struct trace *trace, const char *name)
{
	size_t length = strlen(trace->real_path);
	char *path;

	for (int i = 0; i <= LEVELS && length; i++) {
		path = io_format("%.*s/%s", (int)length, trace->real_path, name);
		if (path && is_file(path))
			return path;
		free(path);
		while (length && trace->real_path[--length] != '/')
			;
	}
	return NULL;
}
