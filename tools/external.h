/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that are programs of their own: netsync-COMMAND. */
#ifndef NETSYNC_EXTERNAL_H
#define NETSYNC_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Become the program of argv[0], with these arguments. Returns only if that is impossible;
 * errno says why, ENOENT: there is no such program.
 */
void run_external(char **argv);

/* Names of commands, sorted, each once. */
struct external_names {
	char **list;
	size_t num;
};

/* All programs there are. False: there is not enough memory, or errno says why. */
bool find_externals(struct external_names *names);
bool is_external(const struct external_names *names, const char *name);
void release_externals(struct external_names *names);

#endif
