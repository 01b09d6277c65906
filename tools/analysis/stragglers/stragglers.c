// SPDX-License-Identifier: GPL-2.0-only
/* netsync stragglers: find which ranks start collective operations last, and how late. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/commands.h"
#include "arrivals.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/output.h"

struct straggler_settings {
	struct input input;
	bool by_step;
	bool json, csv; /* output format; at most one is set, otherwise a table is printed */
	struct time_window window;
	unsigned int limit;
	struct destination output;
};

/* ---- the command line --------------------------------------------------------- */

static bool check_straggler_arguments(const struct straggler_settings *set)
{
	if (set->json && set->csv) {
		complain("--json, --csv: give only one of these options.");
		return false;
	}
	if (!input_check_events(&set->input))
		return false;
	if (!set->input.num_traces) {
		complain("No traces given: use \"netsync stragglers TRACE...\".");
		return false;
	}
	return input_check_model(&set->input);
}

static const struct option_row options[] = {
	OPTION("steps", 0, NULL, "count each step of the program separately", parse_flag_option,
	       .at = offsetof(struct straggler_settings, by_step)),
	OPTION("csv", 0, NULL, "write comma-separated values", parse_flag_option,
	       .at = offsetof(struct straggler_settings, csv)),
	OPTION("json", 0, NULL, "write JSON", parse_flag_option,
	       .at = offsetof(struct straggler_settings, json)),
	OPTION("limit", 0, "NUMBER",
	       "print at most NUMBER rows of the table\n"
	       "(default 40; 0 for all)",
	       parse_number_option, .at = offsetof(struct straggler_settings, limit), .least = 0,
	       .most = 1000000000),
	{ .table = window_options, .at = offsetof(struct straggler_settings, window) },
	{ .table = output_options, .at = offsetof(struct straggler_settings, output) },
	{ .table = input_model_options, .at = offsetof(struct straggler_settings, input) },
	{ .table = input_options, .at = offsetof(struct straggler_settings, input) },
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync stragglers [OPTION...] TRACE...\n\n"
		"Show which ranks of a job start its collective operations last, how often, and how much\n"
		"later than the other ranks, with the bound on that time. The traces are those of PyTorch's\n"
		"profiler, one for each rank; a TRACE is as for \"netsync sync\".\n\n",
	.end = "\nExit status: as for \"netsync sync\".\n",
	.options = options,
};

struct straggler_job {
	const struct straggler_settings *set;
	struct timebase base;
	struct stragglers stragglers;
};

/* ---- the sub-command ------------------------------------------------------------ */

static bool write_stragglers(FILE *out, const void *data)
{
	const struct straggler_job *job = data;

	return job->set->json ? stragglers_write_json(out, &job->stragglers) :
	       job->set->csv  ? stragglers_write_csv(out, &job->stragglers) :
				stragglers_print_table(out, &job->stragglers, job->set->limit);
}

static bool check_stragglers(const struct stragglers *stragglers)
{
	if (!stragglers->read && stragglers->enclosed)
		complain(
			"These traces report when operations were enqueued or had ended, but not when they started; give a trace of PyTorch's profiler for each rank.");
	else if (!stragglers->read)
		complain(
			"These traces contain no collective operations of several ranks; give a trace of PyTorch's profiler for each rank.");
	else if (stragglers->incomplete == stragglers->read)
		complain(
			"Each operation lacks the spans of some ranks; give the traces of all ranks.");
	if (stragglers->uncorrected)
		complain("%" PRIu64
			 " operations are not counted: the clock of a host is not corrected.",
			 stragglers->uncorrected);
	return stragglers->read > stragglers->incomplete;
}

static int find_and_write_stragglers(struct straggler_job *job)
{
	const struct straggler_settings *set = job->set;
	struct stragglers *stragglers = &job->stragglers;
	int status;

	if (!output_check(&set->output) || !timebase_open(&job->base, &set->input) ||
	    !stragglers_watch(stragglers, job->base.io))
		return EXIT_BAD;
	status = timebase_find(&job->base, &set->input);
	if (status == EXIT_BAD || !timebase_set_window(&job->base, &set->window, false) ||
	    !stragglers_find(stragglers) || !check_stragglers(stragglers) ||
	    !output_write(&set->output, write_stragglers, job))
		return EXIT_BAD;
	return timebase_explain(&job->base, &set->input, status);
}

int cmd_stragglers(int argc, char **argv)
{
	struct straggler_settings set = { .input = INPUT_DEFAULT, .limit = 40 };
	struct straggler_job job = { .set = &set, .stragglers.base = &job.base };
	int status = input_parse_arguments(&usage, &set, &set.input, argc, argv);

	if (status < 0 && !check_straggler_arguments(&set))
		status = EXIT_BAD;
	if (status < 0) {
		job.stragglers.by_step = set.by_step;
		status = find_and_write_stragglers(&job);
		stragglers_release(&job.stragglers);
		timebase_close(&job.base);
	}
	input_release(&set.input);
	return status;
}
