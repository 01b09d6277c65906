// SPDX-License-Identifier: GPL-2.0-only
/* netsync apply - write copies of traces with corrected times. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply.h"
#include "common/argument.h"
#include "common/options.h"
#include "common/output.h"
#include "common/result-file.h"
#include "common/tool.h"
#include "common/window.h"
#include "remote.h"
#include "remote/traces.h"

/* A format is a file that copies one, and a row of this table. */
static const struct format {
	const char *name;	/* as in libnetsync-io */
	apply_copy copy;
	apply_copy copy_metadata;	/* for --metadata-only; NULL: none */
} formats[] = {
	{ "ctf", apply_ctf, apply_metadata },
	{ "pcap", apply_pcap, NULL },
	{ "perf.data", apply_perf, NULL },
	{ "trace.dat", apply_tracedat, NULL },
};

#define NUM_FORMATS (sizeof(formats) / sizeof(formats[0]))

struct settings {
	struct window window;
	struct apply_part part;	/* what that is */
	bool metadata_only;
	bool extrapolate;
	const char *model;
	char *output;		/* without slashes at the end; NULL: beside each trace */
	const char *netsync;	/* to run on hosts whose traces stay there; NULL: by PATH */
	char **traces;
	int num_traces;
};

/* An argument, and the traces found there. */
struct source {
	const char *name;	/* of the host; NULL: not given */
	size_t name_len;
	const char *path;	/* as given */
	char *real_path;	/* without symbolic links */
	uint32_t first, num;
};

struct apply {
	const struct settings *set;
	struct model model;
	struct netsync_io *io;
	struct source *sources;
	size_t common;		/* length of the folder that contains all real paths */
	struct output_folder folder;
	struct apply_progress progress;
	uint32_t num_copied;
	uint32_t num_outside;	/* of --begin and --end */
	uint32_t num_left_out;
	uint32_t num_in_part;	/* copied traces that are damaged */
};

bool apply_time(const struct apply_trace *trace, int64_t time_ns,
		int64_t *corrected_ns)
{
	return !__builtin_add_overflow(time_ns, trace->shift_ns, &time_ns) &&
	       !netsync_convert(trace->clock, time_ns, corrected_ns, NULL);
}

bool apply_holds(const struct apply_trace *trace, int64_t time_ns)
{
	struct apply_seen *seen = trace->seen;

	/* An overflow is reported by apply_time(). */
	if (__builtin_add_overflow(time_ns, trace->shift_ns, &time_ns))
		return true;
	if (seen->last_ns < seen->first_ns)
		seen->first_ns = seen->last_ns = time_ns;
	if (time_ns < seen->first_ns)
		seen->first_ns = time_ns;
	if (time_ns > seen->last_ns)
		seen->last_ns = time_ns;
	return trace->extrapolate ||
	       (time_ns >= trace->from_ns && time_ns <= trace->to_ns);
}

/* ---- finding traces ---------------------------------------------------- */

static void warn(void *data, const char *sentence)
{
	(void)data;
	complain("warning: %s", sentence);
}

static void take_apart(struct source *source, const char *argument)
{
	const size_t len = argument_name_length(argument);

	source->path = argument;
	if (!len)
		return;
	source->name = argument;
	source->name_len = len;
	source->path = argument + len + 1;
}

/* Copies are named by the paths of the originals. */
static bool has_path(const struct source *source)
{
	struct stat st;

	if (strcmp(source->path, "-") && (stat(source->path, &st) ||
	    S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return true;
	complain("%s: a copy is named by the path of its original, which a pipe has not; write what comes from it to a file first.",
		 source->path);
	return false;
}

static bool find_traces(struct apply *apply, struct source *source,
			const char *argument)
{
	int ret;

	take_apart(source, argument);
	if (!has_path(source))
		return false;
	source->first = netsync_io_num_traces(apply->io);
	ret = netsync_io_add(apply->io, argument);
	if (ret < 0 && (apply->set->num_traces == 1 || !argument_is_empty(argument, ret))) {
		complain("%s", netsync_io_error(apply->io));
		return false;
	}
	source->num = netsync_io_num_traces(apply->io) - source->first;
	source->real_path = realpath(source->path, NULL);
	if (source->real_path)
		return true;
	complain("%s: %s.", source->path, strerror(errno));
	return false;
}

/*
 * The folder that contains all sources. The output has the same folders below it, so that
 * no two copies have one name.
 */
static void find_common(struct apply *apply)
{
	const char *first = apply->sources[0].real_path;
	size_t common = strrchr(first, '/') - first;

	for (int i = 1; i < apply->set->num_traces; i++) {
		const char *path = apply->sources[i].real_path;
		size_t same = 0;

		while (same < common && path[same] == first[same])
			same++;
		/* A path may be cut only between names of folders. */
		while (same && (path[same] != '/' || first[same] != '/'))
			same--;
		common = same;
	}
	apply->common = common;
}

/* Permissions of the folder whose copy the output is. */
static mode_t common_permissions(const struct apply *apply)
{
	char *path = strndup(apply->sources[0].real_path, apply->common);
	struct stat st = { .st_mode = 0 };

	/* If they are unknown, the user alone has any. */
	if (path)
		stat(*path ? path : "/", &st);
	free(path);
	return st.st_mode | S_IRWXU;
}

/* The path of a trace's copy, to be given back with free(). */
static char *place_of(const struct apply *apply, const struct source *source,
		      const char *path)
{
	const char *below = path + strlen(source->path);
	char *place;

	below += strspn(below, "/");
	if (asprintf(&place, "%s%s%s%s", apply->folder.temporary,
		     source->real_path + apply->common, *below ? "/" : "",
		     below) < 0)
		return NULL;
	return place;
}

/* ---- hosts of traces ---------------------------------------------------- */

static int find_host(struct apply *apply, const struct source *source,
		     const char *path,
		     const struct model_clock *clock,
		     const struct model_host **host)
{
	char *name;
	int ret;

	if (!source->name && model_find_file(&apply->model, clock, path, host))
		return 0;
	if (!source->name)
		return model_find_clock(&apply->model, clock, host);
	name = strndup(source->name, source->name_len);
	if (!name)
		return -ENOMEM;
	ret = model_find_name(&apply->model, name, host);
	free(name);
	/* Of a machine's hosts, each has one clock: take the one with this clock. */
	if (!ret && !model_same_kind(&(*host)->clock, clock))
		return model_find_clock(&apply->model, clock, host);
	if (!ret)
		ret = model_check_clock(&apply->model, clock, host);
	return ret ? ret : model_check_file(&apply->model, *host, path);
}

static bool same_session(const struct netsync_io_trace *a,
			 const struct netsync_io_trace *b)
{
	return a->epoch_ns == b->epoch_ns && a->has_clock_uuid &&
	       b->has_clock_uuid && !strcmp(a->format, b->format) &&
	       !memcmp(a->clock_uuid, b->clock_uuid, sizeof(a->clock_uuid));
}

/*
 * babeltrace2 reads the chunks of a rotated trace as one trace, and takes the clock from
 * one of them: all chunks need one correction, over the span of all.
 */
static void widen(const struct apply *apply, const struct netsync_io_trace *info,
		  struct apply_trace *trace)
{
	for (uint32_t i = 0; i < netsync_io_num_traces(apply->io); i++) {
		const struct netsync_io_trace other = trace_info(apply->io, i);

		if (other.last_ns < other.first_ns || !same_session(info, &other))
			continue;
		if (other.first_ns < trace->first_ns)
			trace->first_ns = other.first_ns;
		if (other.last_ns > trace->last_ns)
			trace->last_ns = other.last_ns;
	}
}

/*
 * Find the correction of a trace. False: there is none, and that was said. The clock is
 * to be given back with netsync_clock_free().
 */
static bool identify(struct apply *apply, const struct source *source,
		     const struct netsync_io_trace *info,
		     struct apply_trace *trace, struct netsync_clock **clock,
		     const struct model_host **found)
{
	const struct model_host *host;
	struct model_clock told = {
		.host_name = info->host_name,
		.name = info->clock_name,
		.has_uuid = info->has_clock_uuid,
		.epoch_ns = info->epoch_ns,
	};
	int ret;

	*clock = NULL;
	memcpy(told.uuid, info->clock_uuid, sizeof(told.uuid));
	ret = find_host(apply, source, info->path, &told, &host);
	if (!ret)
		ret = model_read_clock(&apply->model, host, clock);
	if (!ret)
		ret = model_shift(&apply->model, host, &told, &trace->shift_ns);
	if (ret) {
		complain("%s: it is left out. %s", info->path,
			 model_error(&apply->model));
		return false;
	}
	trace->part = apply->set->part;
	trace->io = apply->io;
	trace->progress = &apply->progress;
	trace->path = info->path;
	trace->readable = info->readable ? info->readable : info->path;
	trace->result = apply->set->model;
	trace->host = host->name;
	trace->clock = *clock;
	trace->extrapolate = apply->set->extrapolate ||
			     model_holds(&apply->model, host, INT64_MIN, INT64_MAX);
	trace->from_ns = host->span.from_ns;
	trace->to_ns = host->span.to_ns;
	*found = host;
	model_machine_uuid(&apply->model, host, trace->machine);
	trace->first_ns = info->first_ns;
	trace->last_ns = info->last_ns;
	if (apply->set->metadata_only && trace->first_ns <= trace->last_ns)
		widen(apply, info, trace);
	return true;
}

/* ---- copying ----------------------------------------------------------- */

static apply_copy find_format(const struct settings *set, const char *name)
{
	for (size_t i = 0; i < NUM_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return set->metadata_only ? formats[i].copy_metadata :
						    formats[i].copy;
	return NULL;
}

/* The copy of a compressed file is not compressed, and its name must not say so. */
static void cut_suffix(char *place, const char *original)
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

static bool copy_to(const struct apply *apply, apply_copy copy,
		    const struct apply_trace *trace, char *place)
{
	char *original = realpath(trace->path, NULL);
	bool ok = original && make_folders_like(place, strlen(apply->folder.temporary) + 1,
						original);

	if (!original)
		complain("%s: %s.", trace->path, strerror(errno));
	if (ok) {
		cut_suffix(place, original);
		ok = copy(trace, place) && !interrupted;
	}
	free(original);
	return ok;
}

/* False: the trace is left out, and that was said. */
static bool can_copy(const struct apply *apply, apply_copy copy,
		     const struct netsync_io_trace *info)
{
	const bool changed = apply->set->metadata_only;

	if (!copy)
		complain("%s: it is left out, as it %s.", info->path, changed ?
			 "has no metadata that could be changed; do without --metadata-only" :
			 "is of a format that cannot be written");
	else if (info->damaged && changed)
		complain("%s: it is left out, as it is damaged; do without --metadata-only.",
			 info->path);
	else if (info->damaged && !info->readable)
		complain("%s: it is left out, as it is damaged.", info->path);
	else
		return true;
	return false;
}

/*
 * Check that the result holds for times of a trace, known before copying or found by it.
 */
static bool check_span(struct apply *apply, const struct model_host *host,
		       const struct apply_trace *trace,
		       const struct apply_seen *seen)
{
	int ret;

	if (seen->last_ns < seen->first_ns)
		return true;
	ret = model_check_span(&apply->model, host, trace->clock,
			       seen->first_ns, seen->last_ns);
	if (ret && !apply->set->extrapolate) {
		complain("%s: %s Take the result of this recording; --extrapolate goes on all the same.",
			 trace->path, model_error(&apply->model));
		return false;
	}
	if (ret)
		complain("warning: %s: %s", trace->path,
			 model_error(&apply->model));
	return true;
}

/* Copy; the span is checked before, if it is known, or else after copying. */
static bool copy_within(struct apply *apply, apply_copy copy,
			const struct model_host *host,
			struct apply_trace *trace, char *place)
{
	struct apply_seen known = { 0, -1, false }, seen = known;
	bool ok;

	if (trace->first_ns <= trace->last_ns &&
	    (__builtin_add_overflow(trace->first_ns, trace->shift_ns,
				    &known.first_ns) ||
	     __builtin_add_overflow(trace->last_ns, trace->shift_ns,
				    &known.last_ns)))
		known = seen;
	if (!check_span(apply, host, trace, &known))
		return false;
	trace->seen = &seen;
	ok = copy_to(apply, copy, trace, place);
	if (known.last_ns < known.first_ns && !interrupted &&
	    !check_span(apply, host, trace, &seen))
		return false;
	apply->num_copied -= seen.is_outside;
	apply->num_outside += seen.is_outside;
	return ok;
}

/* Is nothing of a trace within --begin and --end? */
static bool is_outside(const struct apply *apply, struct apply_trace *trace)
{
	return window_is_given(&apply->set->window) &&
	       trace->first_ns <= trace->last_ns && !part_narrow(trace);
}

/* False: going on is of no use. */
static bool copy_trace(struct apply *apply, const struct source *source,
		       uint32_t index)
{
	const struct netsync_io_trace info = trace_info(apply->io, index);
	const apply_copy copy = find_format(apply->set, info.format);
	struct netsync_clock *clock = NULL;
	const struct model_host *host;
	struct apply_trace trace;
	bool ok = true;
	char *place;

	if (!can_copy(apply, copy, &info)) {
		apply->num_left_out++;
		return true;
	}
	apply->num_in_part += info.damaged > 0;
	if (!identify(apply, source, &info, &trace, &clock, &host)) {
		apply->num_left_out++;
	} else if (is_outside(apply, &trace)) {
		apply->num_outside++;
	} else {
		apply->num_copied++;
		place = place_of(apply, source, info.path);
		ok = place ? copy_within(apply, copy, host, &trace, place) :
			     no_memory();
		free(place);
	}
	netsync_clock_free(clock);
	return ok;
}

void apply_show(const struct apply_trace *trace, uint64_t done, uint64_t total)
{
	struct apply_progress *progress = trace->progress;
	const double part = done < total ? (double)done / total : 1;

	progress_show(&progress->line,
		      progress->done + (uint64_t)(part * progress->bytes),
		      progress->total);
}

/* Traces that are left out count as done at once. */
static bool begin_trace(struct apply *apply, uint32_t index)
{
	struct apply_progress *progress = &apply->progress;
	struct tree tree;

	if (!measure_tree(trace_info(apply->io, index).path, &tree))
		return false;
	progress->done += progress->bytes;
	progress->bytes = tree.bytes;
	progress_show(&progress->line, progress->done, progress->total);
	return true;
}

static bool measure_all(struct apply *apply)
{
	struct tree tree;

	for (uint32_t i = 0; i < netsync_io_num_traces(apply->io); i++) {
		if (!measure_tree(trace_info(apply->io, i).path, &tree))
			return false;
		apply->progress.total += tree.bytes;
	}
	return true;
}

static bool copy_source(struct apply *apply, const struct source *source)
{
	const uint32_t copied = apply->num_copied, outside = apply->num_outside;

	for (uint32_t j = 0; j < source->num; j++)
		if (!begin_trace(apply, source->first + j) ||
		    !copy_trace(apply, source, source->first + j))
			return false;
	/* Of the chunks of a rotated trace, most are outside as a rule. */
	if (apply->num_outside > outside && apply->num_copied == copied) {
		complain("%s: it is left out, as nothing of it is within --begin and --end, by corrected times.",
			 source->path);
		apply->num_left_out++;
	}
	return true;
}

static bool copy_all(struct apply *apply)
{
	for (int i = 0; i < apply->set->num_traces; i++)
		if (!copy_source(apply, &apply->sources[i]))
			return false;
	return true;
}

/* ---- the output folder ------------------------------------------------- */

/* The output must not be inside of a trace. */
static bool is_in_trace(const struct apply *apply)
{
	char *copy = strdup(apply->set->output);
	char *folder = copy ? realpath(dirname(copy), NULL) : NULL;
	bool is_in = false;

	for (uint32_t i = 0; i < netsync_io_num_traces(apply->io) && folder;
	     i++) {
		char *trace = realpath(trace_info(apply->io, i).path, NULL);
		const size_t len = trace ? strlen(trace) : 0;

		is_in |= len && !strncmp(folder, trace, len) &&
			 (!folder[len] || folder[len] == '/');
		free(trace);
	}
	free(copy);
	free(folder);
	return is_in;
}

static bool make_folder(struct apply *apply)
{
	if (!is_in_trace(apply))
		return output_folder_open(&apply->folder, apply->set->output);
	complain("%s: it would lie in a trace; give another folder.",
		 apply->set->output);
	return false;
}

static bool find_all(struct apply *apply)
{
	bool ok = true;

	progress_start(&apply->progress.line, "opening");
	progress_wait(&apply->progress.line);
	for (int i = 0; i < apply->set->num_traces && ok; i++)
		ok = !interrupted && find_traces(apply, &apply->sources[i],
						 apply->set->traces[i]);
	progress_end(&apply->progress.line);
	return ok;
}

static bool keep(struct apply *apply)
{
	bool ok;

	progress_start(&apply->progress.line, "writing to disk");
	progress_wait(&apply->progress.line);
	ok = output_folder_close(&apply->folder, common_permissions(apply));
	progress_end(&apply->progress.line);
	return ok;
}

static int run(struct apply *apply)
{
	bool ok;

	if (!find_all(apply))
		return EXIT_BAD;
	find_common(apply);
	if (!make_folder(apply) || !measure_all(apply))
		return EXIT_BAD;
	progress_start(&apply->progress.line, "copying");
	ok = copy_all(apply);
	progress_end(&apply->progress.line);
	if (!ok || !apply->num_copied || !keep(apply))
		return EXIT_BAD;
	return apply->num_left_out || apply->num_in_part ||
	       netsync_io_num_left_out(apply->io) ? EXIT_PARTIAL : EXIT_DONE;
}

static int apply_all(const struct settings *set)
{
	struct netsync *ns = netsync_new();
	struct apply apply = { .set = set };
	int status = EXIT_BAD;

	apply.io = ns ? netsync_io_new(ns) : NULL;
	apply.sources = calloc(set->num_traces, sizeof(*apply.sources));
	if (model_open(&apply.model, set->model)) {
		complain("%s", model_error(&apply.model));
	} else if (apply.io && apply.sources) {
		/* Signals only set a flag, so that the output is removed. */
		catch_signal(SIGINT);
		catch_signal(SIGTERM);
		catch_signal(SIGHUP);
		netsync_io_set_warn(apply.io, warn, NULL);
		status = run(&apply);
	} else {
		no_memory();
	}
	for (int i = 0; i < set->num_traces && apply.sources; i++)
		free(apply.sources[i].real_path);
	free(apply.sources);
	output_folder_release(&apply.folder);
	model_close(&apply.model);
	netsync_io_free(apply.io);
	netsync_free(ns);
	return status;
}

/* ---- the sub-command ---------------------------------------------------- */

/* Remove slashes at the end. */
static bool take_folder(void *at, const struct option_row *row,
			const char *value)
{
	char *folder = (char *)value;

	(void)row;
	*(char **)at = folder;
	for (size_t len = strlen(folder); len > 1 && folder[len - 1] == '/';)
		folder[--len] = '\0';
	return true;
}

/* ---- all of them ------------------------------------------------------- */

/* What is added to the name of a trace, for the folder with its copy. */
#define BESIDE "-corrected"

/* The folder beside a trace; to be released. NULL: that was said. */
static char *beside(const char *trace)
{
	const size_t name = argument_name_length(trace);
	char *path = strdup(trace + (name ? name + 1 : 0)), *folder = NULL;
	size_t len = path ? strlen(path) : 0;
	const char *last;

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	last = path ? strrchr(path, '/') : NULL;
	last = last ? last + 1 : path;
	/* Those have a name of their own, too. */
	if (path && (!strcmp(last, ".") || !strcmp(last, ".."))) {
		char *real = realpath(path, NULL);

		if (!real)
			complain("%s: %s.", path, strerror(errno));
		free(path);
		if (!real)
			return NULL;
		path = real;
	}
	if (!path || asprintf(&folder, "%s" BESIDE, path) < 0) {
		no_memory();
		folder = NULL;
	}
	free(path);
	return folder;
}

/* One copy beside each trace. */
static int apply_beside(const struct settings *set)
{
	int whole = 0, part = 0;

	for (int i = 0; i < set->num_traces && !interrupted; i++) {
		struct settings one = *set;
		int status = EXIT_BAD;

		one.output = beside(set->traces[i]);
		one.traces = &set->traces[i];
		one.num_traces = 1;
		if (one.output)
			status = apply_all(&one);
		if (status != EXIT_BAD)
			puts(one.output);
		free(one.output);
		whole += status == EXIT_DONE;
		part += status == EXIT_PARTIAL;
	}
	return interrupted || !(whole || part) ? EXIT_BAD :
	       whole == set->num_traces ? EXIT_DONE : EXIT_PARTIAL;
}

static int apply_here(const struct settings *set)
{
	return set->output ? apply_all(set) : apply_beside(set);
}

static int apply_there(const struct settings *set)
{
	const struct apply_remote how = {
		.netsync = set->netsync,
		.model = set->model,
		.output = set->output,
		.metadata_only = set->metadata_only,
		.extrapolate = set->extrapolate,
		.part = set->part,
	};

	return apply_remotely(&how, set->traces, set->num_traces);
}

/* Traces of this machine, and those of others, which these copy themselves. */
static int apply_everywhere(const struct settings *set)
{
	struct settings here = *set;
	int status, there;

	here.traces = calloc((size_t)set->num_traces, sizeof(*here.traces));
	if (!here.traces) {
		no_memory();
		return EXIT_BAD;
	}
	here.num_traces = 0;
	for (int i = 0; i < set->num_traces; i++)
		if (!is_remote_trace(set->traces[i]))
			here.traces[here.num_traces++] = set->traces[i];
	status = here.num_traces ? apply_here(&here) : EXIT_DONE;
	if (here.num_traces < set->num_traces && !interrupted) {
		there = apply_there(set);
		/* Where all failed, or none, it is the same for both. */
		status = !here.num_traces || there == status ? there : EXIT_PARTIAL;
	}
	free(here.traces);
	return status;
}

static const struct option_row options[] = {
	OPTION("model", 'm', "FILE", "what \"netsync sync --format json\" wrote",
	       take_text, .at = offsetof(struct settings, model)),
	OPTION("output", 'o', "FOLDER",
	       "where to put the copies, as the traces lie; it must not exist\n"
	       "(a folder called TRACE" BESIDE " beside each)",
	       take_folder, .at = offsetof(struct settings, output)),
	{ .table = window_options, .at = offsetof(struct settings, window) },
	OPTION("metadata-only", 0, NULL,
	       "of CTF traces change the offset and the frequency of the clock,\n"
	       "and link the rest: at once, and as exact as that can be",
	       take_flag, .at = offsetof(struct settings, metadata_only)),
	OPTION("extrapolate", 0, NULL,
	       "go on where traces are far outside of what FILE was made of",
	       take_flag, .at = offsetof(struct settings, extrapolate)),
	OPTION("remote-netsync", 0, "PATH",
	       "the netsync to run on hosts whose traces stay there",
	       take_text, .at = offsetof(struct settings, netsync)),
	OPTIONS_END
};

static const struct usage usage = {
	.begin = "Usage: netsync apply -m FILE [-o FOLDER] TRACE...\n\n"
	"Write copies of traces with the times of the reference clock. A TRACE is a file,\n"
	"or a folder that is searched for traces, or NAME=PATH where NAME is the host's in\n"
	"FILE, or [USER@]HOST:PATH, which is copied on that host, by ssh. They need not be\n"
	"those that FILE was made of: any of its hosts' will do.\n\n",
	.end = "\nExit status: 0 all was copied, 1 nothing was, 2 traces of hosts that are not\n"
	"corrected in FILE were left out, or damaged ones were copied in part.\n",
	.options = options,
};

int cmd_apply(int argc, char **argv)
{
	struct settings set = { 0 };
	const int first = options_take(&usage, &set, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	set.traces = argv + first;
	set.num_traces = argc - first;
	if (!set.model || !set.num_traces)
		complain("Give a result file and the traces: netsync apply -m FILE TRACE...");
	else if (set.metadata_only && window_is_given(&set.window))
		complain("--metadata-only links the files of a trace as they are; do without it, or without --begin and --end.");
	else if (part_find(&set.part, &set.window, set.model))
		return apply_everywhere(&set);
	return EXIT_BAD;
}
