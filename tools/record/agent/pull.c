// SPDX-License-Identifier: GPL-2.0-only
/* The directory to which a session records, and the transfer of its files. */
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../../../libnetsync/util/scratch.h"
#include "agent.h"

/* Number of bytes that are sent at a time. Chosen. */
#define CHUNK (1 << 18)

/* Result of send_tree_file(), because nftw() has no argument for it. */
static struct json_object *failure;
static size_t root_len;

char *folder_create_temporary(const char *in)
{
	char *path;

	if (asprintf(&path, "%s/netsync-XXXXXX", *in ? in : scratch_get_folder(true)) < 0)
		return NULL;
	if (mkdtemp(path))
		return path;
	free(path);
	return NULL;
}

uint64_t folder_get_free_space(const char *path)
{
	struct statvfs info;

	if (statvfs(path, &info))
		return UINT64_MAX;
	return (uint64_t)info.f_bavail * info.f_frsize;
}

static bool send_file_chunks(int fd, const char *name)
{
	static char data[CHUNK];
	ssize_t got = 0;

	while (agent_wait_for_request(0) && (got = read(fd, data, sizeof(data))) > 0) {
		struct json_object *about = json_object_new_object();

		json_object_object_add(about, "file", json_object_new_string(name));
		if (!agent_send_data(about, data, got))
			return false;
	}
	return !got;
}

static int send_tree_file(const char *path, const struct stat *info, int type, struct FTW *place)
{
	int fd;

	(void)info;
	(void)place;
	if (type != FTW_F)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !send_file_chunks(fd, path + root_len + 1))
		failure = agent_make_error("%s: %s.", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return failure ? 1 : 0;
}

struct json_object *agent_pull(struct json_object *request)
{
	const char *path = session_get_folder();

	(void)request;
	if (!path)
		return agent_make_error("no directory to copy.");
	failure = NULL;
	root_len = strlen(path);
	nftw(path, send_tree_file, 16, FTW_PHYS);
	return failure ? failure : json_object_new_object();
}
