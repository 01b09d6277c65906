// SPDX-License-Identifier: GPL-2.0-only
/* Write and find the file by which netsync live finds a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "recording.h"

/* Maximum size of the lines (bytes). Chosen: 65536 hosts with 1 KiB each. */
#define MOST_SOURCES (64 << 20)

static char *get_recording_file(const char *dir)
{
	char *path;

	return asprintf(&path, "%s/" RECORDING_FILE, dir) < 0 ? NULL : path;
}

/* ---- netsync record ------------------------------------------------------ */

/*
 * Announce a recording by a locked file. Child processes do not inherit the lock (fcntl()). The
 * kernel releases the lock when the process ends.
 */
int recording_announce(const char *dir, const char *sources)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char *path = get_recording_file(dir);
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;

	/* The lock comes last, because it shows that the lines are complete. */
	if (fd < 0 || dprintf(fd, "%s", sources) < 0 || fcntl(fd, F_SETLK, &lock)) {
		complain("%s/" RECORDING_FILE
			 ": %s; \"netsync live\" cannot find the recording by its directory.",
			 dir, strerror(errno));
		recording_withdraw(dir, fd);
		fd = -1;
	}
	free(path);
	return fd;
}

void recording_withdraw(const char *dir, int fd)
{
	char *path = fd < 0 ? NULL : get_recording_file(dir);

	if (path)
		unlink(path);
	if (fd >= 0)
		close(fd);
	free(path);
}

/* ---- netsync live -------------------------------------------------------- */

/* Read the lines of the file. Return NULL if they are incomplete. The caller frees them. */
static char *read_recording_sources(int fd)
{
	struct stat info;
	char *lines = !fstat(fd, &info) && info.st_size > 0 && info.st_size <= MOST_SOURCES ?
			      calloc(1, (size_t)info.st_size + 1) :
			      NULL;

	if (lines && read(fd, lines, (size_t)info.st_size) == info.st_size &&
	    lines[info.st_size - 1] == '\n')
		return lines;
	free(lines);
	return NULL;
}

static bool is_recording_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Open the file of a recording that is running in the directory. Return -1 if there is none. */
static int open_running_recording(const char *dir)
{
	char *path = get_recording_file(dir);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0 && !is_recording_locked(fd)) {
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

char *recording_find(const char *dir)
{
	int fd = open_running_recording(dir);
	char *sources = fd < 0 ? NULL : read_recording_sources(fd);

	if (fd >= 0)
		close(fd);
	if (!sources)
		complain(
			"%s: no recording with --live is running here: it has ended or not started yet. To synchronize what was recorded, run \"netsync sync %s/*/\". To follow captures that another program writes, give the files.",
			dir, dir);
	return sources;
}

bool recording_is_running(const char *dir)
{
	int fd = open_running_recording(dir);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
