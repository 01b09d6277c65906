// SPDX-License-Identifier: GPL-2.0-only
/* netsync-analysis: examine what happened on traced hosts, using events of any kind. */
#include "analysis/commands.h"
#include "common/command.h"

static const struct command commands[] = {
	{ "states", cmd_states, true },
	{ "path", cmd_path, true },
	{ "stragglers", cmd_stragglers, true },
};

int main(int argc, char **argv)
{
	return run_program(commands, sizeof(commands) / sizeof(commands[0]), argc, argv);
}
