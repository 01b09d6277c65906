// SPDX-License-Identifier: GPL-2.0-only
/* Parse the command line, read all inputs with libnetsync-io, and estimate the clocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../libnetsync/util/array.h"
#include "argument.h"
#include "complain.h"
#include "exit-status.h"
#include "input.h"
#include "jobs.h"
#include "now.h"
#include "progress.h"
#include "remote/traces.h"
#include "result-file.h"

/* ---- options ----------------------------------------------------------- */

static const char *const method_names[] = { [NETSYNC_METHOD_AUTO] = "auto",
					    [NETSYNC_METHOD_HULL] = "hull",
					    [NETSYNC_METHOD_REGRESSION] = "regression",
					    [NETSYNC_METHOD_MODEL] = "model",
					    NULL };

static bool add_text_file(struct input *input, const char *path,
			  int (*add)(struct netsync_io *, const char *, int))
{
	struct text_file *last = array_add(&input->texts, input->num_texts, sizeof(*last));

	if (!last)
		return complain_no_memory();
	*last = (struct text_file){ path, add };
	input->num_texts++;
	return true;
}

static bool parse_messages_option(void *at, const struct option_row *row, const char *value)
{
	(void)row;
	return add_text_file(at, value, netsync_io_add_messages);
}

static bool parse_packets_option(void *at, const struct option_row *row, const char *value)
{
	(void)row;
	return add_text_file(at, value, netsync_io_add_packets);
}

static bool parse_clocks_option(void *at, const struct option_row *row, const char *value)
{
	(void)row;
	return add_text_file(at, value, netsync_io_add_clocks);
}

static bool parse_address_option(void *at, const struct option_row *row, const char *value)
{
	struct input *input = at;
	const char **last = array_add(&input->addresses, input->num_addresses, sizeof(*last));

	(void)row;
	if (!last)
		return complain_no_memory();
	*last = value;
	input->num_addresses++;
	return true;
}

static bool parse_resolution_option(void *at, const struct option_row *row, const char *value)
{
	if (!parse_positive_duration_option(at, row, value))
		return false;
	if (*(int64_t *)at <= NETSYNC_MAX_RESOLUTION)
		return true;
	complain("--%s %s: give at most %lld s.", row->name, value,
		 (long long)(NETSYNC_MAX_RESOLUTION / NS_PER_S));
	return false;
}

const struct option_row solve_options[] = {
	OPTION("reference", 'r', "HOST", "use the clock of HOST as the time base",
	       parse_text_option, .at = offsetof(struct netsync_options, reference)),
	OPTION("max-skew", 's', "PPM",
	       "assume that the rates of two clocks differ by at most PPM\n"
	       "(default 500)",
	       parse_ppm_option, .at = offsetof(struct netsync_options, max_skew_ppm),
	       .example = "100"),
	OPTION("max-drift", 'd', "PPM",
	       "assume that the rate of a clock changes by at most PPM\n"
	       "per second (default 0.1)",
	       parse_ppm_option, .at = offsetof(struct netsync_options, max_drift_ppm_s),
	       .example = "0.5"),
	OPTION("resolution", 0, "TIME",
	       "declare that timestamps are truncated to multiples of TIME,\n"
	       "such as 1s in a log (default: detected)",
	       parse_resolution_option, .at = offsetof(struct netsync_options, resolution_ns),
	       .example = "1us, 4ms or 1s"),
	OPTIONS_END
};

/* Parse whose clock is a host: sets a bool if it is that of each GPU. */
static bool parse_clock_option(void *at, const struct option_row *row, const char *value)
{
	*(bool *)at = !strcmp(value, "gpu");
	if (*(bool *)at || !strcmp(value, "host"))
		return true;
	complain("--%s %s: give gpu or host.", row->name, value);
	return false;
}

const struct option_row input_options[] = {
	OPTION("messages", 0, "FILE", "read messages, in lines: sender receiver send_ns recv_ns",
	       parse_messages_option),
	OPTION("packets", 0, "FILE", "read packet events, in named columns", parse_packets_option),
	OPTION("clocks", 0, "FILE",
	       "read how clocks were steered, in lines: host time_ns raw_ns\n"
	       "(all three can be repeated; if FILE is -, read standard input)",
	       parse_clocks_option),
	OPTION("strict", 0, NULL, "stop at the first invalid line of these files",
	       parse_flag_option, .at = offsetof(struct input, strict)),
	OPTION("address", 0, "NAME=ADDR",
	       "declare an address of a captured host whose captures do not\n"
	       "record which packets it sent (can be repeated)",
	       parse_address_option),
	OPTION("split-netns", 0, NULL, "treat every network namespace as a separate host",
	       parse_flag_option, .at = offsetof(struct input, split_netns)),
	OPTION("clock", 0, "WHOSE",
	       "treat the clock of every GPU in profiles as a separate host\n"
	       "(gpu), or all GPUs of a host as one (host, the default)",
	       parse_clock_option, .at = offsetof(struct input, split_gpus)),
	OPTION("jobs", 'j', "N",
	       "read N traces at a time, and estimate with N threads\n"
	       "(default: " JOBS_VARIABLE ", or the number of CPUs)",
	       parse_number_option, .at = offsetof(struct input, jobs), .least = 1,
	       .most = MAX_JOBS),
	OPTION("timeout", 0, "TIME",
	       "stop reading a trace or host if no data arrives for TIME\n"
	       "(default 120s)",
	       parse_seconds_option, .at = offsetof(struct input, timeout_ns),
	       .example = "30s or 600s"),
	{ .table = solve_options, .at = offsetof(struct input, solve) },
	OPTIONS_END
};

const struct option_row input_method_options[] = {
	OPTION("method", 'm', "METHOD",
	       "estimate with auto (default), model (experimental), or, for\n"
	       "comparison, hull (straight lines) or regression (least squares)",
	       parse_name_option, .at = offsetof(struct input, method), .names = method_names),
	OPTIONS_END
};

const struct option_row input_model_options[] = {
	OPTION("model", 'm', "FILE",
	       "use the result in FILE, which \"netsync sync -o FILE\" wrote,\n"
	       "instead of estimating the clocks",
	       parse_text_option, .at = offsetof(struct input, model)),
	OPTION("extrapolate", 0, NULL, "correct traces even if far outside the time range of FILE",
	       parse_flag_option, .at = offsetof(struct input, extrapolate)),
	OPTION("method", 0, "METHOD", "estimate with auto (default), hull, regression or model",
	       parse_name_option, .at = offsetof(struct input, method), .names = method_names),
	OPTIONS_END
};

const struct option_row input_remote_options[] = {
	OPTION("remote-netsync", 0, "PATH", "run the netsync at PATH on other machines",
	       parse_text_option, .at = offsetof(struct input, remote_netsync)),
	OPTIONS_END
};

static unsigned int get_method_option(const struct input *input)
{
	return input->method == METHOD_NOT_GIVEN ? NETSYNC_METHOD_AUTO : input->method;
}

const char *input_get_method(const struct input *input)
{
	return method_names[get_method_option(input)];
}

static bool add_remote_argument(struct input *input, const char *trace)
{
	if (!input->remote)
		input->remote = calloc(1, sizeof(*input->remote));
	return input->remote ? remote_traces_add(input->remote, trace) : complain_no_memory();
}

bool input_set_traces(struct input *input, int argc, char **argv)
{
	input->traces = argv;
	input->num_traces = argc;
	for (int i = 0; i < argc && input->takes_remote; i++)
		if (is_remote_trace(argv[i]) && !add_remote_argument(input, argv[i]))
			return false;
	return argc || input->num_texts || input->remote;
}

int input_parse_arguments(const struct usage *usage, void *settings, struct input *input, int argc,
			  char **argv)
{
	const int first = options_parse_all(usage, settings, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	input_set_traces(input, argc - first, argv + first);
	return -1;
}

bool input_check_events(const struct input *input)
{
	if (!input->split_netns)
		return true;
	complain("--split-netns: events do not record their network namespace; omit this option.");
	return false;
}

bool input_check_model(const struct input *input)
{
	if (!input->model && input->extrapolate) {
		complain("--extrapolate: this option requires --model.");
		return false;
	}
	if (!input->model ||
	    !(input->solve.reference || input->solve.max_skew_ppm || input->solve.max_drift_ppm_s ||
	      input->solve.resolution_ns || input->method != METHOD_NOT_GIVEN))
		return true;
	complain(
		"--model: the clocks are not estimated, so --reference, --method, --max-skew, --max-drift and --resolution cannot be used.");
	return false;
}

bool input_check_span(const struct input *input, struct model *model, const struct model_host *host,
		      const struct netsync_clock *clock, const struct netsync_host_info *info,
		      int64_t shift_ns)
{
	int64_t first, last;
	int ret;

	/* Do not check a span whose times overflow, because such times are not written either. */
	if (info->last_ns < info->first_ns ||
	    __builtin_add_overflow(info->first_ns, shift_ns, &first) ||
	    __builtin_add_overflow(info->last_ns, shift_ns, &last))
		return true;
	ret = model_check_span(model, host, clock, first, last);
	if (ret && !input->extrapolate) {
		complain("%s: %s Use the result of this recording, or add --extrapolate.",
			 info->name, model_error(model));
		return false;
	}
	if (ret)
		complain("warning: %s: %s", info->name, model_error(model));
	return true;
}

void input_release(struct input *input)
{
	if (input->remote)
		remote_traces_free(input->remote);
	free(input->remote);
	input->remote = NULL;
	free(input->texts);
	free(input->addresses);
	input->texts = NULL;
	input->num_texts = 0;
}

/* ---- reading ----------------------------------------------------------- */

static void print_input_warning(void *data, const char *sentence)
{
	const struct input *input = data;

	if (!input->share || !input->share->is_quiet)
		complain("warning: %s", sentence);
}

static int on_progress(void *data, uint64_t done, uint64_t total)
{
	progress_show(data, done, total);
	return 0;
}

/*
 * If the trace is on another machine, print a message and return true. Only some commands can read
 * traces on other machines.
 */
static bool refuse_remote_trace(const char *trace)
{
	if (!is_remote_trace(trace))
		return false;
	complain(
		"%s: only \"netsync sync\", \"export\", \"report\" and \"apply\" can use traces on other machines; copy the trace to this machine.",
		trace);
	return true;
}

/*
 * Add a trace. If its file is stuck, the file is skipped with a message, and other traces are still
 * read.
 */
static int add_trace_argument(const struct input *input, struct netsync_io *io,
			      const char *argument)
{
	const int ret = netsync_io_add(io, argument);

	if (ret == -ETIMEDOUT)
		return 0;
	return input->num_traces > 1 && argument_is_empty(argument, ret) ? 0 : ret;
}

/* Add all input to the reader. Return 0, or a negative value after a message. */
static int add_all_inputs(const struct input *input, struct netsync_io *io, unsigned int jobs)
{
	int ret = 0;

	if (input->local && !input->share->open(input->share, input, jobs, io))
		return -ENOENT;
	for (int i = 0; i < input->num_traces && !input->local && ret >= 0; i++)
		if (!input->takes_remote && refuse_remote_trace(input->traces[i]))
			return -ENOENT;
		else if (!input->takes_remote || !is_remote_trace(input->traces[i]))
			ret = add_trace_argument(input, io, input->traces[i]);
	for (int i = 0; i < input->num_texts && ret >= 0; i++)
		ret = input->texts[i].add(io, input->texts[i].path, input->strict);
	for (int i = 0; i < input->num_addresses && ret >= 0; i++)
		ret = netsync_io_add_address(io, input->addresses[i]);
	if (ret < 0)
		complain("%s", netsync_io_error(io));
	return ret < 0 ? ret : 0;
}

int input_get_status(const struct input *input, const struct netsync_io *io)
{
	bool lost = (input->remote && input->remote->lost) || netsync_io_num_left_out(io);

	for (uint32_t i = 0; !lost && i < netsync_io_num_traces(io); i++) {
		struct netsync_io_trace trace = { .size = sizeof(trace) };

		lost = !netsync_io_get_trace(io, i, &trace) && (trace.killed || trace.stuck);
	}
	return lost ? EXIT_PARTIAL : EXIT_DONE;
}

/* Connect to other machines. ssh may ask for a password, so no progress bar is drawn. */
static void open_remote_traces(const struct input *input, struct netsync_io *io)
{
	if (!input->remote)
		return;
	input->remote->all.netsync = input->remote_netsync;
	input->remote->timeout_ns = input->timeout_ns;
	remote_traces_open(input->remote, io);
}

/* Read all input. If @jobs is 0, run as many jobs as there are processors. */
static bool read_all_inputs(const struct input *input, struct netsync *ns, struct netsync_io *io,
			    unsigned int jobs)
{
	struct input_share *share = input->share;
	struct progress progress;
	int ret;

	netsync_io_set_warn(io, print_input_warning, (void *)input);
	netsync_io_set_split_netns(io, input->split_netns);
	netsync_io_set_split_gpus(io, input->split_gpus);
	netsync_io_set_jobs(io, jobs);
	netsync_io_set_timeout(io, input->timeout_ns);
	open_remote_traces(input, io);
	progress_start(&progress, "opening");
	progress_wait(&progress);
	ret = add_all_inputs(input, io, jobs);
	progress_end(&progress);
	if (ret < 0 || !window_read(&input->window, io) || (share && !share->begin(share, ns, io)))
		return false;
	progress_start(&progress, "reading");
	ret = netsync_io_read(io, on_progress, &progress);
	progress_end(&progress);
	if (ret < 0)
		complain("%s", netsync_io_error(io));
	if (input->remote)
		remote_traces_end(input->remote, io);
	return ret >= 0 && (!share || share->gather(share, ns));
}

bool input_solve(const struct input *input, struct netsync *ns, struct netsync_io *io)
{
	struct netsync_options solve = input->solve;
	struct progress progress;
	unsigned int jobs;
	int ret;

	if (!jobs_find(input->jobs, &jobs))
		return false;
	solve.threads = jobs ? jobs : count_processors();
	netsync_use_threads(ns, solve.threads);
	if (!read_all_inputs(input, ns, io, jobs))
		return false;
	if (input->share && !input->share->is_first)
		return true;
	/*
	 * If a result is given, only messages are needed. The simplest method finds messages as
	 * well as all others.
	 */
	solve.method = input->model ? NETSYNC_METHOD_HULL : get_method_option(input);
	progress_start(&progress, "estimating");
	progress_wait(&progress);
	ret = netsync_solve(ns, &solve);
	progress_end(&progress);
	if (!ret)
		return true;
	complain("%s", netsync_error(ns));
	return false;
}

void input_allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
