// SPDX-License-Identifier: GPL-2.0-only
/* netsync: bring the clocks of traced machines onto one time base. */
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

/* Packages that contain the programs for commands. */
#define RECORD "netsync-record"
#define ANALYSIS "netsync-analysis"

/*
 * Table of commands. The package is NULL for a built-in command. To add a built-in command, add a
 * file and a row.
 */
static const struct known_command {
	struct command command;
	const char *package;
	const char *summary; /* summary, or NULL if users do not call the command */
} commands[] = {
	{ { "sync", cmd_sync, true }, NULL, "estimate the clock corrections of traced machines" },
	{ { "record", NULL, false },
	  RECORD,
	  "record traces on several machines, and synchronize them" },
	{ { "live", NULL, false }, RECORD, "follow the clock corrections during a recording" },
	{ { "apply", cmd_apply, false }, NULL, "write copies of traces with corrected timestamps" },
	{ { "convert", cmd_convert, false },
	  NULL,
	  "correct single timestamps, or those of a log file" },
	{ { "export", cmd_export, true }, NULL, "export messages and events for other tools" },
	{ { "states", NULL, false },
	  ANALYSIS,
	  "show the states of locks, requests and threads over time" },
	{ { "path", NULL, false }, ANALYSIS, "show what a thread waited for, across hosts" },
	{ { "stragglers", NULL, false },
	  ANALYSIS,
	  "show which ranks start collective operations last" },
	{ { "report", cmd_report, true },
	  NULL,
	  "write a web page that plots the clocks and all messages" },
	{ { "clock-log", cmd_clock_log, false },
	  NULL,
	  "log how a time daemon steers this machine's clock" },
	{ { "doctor", NULL, false }, RECORD, "check what a machine needs for recording" },
	{ { "agent", NULL, false }, RECORD, NULL },
	/* This command is the program itself. The programs of its commands are links to it. */
	{ { "analysis", NULL, false }, ANALYSIS, NULL },
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Installed programs: those of netsync, and those that others have added. */
static struct external_names externals;

static const struct known_command *find_command(const char *name)
{
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (!strcmp(name, commands[i].command.name))
			return &commands[i];
	return NULL;
}

static bool is_built_in(const struct known_command *known)
{
	return known && known->command.run;
}

/* Print the commands that others have added. */
static void print_other_commands(FILE *out)
{
	bool is_first = true;

	for (size_t i = 0; i < externals.num; i++) {
		if (find_command(externals.list[i]))
			continue;
		if (is_first)
			fputs("\nOther commands, which are separate programs:\n", out);
		is_first = false;
		make_text_printable(externals.list[i]);
		fprintf(out, "  %s\n", externals.list[i]);
	}
}

static void print_command_list(FILE *out)
{
	fputs("Usage: netsync COMMAND [ARGUMENT...]\n"
	      "       netsync help COMMAND\n"
	      "       netsync --help | --version\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < NUM_COMMANDS; i++) {
		const struct known_command *known = &commands[i];

		if (!known->summary)
			continue;
		fprintf(out, "  %-11s%s\n", known->command.name, known->summary);
		if (!is_built_in(known) && !is_external(&externals, known->command.name))
			fprintf(out, "  %-11s(not installed: package %s)\n", "", known->package);
	}
	print_other_commands(out);
	fputs("\nRun \"netsync COMMAND --help\" for the options of a command, or \"netsync help COMMAND\"\n"
	      "for its manual page.\n",
	      out);
}

/* Suggest the command with the most similar name. */
static void complain_about_unknown(const char *name)
{
	struct nearest nearest = { .typed = name };

	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (commands[i].summary)
			nearest_consider_word(&nearest, commands[i].command.name);
	for (size_t i = 0; i < externals.num; i++)
		if (!find_command(externals.list[i]))
			nearest_consider_word(&nearest, externals.list[i]);
	if (nearest.word)
		complain(
			"unknown command \"%s\"; did you mean \"%s\"? Run \"netsync --help\" for a list.",
			name, nearest.word);
	else
		complain("unknown command \"%s\"; run \"netsync --help\" for a list.", name);
}

/* Report that the program of a command is not installed. */
static int complain_about_absent(const char *name)
{
	const struct known_command *known = find_command(name);

	if (known)
		complain("netsync %s is in the package %s, which is not installed.", name,
			 known->package);
	else
		complain_about_unknown(name);
	return EXIT_BAD;
}

/* Replace this process by man, to display the manual page of a command. */
static int show_page(const char *name)
{
	const struct known_command *known = find_command(name);
	char *page;

	if (known && !known->summary) {
		complain("%s: this command is internal, and has no manual page.", name);
		return EXIT_BAD;
	}
	if (!is_built_in(known) && !is_external(&externals, name))
		return complain_about_absent(name);
	if (asprintf(&page, PROGRAM_PREFIX "%s", name) < 0) {
		complain_no_memory();
		return EXIT_BAD;
	}
	execlp("man", "man", page, (char *)NULL);
	if (errno == ENOENT)
		complain(
			"man: command not found; install it (Debian: man-db), or run \"netsync %s --help\".",
			name);
	else
		complain("man %s: %s.", page, strerror(errno));
	free(page);
	return EXIT_BAD;
}

/*
 * Handle arguments that are not a command. @err is the reason for which run_external() could not
 * execute a program.
 */
static int dispatch_other(int argc, char **argv, int err)
{
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
	if (err == ENOENT && !is_external(&externals, argv[1]))
		return complain_about_absent(argv[1]);
	complain(PROGRAM_PREFIX "%s: this program cannot be run: %s.", argv[1], strerror(err));
	return EXIT_BAD;
}

int main(int argc, char **argv)
{
	const struct known_command *known = argc > 1 ? find_command(argv[1]) : NULL;
	int err = 0, status;

	/*
	 * Run another program before anything else, so that it inherits signals and file
	 * descriptors unchanged.
	 */
	if (argc > 1 && strcmp(argv[1], "help") && !is_built_in(known)) {
		run_external(argv + 1);
		err = errno;
	}
	output_begin();
	if (is_built_in(known)) {
		status = run_command(&known->command, argc - 1, argv + 1);
	} else {
		if (!find_externals(&externals))
			complain_no_memory();
		status = dispatch_other(argc, argv, err);
		release_externals(&externals);
	}
	return output_end(status);
}
