/* SPDX-License-Identifier: GPL-2.0-only */
/* Sub-commands, as a program has them in its table, and how they are run. */
#ifndef NETSYNC_COMMAND_H
#define NETSYNC_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* What names of programs begin with; then the name of a command follows. */
#define PROGRAM_PREFIX "netsync-"

struct command {
	const char *name;
	/* argv[0] is the name. Return: exit status. */
	int (*run)(int argc, char **argv);
	/* A signal ends it; others have something to undo, or run until a signal comes. */
	bool is_stopped_by_signals;
};

/*
 * Be a program of several commands: the one of argv[0], netsync-COMMAND, as netsync runs
 * it. Return: exit status.
 */
int run_program(const struct command *commands, size_t num, int argc, char **argv);

/* Return: exit status. */
int run_command(const struct command *command, int argc, char **argv);

#endif
