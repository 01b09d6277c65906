// SPDX-License-Identifier: GPL-2.0-only
/* netsync sync - find the clock corrections of traced machines. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "common/traffic.h"
#include "plot.h"

static const char help[] =
	"Usage: netsync sync [OPTION...] [TRACE...]\n\n"
	"Find how the clocks of traced machines differ, by the packets that they sent\n"
	"each other. A TRACE is a file or folder that holds traces, or NAME=PATH\n"
	"to name the host.\n\n"
	"      --messages FILE    read messages: sender receiver send_ns recv_ns\n"
	"      --packets FILE     read packet events, with named columns\n"
	"                         (as often as needed; FILE may be - for standard input)\n"
	"      --strict           stop at the first bad line of these\n"
	"      --address NAME=ADDR  an address of a captured host, where its captures do not\n"
	"                         say which packets it sent (as often as needed)\n"
	"      --split-netns      every network namespace is a host of its own\n"
	"  -r, --reference HOST   the host whose clock is the time base\n"
	"  -b, --max-bound TIME   fail where the error bound is larger, such as 50us\n"
	"  -m, --method METHOD    auto: curves as the packets show them; or, for comparison,\n"
	"                         hull: straight lines, regression: least squares (auto)\n"
	"  -s, --max-skew PPM     no two clocks differ in rate by more (500)\n"
	"  -d, --max-drift PPM    the rate of no clock changes faster, per second (0.1);\n"
	"                         hull takes clocks to be straight\n"
	"  -f, --format FORMAT    table, json, or bt2-args: options of babeltrace2 that\n"
	"                         add constant offsets (json if -o is given, else table)\n"
	"  -o, --output FILE      write there instead of to the terminal\n"
	"      --force            overwrite FILE if it exists\n"
	"  -p, --plot             show delays before and after correction, as a picture\n"
	"  -h, --help             this text\n\n"
	"Exit status: 0 every host is corrected (and within --max-bound), 1 bad usage or\n"
	"input, 2 some host could not be corrected; what is known is written all the same.\n";

struct settings {
	struct input input;
	struct outcome outcome;
	bool table;		/* on standard output, besides */
	bool plot;		/* and a picture of the delays */
};

/* ---- the command line -------------------------------------------------- */

enum { OPT_FORCE = 256 };

static const struct option options[] = {
	INPUT_OPTIONS,
	{ "max-bound", required_argument, NULL, 'b' },
	{ "format", required_argument, NULL, 'f' },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "plot", no_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool set_max_bound(struct settings *set, const char *text)
{
	if (parse_duration(text, &set->outcome.max_bound_ns))
		return true;
	complain("--max-bound %s: give a time such as 800ns, 50us, 1.5ms or 2s.",
		 text);
	return false;
}

/* Return: -1 to go on, else the exit status. */
static int parse_arguments(struct settings *set, int argc, char **argv)
{
	static const char *const formats[] = {
		[FORMAT_TABLE] = "table", [FORMAT_JSON] = "json",
		[FORMAT_BT2_ARGS] = "bt2-args", NULL
	};
	bool has_format = false, ok = true;
	int option;

	while (ok && (option = getopt_long(argc, argv, INPUT_LETTERS "b:m:f:o:ph",
					   options, NULL)) != -1) {
		switch (option) {
		case 'b':
			ok = set_max_bound(set, optarg);
			break;
		case 'm':
			ok = input_option(&set->input, OPT_METHOD, optarg);
			break;
		case 'f':
			ok = parse_format(&set->outcome.format, optarg, formats);
			has_format = true;
			break;
		case 'o':
			set->outcome.output = optarg;
			break;
		case OPT_FORCE:
			set->outcome.force = true;
			break;
		case 'p':
			set->plot = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			ok = input_option(&set->input, option, optarg);
		}
	}
	if (!ok)
		return EXIT_BAD;
	if (!input_traces(&set->input, argc - optind, argv + optind)) {
		complain("Give the traces: netsync sync TRACE...; or --messages FILE, or --packets FILE.");
		return EXIT_BAD;
	}
	if (set->plot && set->outcome.format != FORMAT_TABLE &&
	    !set->outcome.output) {
		complain("--plot: a picture on standard output would spoil the result there; write that to a file with -o.");
		return EXIT_BAD;
	}
	set->outcome.method = set->input.method;
	if (!has_format && set->outcome.output)
		set->outcome.format = FORMAT_JSON;
	return -1;
}

/* ---- all together ------------------------------------------------------ */

static int run(const struct settings *set, struct netsync *ns,
	       struct netsync_io *io, struct spool *spool)
{
	int status;

	if (!outcome_check(&set->outcome))
		return EXIT_BAD;
	if (set->plot && !traffic_keep(spool, ns))
		return EXIT_BAD;
	if (!input_solve(&set->input, ns, io) ||
	    !outcome_write(&set->outcome, ns, io))
		return EXIT_BAD;
	if (set->table)
		write_table(stdout, ns);
	if (set->plot && !plot_delays(stdout, ns, spool))
		return EXIT_BAD;
	status = outcome_explain(&set->outcome, ns);
	if (set->outcome.format == FORMAT_BT2_ARGS &&
	    explain_bt2_args(ns, io) != EXIT_DONE)
		status = EXIT_PARTIAL;
	return status;
}

static int synchronize(const struct settings *set)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = ns ? netsync_io_new(ns) : NULL;
	struct spool spool = { 0 };
	int status = EXIT_BAD;

	if (io)
		status = run(set, ns, io, &spool);
	else
		complain("There is not enough memory.");
	spool_close(&spool);
	netsync_io_free(io);
	netsync_free(ns);
	return status;
}

static bool can_read(const char *trace)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = ns ? netsync_io_new(ns) : NULL;
	const bool ok = io && netsync_io_add(io, trace) > 0;

	if (!ok)
		complain("warning: %s", io ? netsync_io_error(io) :
			 "There is not enough memory.");
	netsync_io_free(io);
	netsync_free(ns);
	return ok;
}

int sync_recorded(char **traces, int num, const char *path, const char *advice)
{
	struct settings set = {
		.input = INPUT_DEFAULT,
		.outcome = OUTCOME_DEFAULT,
		.table = true,
	};
	int status, read = 0;

	set.outcome.output = path;
	set.outcome.format = FORMAT_JSON;
	set.outcome.advice = advice;
	/* One host that recorded nothing is no reason to do without the others. */
	for (int i = 0; i < num; i++) {
		char *trace = traces[i];

		if (!can_read(trace))
			continue;
		traces[i] = traces[read];
		traces[read++] = trace;
	}
	if (!input_traces(&set.input, read, traces))
		return EXIT_BAD;
	status = synchronize(&set);
	return status == EXIT_DONE && read < num ? EXIT_PARTIAL : status;
}

int cmd_sync(int argc, char **argv)
{
	struct settings set = {
		.input = INPUT_DEFAULT,
		.outcome = OUTCOME_DEFAULT,
	};
	int status = parse_arguments(&set, argc, argv);

	if (status < 0)
		status = synchronize(&set);
	input_release(&set.input);
	return status;
}
