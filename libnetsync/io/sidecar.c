// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the sidecar files of a trace, which "netsync record" writes. Sidecar files contain names of
 * network namespaces and clock readings.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"
#include "util/scratch.h"

const char *const io_sidecar_names[NUM_SIDECARS] = {
	[SIDECAR_NETNS_NAMES] = "netsync-namespaces",
	[SIDECAR_CLOCKS] = "netsync-clocks",
	[SIDECAR_REALTIME] = "netsync-clocks-realtime",
};

/*
 * Number of directories searched above the domain's directory, and maximum number of directories
 * between it and the trace. Chosen: the trace HOST/1/kernel needs a search of two. User-space
 * traces are up to three directories below their domain's directory, HOST/1/ust:
 * .../ust/uid/0/64-bit, .../ust/pid/NAME.
 */
#define LEVELS 3
#define UST_LEVELS 3

/*
 * Return the number of directories between the directory of a trace's domain and the trace's
 * directory.
 */
static int count_levels_in_domain(const char *path)
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
 * Open a regular file that belongs to the owner of the trace or to the user who reads it, because
 * any user may put a file into a directory above, such as /tmp. Do not follow links, because they
 * may lead out of the recording. Do not wait for pipes.
 */
static struct disk_file *open_sidecar_file(const struct netsync_io *io, const char *path,
					   uid_t owner)
{
	struct disk_file *file = disk_open(io_get_disk(io), path,
					   O_RDONLY | O_NOFOLLOW | O_NONBLOCK);

	if (!file || (S_ISREG(file->st.st_mode) &&
		      (file->st.st_uid == owner || file->st.st_uid == geteuid())))
		return file;
	disk_close(file);
	return NULL;
}

/* Write a copy from another machine to a scratch file. Open this file. */
static struct disk_file *open_sidecar_copy(const struct copied *copied, char **path)
{
	const int fd = copied ? scratch_open_file() : -1;

	if (fd < 0)
		return NULL;
	*path = strdup(copied->path);
	if (*path && write(fd, copied->bytes, copied->size) == (ssize_t)copied->size)
		return disk_adopt_fd(NULL, fd, *path);
	free(*path);
	*path = NULL;
	close(fd);
	return NULL;
}

struct disk_file *io_open_sidecar(const struct trace *trace, enum sidecar which, char **path)
{
	const char *name = io_sidecar_names[which];
	size_t length = strlen(trace->real_path);
	const int levels = LEVELS + count_levels_in_domain(trace->real_path);
	struct disk_file *file;
	struct stat st;

	*path = NULL;
	if (trace->is_remote)
		return open_sidecar_copy(trace->sidecars[which], path);
	if (stat(trace->real_path, &st))
		return NULL;
	for (int i = 0; i <= levels && length; i++) {
		*path = io_format("%.*s/%s", (int)length, trace->real_path, name);
		file = *path ? open_sidecar_file(trace->io, *path, st.st_uid) : NULL;
		if (file)
			return file;
		free(*path);
		*path = NULL;
		while (length && trace->real_path[--length] != '/')
			;
	}
	return NULL;
}
