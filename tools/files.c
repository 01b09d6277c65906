// SPDX-License-Identifier: GPL-2.0-only
/* Folders that are made, and removed with all that is in them. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tool.h"

bool make_folders(char *path, size_t from)
{
	for (char *end = path + from; (end = strchr(end, '/')); end++) {
		*end = '\0';
		if (mkdir(path, 0777) && errno != EEXIST) {
			complain("%s: %s.", path, strerror(errno));
			return false;
		}
		*end = '/';
	}
	return true;
}

static int remove_one(const char *path, const struct stat *info, int type,
		      struct FTW *place)
{
	(void)info;
	(void)type;
	(void)place;
	remove(path);
	return 0;
}

void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
