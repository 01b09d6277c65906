/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write files and directories that are either complete or absent. Files and directories have no
 * name, or a temporary name next to their target, until everything is on disk.
 */
#ifndef NETSYNC_OUTPUT_H
#define NETSYNC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "options.h"

/*
 * Writes the whole content of a file. On failure, set errno and return false. Set errno to 0 if out
 * of memory, and to ECANCELED if a message was already printed.
 */
typedef bool output_func(FILE *out, const void *data);

/* Where to write a file. If path is NULL, write to standard output. */
struct destination {
	const char *path;
	bool force; /* overwrite an existing file */
};

/* The options --output and --force. They set a struct destination. */
extern const struct option_row output_options[];

/*
 * Write a file. Replace an existing file only with @force. The new file has the permissions of the
 * existing file, or those that the umask allows. After a signal, on a full disk, or if @write
 * fails, the existing file is unchanged, or no file exists. If the destination is not a regular
 * file (but a pipe, for example), write to it directly. If the file is not written, print a message
 * and return false.
 */
bool output_write(const struct destination *to, output_func *write, const void *data);
/*
 * Check whether the file can be created. Call this function before you read input for an hour, not
 * afterwards. If the file cannot be created, print a message and return false.
 */
bool output_check(const struct destination *to);

/* An output directory. It must not exist yet. */
struct output_folder {
	const char *path; /* final path of the directory */
	char *temporary;  /* path until it is complete, accessible only to the user; or NULL */
};

/*
 * Create a directory to be filled. If the directory exists or cannot be created, print a message
 * and return false.
 */
bool output_folder_open(struct output_folder *folder, const char *path);
/*
 * Register a child process that also writes to the directory. A signal kills this process before it
 * removes the directory. 0 unregisters the process.
 */
void output_folder_is_written_by(pid_t pid);
/*
 * Sync the directory to disk, and rename it to its final path. The directory's permissions are
 * @permissions without those that the umask removes. If interrupted, return false. On failure,
 * print a message and return false.
 */
bool output_folder_close(struct output_folder *folder, mode_t permissions);
/* Remove the directory unless it was closed. Always call this function at the end. */
void output_folder_release(struct output_folder *folder);

/*
 * Set up the standard streams of the whole program. Call output_begin() before you open any file. A
 * file then cannot get the number of a closed standard stream, and exceeding the limit for file
 * sizes causes an error, like a full disk. output_end() flushes standard output. output_end()
 * reports failures, unless standard output is a pipe without a reader.
 */
void output_begin(void);
/*
 * Report why writing to standard output failed, according to errno, unless this was already
 * reported. Return false.
 */
bool complain_about_standard_output(void);
/* Return the exit status: @status if all output was written, or a failure. */
int output_end(int status);

#endif
