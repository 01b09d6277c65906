// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The scratch directory of a trace, whose subdirectories contain links, copies and changed files.
 * source.ctf.fs opens a subdirectory instead of the trace's directory.
 *
 *	$TMPDIR/netsync-XXXXXX/whole	the trace with translated metadata
 *	$TMPDIR/netsync-XXXXXX/probe	one stream file at a time, to be tried
 *	$TMPDIR/netsync-XXXXXX/trace	the readable part of a damaged trace
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "io/ctf/files.h"
#include "util/scratch.h"

/* Memory limit for removing a directory (bytes). Chosen: nftw() keeps 8 directories open. */
#define GUARD_MEMORY (16 << 20)

static int remove_scratch_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_scratch_tree(const char *path)
{
	nftw(path, remove_scratch_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/*
 * Task of a worker: make a directory from a template for mkdtemp(), send its path or an errno
 * value, and remove the directory when the caller is gone. Signals that end the caller are ignored,
 * because the terminal may send them to all processes.
 */
static void guard_scratch_folder(const void *data)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGPIPE };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
	snprintf(path, sizeof(path), "%s", (const char *)data);
	if (!mkdtemp(path)) {
		worker_put_text(0, errno, path);
		return;
	}
	worker_put_text(0, 0, path);
	worker_flush();
	while (!worker_is_alone(-1))
		;
	remove_scratch_tree(path);
}

static const struct worker_task guard_task = {
	.run = guard_scratch_folder,
	.limits = { .timer = ITIMER_REAL, .memory = GUARD_MEMORY },
};

static int use_scratch_path(void *data, const struct worker_head *head, const void *payload)
{
	struct ctf_files *files = data;

	if (head->number)
		return -head->number;
	files->scratch = strdup(payload);
	return files->scratch ? 0 : -ENOMEM;
}

/* Make the scratch directory. When this process ends, even by SIGKILL, the directory is removed. */
int ctf_scratch_make(struct ctf_files *files)
{
	char *name;
	int ret;

	if (files->scratch)
		return 0;
	name = io_format("%s/netsync-XXXXXX", scratch_get_folder(false));
	if (!name)
		return -ENOMEM;
	ret = worker_start(&files->guard, &guard_task, name);
	free(name);
	if (ret < 0)
		return ret;
	while ((ret = worker_receive(&files->guard, use_scratch_path, files)) > 0 &&
	       !files->scratch)
		worker_wait(&files->guard);
	if (files->scratch)
		return 0;
	worker_stop(&files->guard);
	return ret < 0 ? ret : -EIO;
}

void ctf_scratch_remove(struct ctf_files *files)
{
	if (files->scratch) {
		remove_scratch_tree(files->scratch);
		worker_stop(&files->guard);
	}
	free(files->scratch);
}

int ctf_scratch_link(const char *folder, const char *from, const char *name)
{
	char *target = io_format("%s/%s", from, name);
	char *link = io_format("%s/%s", folder, name);
	int ret = -ENOMEM;

	if (target && link)
		ret = symlink(target, link) ? -errno : 0;
	free(target);
	free(link);
	return ret;
}

int ctf_scratch_folder(struct ctf_files *files, const char *name, bool has_metadata, char **path)
{
	char *link;
	int ret = 0;

	*path = io_format("%s/%s", files->scratch, name);
	if (!*path)
		return -ENOMEM;
	if (mkdir(*path, 0700))
		return -errno;
	if (!has_metadata)
		return 0;
	link = io_format("%s/metadata", *path);
	if (!link)
		return -ENOMEM;
	if (symlink(files->metadata, link))
		ret = -errno;
	free(link);
	return ret;
}

/* Sidecar files of netsync may be in the same directory as streams, but they are not streams. */
static int is_stream_entry(const struct dirent *entry)
{
	for (int i = 0; i < NUM_SIDECARS; i++)
		if (!strcmp(entry->d_name, io_sidecar_names[i]))
			return false;
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata");
}

int ctf_for_each_stream(const char *folder, int (*call)(void *arg, const char *name), void *arg)
{
	struct dirent **entries;
	int num = scandir(folder, &entries, is_stream_entry, alphasort);
	int ret = 0;

	if (num < 0)
		return -errno;
	for (int i = 0; i < num; i++) {
		char *path = io_format("%s/%s", folder, entries[i]->d_name);
		struct stat st;

		if (!path)
			ret = -ENOMEM;
		else if (!ret && !stat(path, &st) && S_ISREG(st.st_mode))
			ret = call(arg, entries[i]->d_name);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return ret;
}
