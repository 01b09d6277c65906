// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever is in a file that is a trace: it is read, copied with other times, or
 * refused, in a moment and in little memory. Which reader it comes to is found out
 * by how it begins, so that the samples to start from decide which one is tried.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <netsync-io.h>

/* In memory, and gone with the process that begins it. */
static char path[] = "/dev/shm/netsync-fuzz-XXXXXX";
static char copy[sizeof(path) + sizeof(".copy")];
static int file = -1;

static void remove_file(void)
{
	unlink(path);
}

static int put(const uint8_t *data, size_t size)
{
	if (file < 0) {
		file = mkstemp(path);
		snprintf(copy, sizeof(copy), "%s.copy", path);
		atexit(remove_file);
	}
	return file >= 0 && !ftruncate(file, 0) &&
	       pwrite(file, data, size, 0) == (ssize_t)size;
}

static void copy_tracedat(struct netsync_io *io)
{
	static const struct netsync_io_knot knots[] = {
		{ 0, 1000 }, { INT64_MAX / 2, INT64_MAX / 2 },
	};

	netsync_io_copy_tracedat(io, path, copy, knots, 2, NULL, NULL);
	unlink(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = netsync_io_new(ns);

	if (!put(data, size)) {
		perror(path);
		abort();
	}
	if (netsync_io_add(io, path) > 0 && !netsync_io_read(io, NULL, NULL))
		netsync_solve(ns, NULL);
	copy_tracedat(io);
	netsync_io_free(io);
	netsync_free(ns);
	return 0;
}
