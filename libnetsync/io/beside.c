// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A trace -> the file beside it with names of network namespaces, or with readings of
 * clocks, as "netsync record" wrote it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"
#include "util/scratch.h"

const char *const io_beside_names[NUM_BESIDE] = {
	[BESIDE_NETNS_NAMES] = "netsync-namespaces",
	[BESIDE_CLOCKS] = "netsync-clocks",
};

/*
 * Folders above that of a domain that are searched. Chosen: HOST/1/kernel needs two.
 * Traces of user space lie up to three folders below that of their domain: HOST/1/ust in
 * .../ust/uid/0/64-bit, .../ust/pid/NAME.
 */
#define LEVELS 3
#define UST_LEVELS 3

/* How far a trace's folder lies below that of its domain. */
static int levels_in_domain(const char *path)
{
	const char *below = NULL;
	int levels = 0;

	for (const char *p = path; (p = strstr(p, "/ust/")); p++)
		below = p + strlen("/ust");
	for (; below && *below; below++)
		levels += *below == '/';
	return levels <= UST_LEVELS ? levels : 0;
}

/*
 * Open a regular file that belongs to the trace's owner or to the reading user: anybody
 * may put a file into a folder above, such as /tmp. Links are not followed, as they may
 * lead out of the recording, and pipes are not waited for.
 */
static int open_file(const char *path, uid_t owner)
{
	const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
		       (st.st_uid == owner || st.st_uid == geteuid())))
		return fd;
	close(fd);
	return -1;
}

/* Write a copy from another machine to a scratch file, and open that. */
static int open_copy(const struct copied *copied, char **path)
{
	const int fd = copied ? scratch_file() : -1;

	if (fd < 0)
		return -1;
	*path = strdup(copied->path);
	if (*path && write(fd, copied->bytes, copied->size) == (ssize_t)copied->size &&
	    !lseek(fd, 0, SEEK_SET))
		return fd;
	free(*path);
	*path = NULL;
	close(fd);
	return -1;
}

int io_open_beside(const struct trace *trace, enum beside which, char **path)
{
	const char *name = io_beside_names[which];
	size_t length = strlen(trace->real_path);
	const int levels = LEVELS + levels_in_domain(trace->real_path);
	struct stat st;
	int fd;

	*path = NULL;
	if (trace->is_remote)
		return open_copy(trace->beside[which], path);
	if (stat(trace->real_path, &st))
		return -1;
	for (int i = 0; i <= levels && length; i++) {
		*path = io_format("%.*s/%s", (int)length, trace->real_path, name);
		fd = *path ? open_file(*path, st.st_uid) : -1;
		if (fd >= 0)
			return fd;
		free(*path);
		*path = NULL;
		while (length && trace->real_path[--length] != '/')
			;
	}
	return -1;
}
