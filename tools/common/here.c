// SPDX-License-Identifier: GPL-2.0-only
/* Find paths relative to the running program. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "places.h"

/*
 * Find the file of the running program, and follow symbolic links. If /proc does not exist, a
 * relative path by which the program was started is relative to the current directory.
 */
static bool find_own_program(char path[PATH_MAX])
{
	const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *run_as = (const char *)getauxval(AT_EXECFN);

	if (length >= 0)
		path[length] = '\0';
	return length >= 0 || (run_as && realpath(run_as, path));
}

char *make_path_from_here(const char *relative)
{
	char here[PATH_MAX], *path;

	if (!find_own_program(here))
		return NULL;
	*strrchr(here, '/') = '\0';
	return asprintf(&path, "%s/%s", here, relative) < 0 ? NULL : path;
}

char *make_path_of_netsync(void)
{
	char *folder = make_path_from_here(place_of_netsync), *path;

	if (!folder || asprintf(&path, "%s/netsync", folder) < 0)
		path = NULL;
	free(folder);
	return path;
}
