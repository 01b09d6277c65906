/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files and folders that are whole or absent: what is written has no name yet, or
 * another one beside its place, and gets its name when all of it is on disk.
 */
#ifndef NETSYNC_OUTPUT_H
#define NETSYNC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Write all of it. False: not all was written, and errno says why; 0: there is not
 * enough memory.
 */
typedef bool output_func(FILE *out, const void *data);

/*
 * Write a file, which is not overwritten unless @force; NULL: standard output.
 * Permissions are those of the file before, else as the umask says. A signal, a full
 * disk or @write that fails leave what was there before, or nothing. What is no file
 * and is overwritten, such as a pipe, is written to as it is.
 * False: it was not written, and that was said.
 */
bool output_write(const char *path, bool force, output_func *write,
		  const void *data);
/* Can it be made? To be asked before an hour of reading, not after it. */
bool output_check(const char *path, bool force);

/* A folder that is not there yet. */
struct output_folder {
	const char *path;	/* where it is to be */
	char *temporary;	/* where it is filled, by the user alone; or NULL */
};

/* False: it is there already, or cannot be made, and that was said. */
bool output_folder_open(struct output_folder *folder, const char *path);
/* A process that writes into it, too, and ends before it is removed; 0: none does. */
void output_folder_is_written_by(pid_t pid);
/*
 * Put all of it on disk, and give it its name and permissions, but for those that the
 * umask excludes. False: that cannot be, and was said; or it was interrupted.
 */
bool output_folder_close(struct output_folder *folder, mode_t permissions);
/* What was not closed is removed; to be called in any case. */
void output_folder_release(struct output_folder *folder);

/*
 * Of the whole program: before anything is opened, no file takes the place of a
 * standard stream that is closed, and a limit of the size of files is an error like a
 * full disk; in the end standard output is complete, else that is said, unless it is
 * a pipe that nobody reads any more.
 */
void output_begin(void);
/* Say by errno why not all can be written there, unless that was said. Return: false. */
bool complain_of_standard_output(void);
/* Return: the exit status, which is @status if all was written. */
int output_end(int status);

#endif
