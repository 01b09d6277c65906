// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create, remove, measure and link directories with their contents. Links and copies do not have
 * more permissions than the original. Symbolic links are refused: a trace from another machine must
 * not choose which files of this machine are copied.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "folders.h"
#include "signal.h"
#include "value.h"

bool make_folders_like(char *path, size_t from, const char *original)
{
	const size_t len = strlen(path);

	for (char *end = path + from; (end = strchr(end, '/')); end++) {
		char *other = original ?
				      strndup(original, strlen(original) - (len - (end - path))) :
				      NULL;
		struct stat st = { .st_mode = 0777 };
		bool ok = !original || (other && !stat(other, &st));

		*end = '\0';
		ok = ok && (!mkdir(path, (st.st_mode & 0777) | S_IRWXU) || errno == EEXIST);
		if (!ok)
			complain_about_path(path);
		*end = '/';
		free(other);
		if (!ok)
			return false;
	}
	return true;
}

bool make_folders(char *path, size_t from)
{
	return make_folders_like(path, from, NULL);
}

static int remove_tree_item(const char *path, const struct stat *info, int type, struct FTW *place)
{
	(void)info;
	(void)type;
	(void)place;
	remove(path);
	return 0;
}

void remove_tree(const char *path)
{
	nftw(path, remove_tree_item, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- linking ------------------------------------------------------------ */

static bool copy_file_data(int in, int out)
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

/* Maximum depth of directories in a trace. Chosen; LTTng's traces have two levels. */
#define MAX_DEPTH 16

struct linking {
	const char *except; /* name of a file in the top directory that is not linked */
	uint64_t *copied;
	unsigned int depth;
};

static bool copy_file(int in, int folder, const char *name, mode_t mode)
{
	const int out = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0666);
	bool ok = out >= 0 && copy_file_data(in, out);

	if (out >= 0 && close(out))
		ok = false;
	return ok;
}

static bool link_file(struct linking *linking, int file, int folder, const char *name, mode_t mode)
{
	char number[VALUE_SIZE];

	/* Link the open file rather than its name, which could belong to another file by now. */
	snprintf(number, sizeof(number), "/proc/self/fd/%d", file);
	if (!linkat(AT_FDCWD, number, folder, name, AT_SYMLINK_FOLLOW))
		return true;
	++*linking->copied;
	return copy_file(file, folder, name, mode);
}

static bool link_folder(struct linking *linking, int from, int to, const char *path);

/* Link or copy the entry @name of the directory @from. Messages refer to it by @path. */
static bool link_entry(struct linking *linking, int from, int to, const char *name,
		       const char *path)
{
	struct stat st;
	bool ok = false;
	int in, out;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return complain_about_path(path);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		complain(
			"%s: this is %s, which is not followed; replace it with the files of the trace.",
			path,
			S_ISLNK(st.st_mode) ? "a symbolic link" : "neither a file nor a directory");
		return false;
	}
	in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in < 0 || fstat(in, &st)) {
		complain_about_path(path);
	} else if (S_ISREG(st.st_mode)) {
		ok = link_file(linking, in, to, name, st.st_mode);
		if (!ok && !interrupted)
			complain_about_path(path);
	} else if (mkdirat(to, name, (st.st_mode & 0777) | S_IRWXU) ||
		   (out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0) {
		complain_about_path(path);
	} else {
		ok = link_folder(linking, in, out, path);
		close(out);
	}
	if (in >= 0)
		close(in);
	return ok;
}

static bool link_entries(struct linking *linking, DIR *folder, int to, const char *path)
{
	struct dirent *entry;
	bool ok = true;
	char *below;

	while (ok && (errno = 0, entry = readdir(folder))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, "..") ||
		    (linking->depth == 1 && !strcmp(name, linking->except)))
			continue;
		if (asprintf(&below, "%s/%s", path, name) < 0)
			return complain_about_path(path);
		ok = !interrupted && link_entry(linking, dirfd(folder), to, name, below);
		free(below);
	}
	return ok && (!errno || complain_about_path(path));
}

static bool link_folder(struct linking *linking, int from, int to, const char *path)
{
	const int copy = fcntl(from, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	bool ok;

	if (!folder) {
		if (copy >= 0)
			close(copy);
		return complain_about_path(path);
	}
	if (++linking->depth > MAX_DEPTH) {
		errno = ELOOP;
		ok = complain_about_path(path);
	} else {
		ok = link_entries(linking, folder, to, path);
	}
	linking->depth--;
	closedir(folder);
	return ok;
}

bool link_tree(const char *from, const char *to, const char *except, uint64_t *copied)
{
	struct linking linking = { .except = except, .copied = copied };
	const int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	bool ok = false;
	int out = -1;

	*copied = 0;
	if (in < 0 || fstat(in, &st))
		complain_about_path(from);
	else if (mkdir(to, (st.st_mode & 0777) | S_IRWXU) ||
		 (out = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		complain_about_path(to);
	else
		ok = link_folder(&linking, in, out, from);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return ok;
}

/* ---- sizes and permissions ---------------------------------------------- */

uint64_t measure_disk_use(const struct stat *info)
{
	/* The file system may allocate blocks later than bytes are written. */
	const uint64_t blocks = info->st_blocks * UINT64_C(512);
	const uint64_t bytes = S_ISREG(info->st_mode) ? info->st_size : 0;
	const uint64_t most = blocks > bytes ? blocks : bytes;

	return most > LEAST_ROOM ? most : LEAST_ROOM;
}

bool measure_tree(const char *path, struct folder_tree *tree)
{
	char *paths[] = { (char *)path, NULL };
	/* The path itself may be a symbolic link, because the user has given it. */
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	*tree = (struct folder_tree){ .files = 0777, .folders = 0777 };
	while (fts && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_D || entry->fts_info == FTS_F)
			tree->room += measure_disk_use(entry->fts_statp);
		if (entry->fts_info == FTS_D)
			tree->folders &= entry->fts_statp->st_mode;
		if (entry->fts_info != FTS_F)
			continue;
		tree->files &= entry->fts_statp->st_mode;
		tree->bytes += entry->fts_statp->st_size;
	}
	return fts ? !fts_close(fts) : complain_about_path(path);
}

bool restrict_tree_permissions(const char *path, const struct folder_tree *original)
{
	char *paths[] = { (char *)path, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool ok = fts;
	FTSENT *entry;

	while (ok && (entry = fts_read(fts))) {
		const mode_t mode = entry->fts_statp->st_mode & 0777;

		if (entry->fts_info == FTS_F)
			ok = !chmod(entry->fts_accpath, mode & original->files);
		else if (entry->fts_info == FTS_DP)
			ok = !chmod(entry->fts_accpath, (mode & original->folders) | S_IRWXU);
	}
	if (!ok)
		complain_about_path(path);
	if (fts)
		fts_close(fts);
	return ok;
}
