/* SPDX-License-Identifier: GPL-2.0-only */
/* Folders with all that is in them: made, removed, measured, linked elsewhere. */
#ifndef NETSYNC_FOLDERS_H
#define NETSYNC_FOLDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Make all folders that lead to a file, except those that end within the first @from
 * bytes of the path. False: that failed, and was said.
 */
bool make_folders(char *path, size_t from);
/*
 * The same, with no more permissions than the folders of @original, which ends as @path.
 */
bool make_folders_like(char *path, size_t from, const char *original);
/* Remove a folder with all that is in it, as far as possible. */
void remove_tree(const char *path);
/*
 * Make the folder @to, with all folders and files of @from but the file @except in it:
 * links to these files, or copies where links cannot be made, which are counted in
 * *@copied. False: something is no file or folder, such as a symbolic link, or an
 * operation failed, which was said; or it was interrupted.
 */
bool link_tree(const char *from, const char *to, const char *except,
	       uint64_t *copied);

/* A file, or a folder with all that is in it. */
struct folder_tree {
	uint64_t bytes;		/* of all files */
	uint64_t room;		/* that everything takes on the disk, bytes */
	mode_t files;		/* permissions that all files have */
	mode_t folders;		/* permissions that all folders have */
};

/* The least that a file or a folder takes on a disk, bytes: a block of ext4 or XFS. */
#define LEAST_ROOM 4096

/* What a file or a folder takes on the disk, bytes; LEAST_ROOM at least. */
uint64_t room_of(const struct stat *info);
/* False: that failed, and was said. */
bool measure_tree(const char *path, struct folder_tree *tree);
/* Remove permissions that the original lacks. False: that failed, and was said. */
bool narrow_tree(const char *path, const struct folder_tree *original);

#endif
