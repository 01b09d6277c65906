/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Commands of disk.c to the reader process (reader.c), and its answers. */
#ifndef NETSYNC_IO_DISK_PROTOCOL_H
#define NETSYNC_IO_DISK_PROTOCOL_H

#include <stdint.h>
#include <sys/stat.h>

/*
 * Size of a slot in the shared memory (bytes), and number of slots. Measured: reading a capture
 * of 100 MB takes as long with 128 KiB, and longer with 32 KiB. The number is chosen: as many
 * files can be read alternately, each sequentially, as when two files are compared.
 */
#define DISK_SLOT_SIZE ((size_t)512 << 10)
#define DISK_SLOTS 8

/* Kinds of commands. */
enum disk_what { DISK_WALK, DISK_OPEN, DISK_READ, DISK_CLOSE };

struct disk_command {
	uint32_t what;
	uint32_t path_size; /* bytes of the path that follows, with its 0; or 0 */
	uint64_t serial;    /* number of the command */
	int32_t fd;	    /* of the reader process */
	int32_t flags;	    /* DISK_OPEN: of open(2) */
	uint32_t slot;	    /* DISK_READ: where bytes go */
	uint32_t size;	    /* DISK_READ: bytes */
	uint64_t at;	    /* DISK_READ: their place in the file */
};

/* The answer to a command of any kind. */
struct disk_answer {
	uint64_t serial;
	int64_t result; /* of the system call, or -errno */
	struct stat st; /* DISK_OPEN */
};

/* The task of a reader process; @data is the address of the shared memory. */
void disk_run_reader(const void *data);

#endif
