/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files and folders that are whole or absent: they are written without a name, or under a
 * temporary one beside their place, and get their name when all is on disk.
 */
#ifndef NETSYNC_OUTPUT_H
#define NETSYNC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "options.h"

/*
 * Write the whole content. False: that failed, and errno says why; 0: there is not enough
 * memory; ECANCELED: why was said.
 */
typedef bool output_func(FILE *out, const void *data);

/* Where a file is written; path NULL: standard output. */
struct destination {
	const char *path;
	bool force;		/* overwrite an existing file */
};

/* --output and --force, for a struct destination. */
extern const struct option_row output_options[];

/*
 * Write a file; an existing one only with @force. Permissions are those of the existing
 * file, else as the umask says. After a signal, on a full disk, or if @write fails, the
 * existing file is unchanged, or there is none. What is no regular file, such as a pipe,
 * is written to directly. False: it was not written, and that was said.
 */
bool output_write(const struct destination *to, output_func *write,
		  const void *data);
/* Can the file be made? To be asked before an hour of reading, not after it. */
bool output_check(const struct destination *to);

/* An output folder, which must not exist yet. */
struct output_folder {
	const char *path;	/* where it is to be */
	char *temporary;	/* where it is filled, for the user alone; or NULL */
};

/* False: the folder exists, or cannot be made, and that was said. */
bool output_folder_open(struct output_folder *folder, const char *path);
/*
 * A child process that also writes into the folder, and is killed before the folder is
 * removed by a signal; 0: none does.
 */
void output_folder_is_written_by(pid_t pid);
/*
 * Put the folder on disk, and give it its name and @permissions, less the umask's. False:
 * that failed, and was said; or it was interrupted.
 */
bool output_folder_close(struct output_folder *folder, mode_t permissions);
/* Remove a folder that was not closed; to be called in any case. */
void output_folder_release(struct output_folder *folder);

/*
 * Standard streams of the whole program. output_begin(), before anything is opened: no
 * file gets the number of a closed standard stream, and a limit of file sizes is an error
 * like a full disk. output_end(): standard output is flushed, and a failure is said,
 * unless it is a pipe that nobody reads any more.
 */
void output_begin(void);
/* Say by errno why standard output failed, unless that was said. Return: false. */
bool complain_of_standard_output(void);
/* Return: the exit status; @status if all was written. */
int output_end(int status);

#endif
