// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader process. This process executes commands, for which it makes system calls that may
 * never return, and sends the results.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/disk/protocol.h"
#include "io/worker/worker.h"

static void read_first_byte(const char *path)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char byte;

	if (fd < 0)
		return;
	if (pread(fd, &byte, 1, 0) < 0)
		errno = 0;
	close(fd);
}

/* Visit all files below a path, like the search in find.c. The search reports errors. */
static void visit_files_of_path(char *path)
{
	char *paths[] = { path, NULL };
	struct stat st;
	FTS *fts = stat(path, &st) ?
			   NULL :
			   fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (fts && (entry = fts_read(fts))) {
		worker_is_alive();
		if (entry->fts_info == FTS_F)
			read_first_byte(entry->fts_path);
	}
	if (fts)
		fts_close(fts);
}

/*
 * Open a regular file. Reject all other files before open(): otherwise, the writer of a pipe would
 * see a reader that immediately disappears.
 */
static int64_t open_regular_file(const char *path, int flags, struct stat *st)
{
	int fd;

	if (stat(path, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -ESPIPE;
	fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return -ESPIPE;
}

static int64_t read_range_into_slot(const struct disk_command *command, uint8_t *memory)
{
	ssize_t num;

	do {
		num = pread(command->fd, memory + command->slot * DISK_SLOT_SIZE, command->size,
			    (off_t)command->at);
	} while (num < 0 && errno == EINTR);
	return num < 0 ? -errno : num;
}

/*
 * Execute commands. When the process that has started this process ends, worker_read_command()
 * calls exit().
 */
void disk_run_reader(const void *data)
{
	uint8_t *memory = *(uint8_t *const *)data;
	struct disk_command command;
	char path[PATH_MAX] = "";

	for (;;) {
		struct disk_answer answer = { 0 };

		worker_read_command(&command, sizeof(command));
		if (command.path_size)
			worker_read_command(path, command.path_size);
		answer.serial = command.serial;
		switch (command.what) {
		case DISK_VISIT:
			visit_files_of_path(path);
			break;
		case DISK_OPEN:
			answer.result = open_regular_file(path, command.flags, &answer.st);
			break;
		case DISK_READ:
			answer.result = read_range_into_slot(&command, memory);
			break;
		case DISK_CLOSE:
			close(command.fd);
			break;
		}
		worker_put((uint16_t)command.what, 0, &answer, sizeof(answer));
		worker_flush();
	}
}
