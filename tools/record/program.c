// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync-record contains the commands that record, check and follow hosts, and the agent that
 * runs on them.
 */
#include "common/command.h"
#include "record/commands.h"

/* The commands. Each command has to clean up, or runs until a signal arrives. */
static const struct command commands[] = {
	{ "record", cmd_record, false },
	{ "live", cmd_live, false },
	{ "doctor", cmd_doctor, false },
	{ "agent", cmd_agent, false },
};

int main(int argc, char **argv)
{
	return run_program(commands, sizeof(commands) / sizeof(commands[0]), argc, argv);
}
