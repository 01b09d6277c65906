/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that are separate programs: netsync-COMMAND. */
#ifndef NETSYNC_EXTERNAL_H
#define NETSYNC_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Execute the program for argv[0] with these arguments. Return only on failure, and set errno.
 * ENOENT means that there is no such program.
 */
void run_external(char **argv);

/* Names of commands, sorted and without duplicates. */
struct external_names {
	char **list;
	size_t num;
};

/* List all programs. On failure, set errno and return false. Also return false if out of memory. */
bool find_externals(struct external_names *names);
bool is_external(const struct external_names *names, const char *name);
void release_externals(struct external_names *names);

#endif
