/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write files and directories that are either complete or absent. They are written without a
 * name, or under a temporary name next to their target, and get their name when everything is on
 * disk.
 */
#ifndef NETSYNC_OUTPUT_H
#define NETSYNC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "options.h"

/*
 * Function that writes the whole content of a file. Return false and set errno on failure. An
 * errno of 0 means out of memory, and ECANCELED means that a message was printed.
 */
typedef bool output_func(FILE *out, const void *data);

/* Where to write a file; a path of NULL means standard output. */
struct destination {
	const char *path;
	bool force; /* overwrite an existing file */
};

/* The options --output and --force, which set a struct destination. */
extern const struct option_row output_options[];

/*
 * Write a file; replace an existing file only with @force. The permissions are those of the
 * existing file, or follow the umask. After a signal, on a full disk, or if @write fails, the
 * existing file is unchanged, or no file exists. If the destination is not a regular file, such
 * as a pipe, write to it directly. If the file is not written, print a message and return
 * false.
 */
bool output_write(const struct destination *to, output_func *write, const void *data);
/*
 * Can the file be created? Call this before reading for an hour, not after it. If not,
 * print a message and return false.
 */
bool output_check(const struct destination *to);

/* An output directory, which must not exist yet. */
struct output_folder {
	const char *path; /* final path of the directory */
	char *temporary;  /* path while it is filled, accessible only to the user; or NULL */
};

/*
 * Create a directory to be filled. If it exists or cannot be created, print a message and
 * return false.
 */
bool output_folder_open(struct output_folder *folder, const char *path);
/*
 * Register a child process that also writes into the directory, or 0 to unregister it. A signal
 * kills the child process before removing the directory.
 */
void output_folder_is_written_by(pid_t pid);
/*
 * Sync the directory to disk, and give it its name, with @permissions minus the umask. Return
 * false if interrupted or, after a message, on failure.
 */
bool output_folder_close(struct output_folder *folder, mode_t permissions);
/* Remove a directory that was not closed. Call this in either case. */
void output_folder_release(struct output_folder *folder);

/*
 * Set up the standard streams of the whole program. Call output_begin() before any file is
 * opened, so that no file gets the number of a closed standard stream, and so that exceeding a
 * file size limit is an error like a full disk. output_end() flushes standard output, and reports
 * a failure, unless standard output is a pipe without a reader.
 */
void output_begin(void);
/*
 * Report why standard output failed, according to errno, unless this was already
 * reported. Return false.
 */
bool complain_of_standard_output(void);
/* Return the exit status, which is @status if all output was written. */
int output_end(int status);

#endif
