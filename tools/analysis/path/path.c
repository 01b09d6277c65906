// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync path: find what a thread waited for, on all hosts, and which threads the time
 * is charged to.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/commands.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/output.h"
#include "view.h"

struct path_settings {
	struct input input;
	struct path_thread_name of;
	bool account;
	bool json, perfetto;   /* output format; if none is set, print a table */
	unsigned int timeline; /* number of the format, or TIMELINE_NOT_SAID */
	struct time_window window;
	unsigned int limit;
	struct destination output;
};

/* ---- the command line ------------------------------------------------------ */

static bool check_path_arguments(const struct path_settings *set)
{
	if (!set->of.thread == !set->of.command) {
		complain(
			"Give a thread with --thread HOST:TID, --thread HOST:NAME or --command NAME.");
		return false;
	}
	if (set->of.thread && !strchr(set->of.thread, ':')) {
		complain("--thread %s: give HOST:TID or HOST:NAME; use --command for a name alone.",
			 set->of.thread);
		return false;
	}
	if (set->json && set->perfetto) {
		complain("--json, --perfetto: give only one of these options.");
		return false;
	}
	if (!timeline_check_option(set->timeline, set->perfetto))
		return false;
	if (!input_check_events(&set->input))
		return false;
	if (!set->input.num_traces) {
		complain("No traces given: use \"netsync path --thread HOST:TID TRACE...\".");
		return false;
	}
	return input_check_model(&set->input);
}

static const struct option_row options[] = {
	OPTION("thread", 't', "HOST:TID",
	       "show the path of the thread with this host and number or name", parse_text_option,
	       .at = offsetof(struct path_settings, of.thread)),
	OPTION("command", 'c', "NAME", "show the path of the only thread with this name",
	       parse_text_option, .at = offsetof(struct path_settings, of.command)),
	OPTION("account", 0, NULL, "also list the threads whose CPU time is charged to the thread",
	       parse_flag_option, .at = offsetof(struct path_settings, account)),
	OPTION("json", 0, NULL, "write the whole path as JSON", parse_flag_option,
	       .at = offsetof(struct path_settings, json)),
	OPTION("perfetto", 0, NULL, "write a timeline of the threads for ui.perfetto.dev",
	       parse_flag_option, .at = offsetof(struct path_settings, perfetto)),
	{ .table = timeline_options, .at = offsetof(struct path_settings, timeline) },
	OPTION("limit", 0, "NUMBER",
	       "print at most NUMBER rows of each table\n"
	       "(default 40; 0 for all)",
	       parse_number_option, .at = offsetof(struct path_settings, limit), .least = 0,
	       .most = 1000000000),
	{ .table = window_options, .at = offsetof(struct path_settings, window) },
	{ .table = output_options, .at = offsetof(struct path_settings, output) },
	{ .table = input_model_options, .at = offsetof(struct path_settings, input) },
	{ .table = input_options, .at = offsetof(struct path_settings, input) },
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync path --thread HOST:TID | --command NAME [OPTION...] TRACE...\n\n"
		"Show the critical path of a thread: what the thread waited for, what the thread or device\n"
		"that it waited for was itself waiting for, and so on, across hosts. A TRACE is as for\n"
		"\"netsync sync\".\n\n",
	.end = "\nExit status: as for \"netsync sync\".\n",
	.options = options,
};

struct path_job {
	const struct path_settings *set;
	struct timebase base;
	struct spool messages;
	struct critical_path path;
};

/* ---- the sub-command ---------------------------------------------------------- */

static bool write_path(FILE *out, const void *data)
{
	const struct path_job *job = data;
	const struct path_settings *set = job->set;
	const struct path_view view = {
		.path = &job->path,
		.timeline = timeline_find_format(set->timeline, set->output.path),
		.limit = set->limit,
		.account = set->account,
	};

	return set->json     ? path_write_json(out, &job->path) :
	       set->perfetto ? path_write_perfetto(out, &view) :
			       path_print_table(out, &view);
}

static bool find_path(struct path_job *job)
{
	job->path.base = &job->base;
	return path_find(&job->path, &job->messages, &job->set->of);
}

static int find_and_write_path(struct path_job *job)
{
	const struct path_settings *set = job->set;
	int status;

	if (!output_check(&set->output) || !timebase_open(&job->base, &set->input) ||
	    !traffic_spool_messages(&job->messages, job->base.ns))
		return EXIT_BAD;
	status = timebase_find(&job->base, &set->input);
	if (status == EXIT_BAD || !timebase_set_window(&job->base, &set->window, true) ||
	    !find_path(job) || !output_write(&set->output, write_path, job))
		return EXIT_BAD;
	path_explain(&job->path);
	return timebase_explain(&job->base, &set->input, status);
}

static int show_path(const struct path_settings *set)
{
	struct path_job job = { .set = set };
	const int status = find_and_write_path(&job);

	path_release(&job.path);
	spool_close(&job.messages);
	timebase_close(&job.base);
	return status;
}

int cmd_path(int argc, char **argv)
{
	struct path_settings set = {
		.input = INPUT_DEFAULT,
		.timeline = TIMELINE_NOT_SAID,
		.limit = 40,
	};
	int status = input_parse_arguments(&usage, &set, &set.input, argc, argv);

	if (status < 0 && !check_path_arguments(&set))
		status = EXIT_BAD;
	if (status < 0)
		status = show_path(&set);
	input_release(&set.input);
	return status;
}
