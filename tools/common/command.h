/* SPDX-License-Identifier: GPL-2.0-only */
/* Sub-commands in a program's table, and how they are run. */
#ifndef NETSYNC_COMMAND_H
#define NETSYNC_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Names of programs are this prefix and the name of a command. */
#define PROGRAM_PREFIX "netsync-"

struct command {
	const char *name;
	/* argv[0] is the name. Return the exit status. */
	int (*run)(int argc, char **argv);
	/* A signal ends it; other commands have to clean up, or run until a signal arrives. */
	bool is_stopped_by_signals;
};

/*
 * Run a command of a program with several commands, which netsync executes: the one of
 * argv[0], netsync-COMMAND. Return the exit status.
 */
int run_program(const struct command *commands, size_t num, int argc, char **argv);

/* Return the exit status. */
int run_command(const struct command *command, int argc, char **argv);

#endif
