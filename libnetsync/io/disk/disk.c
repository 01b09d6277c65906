// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read byte ranges of files through a reader process, which stores them in shared memory. Each slot
 * of this memory holds one range. The slot that has been unused for the longest time is filled
 * next.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/disk/disk.h"
#include "io/disk/protocol.h"
#include "io/worker/worker.h"
#include "util/number.h"

/*
 * Number of bytes to read at a position that does not continue a sequence. At least this much is
 * read. Chosen: four pages, because file headers and ring buffer pages are read in this way.
 */
#define SINGLE_SIZE ((size_t)16 << 10)

/* A slot of the shared memory. */
struct slot {
	struct disk_file *file; /* NULL if the slot is free */
	uint64_t at;		/* offset in the file (bytes) */
	size_t size;		/* number of bytes that were read or requested */
	uint64_t serial;	/* number of the pending command, or 0 if it was answered */
	int err;		/* errno value of the read, or 0 */
	uint64_t used;		/* value of disk.uses when the slot was last used */
};

struct disk {
	disk_is_over is_over;
	void *data;
	struct worker worker; /* the reader process; worker.fd < 0 without one */
	pid_t owner;	      /* the process that has started the reader process */
	pid_t user;	      /* the only process that uses the reader process */
	unsigned int process; /* number of reader processes that have been started */
	bool is_off;	      /* whether no reader process can be started, or one has died */
	uint8_t *memory;      /* shared with the reader process, or NULL */
	struct slot slots[DISK_SLOTS];
	uint64_t uses;
	uint64_t last_serial;	   /* serial number of the last command */
	struct disk_answer answer; /* the answer that was received last */
};

struct disk *disk_new(disk_is_over is_over, void *data)
{
	struct disk *disk = calloc(1, sizeof(*disk));

	if (!disk)
		return NULL;
	disk->is_over = is_over;
	disk->data = data;
	disk->worker.fd = -1;
	disk->user = getpid();
	return disk;
}

void disk_use_in_process(struct disk *disk)
{
	disk->user = getpid();
}

static bool is_used_by_process(const struct disk *disk)
{
	return disk->user == getpid();
}

static void free_disk_file(struct disk_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->name);
	free(file->path);
	free(file);
}

static void free_disk_slot(struct slot *slot)
{
	struct disk_file *file = slot->file;

	*slot = (struct slot){ 0 };
	if (file && file->is_closed)
		free_disk_file(file);
}

/* ---- the reader process --------------------------------------------------- */

void disk_stop(struct disk *disk)
{
	for (int i = 0; i < DISK_SLOTS; i++)
		free_disk_slot(&disk->slots[i]);
	if (disk->owner == getpid())
		worker_stop(&disk->worker);
	else
		worker_forget(&disk->worker);
	/* If the old process cannot be killed, it may still write to its copy of the mapping. */
	if (disk->memory)
		munmap(disk->memory, DISK_SLOTS * DISK_SLOT_SIZE);
	disk->memory = NULL;
}

void disk_free(struct disk *disk)
{
	if (!disk)
		return;
	disk_stop(disk);
	free(disk);
}

/* Start the reader process. Return false if this fails; this process then reads files itself. */
static bool start_disk_reader(struct disk *disk)
{
	const struct worker_task task = {
		.run = disk_run_reader,
		.limits = { .memory = UINT64_MAX / 2 },
	};
	void *memory;

	if (disk->worker.fd >= 0 && disk->owner == getpid())
		return true;
	disk_stop(disk);
	if (disk->is_off)
		return false;
	disk->owner = getpid();
	memory = mmap(NULL, DISK_SLOTS * DISK_SLOT_SIZE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	disk->memory = memory == MAP_FAILED ? NULL : memory;
	if (!disk->memory || worker_start(&disk->worker, &task, &disk->memory) < 0) {
		disk->is_off = true;
		disk_stop(disk);
		return false;
	}
	disk->process++;
	disk->answer.serial = disk->last_serial;
	return true;
}

static void tell_disk_reader(struct disk *disk, struct disk_command *command, const char *path)
{
	command->serial = ++disk->last_serial;
	command->path_size = path ? (uint32_t)strlen(path) + 1 : 0;
	worker_send_command(&disk->worker, command, sizeof(*command));
	if (path)
		worker_send_command(&disk->worker, path, command->path_size);
}

/* State of waiting for the answer to a command. */
struct disk_wait {
	struct disk *disk;
	const struct disk_file *file;
	uint64_t serial; /* serial number of the command */
	bool is_waiting;
	bool has_warned;
};

/* Return the slot that a command fills, or NULL if it fills none. */
static struct slot *find_slot_of_command(struct disk *disk, uint64_t serial)
{
	for (int i = 0; i < DISK_SLOTS; i++)
		if (disk->slots[i].serial == serial)
			return &disk->slots[i];
	return NULL;
}

static int use_disk_answer(void *data, const struct worker_head *head, const void *payload)
{
	struct disk_wait *wait = data;
	struct disk *disk = wait->disk;
	struct slot *slot;

	(void)head;
	memcpy(&disk->answer, payload, sizeof(disk->answer));
	slot = find_slot_of_command(disk, disk->answer.serial);
	if (slot) {
		slot->serial = 0;
		slot->size = disk->answer.result < 0 ? 0 : (size_t)disk->answer.result;
		slot->err = disk->answer.result < 0 ? (int)-disk->answer.result : 0;
		if (slot->file->is_closed)
			free_disk_slot(slot);
	}
	if (disk->answer.serial != wait->serial)
		return 0;
	wait->is_waiting = false;
	return 1;
}

/*
 * Call disk.is_over() for the file that is being read. The file that is being read may differ from
 * the file that is needed, because files are read ahead.
 */
static bool is_disk_reader_over(void *data, int64_t silent_ms)
{
	struct disk_wait *wait = data;
	struct disk *disk = wait->disk;
	const struct slot *slot = find_slot_of_command(disk, disk->answer.serial + 1);

	return disk->is_over(disk->data, slot ? slot->file : wait->file, silent_ms,
			     &wait->has_warned);
}

/*
 * Wait for the answer to a command. Return 0, -ETIMEDOUT if the file was given up, or -EAGAIN if
 * the reader process has ended because of another command or for an unknown reason.
 */
static int wait_for_disk_answer(struct disk *disk, const struct disk_file *file, uint64_t serial)
{
	struct disk_wait wait = { disk, file, serial, true, false };
	const struct worker_patience patience = { is_disk_reader_over, &wait };
	bool is_stuck, is_next;

	if (worker_receive_while(&disk->worker, &wait.is_waiting, use_disk_answer, &wait,
				 &patience) > 0)
		return 0;
	is_stuck = disk->worker.is_stuck;
	is_next = disk->answer.serial + 1 == serial;
	/* Another process has killed the reader process, possibly because memory was exhausted. */
	disk->is_off |= !is_stuck;
	disk_stop(disk);
	return is_stuck && is_next ? -ETIMEDOUT : -EAGAIN;
}

/*
 * Send a command, and wait for its answer, which is stored in disk->answer. Return the same values
 * as wait_for_disk_answer().
 */
static int ask_disk_reader(struct disk *disk, const struct disk_file *file,
			   struct disk_command *command, const char *path)
{
	tell_disk_reader(disk, command, path);
	return wait_for_disk_answer(disk, file, command->serial);
}

int disk_visit_files(struct disk *disk, const char *path)
{
	struct disk_file file = { .name = (char *)path };
	int ret = -EAGAIN;

	/* The system rejects a longer path. */
	while (ret == -EAGAIN && strlen(path) < PATH_MAX && is_used_by_process(disk) &&
	       start_disk_reader(disk))
		ret = ask_disk_reader(disk, &file, &(struct disk_command){ .what = DISK_VISIT },
				      path);
	return ret == -EAGAIN ? 0 : ret;
}

/* ---- opening ---------------------------------------------------------------- */

/* Return whether this process can read the file through a reader process. */
static bool has_disk_reader(const struct disk_file *file)
{
	return file->disk && is_used_by_process(file->disk) && start_disk_reader(file->disk);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Open the file in the reader process, unless it is open there already. Return the same values as
 * wait_for_disk_answer(), or another negative errno value.
 */
static int open_in_reader(struct disk_file *file)
{
	struct disk *disk = file->disk;
	struct disk_command command = { .what = DISK_OPEN, .flags = file->flags };
	int ret;

	if (file->process == disk->process)
		return 0;
	ret = ask_disk_reader(disk, file, &command, file->path);
	if (ret)
		return ret;
	if (disk->answer.result < 0)
		return (int)disk->answer.result;
	file->fd_there = (int)disk->answer.result;
	if (file->st.st_ino && !is_same_file(&file->st, &disk->answer.st))
		return -ESTALE;
	file->st = disk->answer.st;
	file->process = disk->process;
	return 0;
}

int disk_open_at_once(const char *path, int flags)
{
	const int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);

	/* Opening must not wait for a writer, but reads may wait. */
	if (fd >= 0 && !(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags);
	return fd;
}

/* Open the file in this process, unless it is open already. Return 0 or a negative errno value. */
static int open_in_process(struct disk_file *file)
{
	struct stat st;

	if (file->fd >= 0)
		return 0;
	file->fd = disk_open_at_once(file->path, file->flags);
	if (file->fd < 0 || fstat(file->fd, &st))
		return -errno;
	if (file->st.st_ino && !is_same_file(&file->st, &st))
		return -ESTALE;
	file->st = st;
	return 0;
}

/* Open the file in the process that will read it. */
static int open_disk_file(struct disk_file *file)
{
	int ret = -EAGAIN;

	while (ret == -EAGAIN && strlen(file->path) < PATH_MAX && has_disk_reader(file))
		ret = open_in_reader(file);
	/*
	 * If the file is not a regular one, or if another process cannot open it, this process
	 * reads the file.
	 */
	if (ret == -EAGAIN || ret == -ESPIPE || (ret < 0 && file->fd >= 0 && ret != -ETIMEDOUT)) {
		file->disk = NULL;
		ret = open_in_process(file);
	}
	return ret;
}

static struct disk_file *new_disk_file(struct disk *disk, const char *name, const char *path,
				       int flags, int fd)
{
	struct disk_file *file = calloc(1, sizeof(*file));

	if (file) {
		*file = (struct disk_file){
			.disk = disk,
			.name = strdup(name),
			.path = strdup(path),
			.flags = flags,
			.fd = fd,
			.stuck_at = UINT64_MAX,
		};
		if (file->name && file->path)
			return file;
		free_disk_file(file);
	} else if (fd >= 0) {
		close(fd);
	}
	errno = ENOMEM;
	return NULL;
}

static struct disk_file *finish_disk_opening(struct disk_file *file, int err)
{
	if (!err)
		return file;
	disk_close(file);
	errno = -err;
	return NULL;
}

struct disk_file *disk_open(struct disk *disk, const char *path, int flags)
{
	struct disk_file *file = new_disk_file(disk, path, path, flags, -1);

	return file ? finish_disk_opening(file, open_disk_file(file)) : NULL;
}

struct disk_file *disk_adopt_fd(struct disk *disk, int fd, const char *name)
{
	struct disk_file *file;
	char path[64];

	if (fd < 0)
		return NULL;
	/* Another process can open this process's file through /proc. */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	file = new_disk_file(disk, name, path, O_RDONLY, fd);
	if (!file)
		return NULL;
	if (fstat(fd, &file->st))
		return finish_disk_opening(file, -errno);
	return finish_disk_opening(file, open_disk_file(file));
}

/* Close the file in the reader process, and free the slots with its data. */
static void close_in_reader(struct disk_file *file)
{
	struct disk *disk = file->disk;

	for (int i = 0; i < DISK_SLOTS; i++)
		if (disk->slots[i].file == file && !disk->slots[i].serial)
			free_disk_slot(&disk->slots[i]);
	if (file->process && file->process == disk->process && disk->worker.fd >= 0 &&
	    disk->owner == getpid())
		tell_disk_reader(disk,
				 &(struct disk_command){ .what = DISK_CLOSE, .fd = file->fd_there },
				 NULL);
	for (int i = 0; i < DISK_SLOTS; i++)
		file->is_closed |= disk->slots[i].file == file;
}

void disk_close(struct disk_file *file)
{
	if (!file)
		return;
	if (file->disk && is_used_by_process(file->disk))
		close_in_reader(file);
	if (!file->is_closed)
		free_disk_file(file);
}

/* ---- reading ------------------------------------------------------------------- */

/* Return the slot that contains or will contain the byte at offset @at, or NULL. */
static struct slot *find_disk_slot(struct disk_file *file, uint64_t at)
{
	for (int i = 0; i < DISK_SLOTS; i++) {
		struct slot *slot = &file->disk->slots[i];

		if (slot->file == file && at >= slot->at && at - slot->at < slot->size)
			return slot;
	}
	return NULL;
}

/*
 * Return a slot that can be filled: a free one, or the one that has been unused for the longest
 * time.
 */
static struct slot *choose_disk_slot(struct disk *disk)
{
	struct slot *best = NULL;

	for (int i = 0; i < DISK_SLOTS; i++) {
		struct slot *slot = &disk->slots[i];

		if (!slot->serial && (!best || slot->used < best->used))
			best = slot;
	}
	if (!best)
		return NULL;
	/* Data that was read ahead is dropped unused. */
	if (best->file && best->at + best->size > best->file->next)
		best->file->is_crowded = true;
	free_disk_slot(best);
	return best;
}

/* Request at most @most bytes into a slot. Return NULL if all slots are being filled. */
static struct slot *fill_disk_slot(struct disk_file *file, uint64_t at, size_t most)
{
	const uint64_t left = file->stuck_at - at;
	const size_t size = most < left ? most : (size_t)left;
	struct disk *disk = file->disk;
	struct slot *slot = choose_disk_slot(disk);
	struct disk_command command = {
		.what = DISK_READ,
		.fd = file->fd_there,
		.slot = slot ? (uint32_t)(slot - disk->slots) : 0,
		.at = at,
		.size = (uint32_t)size,
	};

	if (!slot)
		return NULL;
	tell_disk_reader(disk, &command, NULL);
	*slot = (struct slot){
		.file = file, .at = at, .size = size, .serial = command.serial, .used = ++disk->uses
	};
	return slot;
}

/* If a slot of a sequence is full, read the bytes after it ahead. */
static void read_next_slot_ahead(struct disk_file *file, const struct slot *slot)
{
	const uint64_t end = slot->at + slot->size;

	if (!file->is_crowded && slot->size == DISK_SLOT_SIZE && end < file->stuck_at &&
	    !find_disk_slot(file, end))
		fill_disk_slot(file, end, DISK_SLOT_SIZE);
}

/*
 * Read from the reader process. Return the same values as disk_read(), or -EAGAIN if the reader
 * process has ended.
 */
static ssize_t read_from_reader(struct disk_file *file, void *to, size_t size, uint64_t at)
{
	struct disk *disk = file->disk;
	struct slot *slot;
	size_t num;
	int ret = open_in_reader(file);

	if (ret)
		return ret;
	slot = find_disk_slot(file, at);
	if (!slot) {
		num = at && at == file->next && !file->is_crowded ?
			      DISK_SLOT_SIZE :
			      (size > SINGLE_SIZE ? size : SINGLE_SIZE);
		slot = fill_disk_slot(file, at, min64(num, DISK_SLOT_SIZE));
	}
	if (!slot)
		return -EAGAIN;
	if (slot->serial) {
		ret = wait_for_disk_answer(disk, file, slot->serial);
		if (ret)
			return ret;
		if (slot->err || at - slot->at >= slot->size) {
			ret = -slot->err;
			free_disk_slot(slot);
			return ret;
		}
	}
	num = min64(size, slot->size - (at - slot->at));
	slot->used = ++disk->uses;
	read_next_slot_ahead(file, slot);
	memcpy(to, disk->memory + (slot - disk->slots) * DISK_SLOT_SIZE + (at - slot->at), num);
	file->next = at + num;
	return (ssize_t)num;
}

static ssize_t read_in_process(struct disk_file *file, void *to, size_t size, uint64_t at)
{
	ssize_t num = open_in_process(file);

	if (num)
		return num;
	do {
		num = pread(file->fd, to, size, (off_t)at);
	} while (num < 0 && errno == EINTR);
	return num < 0 ? -errno : num;
}

ssize_t disk_read(struct disk_file *file, void *to, size_t size, uint64_t at)
{
	ssize_t ret = -EAGAIN;

	if (at > INT64_MAX - size || !size)
		return 0;
	if (at >= file->stuck_at)
		return -ETIMEDOUT;
	while (ret == -EAGAIN && has_disk_reader(file))
		ret = read_from_reader(file, to, size, at);
	if (ret == -EAGAIN)
		ret = read_in_process(file, to, size, at);
	if (ret == -ETIMEDOUT)
		file->stuck_at = at;
	return ret;
}
