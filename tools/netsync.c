// SPDX-License-Identifier: GPL-2.0-only
/* netsync - bring the clocks of traced machines onto one time base. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/output.h"
#include "common/tool.h"

/* A new sub-command is one file and one row. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;	/* NULL: only other commands of ours use it */
} commands[] = {
	{ "sync", cmd_sync, "find the clock corrections of traced machines" },
	{ "record", cmd_record, "trace several machines at once, and synchronize" },
	{ "live", cmd_live, "follow the clock corrections while they are traced" },
	{ "apply", cmd_apply, "write copies of traces with corrected times" },
	{ "convert", cmd_convert, "correct timestamps by a saved result" },
	{ "export", cmd_export, "write the messages, corrected, for other tools" },
	{ "report", cmd_report, "show the clocks and all messages in a web page" },
	{ "clock-log", cmd_clock_log, "write down how this machine's clock is steered" },
	{ "doctor", cmd_doctor, "tell why recording would not work" },
	{ "agent", cmd_agent, NULL },
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
	fputs("Usage: netsync COMMAND [ARGUMENT...]\n"
	      "       netsync --help | --version\n\n"
	      "Commands:\n", out);
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (commands[i].summary)
			fprintf(out, "  %-11s%s\n", commands[i].name,
				commands[i].summary);
	fputs("\n\"netsync COMMAND --help\" says more, and so does man netsync-COMMAND.\n",
	      out);
}

/* Every stream of every trace is an open file. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return EXIT_BAD;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("netsync " NETSYNC_VERSION "\nbuilt with " BUILT_WITH);
		return EXIT_DONE;
	}
	allow_many_files();
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	complain("There is no command \"%s\"; \"netsync --help\" lists them.",
		 argv[1]);
	return EXIT_BAD;
}

int main(int argc, char **argv)
{
	output_begin();
	return output_end(run(argc, argv));
}
