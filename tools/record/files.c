// SPDX-License-Identifier: GPL-2.0-only
/* Where the traces of each host come to lie. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"
#include "tool.h"

static bool complain_of(const char *path)
{
	complain("%s: %s.", path, strerror(errno));
	return false;
}

/* What another machine says may be anything. */
static bool is_inside(const char *name)
{
	if (*name == '/' || !*name)
		return false;
	while (*name) {
		const size_t len = strcspn(name, "/");

		if (len == 2 && !strncmp(name, "..", 2))
			return false;
		name += len + (name[len] == '/');
	}
	return true;
}

bool files_put(const char *dir, struct remote *remote,
	       struct json_object *about, const char *data, size_t size)
{
	const char *name = answer_text(about, "file");
	char *path;
	ssize_t put = -1;
	int fd;

	if (!is_inside(name)) {
		complain("%s: it sends a file with the name \"%s\".",
			 remote->name, name);
		return false;
	}
	if (asprintf(&path, "%s/%s/%s", dir, remote->folder, name) < 0) {
		complain("There is not enough memory.");
		return false;
	}
	if (!make_folders(path, strlen(dir) + 1)) {
		free(path);
		return false;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd >= 0)
		put = write(fd, data, size);
	if (put >= 0 && put < (ssize_t)size)
		errno = ENOSPC;
	if (put < (ssize_t)size)
		complain_of(path);
	if (fd >= 0)
		close(fd);
	free(path);
	return put == (ssize_t)size;
}

/* The only folder in a folder, as the relay daemon names it; NULL: none. */
static char *only_folder(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	char *found = NULL;

	while (dir && !found && (entry = readdir(dir)))
		if (*entry->d_name != '.' &&
		    asprintf(&found, "%s/%s", path, entry->d_name) < 0)
			found = NULL;
	if (dir)
		closedir(dir);
	return found;
}

static void move_session(const char *session, const char *to)
{
	char *from = only_folder(session);

	if (from && rename(from, to))
		complain_of(to);
	free(from);
	rmdir(session);
}

void files_collect(const char *dir, const struct relay *relay,
		   const char *host, char *const *names, unsigned int num)
{
	for (unsigned int i = 0; i < num; i++) {
		char *session, *to;

		if (asprintf(&session, "%s/%s", relay->folder, names[i]) < 0)
			return;
		if (asprintf(&to, num > 1 ? "%s/%s/%u" : "%s/%s", dir, host,
			     i + 1) < 0) {
			free(session);
			return;
		}
		if (num > 1)
			make_folders(to, strlen(dir) + 1);
		move_session(session, to);
		free(session);
		free(to);
	}
}
