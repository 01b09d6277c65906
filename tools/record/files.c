// SPDX-License-Identifier: GPL-2.0-only
/* Stores the traces from agents or from the relay daemon in a directory for each host. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/complain.h"
#include "common/folders.h"
#include "common/json-value.h"
#include "record.h"

/*
 * Does a name from another machine stay inside the directory? It does if it is relative and
 * without "..".
 */
static bool is_relative_path_inside(const char *name)
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

/*
 * Return the disk space of the data. A new file, and each new directory in its path, takes a
 * block in addition to the data.
 */
uint64_t files_measure_room(const char *dir, const struct remote *remote, struct json_object *about,
			    size_t size)
{
	uint64_t room = size;
	char *path, *end;

	if (asprintf(&path, "%s/%s/%s", dir, remote->folder, member_get_text(about, "file")) < 0)
		return room;
	while (access(path, F_OK) && (end = strrchr(path, '/'))) {
		room += LEAST_ROOM;
		*end = '\0';
	}
	free(path);
	return room;
}

bool files_put_data(const char *dir, struct remote *remote, struct json_object *about,
		    const char *data, size_t size)
{
	const char *name = member_get_text(about, "file");
	char *path;
	ssize_t put = -1;
	int fd;

	if (!is_relative_path_inside(name)) {
		complain(
			"%s: disconnected, because it sent a file name outside its directory: \"%s\".",
			remote->name, name);
		return false;
	}
	if (asprintf(&path, "%s/%s/%s", dir, remote->folder, name) < 0)
		return complain_no_memory();
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
		complain_about_path(path);
	if (fd >= 0)
		close(fd);
	free(path);
	return put == (ssize_t)size;
}

/* Does the directory belong to a machine? lttng-relayd names directories HOSTNAME-DATE. */
static bool is_folder_of_host(const char *folder, const char *hostname)
{
	const size_t len = strlen(hostname);

	return !strncmp(folder, hostname, len) && folder[len] == '-';
}

/*
 * Return the path of the only directory of a machine in @path, or NULL if there is none or more
 * than one.
 */
static char *find_only_directory(const char *path, const char *hostname)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	unsigned int num = 0;
	char *found = NULL;

	while (dir && (entry = readdir(dir)))
		if (is_folder_of_host(entry->d_name, hostname) && !num++ &&
		    asprintf(&found, "%s/%s", path, entry->d_name) < 0)
			found = NULL;
	if (dir)
		closedir(dir);
	if (num < 2)
		return found;
	complain(
		"%s: %u machines named %s sent traces, and only one was expected; all of them are ignored.",
		path, num, hostname);
	free(found);
	return NULL;
}

static void move_session(const char *session, const char *hostname, const char *to)
{
	char *from = find_only_directory(session, hostname);

	if (from && rename(from, to))
		complain_about_path(to);
	free(from);
	rmdir(session);
}

void files_collect_traces(const char *dir, const struct relay *relay,
			  const struct recorded_host *host)
{
	const char *hostname = member_get_text(host->remote->hello, "hostname");

	for (unsigned int i = 0; i < host->num_sessions; i++) {
		char *session, *to;

		if (asprintf(&session, "%s/%s", relay->folder, host->sessions[i]) < 0)
			return;
		if (asprintf(&to, host->num_sessions > 1 ? "%s/%s/%u" : "%s/%s", dir,
			     host->remote->folder, i + 1) < 0) {
			free(session);
			return;
		}
		if (host->num_sessions > 1)
			make_folders(to, strlen(dir) + 1);
		move_session(session, hostname, to);
		free(session);
		free(to);
	}
}

/* Is a name suitable as a word of a line and as a part of a host's name? */
static bool is_plain_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".-_@:+", *c))
			return false;
	return *name;
}

void files_name_namespaces(const char *dir, const struct recorded_host *host)
{
	const size_t num = value_get_length(host->namespaces);
	FILE *file;
	char *path;

	if (!num || asprintf(&path, "%s/%s/netsync-namespaces", dir, host->remote->folder) < 0)
		return;
	/* The file cannot be created if the host has no trace, and therefore no directory. */
	file = fopen(path, "wxe");
	for (size_t i = 0; i < num && file; i++) {
		struct json_object *one = value_get_element(host->namespaces, i);
		const char *name = member_get_text(one, "name");

		if (is_plain_name(name))
			fprintf(file, "%lld %s\n", (long long)member_get_int(one, "inode"), name);
	}
	if (file && (ferror(file) | fclose(file)))
		complain_about_path(path);
	free(path);
}

void files_warn_about_unexpected(const struct relay *relay)
{
	DIR *dir = opendir(relay->folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			complain("warning: %s/%s: ignored, as this was not requested from any host.",
				 relay->folder, entry->d_name);
	if (dir)
		closedir(dir);
}
