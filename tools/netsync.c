// SPDX-License-Identifier: GPL-2.0-only
/* netsync - bring the clocks of traced machines onto one time base. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/input.h"
#include "common/nearest.h"
#include "common/output.h"
#include "common/signal.h"

/* A new sub-command is one file and one row. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;	/* NULL: only other commands of ours use it */
} commands[] = {
	{ "sync", cmd_sync, "estimate the clock corrections of traced machines" },
	{ "record", cmd_record, "record traces on several machines, and synchronize them" },
	{ "live", cmd_live, "follow the clock corrections during a recording" },
	{ "apply", cmd_apply, "write copies of traces with corrected timestamps" },
	{ "convert", cmd_convert, "correct single timestamps, or those of a log file" },
	{ "export", cmd_export, "export messages and events for other tools" },
	{ "states", cmd_states, "show the states of locks, requests and threads over time" },
	{ "path", cmd_path, "show what a thread waited for, across hosts" },
	{ "report", cmd_report, "write a web page that plots the clocks and all messages" },
	{ "clock-log", cmd_clock_log, "log how a time daemon steers this machine's clock" },
	{ "doctor", cmd_doctor, "check what a machine needs for recording" },
	{ "agent", cmd_agent, NULL },
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_command_list(FILE *out)
{
	fputs("Usage: netsync COMMAND [ARGUMENT...]\n"
	      "       netsync help COMMAND\n"
	      "       netsync --help | --version\n\n"
	      "Commands:\n", out);
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (commands[i].summary)
			fprintf(out, "  %-11s%s\n", commands[i].name,
				commands[i].summary);
	fputs("\nRun \"netsync COMMAND --help\" for the options of a command, or \"netsync help COMMAND\"\n"
	      "for its manual page.\n", out);
}

static const struct command *find_command(const char *name)
{
	struct nearest nearest = { .typed = name };

	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (commands[i].summary)
			nearest_try(&nearest, commands[i].name);
	if (nearest.word)
		complain("unknown command \"%s\"; did you mean \"%s\"? Run \"netsync --help\" for a list.",
			 name, nearest.word);
	else
		complain("unknown command \"%s\"; run \"netsync --help\" for a list.",
			 name);
	return NULL;
}

/* Become man, which shows the page of a command. */
static int show_page(const char *name)
{
	const struct command *command = find_command(name);
	char page[64];

	if (!command)
		return EXIT_BAD;
	snprintf(page, sizeof(page), "netsync-%s", name);
	if (command->summary)
		execlp("man", "man", page, (char *)NULL);
	if (!command->summary)
		complain("%s: this command is internal, and has no manual page.", name);
	else if (errno == ENOENT)
		complain("man: command not found; install it (Debian: man-db), or run \"netsync %s --help\".",
			 name);
	else
		complain("man %s: %s.", page, strerror(errno));
	return EXIT_BAD;
}

/* The other commands have something to undo, or go on until a signal comes. */
static bool is_stopped_by_signals(const struct command *command)
{
	return command->run == cmd_sync || command->run == cmd_export ||
	       command->run == cmd_states || command->run == cmd_path ||
	       command->run == cmd_report;
}

static int dispatch_command(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_command_list(stderr);
		return EXIT_BAD;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		print_command_list(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("netsync " NETSYNC_VERSION "\nbuilt with " BUILT_WITH);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "help"))
		return show_page(argv[2]);
	input_allow_many_files();
	command = find_command(argv[1]);
	if (command && is_stopped_by_signals(command))
		explain_stop();
	return command ? command->run(argc - 1, argv + 1) : EXIT_BAD;
}

int main(int argc, char **argv)
{
	output_begin();
	return output_end(dispatch_command(argc, argv));
}
