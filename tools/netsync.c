// SPDX-License-Identifier: GPL-2.0-only
/* netsync - bring the clocks of traced machines onto one time base. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netsync.h>

#include "commands.h"
#include "common/command.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/nearest.h"
#include "common/output.h"
#include "external.h"

/* A new sub-command is one file and one row. */
static const struct known_command {
	struct command command;
	const char *summary;	/* NULL: only other commands of ours use it */
} commands[] = {
	{ { "sync", cmd_sync, true }, "estimate the clock corrections of traced machines" },
	{ { "record", cmd_record, false }, "record traces on several machines, and synchronize them" },
	{ { "live", cmd_live, false }, "follow the clock corrections during a recording" },
	{ { "apply", cmd_apply, false }, "write copies of traces with corrected timestamps" },
	{ { "convert", cmd_convert, false }, "correct single timestamps, or those of a log file" },
	{ { "export", cmd_export, true }, "export messages and events for other tools" },
	{ { "states", cmd_states, true }, "show the states of locks, requests and threads over time" },
	{ { "path", cmd_path, true }, "show what a thread waited for, across hosts" },
	{ { "report", cmd_report, true }, "write a web page that plots the clocks and all messages" },
	{ { "clock-log", cmd_clock_log, false }, "log how a time daemon steers this machine's clock" },
	{ { "doctor", cmd_doctor, false }, "check what a machine needs for recording" },
	{ { "agent", cmd_agent, false }, NULL },
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct known_command *find_command(const char *name)
{
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (!strcmp(name, commands[i].command.name))
			return &commands[i];
	return NULL;
}

/* Programs that others have added. */
static void print_other_commands(FILE *out)
{
	struct external_names names = { 0 };
	bool is_first = true;

	if (!find_externals(&names))
		no_memory();
	for (size_t i = 0; i < names.num; i++) {
		if (find_command(names.list[i]))
			continue;
		if (is_first)
			fputs("\nOther commands, which are programs of their own:\n", out);
		is_first = false;
		make_printable(names.list[i]);
		fprintf(out, "  %s\n", names.list[i]);
	}
	release_externals(&names);
}

static void print_command_list(FILE *out)
{
	fputs("Usage: netsync COMMAND [ARGUMENT...]\n"
	      "       netsync help COMMAND\n"
	      "       netsync --help | --version\n\n"
	      "Commands:\n", out);
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (commands[i].summary)
			fprintf(out, "  %-11s%s\n", commands[i].command.name,
				commands[i].summary);
	print_other_commands(out);
	fputs("\nRun \"netsync COMMAND --help\" for the options of a command, or \"netsync help COMMAND\"\n"
	      "for its manual page.\n", out);
}

/* Suggest the nearest of all commands. */
static void complain_of_unknown(const char *name, const struct external_names *names)
{
	struct nearest nearest = { .typed = name };

	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (commands[i].summary)
			nearest_try(&nearest, commands[i].command.name);
	for (size_t i = 0; i < names->num; i++)
		if (!find_command(names->list[i]))
			nearest_try(&nearest, names->list[i]);
	if (nearest.word)
		complain("unknown command \"%s\"; did you mean \"%s\"? Run \"netsync --help\" for a list.",
			 name, nearest.word);
	else
		complain("unknown command \"%s\"; run \"netsync --help\" for a list.",
			 name);
}

/* Complain that there is no such command, or why (@err) its program does not run. */
static int complain_of_command(const char *name, int err)
{
	struct external_names names = { 0 };

	if (!find_externals(&names))
		no_memory();
	else if (err != ENOENT || is_external(&names, name))
		complain("netsync-%s: this program cannot be run: %s.", name, strerror(err));
	else
		complain_of_unknown(name, &names);
	release_externals(&names);
	return EXIT_BAD;
}

/* Is it a command, our own or another program? If not, that was said. */
static bool is_command(const char *name)
{
	struct external_names names = { 0 };
	bool found = find_command(name);

	if (!found && find_externals(&names)) {
		found = is_external(&names, name);
		if (!found)
			complain_of_unknown(name, &names);
	}
	release_externals(&names);
	return found;
}

/* Become man, which shows the page of a command. */
static int show_page(const char *name)
{
	const struct known_command *known = find_command(name);
	char *page;

	if (!is_command(name))
		return EXIT_BAD;
	if (known && !known->summary) {
		complain("%s: this command is internal, and has no manual page.", name);
		return EXIT_BAD;
	}
	if (asprintf(&page, "netsync-%s", name) < 0)
		return EXIT_BAD;
	execlp("man", "man", page, (char *)NULL);
	if (errno == ENOENT)
		complain("man: command not found; install it (Debian: man-db), or run \"netsync %s --help\".",
			 name);
	else
		complain("man %s: %s.", page, strerror(errno));
	free(page);
	return EXIT_BAD;
}

/* @err: why there is no program for the command, errno of run_external() */
static int dispatch_command(int argc, char **argv, int err)
{
	const struct known_command *known;

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
	known = find_command(argv[1]);
	return known ? run_command(&known->command, argc - 1, argv + 1) :
		       complain_of_command(argv[1], err);
}

int main(int argc, char **argv)
{
	int err = 0;

	/* First of all, so that the program finds signals and descriptors as they were. */
	if (argc > 1 && strcmp(argv[1], "help") && !find_command(argv[1])) {
		run_external(argv + 1);
		err = errno;
	}
	output_begin();
	return output_end(dispatch_command(argc, argv, err));
}
