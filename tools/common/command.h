/* SPDX-License-Identifier: GPL-2.0-only */
/* Run the commands that a program's table contains. */
#ifndef NETSYNC_COMMAND_H
#define NETSYNC_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* The name of a program is this prefix followed by the name of a command. */
#define PROGRAM_PREFIX "netsync-"

struct command {
	const char *name;
	/* Run the command. argv[0] is the command's name. Return the exit status. */
	int (*run)(int argc, char **argv);
	/*
	 * A signal ends the command immediately. Other commands have to clean up, or they run until
	 * a signal arrives.
	 */
	bool is_stopped_by_signals;
};

/*
 * Run one command of a program that has several commands. netsync executes such a program with
 * argv[0] set to netsync-COMMAND. Return the exit status.
 */
int run_program(const struct command *commands, size_t num, int argc, char **argv);

/* Run a command. Return the exit status. */
int run_command(const struct command *command, int argc, char **argv);

#endif
