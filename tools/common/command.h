/* SPDX-License-Identifier: GPL-2.0-only */
/* Sub-commands, as a program has them in its table, and how they are run. */
#ifndef NETSYNC_COMMAND_H
#define NETSYNC_COMMAND_H

#include <stdbool.h>

struct command {
	const char *name;
	/* argv[0] is the name. Return: exit status. */
	int (*run)(int argc, char **argv);
	/* A signal ends it; others have something to undo, or run until a signal comes. */
	bool is_stopped_by_signals;
};

/* Return: exit status. */
int run_command(const struct command *command, int argc, char **argv);

#endif
