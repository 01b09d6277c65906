// SPDX-License-Identifier: GPL-2.0-only
/* netsync report: write a web page that displays clocks and messages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/input.h"
#include "common/output.h"
#include "common/result-file.h"
#include "common/result-info.h"
#include "common/result-output.h"
#include "common/result-write.h"
#include "report.h"

#define DEFAULT_OUTPUT "sync.html"

/*
 * Maximum number of messages in a page. Chosen: a message takes about 30 bytes, and the page must
 * be drawn quickly.
 */
#define MAX_POINTS 150000

struct report_settings {
	struct input input;
	char *path; /* thread whose path the page also shows, or NULL */
	struct destination output;
};

static const struct option_row options[] = {
	OPTION("output", 'o', "FILE", "write to FILE (default " DEFAULT_OUTPUT ")",
	       parse_text_option, .at = offsetof(struct report_settings, output.path)),
	OPTION("force", 0, NULL, "overwrite FILE if it exists", parse_flag_option,
	       .at = offsetof(struct report_settings, output.force)),
	OPTION("path", 0, "THREAD", "add the critical path of THREAD: HOST:TID, HOST:NAME or NAME",
	       parse_text_option, .at = offsetof(struct report_settings, path)),
	{ .table = input_model_options, .at = offsetof(struct report_settings, input) },
	{ .table = window_options, .at = offsetof(struct report_settings, input.window) },
	{ .table = input_options, .at = offsetof(struct report_settings, input) },
	{ .table = input_remote_options, .at = offsetof(struct report_settings, input) },
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync report [OPTION...] [TRACE...]\n\n"
		"Write an HTML file that plots the clocks of traced machines, and the packets that they\n"
		"sent each other, before and after correction. The file opens in any browser, without\n"
		"other files. A TRACE is as for \"netsync sync\".\n\n",
	.end = "\nWith --model and no TRACEs, the page has no messages.\n"
	       "Exit status: as for \"netsync sync\".\n",
	.options = options,
};

/* Parse the arguments. Return -1 to continue, or the exit status if the command is to end. */
static int parse_report_arguments(struct report_settings *set, int argc, char **argv)
{
	const int first = options_parse_all(&usage, set, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (!input_set_traces(&set->input, argc - first, argv + first) && !set->input.model) {
		complain(
			"No traces or result given: use \"netsync report TRACE...\" or \"netsync report -m FILE\".");
		return EXIT_BAD;
	}
	if (window_is_given(&set->input.window) && !set->input.num_traces &&
	    !set->input.num_texts) {
		complain("--begin, --end: these options require traces.");
		return EXIT_BAD;
	}
	if (set->path && (!set->input.num_traces || set->input.remote)) {
		complain(
			"--path: this option requires all traces on this machine: netsync report --path HOST:NAME TRACE...");
		return EXIT_BAD;
	}
	if (set->path && !input_check_events(&set->input))
		return EXIT_BAD;
	return input_check_model(&set->input) ? -1 : EXIT_BAD;
}

/* ---- hosts of messages, and of the result ------------------------------ */

struct report_contents {
	struct netsync *ns;
	struct netsync_io *io;
	struct spool spool;
	struct model model;
	/* Indexed by a host's number in messages. */
	struct traffic_host *hosts;
	struct netsync_clock **clocks; /* clocks that this struct owns */
	uint32_t *numbers;	       /* number of the same host in the model */
	uint32_t num_hosts;
	struct traffic traffic;
	struct details details;
	struct timebase base; /* time base for the path; it does not own its pointers */
	struct critical_path path;
	bool has_path;
	bool in_part; /* whether the result does not correct all hosts */
};

static bool match_model_host(const struct input *input, struct report_contents *s, uint32_t host)
{
	const struct model_host *found;
	struct netsync_host_info info = get_host_info(s->ns, host);
	int ret = model_match(&s->model, s->ns, s->io, host, &found, &s->hosts[host].shift_ns);

	if (!ret) {
		s->numbers[host] = found - s->model.hosts;
		ret = model_read_clock(&s->model, found, &s->clocks[host]);
		s->hosts[host].clock = s->clocks[host];
		if (ret == -ENODATA && input->model) {
			complain("warning: %s", model_error(&s->model));
			s->in_part = true;
		}
		if (ret == -ENODATA)
			return true;
	}
	if (!ret)
		return input_check_span(input, &s->model, found, s->clocks[host], &info,
					s->hosts[host].shift_ns);
	complain("%s", model_error(&s->model));
	return false;
}

static bool match_model_hosts(const struct input *input, struct report_contents *s)
{
	s->num_hosts = netsync_num_hosts(s->ns);
	s->hosts = calloc(s->num_hosts + 1, sizeof(*s->hosts));
	s->clocks = calloc(s->num_hosts + 1, sizeof(*s->clocks));
	s->numbers = calloc(s->num_hosts + 1, sizeof(*s->numbers));
	if (!s->hosts || !s->clocks || !s->numbers)
		return complain_no_memory();
	for (uint32_t i = 0; i < s->num_hosts; i++)
		if (!match_model_host(input, s, i))
			return false;
	return true;
}

/* ---- the whole report ------------------------------------------------- */

static bool make_report_model(const struct report_settings *set, struct report_contents *s)
{
	json_object *root;

	if (set->input.model) {
		if (!model_open(&s->model, set->input.model))
			return true;
	} else {
		root = make_result_object(s->ns, s->io, input_get_method(&set->input));
		if (root && !model_set_root(&s->model, root, "the result"))
			return true;
	}
	complain("%s", model_error(&s->model));
	return false;
}

/* Find the requested path. If there is none, print a message and return false. */
static bool find_requested_path(const struct report_settings *set, struct report_contents *s)
{
	const bool has_host = strchr(set->path, ':');
	const struct path_thread_name of = {
		.thread = has_host ? set->path : NULL,
		.command = has_host ? NULL : set->path,
	};

	s->base = (struct timebase){
		.ns = s->ns,
		.io = s->io,
		.hosts = calloc(s->num_hosts + 1, sizeof(*s->base.hosts)),
		.num_hosts = s->num_hosts,
		.reference = s->model.reference,
		.begin_ns = INT64_MIN,
		.end_ns = INT64_MAX,
	};
	if (!s->base.hosts)
		return complain_no_memory();
	for (uint32_t i = 0; i < s->num_hosts; i++)
		s->base.hosts[i] = (struct timebase_host){
			.name = get_host_info(s->ns, i).name,
			.clock = s->hosts[i].clock,
			.shift_ns = s->hosts[i].shift_ns,
		};
	/* Limit the path to the window. The window was applied to the hosts' own clocks. */
	if (window_is_given(&set->input.window) &&
	    !timebase_find_span(&s->base, &s->base.begin_ns, &s->base.end_ns)) {
		s->base.begin_ns = INT64_MIN;
		s->base.end_ns = INT64_MAX;
	}
	s->path.base = &s->base;
	s->has_path = path_find(&s->path, &s->spool, &of);
	return s->has_path;
}

struct content {
	char *data;
	const struct critical_path *path; /* NULL if there is none */
};

static bool write_report_content(FILE *out, const void *data)
{
	const struct content *content = data;

	return write_report_page(out, content->data, content->path);
}

static bool write_report(const struct report_settings *set, struct report_contents *s,
			 const struct traffic *traffic)
{
	const struct report_content all = {
		s->model.root, traffic, &s->details, s->numbers, s->io, &set->input,
	};
	const struct content content = {
		.data = report_make_data(&all),
		.path = s->has_path ? &s->path : NULL,
	};
	bool ok = content.data;

	if (ok)
		ok = output_write(&set->output, write_report_content, &content);
	else
		complain_no_memory();
	free(content.data);
	return ok;
}

/* Collect the page's data about messages. On failure, print a message and return false. */
static bool collect_report_messages(const struct report_settings *set, struct report_contents *s)
{
	return match_model_hosts(&set->input, s) &&
	       traffic_collect(&s->traffic, &s->spool, s->hosts, MAX_POINTS) &&
	       details_collect(&s->details, &s->spool, &s->traffic, s->hosts) &&
	       details_find_places(&s->details, &set->input, s->io);
}

static int make_and_write_report(const struct report_settings *set, struct report_contents *s)
{
	const bool reads = set->input.num_traces || set->input.num_texts;
	const struct outcome outcome = OUTCOME_DEFAULT;
	int status;

	if (!output_check(&set->output))
		return EXIT_BAD;
	/* Report an unreadable result before traces are read, because reading takes long. */
	if (set->input.model && !make_report_model(set, s))
		return EXIT_BAD;
	if (reads &&
	    (!traffic_spool_packets(&s->spool, s->ns) || !input_solve(&set->input, s->ns, s->io)))
		return EXIT_BAD;
	if (!set->input.model && !make_report_model(set, s))
		return EXIT_BAD;
	if (reads && !collect_report_messages(set, s))
		return EXIT_BAD;
	if ((set->path && !find_requested_path(set, s)) ||
	    !write_report(set, s, reads ? &s->traffic : NULL))
		return EXIT_BAD;
	if (s->has_path)
		path_explain(&s->path);
	puts(set->output.path);
	if (!set->input.model)
		status = outcome_explain(&outcome, s->ns);
	else
		status = s->in_part ? EXIT_PARTIAL : EXIT_DONE;
	return status == EXIT_DONE ? input_get_status(&set->input, s->io) : status;
}

static void release_report(struct report_contents *s)
{
	path_release(&s->path);
	free(s->base.hosts);
	details_release(&s->details);
	traffic_release(&s->traffic);
	for (uint32_t i = 0; i < s->num_hosts && s->clocks; i++)
		netsync_clock_free(s->clocks[i]);
	free(s->hosts);
	free(s->clocks);
	free(s->numbers);
	model_close(&s->model);
	spool_close(&s->spool);
	netsync_io_free(s->io);
	netsync_free(s->ns);
}

int cmd_report(int argc, char **argv)
{
	struct report_settings set = {
		.input = INPUT_DEFAULT,
		.output.path = DEFAULT_OUTPUT,
	};
	struct report_contents shown = { 0 };
	int status;

	set.input.takes_remote = true;
	status = parse_report_arguments(&set, argc, argv);
	if (status < 0) {
		shown.ns = netsync_new();
		shown.io = shown.ns ? netsync_io_new(shown.ns) : NULL;
		if (shown.io) {
			status = make_and_write_report(&set, &shown);
		} else {
			complain_no_memory();
			status = EXIT_BAD;
		}
		release_report(&shown);
	}
	input_release(&set.input);
	return status;
}
