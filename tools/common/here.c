// SPDX-License-Identifier: GPL-2.0-only
/* A path from the folder of the program that runs. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "places.h"

char *path_from_here(const char *relative)
{
	char here[PATH_MAX], *path;
	const ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);

	if (length < 0)
		return NULL;
	here[length] = '\0';
	*strrchr(here, '/') = '\0';
	return asprintf(&path, "%s/%s", here, relative) < 0 ? NULL : path;
}
