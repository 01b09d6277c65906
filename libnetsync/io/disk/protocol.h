/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Commands that disk.c sends to the reader process (reader.c), and its answers. */
#ifndef NETSYNC_IO_DISK_PROTOCOL_H
#define NETSYNC_IO_DISK_PROTOCOL_H

#include <stdint.h>
#include <sys/stat.h>

/*
 * Size of a slot in the shared memory (bytes), and number of slots. Reading a capture of 100 MB
 * takes as long with slots of 128 KiB, and longer with 32 KiB (measured). The number of slots is
 * chosen: it is the number of files that can be read in turns, each from front to back, for example
 * to compare two files.
 */
#define DISK_SLOT_SIZE ((size_t)512 << 10)
#define DISK_SLOTS 8

/* Kinds of commands. */
enum disk_what { DISK_VISIT, DISK_OPEN, DISK_READ, DISK_CLOSE };

struct disk_command {
	uint32_t what;
	/* Size of the path that follows, including the terminating NUL (bytes), or 0. */
	uint32_t path_size;
	uint64_t serial; /* number of the command */
	int32_t fd;	 /* file descriptor in the reader process */
	int32_t flags;	 /* DISK_OPEN: flags of open(2) */
	uint32_t slot;	 /* DISK_READ: slot to fill */
	uint32_t size;	 /* DISK_READ: number of bytes */
	uint64_t at;	 /* DISK_READ: offset in the file (bytes) */
};

/* The answer to a command of any kind. */
struct disk_answer {
	uint64_t serial;
	int64_t result; /* result of the system call, or a negative errno value */
	struct stat st; /* DISK_OPEN: status of the file */
};

/* The task of a reader process; @data is the address of the shared memory. */
void disk_run_reader(const void *data);

#endif
