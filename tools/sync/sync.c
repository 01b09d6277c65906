// SPDX-License-Identifier: GPL-2.0-only
/* netsync sync: estimate the corrections of hosts' clocks from traces, and write a result file. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/input.h"
#include "common/output.h"
#include "common/result-bt2-args.h"
#include "common/result-output.h"
#include "common/result-table.h"
#include "common/traffic.h"
#include "common/utc.h"
#include "plot.h"
#include "remote/traces.h"
#include "sync.h"

/* Value for a missing --format. The format is then json with -o, and table without it. */
enum { FORMAT_NOT_GIVEN = FORMAT_BT2_ARGS + 1 };

struct sync_settings {
	struct input input;
	struct outcome outcome;
	struct utc_arguments utc;
	bool table; /* also print the table (for netsync record) */
	bool plot;  /* also print a plot of the delays */
};

/* ---- the command line -------------------------------------------------- */

static const char *const formats[] = {
	[FORMAT_TABLE] = "table", [FORMAT_JSON] = "json", [FORMAT_BT2_ARGS] = "bt2-args", NULL
};

static const struct option_row options[] = {
	{ .table = input_options, .at = offsetof(struct sync_settings, input) },
	{ .table = window_options, .at = offsetof(struct sync_settings, input.window) },
	{ .table = input_method_options, .at = offsetof(struct sync_settings, input) },
	{ .table = input_remote_options, .at = offsetof(struct sync_settings, input) },
	{ .table = utc_options, .at = offsetof(struct sync_settings, utc) },
	OPTION("max-bound", 'b', "TIME", "fail if an error bound exceeds TIME, such as 50us",
	       parse_duration_option, .at = offsetof(struct sync_settings, outcome.max_bound_ns),
	       .example = "800ns, 50us, 1.5ms or 2s"),
	OPTION("format", 'f', "FORMAT",
	       "write a table, json, or bt2-args (constant offsets as options\n"
	       "for babeltrace2); default: table, or json with -o",
	       parse_name_option, .at = offsetof(struct sync_settings, outcome.format),
	       .names = formats),
	{ .table = output_options, .at = offsetof(struct sync_settings, outcome.output) },
	OPTION("plot", 'p', NULL, "plot delays over time, before and after correction",
	       parse_flag_option, .at = offsetof(struct sync_settings, plot)),
	OPTIONS_END
};

static const struct option_row shared_options[] = {
	{ .table = options },
	OPTION("local", 0, NULL,
	       "read each TRACE from the local disk of the machine; the first\n"
	       "process of each machine reads its traces",
	       parse_flag_option, .at = offsetof(struct sync_settings, input.local)),
	OPTIONS_END
};

static const struct usage shared_usage = {
	.begin =
		"Usage: mpirun netsync-mpi sync [OPTION...] [TRACE...]\n\n"
		"Do the work of \"netsync sync\" in many processes. Each process reads the traces of some\n"
		"hosts, and matches a share of all packets. A TRACE is a file or directory, or NAME=PATH to\n"
		"name its host. All processes, or with --local those of one machine, must see the TRACE.\n\n",
	.end = "\nExit status: as for \"netsync sync\".\n",
	.options = shared_options,
};

static const struct usage usage = {
	.begin =
		"Usage: netsync sync [OPTION...] [TRACE...]\n\n"
		"Estimate how the clocks of traced machines differ, from the packets that the machines\n"
		"sent each other. A TRACE is a file, a directory with traces, NAME=PATH to name its host,\n"
		"or [USER@]HOST:PATH for a trace on another machine, which is read there over ssh.\n\n",
	.end = "\nExit status: 0 if every host is corrected (and within --max-bound), 1 for bad usage or\n"
	       "input, 2 if a host could not be corrected; all other results are still written.\n",
	.options = options,
};

/* Parse the arguments. Return -1 to continue, or the exit status if the command is to end. */
static int parse_sync_arguments(struct sync_settings *set, int argc, char **argv)
{
	const int first = options_parse_all(set->input.share ? &shared_usage : &usage, set, argc,
					    argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (set->outcome.format == FORMAT_NOT_GIVEN)
		set->outcome.format = set->outcome.output.path ? FORMAT_JSON : FORMAT_TABLE;
	set->outcome.method = input_get_method(&set->input);
	if (!input_set_traces(&set->input, argc - first, argv + first)) {
		complain(
			"No traces given: use \"netsync sync TRACE...\", --messages FILE or --packets FILE.");
		return EXIT_BAD;
	}
	if (set->outcome.format == FORMAT_BT2_ARGS && set->input.remote) {
		complain(
			"--format bt2-args: babeltrace2 does not read traces on other machines; copy them.");
		return EXIT_BAD;
	}
	if (set->plot && set->outcome.format != FORMAT_TABLE && !set->outcome.output.path) {
		complain(
			"--plot: the plot and the result cannot both go to standard output; add -o FILE for the result.");
		return EXIT_BAD;
	}
	return -1;
}

/* ---- the whole command ---------------------------------------------------- */

/* Write the result, and report what is wrong with it. Return the exit status. */
static int write_and_explain(struct sync_settings *set, struct netsync *ns, struct netsync_io *io,
			     struct spool *spool, const struct utc_result *utc)
{
	int status;

	set->outcome.remote = set->input.remote;
	set->outcome.utc = utc;
	if (!outcome_write(&set->outcome, ns, io))
		return EXIT_BAD;
	if (set->table)
		write_result_table(stdout, ns);
	if (set->plot && !plot_delays(stdout, ns, spool))
		return EXIT_BAD;
	status = outcome_explain(&set->outcome, ns);
	if (set->outcome.format == FORMAT_BT2_ARGS && explain_bt2_args(ns, io) != EXIT_DONE)
		status = EXIT_PARTIAL;
	return status == EXIT_DONE ? input_get_status(&set->input, io) : status;
}

static int solve_and_report(struct sync_settings *set, struct netsync *ns, struct netsync_io *io,
			    struct spool *spool)
{
	const bool is_first = !set->input.share || set->input.share->is_first;
	int utc_status, status = EXIT_BAD;
	struct utc_result utc;

	if (is_first && !outcome_check_output(&set->outcome))
		return EXIT_BAD;
	if (set->plot && !traffic_spool_messages(spool, ns))
		return EXIT_BAD;
	if (!input_solve(&set->input, ns, io))
		return EXIT_BAD;
	if (!is_first)
		return EXIT_DONE;
	utc_status = utc_compute(&utc, &set->utc, ns, io);
	if (utc_status != EXIT_BAD)
		status = write_and_explain(set, ns, io, spool, &utc);
	utc_release(&utc);
	return status == EXIT_DONE || utc_status == EXIT_BAD ? utc_status : status;
}

static int synchronize_traces(struct sync_settings *set)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = ns ? netsync_io_new(ns) : NULL;
	struct spool spool = { 0 };
	int status = EXIT_BAD;

	if (io)
		status = solve_and_report(set, ns, io, &spool);
	else
		complain_no_memory();
	spool_close(&spool);
	netsync_io_free(io);
	netsync_free(ns);
	return status;
}

/* Return whether a trace can be opened. If not, print the reason as a warning. */
static bool can_open_trace(const char *trace)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = ns ? netsync_io_new(ns) : NULL;
	const bool ok = io && netsync_io_add(io, trace) > 0;

	if (!ok)
		complain("warning: %s", io ? netsync_io_error(io) : "There is not enough memory.");
	netsync_io_free(io);
	netsync_free(ns);
	return ok;
}

int sync_recorded(char **traces, int num, struct remote_traces *remote, const char *path,
		  bool beacon)
{
	struct sync_settings set = {
		.input = INPUT_DEFAULT,
		.outcome = OUTCOME_DEFAULT,
		.table = true,
	};
	int status, read = 0;

	set.input.remote = remote;
	set.input.remote_netsync = remote ? remote->all.netsync : NULL;
	set.outcome.output.path = path;
	set.outcome.format = FORMAT_JSON;
	set.outcome.source = beacon ? SOURCE_RECORD_BEACON : SOURCE_RECORD;
	/* Skip traces that cannot be read, such as those of a host that recorded nothing. */
	for (int i = 0; i < num; i++) {
		char *trace = traces[i];

		if (!can_open_trace(trace))
			continue;
		traces[i] = traces[read];
		traces[read++] = trace;
	}
	if (!input_set_traces(&set.input, read, traces))
		return EXIT_BAD;
	status = synchronize_traces(&set);
	return status == EXIT_DONE && read < num ? EXIT_PARTIAL : status;
}

static bool is_input_given(const struct sync_settings *set)
{
	for (int i = 0; i < set->input.num_texts; i++)
		if (!strcmp(set->input.texts[i].path, "-"))
			return true;
	return false;
}

/*
 * Reject options that need data from other processes, and options that would apply to all
 * processes.
 */
static bool can_share_input(const struct sync_settings *set)
{
	if (set->plot)
		complain(
			"--plot: no process has the delays of all messages; use \"netsync export\".");
	else if (set->input.split_netns)
		complain(
			"--split-netns: the hosts are unknown until all traces are read; use \"netsync sync\".");
	else if (is_input_given(set))
		complain(
			"-: only one process can read standard input; write the data to a file that all processes see.");
	else if (set->input.remote)
		complain(
			"HOST:PATH: give files that all processes see, or with --local, files of each machine; or use \"netsync sync\".");
	else
		return true;
	return false;
}

static int synchronize_given(int argc, char **argv, struct input_share *share)
{
	struct sync_settings set = {
		.input = INPUT_DEFAULT,
		.outcome = OUTCOME_DEFAULT,
	};
	int status;

	set.outcome.format = FORMAT_NOT_GIVEN;
	set.outcome.is_shared = share;
	set.input.takes_remote = true;
	set.input.share = share;
	status = parse_sync_arguments(&set, argc, argv);
	if (status < 0 && share && !can_share_input(&set))
		status = EXIT_BAD;
	if (status < 0)
		status = synchronize_traces(&set);
	input_release(&set.input);
	free(set.utc.argument);
	return status;
}

int cmd_sync(int argc, char **argv)
{
	return synchronize_given(argc, argv, NULL);
}

int sync_shared(int argc, char **argv, struct input_share *share)
{
	return synchronize_given(argc, argv, share);
}
