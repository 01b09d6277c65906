// SPDX-License-Identifier: GPL-2.0-only
/* A sub-command and its arguments -> its exit status. */
#include "command.h"
#include "input.h"
#include "signal.h"

int run_command(const struct command *command, int argc, char **argv)
{
	input_allow_many_files();
	if (command->is_stopped_by_signals)
		explain_stop();
	return command->run(argc, argv);
}
