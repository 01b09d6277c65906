/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read files in another process, because a read from a dead disk, or from a network that hangs,
 * never returns, and cannot be interrupted.
 *
 *	this process			reader process
 *	disk_open() --- path --->	open()
 *	disk_read() --- range --->	pread() into memory that both share
 *			<--- how many bytes
 *
 * Only the reader process has the file open, because close() may wait for a network, too. A file
 * that is read sequentially is read ahead. Workers, which their callers watch, read files
 * themselves, unless they call disk_use_in_process(). This process also reads files itself if it
 * cannot start another one.
 */
#ifndef NETSYNC_IO_DISK_H
#define NETSYNC_IO_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct disk;

/* An open file. Regular files are read in the reader process. */
struct disk_file {
	struct disk *disk;    /* NULL if this process itself reads @fd */
	char *name;	      /* name for messages */
	char *path;	      /* path by which the reader process opens the file */
	int flags;	      /* flags of open(2) */
	struct stat st;	      /* status of the file when it was opened */
	int fd;		      /* file descriptor in this process, or -1 if it is not open here */
	int fd_there;	      /* file descriptor in the reader process */
	unsigned int process; /* number of the reader process in which it is open, or 0 */
	uint64_t next;	      /* offset after the bytes that were read last */
	bool is_crowded; /* data read ahead were dropped, because too many files are read in turns */
	uint64_t stuck_at; /* offset at which reading was given up, or UINT64_MAX */
	bool is_closed;	   /* closed while the reader process is still reading ahead */
};

/*
 * Called about once a second while reading a file makes no progress. If the file is not open yet,
 * its st_dev is 0. *@has_warned is false at first. Return true to give up.
 */
typedef bool (*disk_is_over)(void *data, const struct disk_file *file, int64_t silent_ms,
			     bool *has_warned);

/*
 * Create the object. Reader processes are started when they are needed. Return NULL if out of
 * memory.
 */
struct disk *disk_new(disk_is_over is_over, void *data);
/*
 * Call this in a worker to read through a reader process, like the process that started the worker.
 */
void disk_use_in_process(struct disk *disk);
/* End the reader process. The reader process is started again when it is needed. */
void disk_stop(struct disk *disk);
/* Free the object. All its files must be closed. */
void disk_free(struct disk *disk);

/*
 * Visit all files below @path, and read the first byte of each file. Return 0, or -ETIMEDOUT if the
 * visit was given up. Other errors are not reported.
 */
int disk_visit_files(struct disk *disk, const char *path);

/*
 * Open a file by open(2) with @flags. If the path is not a regular file, this process opens it.
 * @disk may be NULL. On failure, set errno and return NULL. ETIMEDOUT means that the file was given
 * up.
 */
struct disk_file *disk_open(struct disk *disk, const char *path, int flags);
/* Take ownership of an open file. On failure, close it, return NULL, and set errno. */
struct disk_file *disk_adopt_fd(struct disk *disk, int fd, const char *name);
void disk_close(struct disk_file *file);
/*
 * Open a file by open(2) with @flags. If the file is a pipe, do not wait for a writer; reading will
 * wait instead, with a time limit. On failure, set errno and return -1. Otherwise, return a file
 * descriptor.
 */
int disk_open_at_once(const char *path, int flags);

/* Return whether reading of the file was given up. */
static inline bool disk_is_stuck(const struct disk_file *file)
{
	return file && file->stuck_at != UINT64_MAX;
}

/*
 * Read like pread(2). Return the number of bytes, or a negative errno value. -ETIMEDOUT means that
 * the file was given up, now or earlier.
 */
ssize_t disk_read(struct disk_file *file, void *to, size_t size, uint64_t at);

#endif
