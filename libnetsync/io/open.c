// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open files by path. A reader opens a file several times, and some readers seek. Data from a pipe
 * are therefore copied to an unnamed file. If a reader requests it, so are the contents of a
 * compressed file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io/io.h"
#include "io/patience.h"
#include "io/unpack/unpack.h"
#include "util/array.h"
#include "util/scratch.h"

/* Number of bytes that are copied at a time. Chosen. */
#define COPY_SIZE ((size_t)256 << 10)
/*
 * Limits for decompression. If a file expands to more than MAX_RATIO times its size and to more
 * than FREE_SIZE bytes, it was made to fill the disk. Chosen: the ratio is at most 1032 for
 * deflate, and 5 to 50 for traces.
 */
#define MAX_RATIO 1000
#define FREE_SIZE (UINT64_C(1) << 30)

struct kept_file {
	char *path;
	int fd;
	bool is_copy; /* whether this is an unnamed file on a disk of this machine */
	bool is_pipe;
	struct stat from; /* status of the file or pipe whose data were copied */
};

/* ---- kept files ---------------------------------------------------------- */

static const struct netsync_io *get_keeping_io(const struct netsync_io *io)
{
	return io->keeper ? io->keeper : io;
}

static const struct kept_file *find_kept_file(const struct netsync_io *io, const char *path)
{
	const struct netsync_io *keeper = get_keeping_io(io);

	for (size_t i = 0; i < keeper->num_kept; i++)
		if (!strcmp(keeper->kept[i].path, path))
			return &keeper->kept[i];
	return NULL;
}

size_t io_list_kept_files(const struct netsync_io *io, int *files)
{
	const struct netsync_io *keeper = get_keeping_io(io);

	for (size_t i = 0; i < keeper->num_kept; i++)
		files[i] = keeper->kept[i].fd;
	return keeper->num_kept;
}

const char *io_find_kept(const struct netsync_io *io, const struct stat *st)
{
	for (size_t i = 0; i < io->num_kept; i++) {
		const struct kept_file *kept = &io->kept[i];

		if (kept->is_pipe && kept->from.st_dev == st->st_dev &&
		    kept->from.st_ino == st->st_ino)
			return kept->path;
	}
	return NULL;
}

void io_free_kept(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_kept; i++) {
		close(io->kept[i].fd);
		free(io->kept[i].path);
	}
	free(io->kept);
}

/*
 * Store an open file, or close it. If data from a pipe are compressed, store the decompressed data.
 * Return 0. If out of memory, call io_fail() and return -ENOMEM.
 */
static int keep_file(struct netsync_io *io, const struct kept_file *file)
{
	struct kept_file *same = (struct kept_file *)find_kept_file(io, file->path);
	struct kept_file *last;

	if (same) {
		close(same->fd);
		same->fd = file->fd;
		same->is_copy = file->is_copy;
		return 0;
	}
	last = array_add(&io->kept, io->num_kept, sizeof(*last));
	if (last) {
		*last = *file;
		last->path = strdup(file->path);
		if (last->path) {
			io->num_kept++;
			return 0;
		}
	}
	close(file->fd);
	return io_fail_no_memory(io);
}

/* ---- copies ---------------------------------------------------------------- */

/* A copy that is being made: its source and its maximum size. */
struct copying {
	struct netsync_io *io;
	const char *path;
	struct unpacked *file; /* NULL if the source is a pipe */
	int pipe;
	const char *folder;
	uint64_t most; /* maximum size of the copy (bytes) */
	uint64_t most_by_ratio;
	char *buffer;
};

/* Return half of the free space, because other programs need some, too. */
static uint64_t compute_usable_space(int fd)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize / 2;
}

static ssize_t read_copied_block(const struct copying *copying, uint64_t at)
{
	if (copying->file)
		return unpacked_read(copying->file, copying->buffer, COPY_SIZE, at);
	return io_read_pipe(copying->io, copying->path, copying->pipe, copying->buffer, COPY_SIZE);
}

static int write_copied_block(const struct copying *copying, int to, const char *from, size_t size)
{
	while (size) {
		const ssize_t len = write(to, from, size);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return io_fail(
				copying->io, -errno,
				"%s: copying to %s failed: %s. Set TMPDIR to a directory with more space.",
				copying->path, copying->folder, strerror(errno));
		from += len;
		size -= (size_t)len;
	}
	return 0;
}

static int check_copy_size(const struct copying *copying, uint64_t size)
{
	if (size > copying->most)
		return io_fail(
			copying->io, -ENOSPC,
			"%s: a readable copy takes more than half of the free space in %s; set TMPDIR to a directory with more space.",
			copying->path, copying->folder);
	if (size > copying->most_by_ratio)
		return io_fail(
			copying->io, -EFBIG,
			"%s: the file decompresses to more than %d times its size, so it is probably not a trace; if it is a trace, decompress it first (%s).",
			copying->path, MAX_RATIO, copying->file->compression->command);
	return 0;
}

static int copy_input_to_file(struct copying *copying, int to)
{
	uint64_t at = 0;
	ssize_t len;
	int ret = 0;

	copying->most = compute_usable_space(to);
	while (!ret && (len = read_copied_block(copying, at)) > 0) {
		at += (uint64_t)len;
		ret = check_copy_size(copying, at);
		if (!ret)
			ret = write_copied_block(copying, to, copying->buffer, (size_t)len);
	}
	if (ret || !len)
		return ret;
	if (len == -ETIMEDOUT && at)
		return io_note_broken_off(copying->io, copying->path, at, STUCK_PIPE);
	if (len == -EILSEQ && disk_is_stuck(copying->file->from))
		return io_note_broken_off(copying->io, copying->path, at, copying->file->damage);
	if (len == -EILSEQ) {
		io_warn(copying->io, "%s: decompressed only up to byte %llu (%s).", copying->path,
			(unsigned long long)at, copying->file->damage);
		return 0;
	}
	return io_fail_file(copying->io, copying->path, (int)len);
}

/*
 * Copy the data to an unnamed file. Return its file descriptor. On failure, call io_fail() and
 * return a negative value.
 */
static int copy_input_to_scratch(struct copying *copying)
{
	int fd, ret;

	copying->folder = scratch_get_folder(false);
	fd = scratch_open_file();
	if (fd < 0)
		return io_fail(copying->io, -errno, "%s: cannot create a readable copy in %s: %s.",
			       copying->path, copying->folder, strerror(errno));
	copying->buffer = malloc(COPY_SIZE);
	ret = copying->buffer ? copy_input_to_file(copying, fd) : io_fail_no_memory(copying->io);
	free(copying->buffer);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int io_keep_open(struct netsync_io *io, const char *path, int fd)
{
	struct copying copying = { .io = io, .path = path, .pipe = fd, .most_by_ratio = UINT64_MAX };
	struct kept_file kept = { .path = (char *)path, .is_pipe = true };

	if (fstat(fd, &kept.from))
		return io_fail(io, -errno, "%s: %s.", path, strerror(errno));
	kept.is_copy = !S_ISREG(kept.from.st_mode);
	kept.fd = kept.is_copy ? copy_input_to_scratch(&copying) : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return kept.fd < 0 ? kept.fd : keep_file(io, &kept);
}

/* ---- opening ----------------------------------------------------------------- */

struct disk *io_get_disk(const struct netsync_io *io)
{
	return get_keeping_io(io)->disk;
}

struct disk_file *io_open_file(const struct netsync_io *io, const char *path)
{
	const struct kept_file *kept = find_kept_file(io, path);

	if (!kept)
		return disk_open(io_get_disk(io), path, O_RDONLY);
	return disk_adopt_fd(kept->is_copy ? NULL : io_get_disk(io),
			     fcntl(kept->fd, F_DUPFD_CLOEXEC, 3), path);
}

int io_stat_file(const struct netsync_io *io, const char *path, struct stat *st)
{
	const struct kept_file *kept = find_kept_file(io, path);

	return kept ? fstat(kept->fd, st) : stat(path, st);
}

int io_create_copy(const struct copy_task *task, mode_t mode)
{
	const int fd = open(task->to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0666);

	return fd < 0 ? io_fail_file(task->io, task->to, -errno) : fd;
}

int io_write_copy(const struct copy_task *task, FILE **out, int (*write)(void *copy), void *copy)
{
	struct stat st;
	int ret, fd;

	/* Use the path, because if the original is compressed, the open file is a copy. */
	if (stat(task->from, &st))
		return io_fail_file(task->io, task->from, -errno);
	fd = io_create_copy(task, st.st_mode);
	if (fd < 0)
		return fd;
	*out = fdopen(fd, "w");
	if (!*out) {
		close(fd);
		return io_fail_no_memory(task->io);
	}
	ret = write(copy);
	if (fclose(*out) && !ret)
		ret = io_fail_file(task->io, task->to, -errno);
	return ret;
}

/*
 * Copy the decompressed contents of @file, and store the copy. Return 0. On failure, call io_fail()
 * and return a negative value.
 */
static int keep_unpacked(struct netsync_io *io, const char *path, struct unpacked *file)
{
	struct copying copying = { .io = io, .path = path, .file = file };
	struct kept_file kept = { .path = (char *)path, .is_copy = true, .from = file->from->st };

	copying.most_by_ratio = (uint64_t)kept.from.st_size * MAX_RATIO;
	if (copying.most_by_ratio < FREE_SIZE)
		copying.most_by_ratio = FREE_SIZE;
	kept.fd = copy_input_to_scratch(&copying);
	return kept.fd < 0 ? kept.fd : keep_file(io, &kept);
}

int io_open_unpacked(struct netsync_io *io, const char *path, struct unpacked *file)
{
	struct disk_file *from = io_open_file(io, path);
	int ret;

	*file = (struct unpacked){ 0 };
	if (!from)
		return io_fail_file(io, path, -errno);
	ret = unpacked_open(file, from);
	if (ret == -ENOSYS)
		return io_fail(io, ret, NOT_BUILT_IN, path, file->compression->name,
			       file->compression->command);
	return ret ? io_fail_file(io, path, ret) : 0;
}

int io_open_plain(struct netsync_io *io, const char *path, struct disk_file **opened)
{
	struct netsync_io *keeper = io->keeper ? io->keeper : io;
	struct unpacked file;
	int ret = io_open_unpacked(io, path, &file);

	*opened = file.from;
	if (!ret && !file.compression)
		return 0;
	if (!ret)
		ret = keep_unpacked(keeper, path, &file);
	unpacked_close(&file);
	*opened = ret ? NULL : io_open_file(io, path);
	return ret || *opened ? ret : io_fail_file(io, path, -errno);
}
