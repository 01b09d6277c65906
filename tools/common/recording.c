// SPDX-License-Identifier: GPL-2.0-only
/* Write and find the file by which netsync live finds a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"
#include "recording.h"

static char *get_recording_file(const char *dir)
{
	char *path;

	return asprintf(&path, "%s/" RECORDING_FILE, dir) < 0 ? NULL : path;
}

/* ---- netsync record ------------------------------------------------------ */

/*
 * Announce a recording by a locked file. Child processes do not inherit the lock
 * (fcntl()), and it ends with the process.
 */
int recording_announce(const char *dir, unsigned int port)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char *path = get_recording_file(dir);
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;

	if (fd < 0 || fcntl(fd, F_SETLK, &lock) || dprintf(fd, "net://127.0.0.1:%u\n", port) < 0) {
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

/* Read the URL, which is complete if a newline follows it. */
static bool read_recording_url(int fd, char url[RECORDING_URL])
{
	ssize_t num = read(fd, url, RECORDING_URL - 1);

	if (num <= 0 || url[num - 1] != '\n')
		return false;
	url[num - 1] = '\0';
	return true;
}

static bool is_recording_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Is a recording running in the directory? If so, set @url. */
static bool find_running_recording(const char *dir, char url[RECORDING_URL])
{
	char *path = get_recording_file(dir);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	bool found = fd >= 0 && is_recording_locked(fd) && read_recording_url(fd, url);

	if (fd >= 0)
		close(fd);
	free(path);
	return found;
}

bool recording_find(struct recording *recording, const char *dir)
{
	*recording = (struct recording){ .dir = dir };
	if (find_running_recording(dir, recording->url))
		return true;
	complain(
		"%s: no recording with --live is running here: it has ended or not started yet. To synchronize what was recorded, run \"netsync sync %s/*/\".",
		dir, dir);
	return false;
}

bool recording_has_ended(struct recording *recording)
{
	char url[RECORDING_URL];

	recording->ended = !find_running_recording(recording->dir, url);
	return recording->ended;
}
