// SPDX-License-Identifier: GPL-2.0-only
/* netsync apply: write copies of traces with corrected times. */
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply.h"
#include "commands.h"
#include "common/argument.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/folders.h"
#include "common/jobs.h"
#include "common/options.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/result-info.h"
#include "common/signal.h"
#include "crew.h"
#include "find.h"
#include "merge.h"
#include "remote.h"
#include "remote/traces.h"

/*
 * Table of formats. Each format has functions that copy a trace, which are in a file of their own.
 */
static const struct format {
	const char *name; /* name of the format in libnetsync-io */
	apply_copy copy;
	apply_copy copy_metadata; /* for --metadata-only; NULL if not supported */
} formats[] = {
	{ "ctf", apply_ctf, apply_metadata },  { "jaeger", apply_spans, NULL },
	{ "kineto", apply_kineto, NULL },      { "otf2", apply_otf2, NULL },
	{ "otlp", apply_spans, NULL },	       { "pcap", apply_pcap, NULL },
	{ "perf.data", apply_perf, NULL },     { "retis", apply_retis, NULL },
	{ "trace.dat", apply_tracedat, NULL }, { "zipkin", apply_spans, NULL },
};

#define NUM_FORMATS (sizeof(formats) / sizeof(formats[0]))

/*
 * Find the directory that contains all sources. The output has the same subdirectories, so that no
 * two copies have the same name.
 */
static void find_common_folder(struct apply_run *apply)
{
	const char *first = apply->sources[0].real_path;
	size_t common = strrchr(first, '/') - first;

	for (int i = 1; i < apply->set->num_traces; i++) {
		const char *path = apply->sources[i].real_path;
		size_t same = 0;

		while (same < common && path[same] == first[same])
			same++;
		/* A path may be truncated only between directory names. */
		while (same && (path[same] != '/' || first[same] != '/'))
			same--;
		common = same;
	}
	apply->common = common;
}

/* Return the permissions of the directory whose copy is the output. */
static mode_t find_common_permissions(const struct apply_run *apply)
{
	char *path = strndup(apply->sources[0].real_path, apply->common);
	struct stat st = { .st_mode = 0 };

	/* If the permissions are unknown, only the user has access. */
	if (path)
		stat(*path ? path : "/", &st);
	free(path);
	return st.st_mode | S_IRWXU;
}

/* Return the path of a trace's copy, to be freed. */
static char *make_copy_path(const struct apply_run *apply, const struct apply_source *source,
			    const char *path)
{
	const char *below = path + strlen(source->path);
	char *place;

	below += strspn(below, "/");
	if (asprintf(&place, "%s%s%s%s", apply->folder.temporary, source->real_path + apply->common,
		     *below ? "/" : "", below) < 0)
		return NULL;
	return place;
}

/* ---- copying ----------------------------------------------------------- */

static apply_copy find_copy_function(const struct apply_settings *set, const char *name)
{
	for (size_t i = 0; i < NUM_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return set->metadata_only ? formats[i].copy_metadata : formats[i].copy;
	return NULL;
}

/* Remove the suffix of a compressed file from the name of its copy, which is not compressed. */
static void cut_compression_suffix(char *place, const char *original)
{
	static const char *const suffixes[] = { ".gz", ".zst", ".xz", ".lz4" };
	char *dot = strrchr(place, '.');
	struct stat st;

	if (stat(original, &st) || !S_ISREG(st.st_mode))
		return;
	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot, suffixes[i]))
			*dot = '\0';
}

/* Can a trace be copied? If the trace is skipped, print a message and return false. */
static bool can_copy_trace(const struct apply_run *apply, apply_copy copy,
			   const struct netsync_io_trace *info)
{
	const bool changed = apply->set->metadata_only;

	if (!copy)
		complain(
			"%s: skipped, because this trace %s.", info->path,
			changed ?
				"has no metadata that can be changed; omit --metadata-only" :
				"has a format that cannot be written; for traces of Perfetto, use netsync export --perfetto-archive");
	else if (info->damaged && changed)
		complain(
			"%s: skipped, because this trace is damaged; omit --metadata-only to copy what is readable.",
			info->path);
	else if (info->damaged && !info->readable)
		complain("%s: skipped, because this trace is damaged.", info->path);
	else
		return true;
	return false;
}

/*
 * Find the path of a copy, and create the directories that lead to it. Only one process may call
 * this function. On failure, print a message and return false.
 */
static bool find_copy_place(const struct apply_run *apply, struct apply_task *task)
{
	const char *path = task->trace.path;
	char *original = realpath(path, NULL);
	bool ok;

	if (!original)
		return complain_about_path(path);
	task->place = make_copy_path(apply, task->source, path);
	ok = task->place ?
		     make_folders_like(task->place, strlen(apply->folder.temporary) + 1, original) :
		     complain_no_memory();
	if (ok)
		cut_compression_suffix(task->place, original);
	free(original);
	return ok;
}

/*
 * Identify the hosts of a file that follow the trace @index. If one of them has no correction,
 * print a message and return false: a file is copied for all hosts, or not at all.
 */
static bool identify_other_hosts(struct apply_run *apply, struct apply_task *task, uint32_t index)
{
	const struct apply_source *source = task->source;
	const uint32_t end = source->first + source->num;
	const struct model_host *host;
	struct netsync_clock *clock;

	task->trace.others = calloc(end - index, sizeof(*task->trace.others));
	if (!task->trace.others)
		return complain_no_memory();
	for (uint32_t i = index + 1; i < end && apply_is_one_file(apply, index, i); i++) {
		const struct netsync_io_trace info = get_io_trace_info(apply->io, i);
		struct apply_trace *other = &task->trace.others[task->trace.num_others];
		struct apply_seen known;

		if (!apply_identify(apply, source, &info, other, &clock, &host))
			return false;
		task->trace.num_others++;
		known = apply_get_known_span(other);
		if (!apply_check_span(apply, host, other, &known))
			return false;
	}
	return true;
}

static void release_task(struct apply_task *task)
{
	for (size_t i = 0; i < task->trace.num_others; i++)
		netsync_clock_free((struct netsync_clock *)task->trace.others[i].clock);
	free(task->trace.others);
	netsync_clock_free(task->clock);
	free(task->place);
	*task = (struct apply_task){ .clock = NULL };
}

/* Are all hosts of a file outside of --begin and --end? */
static bool is_task_outside(const struct apply_run *apply, struct apply_task *task)
{
	bool is_outside = apply_is_outside(apply, &task->trace);

	for (size_t i = 0; i < task->trace.num_others; i++)
		is_outside &= apply_is_outside(apply, &task->trace.others[i]);
	return is_outside;
}

/* Add a task that copies a trace, if possible. Return false if it is useless to continue. */
static bool plan_copy(struct apply_run *apply, const struct apply_source *source, uint32_t index)
{
	const struct netsync_io_trace info = get_io_trace_info(apply->io, index);
	struct apply_task *task = &apply->tasks[apply->num_tasks];
	struct apply_seen known;
	struct folder_tree tree;

	*task = (struct apply_task){ .source = source,
				     .copy = find_copy_function(apply->set, info.format) };
	if (!measure_tree(info.path, &tree))
		return false;
	apply->progress.total += tree.bytes;
	apply->progress.done += tree.bytes;
	if (!can_copy_trace(apply, task->copy, &info)) {
		apply->num_left_out++;
		return true;
	}
	apply->num_in_part += info.damaged > 0;
	if (!apply_identify(apply, source, &info, &task->trace, &task->clock, &task->host) ||
	    !identify_other_hosts(apply, task, index)) {
		release_task(task);
		apply->num_left_out++;
		return true;
	}
	if (is_task_outside(apply, task)) {
		release_task(task);
		apply->num_outside++;
		return true;
	}
	apply->progress.done -= tree.bytes;
	apply->num_tasks++;
	task->trace.bytes = tree.bytes;
	known = apply_get_known_span(&task->trace);
	task->is_known = known.first_ns <= known.last_ns;
	return apply_check_span(apply, task->host, &task->trace, &known) &&
	       find_copy_place(apply, task);
}

/*
 * Print a message if all traces of a source are outside of the window. Do not report single traces,
 * because most chunks of a rotated trace are usually outside.
 */
static void skip_source_outside_window(struct apply_run *apply, const struct apply_source *source,
				       uint32_t outside)
{
	bool has_copy = false;

	for (size_t i = 0; i < apply->num_tasks; i++) {
		const bool is_of = apply->tasks[i].source == source;

		has_copy |= is_of && !apply->states[i].seen.is_outside;
		outside += is_of && apply->states[i].seen.is_outside;
	}
	if (outside && !has_copy)
		apply_skip_source(apply, source);
}

void apply_show_progress(const struct apply_trace *trace, uint64_t done, uint64_t total)
{
	struct apply_progress *progress = trace->progress;
	const double part = done < total ? (double)done / total : 1;

	*trace->done = (uint64_t)(part * trace->bytes);
	progress_show(&progress->line, progress->done + *trace->done, progress->total);
}

/* Make the copy of one task. This is the function work of struct crew_work. */
static int copy_task_trace(void *data, size_t index)
{
	struct apply_run *apply = data;
	struct apply_task *task = &apply->tasks[index];
	struct progress *line = &apply->progress.line;

	/*
	 * The parent process, which displays progress, reads the progress of each child
	 * from shared memory.
	 */
	line->is_terminal = isatty(STDERR_FILENO);
	line->drawn &= line->is_terminal;
	task->trace.seen = &apply->states[index].seen;
	task->trace.done = &apply->states[index].done;
	*task->trace.seen = (struct apply_seen){ 0, -1, false };
	return task->copy(&task->trace, task->place) && !interrupted ? EXIT_DONE : EXIT_BAD;
}

/*
 * Use the result of a copy. If the trace's span was not known before copying, check the span now.
 */
static bool finish_copy(void *data, size_t index, int status)
{
	struct apply_run *apply = data;
	const struct apply_task *task = &apply->tasks[index];
	struct apply_state *state = &apply->states[index];

	apply->progress.done += task->trace.bytes;
	state->done = 0;
	/* A capture can have packets outside of its known span, such as ARP packets. */
	if ((status || !task->is_known) && !interrupted &&
	    !apply_check_span(apply, task->host, &task->trace, &state->seen))
		return false;
	apply->num_copied += !state->seen.is_outside;
	apply->num_outside += state->seen.is_outside;
	return !status;
}

static void show_copy_progress_sum(void *data)
{
	struct apply_run *apply = data;
	uint64_t done = apply->progress.done;

	for (size_t i = 0; i < apply->num_tasks; i++)
		done += apply->states[i].done;
	progress_show(&apply->progress.line, done, apply->progress.total);
}

static const struct crew_work copying = {
	.work = copy_task_trace,
	.done = finish_copy,
	.look = show_copy_progress_sum,
};

/*
 * Plan all copies. Set outside[i] to the number of traces of source i that are outside of --begin
 * and --end.
 */
static bool plan_copies(struct apply_run *apply, uint32_t *outside)
{
	for (int i = 0; i < apply->set->num_traces; i++) {
		const struct apply_source *source = &apply->sources[i];

		outside[i] = apply->num_outside;
		for (uint32_t j = source->first; j < source->first + source->num; j++) {
			if (j > source->first && apply_is_one_file(apply, j - 1, j))
				continue;
			if (!plan_copy(apply, source, j))
				return false;
		}
		outside[i] = apply->num_outside - outside[i];
	}
	return true;
}

static bool copy_all_traces(struct apply_run *apply)
{
	const size_t num = netsync_io_num_traces(apply->io) + 1;
	uint32_t *outside = calloc((size_t)apply->set->num_traces, sizeof(*outside));
	bool ok;

	apply->tasks = calloc(num, sizeof(*apply->tasks));
	apply->states = crew_share(num * sizeof(*apply->states));
	ok = outside && apply->tasks && apply->states ? plan_copies(apply, outside) :
							complain_no_memory();
	ok = ok && crew_run(apply->set->jobs, apply->num_tasks, &copying, apply);
	for (int i = 0; i < apply->set->num_traces && ok; i++)
		skip_source_outside_window(apply, &apply->sources[i], outside[i]);
	for (size_t i = 0; i < apply->num_tasks; i++)
		release_task(&apply->tasks[i]);
	crew_unshare(apply->states, num * sizeof(*apply->states));
	free(apply->tasks);
	free(outside);
	return ok;
}

/* ---- the output directory ---------------------------------------------- */

/* Is the output inside a trace? This is not allowed. */
static bool is_output_in_trace(const struct apply_run *apply)
{
	char *copy = strdup(apply->set->output);
	char *folder = copy ? realpath(dirname(copy), NULL) : NULL;
	bool is_in = false;

	for (uint32_t i = 0; i < netsync_io_num_traces(apply->io) && folder; i++) {
		char *trace = realpath(get_io_trace_info(apply->io, i).path, NULL);
		const size_t len = trace ? strlen(trace) : 0;

		is_in |= len && !strncmp(folder, trace, len) &&
			 (!folder[len] || folder[len] == '/');
		free(trace);
	}
	free(copy);
	free(folder);
	return is_in;
}

static bool make_output_folder(struct apply_run *apply)
{
	if (!is_output_in_trace(apply))
		return output_folder_open(&apply->folder, apply->set->output);
	complain("%s: this directory is inside a trace; give another one.", apply->set->output);
	return false;
}

static bool keep_output_folder(struct apply_run *apply)
{
	bool ok;

	progress_start(&apply->progress.line, "writing to disk");
	progress_wait(&apply->progress.line);
	ok = output_folder_close(&apply->folder, find_common_permissions(apply));
	progress_end(&apply->progress.line);
	return ok;
}

static int run_copying(struct apply_run *apply)
{
	bool ok;

	if (!apply_find_all(apply))
		return EXIT_BAD;
	find_common_folder(apply);
	if (!make_output_folder(apply))
		return EXIT_BAD;
	progress_start(&apply->progress.line, "copying");
	ok = copy_all_traces(apply);
	progress_end(&apply->progress.line);
	if (!ok || !apply->num_copied || !keep_output_folder(apply))
		return EXIT_BAD;
	return apply->num_left_out || apply->num_in_part || netsync_io_num_left_out(apply->io) ?
		       EXIT_PARTIAL :
		       EXIT_DONE;
}

static int apply_to_output(const struct apply_settings *set)
{
	struct apply_run apply;
	int status = EXIT_BAD;

	if (apply_run_open(&apply, set))
		status = run_copying(&apply);
	output_folder_release(&apply.folder);
	apply_run_close(&apply);
	return status;
}

/* ---- the sub-command ---------------------------------------------------- */

/* Store the output directory without trailing slashes. */
static bool parse_output_folder_option(void *at, const struct option_row *row, const char *value)
{
	char *folder = (char *)value;

	(void)row;
	*(char **)at = folder;
	for (size_t len = strlen(folder); len > 1 && folder[len - 1] == '/';)
		folder[--len] = '\0';
	return true;
}

/* ---- copies next to their traces ---------------------------------------- */

/* Name of a copy's directory: the trace's name with this suffix. */
#define CORRECTED_SUFFIX "-corrected"

/*
 * Return the path of the directory for a trace's copy, which is next to the trace. The caller frees
 * it. On failure, print a message and return NULL.
 */
static char *get_folder_of_trace(const char *trace)
{
	const size_t name = argument_get_name_length(trace);
	char *path = strdup(trace + (name ? name + 1 : 0)), *folder = NULL;
	size_t len = path ? strlen(path) : 0;
	const char *last;

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	last = path ? strrchr(path, '/') : NULL;
	last = last ? last + 1 : path;
	/* If the path ends with "." or "..", use the directory's real name. */
	if (path && (!strcmp(last, ".") || !strcmp(last, ".."))) {
		char *real = realpath(path, NULL);

		if (!real)
			complain_about_path(path);
		free(path);
		if (!real)
			return NULL;
		path = real;
	}
	if (!path || asprintf(&folder, "%s" CORRECTED_SUFFIX, path) < 0) {
		complain_no_memory();
		folder = NULL;
	}
	free(path);
	return folder;
}

/* Copies next to their traces. Each copy has a directory of its own. */
struct separate_copies {
	const struct apply_settings *set;
	char **folders; /* output directories; an element is NULL after a failure */
	int whole, part;
};

/* Copy one trace. This is the function work of struct crew_work. */
static int apply_one_original(void *data, size_t index)
{
	const struct separate_copies *copies = data;
	struct apply_settings one = *copies->set;

	one.output = copies->folders[index];
	one.traces = &one.traces[index];
	/*
	 * If there are several traces, each is copied by one job. A single trace may use all jobs.
	 */
	one.jobs = one.num_traces > 1 ? 1 : one.jobs;
	one.num_traces = 1;
	return one.output ? apply_to_output(&one) : EXIT_BAD;
}

static bool count_finished_copy(void *data, size_t index, int status)
{
	struct separate_copies *copies = data;

	if (status != EXIT_BAD)
		puts(copies->folders[index]);
	copies->whole += status == EXIT_DONE;
	copies->part += status == EXIT_PARTIAL;
	return !interrupted;
}

static const struct crew_work copying_next_to_originals = {
	.work = apply_one_original,
	.done = count_finished_copy,
};

/* Write a copy next to each trace. */
static int apply_next_to_originals(const struct apply_settings *set)
{
	struct separate_copies copies = { .set = set };

	copies.folders = calloc((size_t)set->num_traces, sizeof(*copies.folders));
	if (!copies.folders) {
		complain_no_memory();
		return EXIT_BAD;
	}
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_signal(SIGHUP);
	for (int i = 0; i < set->num_traces; i++)
		copies.folders[i] = get_folder_of_trace(set->traces[i]);
	crew_run(set->jobs, (size_t)set->num_traces, &copying_next_to_originals, &copies);
	for (int i = 0; i < set->num_traces; i++)
		free(copies.folders[i]);
	free(copies.folders);
	return interrupted || !(copies.whole || copies.part) ? EXIT_BAD :
	       copies.whole == set->num_traces		     ? EXIT_DONE :
							       EXIT_PARTIAL;
}

static int apply_on_this_host(const struct apply_settings *set)
{
	return set->output ? apply_to_output(set) : apply_next_to_originals(set);
}

static int apply_on_other_hosts(const struct apply_settings *set)
{
	const struct apply_remote how = {
		.netsync = set->netsync,
		.model = set->model,
		.output = set->output,
		.metadata_only = set->metadata_only,
		.extrapolate = set->extrapolate,
		.part = set->part,
		.jobs = set->asked_jobs,
	};

	return apply_remotely(&how, set->traces, set->num_traces);
}

/* Copy traces of this machine, and have other hosts copy theirs. */
static int apply_on_all_machines(const struct apply_settings *set)
{
	struct apply_settings here = *set;
	int status, there;

	here.traces = calloc((size_t)set->num_traces, sizeof(*here.traces));
	if (!here.traces) {
		complain_no_memory();
		return EXIT_BAD;
	}
	here.num_traces = 0;
	for (int i = 0; i < set->num_traces; i++)
		if (!is_remote_trace(set->traces[i]))
			here.traces[here.num_traces++] = set->traces[i];
	status = here.num_traces ? apply_on_this_host(&here) : EXIT_DONE;
	if (here.num_traces < set->num_traces && !interrupted) {
		there = apply_on_other_hosts(set);
		/* If all copies failed or all succeeded, both statuses are equal. */
		status = !here.num_traces || there == status ? there : EXIT_PARTIAL;
	}
	free(here.traces);
	return status;
}

static const struct option_row options[] = {
	OPTION("model", 'm', "FILE", "use the result in FILE, which \"netsync sync -o FILE\" wrote",
	       parse_text_option, .at = offsetof(struct apply_settings, model)),
	OPTION("output", 'o', "DIR",
	       "write the copies to the new directory DIR\n"
	       "(default: TRACE" CORRECTED_SUFFIX " next to each TRACE)",
	       parse_output_folder_option, .at = offsetof(struct apply_settings, output)),
	OPTION("merge", 0, "FILE",
	       "merge the packets of all captures into one pcapng file, in the\n"
	       "order of corrected times, instead of copying (-: standard output)",
	       parse_text_option, .at = offsetof(struct apply_settings, merge.path)),
	OPTION("force", 0, NULL, "with --merge, overwrite FILE if it exists", parse_flag_option,
	       .at = offsetof(struct apply_settings, merge.force)),
	{ .table = window_options, .at = offsetof(struct apply_settings, window) },
	OPTION("metadata-only", 0, NULL,
	       "change only the offset and the frequency of the clock of CTF\n"
	       "traces, and link all other files (fast, but less exact)",
	       parse_flag_option, .at = offsetof(struct apply_settings, metadata_only)),
	OPTION("jobs", 'j', "N",
	       "write N copies at a time\n"
	       "(default: " JOBS_VARIABLE ", or the number of CPUs)",
	       parse_number_option, .at = offsetof(struct apply_settings, jobs), .least = 1,
	       .most = MAX_JOBS),
	OPTION("extrapolate", 0, NULL, "correct traces even if far outside the time range of FILE",
	       parse_flag_option, .at = offsetof(struct apply_settings, extrapolate)),
	OPTION("remote-netsync", 0, "PATH", "run the netsync at PATH on other machines",
	       parse_text_option, .at = offsetof(struct apply_settings, netsync)),
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync apply -m FILE [-o DIR | --merge FILE] TRACE...\n\n"
		"Write copies of traces with the timestamps of the reference clock. A TRACE is a file, a\n"
		"directory with traces, NAME=PATH to set the host (NAME as in FILE), or [USER@]HOST:PATH\n"
		"for a trace on another machine, whose copy is written on that machine. All traces of the\n"
		"hosts in FILE can be corrected, not only those that FILE was computed from.\n\n",
	.end = "\nExit status: 0 if everything was copied, 1 if nothing was copied, 2 if traces were skipped\n"
	       "because FILE does not correct their host, or if damaged traces were copied in part.\n",
	.options = options,
};

/* Are the settings compatible? If not, print a message and return false. */
static bool check_settings(const struct apply_settings *set)
{
	int remote = 0;

	while (remote < set->num_traces && !is_remote_trace(set->traces[remote]))
		remote++;
	if (!set->model || !set->num_traces)
		complain("Give a result and the traces: netsync apply -m FILE TRACE...");
	else if (set->metadata_only && window_is_given(&set->window))
		complain(
			"--metadata-only links the files of a trace unchanged; omit it, or omit --begin and --end.");
	else if (set->merge.path && (set->output || set->metadata_only))
		complain("--merge writes one file instead of copies; omit %s.",
			 set->output ? "--output" : "--metadata-only");
	else if (set->merge.force && !set->merge.path)
		complain(
			"--force applies to --merge only; directories with copies are never overwritten.");
	else if (set->merge.path && remote < set->num_traces)
		complain(
			"%s: --merge reads captures on this machine only; copy this one first: scp %s .",
			set->traces[remote],
			set->traces[remote] + argument_get_name_length(set->traces[remote]) +
				(argument_get_name_length(set->traces[remote]) > 0));
	else
		return true;
	return false;
}

int cmd_apply(int argc, char **argv)
{
	struct apply_settings set = { 0 };
	const int first = options_parse_all(&usage, &set, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	set.traces = argv + first;
	set.num_traces = argc - first;
	if (!check_settings(&set) || !part_set_window(&set.part, &set.window, set.model) ||
	    !jobs_find(set.jobs, &set.jobs))
		return EXIT_BAD;
	set.asked_jobs = set.jobs;
	if (!set.jobs)
		set.jobs = count_processors();
	return set.merge.path ? apply_merge(&set) : apply_on_all_machines(&set);
}
