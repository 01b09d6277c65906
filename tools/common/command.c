// SPDX-License-Identifier: GPL-2.0-only
/* Run a command with its arguments. */
#include <string.h>

#include "command.h"
#include "complain.h"
#include "exit-status.h"
#include "input.h"
#include "output.h"
#include "signal.h"

int run_command(const struct command *command, int argc, char **argv)
{
	input_allow_many_files();
	if (command->is_stopped_by_signals)
		explain_stop();
	return command->run(argc, argv);
}

/*
 * Return the command that a program runs, such as "live" for "/usr/libexec/netsync/netsync-live".
 */
static char *get_program_command(char *program)
{
	char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	return strncmp(name, PROGRAM_PREFIX, strlen(PROGRAM_PREFIX)) ?
		       name :
		       name + strlen(PROGRAM_PREFIX);
}

int run_program(const struct command *commands, size_t num, int argc, char **argv)
{
	char none[] = "", *name = argc ? get_program_command(argv[0]) : none;
	int status = EXIT_BAD;
	size_t i = 0;

	output_begin();
	while (i < num && strcmp(name, commands[i].name))
		i++;
	if (i < num) {
		argv[0] = name;
		status = run_command(&commands[i], argc, argv);
	} else {
		complain(
			"%s: this program has no such command; run \"netsync --help\" for a list of commands.",
			name);
	}
	return output_end(status);
}
