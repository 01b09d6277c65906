/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits for the wait for processes that read and make no progress: first a warning, then the end
 * of the wait.
 */
#ifndef NETSYNC_IO_PATIENCE_H
#define NETSYNC_IO_PATIENCE_H

#include "io/io.h"
#include "io/worker/worker.h"

/* A wait for a reader process. */
struct patience {
	struct netsync_io *io;
	const char *name; /* name of the host, or NULL if it is not known yet */
	const char *path; /* path of the file that is being read */
	uint64_t device;  /* file system, as in trace.device, or 0 if not known */
	bool is_pipe;	  /* whether the wait is limited only if the user has set a limit */
	bool has_warned;
};

/* Make the state for waiting for a process that reads a trace. */
struct patience io_make_trace_patience(const struct trace *trace);
/* Make an argument for the functions of worker.h. @patience must live as long as the result. */
struct worker_patience io_make_worker_patience(struct patience *patience);

/* Return the longest wait without progress, or the wait before a warning (ms). */
int64_t io_get_timeout_ms(const struct netsync_io *io);
int64_t io_get_warning_ms(const struct netsync_io *io);

/* Create the process that reads @io's files. Return NULL if out of memory. */
struct disk *io_new_disk(struct netsync_io *io);
/*
 * Visit all files below @path in another process, and read the beginning of each file, so that this
 * process cannot get stuck on a failed disk. Return 0. After a timeout, call io_fail() and return
 * -ETIMEDOUT.
 */
int io_probe_path(struct netsync_io *io, const char *path);
/*
 * Read like read(2), but with the time limit for files. On failure, return a negative errno value,
 * such as -ETIMEDOUT.
 */
ssize_t io_read_pipe(struct netsync_io *io, const char *path, int pipe, void *to, size_t size);
#define STUCK_PIPE "no more data arrived, and the input was abandoned"

/* Return whether an error that occurs when a trace is opened affects only this trace. */
bool io_is_lost_error(int err);
/* Warn that @what is skipped, and record the skip. The reason was passed to io_fail(). */
int io_skip_input(struct netsync_io *io, const char *what);
/*
 * Warn that a file or pipe was read only up to byte @at because of @why. Record that the rest is
 * skipped.
 */
int io_note_broken_off(struct netsync_io *io, const char *path, uint64_t at, const char *why);
void io_free_skipped(struct netsync_io *io);

#endif
