/* SPDX-License-Identifier: GPL-2.0-only */
/* Create, remove, measure and link directories with their contents. */
#ifndef NETSYNC_FOLDERS_H
#define NETSYNC_FOLDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Create all directories on the path to a file. Do not create those whose names end within the
 * first @from bytes. On failure, print a message and return false.
 */
bool make_folders(char *path, size_t from);
/*
 * Like make_folders(), but do not give the directories more permissions than those of @original
 * have. @original and @path have the same last part.
 */
bool make_folders_like(char *path, size_t from, const char *original);
/* Remove a directory with its contents as far as possible. */
void remove_tree(const char *path);
/*
 * Create the directory @to with all directories and files of @from, except the file @except. Files
 * are hard links, or copies if links are impossible. *@copied is set to the number of copies. Other
 * kinds of entries, such as symbolic links, are a failure. If interrupted, return false. On
 * failure, print a message and return false.
 */
bool link_tree(const char *from, const char *to, const char *except, uint64_t *copied);

/* A file, or a directory with its contents. */
struct folder_tree {
	uint64_t bytes; /* size of all files */
	uint64_t room;	/* disk space of all files and directories, bytes */
	mode_t files;	/* permissions that all files have in common */
	mode_t folders; /* permissions that all directories have in common */
};

/* Minimum disk space of a file or directory, in bytes: a block of ext4 or XFS. */
#define LEAST_ROOM 4096

/* Return the disk space that a file or directory uses, in bytes. It is at least LEAST_ROOM. */
uint64_t measure_disk_use(const struct stat *info);
/*
 * Measure a file, or a directory with its contents. On failure, print a message and return false.
 */
bool measure_tree(const char *path, struct folder_tree *tree);
/*
 * Remove permissions that the original does not have. On failure, print a message and return false.
 */
bool restrict_tree_permissions(const char *path, const struct folder_tree *original);

#endif
