// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the traces that the arguments name, the hosts of these traces, and the hosts' corrections.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apply.h"
#include "common/argument.h"
#include "common/complain.h"
#include "common/progress.h"
#include "common/result-info.h"
#include "common/signal.h"
#include "find.h"

bool apply_correct_time(const struct apply_trace *trace, int64_t time_ns, int64_t *corrected_ns)
{
	return !__builtin_add_overflow(time_ns, trace->shift_ns, &time_ns) &&
	       !netsync_convert(trace->clock, time_ns, corrected_ns, NULL);
}

bool apply_check_time(const struct apply_trace *trace, int64_t time_ns)
{
	struct apply_seen *seen = trace->seen;

	/* apply_correct_time() reports an overflow. */
	if (__builtin_add_overflow(time_ns, trace->shift_ns, &time_ns))
		return true;
	if (seen->last_ns < seen->first_ns)
		seen->first_ns = seen->last_ns = time_ns;
	if (time_ns < seen->first_ns)
		seen->first_ns = time_ns;
	if (time_ns > seen->last_ns)
		seen->last_ns = time_ns;
	return trace->extrapolate || (time_ns >= trace->from_ns && time_ns <= trace->to_ns);
}

/* ---- finding traces ---------------------------------------------------- */

static void print_apply_warning(void *data, const char *sentence)
{
	(void)data;
	complain("warning: %s", sentence);
}

static void split_source_argument(struct apply_source *source, const char *argument)
{
	const size_t len = argument_get_name_length(argument);

	source->path = argument;
	if (!len)
		return;
	source->name = argument;
	source->name_len = len;
	source->path = argument + len + 1;
}

/* Return whether the source has a path. Copies are named after the originals' paths. */
static bool has_source_path(const struct apply_run *apply, const struct apply_source *source)
{
	struct stat st;

	if (apply->set->merge.path)
		return true;
	if (strcmp(source->path, "-") &&
	    (stat(source->path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return true;
	complain(
		"%s: a copy is named after the path of its original, and a pipe has none; write the data to a file first.",
		source->path);
	return false;
}

static bool find_source_traces(struct apply_run *apply, struct apply_source *source,
			       const char *argument)
{
	int ret;

	split_source_argument(source, argument);
	if (!has_source_path(apply, source))
		return false;
	source->first = netsync_io_num_traces(apply->io);
	ret = netsync_io_add(apply->io, argument);
	if (ret < 0 && (apply->set->num_traces == 1 || !argument_is_empty(argument, ret))) {
		complain("%s", netsync_io_error(apply->io));
		return false;
	}
	source->num = netsync_io_num_traces(apply->io) - source->first;
	if (apply->set->merge.path)
		return true;
	source->real_path = realpath(source->path, NULL);
	if (source->real_path)
		return true;
	return complain_about_path(source->path);
}

bool apply_find_all(struct apply_run *apply)
{
	bool ok = true;

	progress_start(&apply->progress.line, "opening");
	progress_wait(&apply->progress.line);
	for (int i = 0; i < apply->set->num_traces && ok; i++)
		ok = !interrupted &&
		     find_source_traces(apply, &apply->sources[i], apply->set->traces[i]);
	progress_end(&apply->progress.line);
	return ok;
}

/* ---- hosts of traces ---------------------------------------------------- */

static int find_source_host(struct apply_run *apply, const struct apply_source *source,
			    const char *path, const struct model_clock *clock,
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
	/*
	 * If a machine has several clocks, each clock is a host. Use the host that has this clock.
	 */
	if (!ret && !model_is_same_kind(&(*host)->clock, clock))
		return model_find_clock(&apply->model, clock, host);
	if (!ret)
		ret = model_check_clock(&apply->model, clock, host);
	return ret ? ret : model_check_file(&apply->model, *host, path);
}

bool apply_is_one_file(const struct apply_run *apply, uint32_t a, uint32_t b)
{
	return !strcmp(get_io_trace_info(apply->io, a).path, get_io_trace_info(apply->io, b).path);
}

static bool are_in_one_session(const struct netsync_io_trace *a, const struct netsync_io_trace *b)
{
	return a->epoch_ns == b->epoch_ns && a->has_clock_uuid && b->has_clock_uuid &&
	       !strcmp(a->format, b->format) &&
	       !memcmp(a->clock_uuid, b->clock_uuid, sizeof(a->clock_uuid));
}

/*
 * Extend the span of a trace to all chunks of its session. babeltrace2 reads the chunks of a
 * rotated trace as one trace and takes the clock from one of the chunks. All chunks therefore need
 * one correction, which is computed over the span of all chunks.
 */
static void extend_span_over_chunks(const struct apply_run *apply,
				    const struct netsync_io_trace *info, struct apply_trace *trace)
{
	for (uint32_t i = 0; i < netsync_io_num_traces(apply->io); i++) {
		const struct netsync_io_trace other = get_io_trace_info(apply->io, i);

		if (other.last_ns < other.first_ns || !are_in_one_session(info, &other))
			continue;
		if (other.first_ns < trace->first_ns)
			trace->first_ns = other.first_ns;
		if (other.last_ns > trace->last_ns)
			trace->last_ns = other.last_ns;
	}
}

bool apply_identify(struct apply_run *apply, const struct apply_source *source,
		    const struct netsync_io_trace *info, struct apply_trace *trace,
		    struct netsync_clock **clock, const struct model_host **found)
{
	const struct model_host *host;
	struct model_clock described = {
		.host_name = info->host_name,
		.name = info->clock_name,
		.has_uuid = info->has_clock_uuid,
		.epoch_ns = info->epoch_ns,
	};
	int64_t median_ns;
	int ret;

	*clock = NULL;
	memcpy(described.uuid, info->clock_uuid, sizeof(described.uuid));
	ret = find_source_host(apply, source, info->path, &described, &host);
	if (!ret)
		ret = model_read_clock(&apply->model, host, clock);
	if (!ret)
		ret = model_find_shift(&apply->model, host, &described, &trace->shift_ns);
	if (ret) {
		complain("%s: skipped. %s", info->path, model_error(&apply->model));
		return false;
	}
	trace->part = apply->set->part;
	trace->io = apply->io;
	trace->progress = &apply->progress;
	trace->path = info->path;
	trace->readable = info->readable ? info->readable : info->path;
	trace->result = apply->set->model;
	trace->host = host->name;
	trace->file_host = info->host_name;
	trace->clock = *clock;
	trace->extrapolate = apply->set->extrapolate ||
			     model_contains_span(&apply->model, host, INT64_MIN, INT64_MAX);
	trace->from_ns = host->span.from_ns;
	trace->to_ns = host->span.to_ns;
	*found = host;
	model_make_machine_uuid(&apply->model, host, trace->machine);
	model_get_bounds(host, &median_ns, &trace->bound_ns);
	trace->first_ns = info->first_ns;
	trace->last_ns = info->last_ns;
	if (apply->set->metadata_only && trace->first_ns <= trace->last_ns)
		extend_span_over_chunks(apply, info, trace);
	return true;
}

/* ---- times ------------------------------------------------------------- */

struct apply_seen apply_get_known_span(const struct apply_trace *trace)
{
	const struct apply_seen none = { 0, -1, false };
	struct apply_seen known = none;

	if (trace->first_ns > trace->last_ns ||
	    __builtin_add_overflow(trace->first_ns, trace->shift_ns, &known.first_ns) ||
	    __builtin_add_overflow(trace->last_ns, trace->shift_ns, &known.last_ns))
		return none;
	return known;
}

bool apply_check_span(struct apply_run *apply, const struct model_host *host,
		      const struct apply_trace *trace, const struct apply_seen *seen)
{
	int ret;

	if (seen->last_ns < seen->first_ns)
		return true;
	ret = model_check_span(&apply->model, host, trace->clock, seen->first_ns, seen->last_ns);
	if (ret && !apply->set->extrapolate) {
		complain("%s: %s Use the result of this recording, or add --extrapolate.",
			 trace->path, model_error(&apply->model));
		return false;
	}
	if (ret)
		complain("warning: %s: %s", trace->path, model_error(&apply->model));
	return true;
}

bool apply_is_outside(const struct apply_run *apply, struct apply_trace *trace)
{
	return window_is_given(&apply->set->window) && trace->first_ns <= trace->last_ns &&
	       !part_limit_trace(trace);
}

void apply_skip_source(struct apply_run *apply, const struct apply_source *source)
{
	complain(
		"%s: skipped, because it contains nothing between --begin and --end (in corrected times).",
		source->path);
	apply->num_left_out++;
}

/* ---- a run ------------------------------------------------------------- */

bool apply_run_open(struct apply_run *apply, const struct apply_settings *set)
{
	*apply = (struct apply_run){ .set = set };
	apply->ns = netsync_new();
	apply->io = apply->ns ? netsync_io_new(apply->ns) : NULL;
	apply->sources = calloc(set->num_traces, sizeof(*apply->sources));
	if (model_open(&apply->model, set->model)) {
		complain("%s", model_error(&apply->model));
		return false;
	}
	if (!apply->io || !apply->sources)
		return complain_no_memory();
	/* Signals only set a flag, so that this process can remove the output. */
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_signal(SIGHUP);
	netsync_io_set_warn(apply->io, print_apply_warning, NULL);
	return true;
}

void apply_run_close(struct apply_run *apply)
{
	for (int i = 0; i < apply->set->num_traces && apply->sources; i++)
		free(apply->sources[i].real_path);
	free(apply->sources);
	model_close(&apply->model);
	netsync_io_free(apply->io);
	netsync_free(apply->ns);
}
