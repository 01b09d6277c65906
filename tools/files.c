// SPDX-License-Identifier: GPL-2.0-only
/* Folders: made, removed, and linked with all that is in them. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static bool complain_of(const char *path)
{
	complain("%s: %s.", path, strerror(errno));
	return false;
}

bool make_folders(char *path, size_t from)
{
	for (char *end = path + from; (end = strchr(end, '/')); end++) {
		*end = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return complain_of(path);
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

/* ---- linking ------------------------------------------------------------ */

static bool copy_data(int in, int out)
{
	static char buffer[1 << 16];
	ssize_t size;

	while ((size = read(in, buffer, sizeof(buffer))) > 0) {
		ssize_t done = write(out, buffer, size);

		if (done >= 0 && done < size)
			errno = ENOSPC;
		if (done < size || interrupted)
			return false;
	}
	return !size;
}

static bool copy_file(const char *from, const char *to)
{
	const int in = open(from, O_RDONLY | O_CLOEXEC);
	const int out = in < 0 ? -1 :
			open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool ok = out >= 0 && copy_data(in, out);

	if (out >= 0 && close(out))
		ok = false;
	if (!ok && !interrupted)
		complain_of(in < 0 ? from : to);
	if (in >= 0)
		close(in);
	return ok;
}

static bool link_entry(const FTSENT *entry, const char *to, const char *except,
		       uint64_t *copied)
{
	switch (entry->fts_info) {
	case FTS_D:
		return !mkdir(to, 0777) || complain_of(to);
	case FTS_F:
		if (entry->fts_level == 1 && !strcmp(entry->fts_name, except))
			return true;
		/* What is linked to is not changed by changing the link. */
		if (!linkat(AT_FDCWD, entry->fts_path, AT_FDCWD, to,
			    AT_SYMLINK_FOLLOW))
			return true;
		++*copied;
		return copy_file(entry->fts_path, to);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		errno = entry->fts_errno;
		return complain_of(entry->fts_path);
	default:
		return true;
	}
}

bool link_tree(const char *from, const char *to, const char *except,
	       uint64_t *copied)
{
	char *paths[] = { (char *)from, NULL };
	FTS *fts = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, NULL);
	bool ok = fts || complain_of(from);
	FTSENT *entry;
	char *path;

	*copied = 0;
	while (ok && (entry = fts_read(fts))) {
		if (asprintf(&path, "%s%s", to,
			     entry->fts_path + strlen(from)) < 0)
			break;
		ok = !interrupted && link_entry(entry, path, except, copied);
		free(path);
	}
	if (fts)
		fts_close(fts);
	return ok;
}
