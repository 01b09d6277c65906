// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spool.h"

static const char *folder(void)
{
	const char *path = getenv("TMPDIR");

	return path && *path ? path : "/tmp";
}

static bool complain_of_folder(void)
{
	complain("%s: what is read cannot be kept there: %s. TMPDIR says where else.",
		 folder(), strerror(errno));
	return false;
}

bool spool_open(struct spool *spool, size_t size)
{
	int fd = open(folder(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	char *path = NULL;

	/* Not every file system has nameless files. */
	if (fd < 0 && asprintf(&path, "%s/netsync-XXXXXX", folder()) >= 0) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
		free(path);
	}
	spool->size = size;
	spool->file = fd < 0 ? NULL : fdopen(fd, "w+");
	return spool->file || complain_of_folder();
}

void spool_put(struct spool *spool, const void *record)
{
	/* A failure shows when they are read. */
	fwrite(record, spool->size, 1, spool->file);
}

bool spool_replay(struct spool *spool,
		  bool (*each)(void *data, const void *record), void *data)
{
	_Alignas(max_align_t) char record[SPOOL_RECORD];

	if (fflush(spool->file) || ferror(spool->file) ||
	    fseek(spool->file, 0, SEEK_SET))
		return complain_of_folder();
	while (fread(record, spool->size, 1, spool->file) == 1)
		if (!each(data, record))
			return false;
	return !ferror(spool->file) || complain_of_folder();
}

void spool_close(struct spool *spool)
{
	if (spool->file)
		fclose(spool->file);
	spool->file = NULL;
}
