// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write options for babeltrace2 that add a constant to the times of each trace. The constant is the
 * middle of all corrections in the host's span, which minimizes the largest error.
 */
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "exit-status.h"
#include "now.h"
#include "result-bt2-args.h"
#include "result-info.h"
#include "value.h"

struct constant {
	int64_t least_ns, most_ns; /* smallest and largest correction in the span */
	int64_t bound_ns;	   /* smallest error bound in the span */
	bool is_bounded;	   /* whether the bound is known for the whole span */
};

static void include_constant_offset_at(struct constant *constant, const struct netsync_clock *clock,
				       int64_t time_ns)
{
	int64_t corrected, bound, added;

	if (netsync_convert(clock, time_ns, &corrected, &bound) ||
	    __builtin_sub_overflow(corrected, time_ns, &added))
		return;
	if (added < constant->least_ns)
		constant->least_ns = added;
	if (added > constant->most_ns)
		constant->most_ns = added;
	if (bound == NETSYNC_UNKNOWN)
		constant->is_bounded = false;
	else if (bound < constant->bound_ns)
		constant->bound_ns = bound;
}

/* Find the constant of a host. Return false if the host's clock is not corrected. */
static bool find_constant_offset(const struct netsync *ns, uint32_t host, struct constant *constant)
{
	const struct netsync_host_info info = get_host_info(ns, host);
	const struct netsync_clock *clock = netsync_host_clock(ns, host);
	struct netsync_model model = { .size = sizeof(model) };

	*constant = (struct constant){ INT64_MAX, INT64_MIN, INT64_MAX, true };
	if (!clock)
		return false;
	netsync_clock_model(clock, &model);
	include_constant_offset_at(constant, clock, info.first_ns);
	include_constant_offset_at(constant, clock, info.last_ns);
	for (uint32_t i = 1; i < model.num_segments; i++) {
		const int64_t from = netsync_model_segment(&model, i)->from_ns;

		if (from <= info.first_ns || from > info.last_ns)
			continue;
		include_constant_offset_at(constant, clock, from - 1);
		include_constant_offset_at(constant, clock, from);
	}
	return constant->least_ns <= constant->most_ns;
}

static int64_t find_middle_offset(const struct constant *constant)
{
	return compute_middle_time(constant->least_ns, constant->most_ns);
}

/* Quote a path for a babeltrace2 string that is itself inside of a shell string. */
static void write_quoted_path(FILE *out, const char *path)
{
	for (; *path; path++) {
		if (*path == '"' || *path == '\\')
			fputc('\\', out);
		if (*path == '\'')
			fputs("'\\''", out);
		else
			fputc(*path, out);
	}
}

static bool is_ctf(const struct netsync_io_trace *info)
{
	return !strcmp(info->format, "ctf");
}

bool write_bt2_args(FILE *out, const struct netsync *ns, const struct netsync_io *io)
{
	bool any = false;

	for (uint32_t i = 0; i < netsync_io_num_traces(io); i++) {
		const struct netsync_io_trace info = get_io_trace_info(io, i);
		struct constant constant;
		int64_t added, seconds;

		if (!is_ctf(&info) || !find_constant_offset(ns, info.host, &constant))
			continue;
		added = find_middle_offset(&constant) + info.shift_ns;
		seconds = added / NS_PER_S - (added % NS_PER_S < 0);
		fputs(any ? " " : "", out);
		any = true;
		fputs("--component=source.ctf.fs --params='inputs=[\"", out);
		write_quoted_path(out, info.path);
		fprintf(out, "\"],clock-class-offset-s=%lld,clock-class-offset-ns=%lld'",
			(long long)seconds, (long long)(added - seconds * NS_PER_S));
	}
	fputc('\n', out);
	return true;
}

static bool explain_constant_offset(const struct netsync *ns, uint32_t host)
{
	struct constant constant;
	char off[VALUE_SIZE], bound[VALUE_SIZE];
	int64_t most;

	if (!find_constant_offset(ns, host, &constant))
		return false;
	most = constant.most_ns - find_middle_offset(&constant);
	if (!most || (constant.is_bounded && most <= constant.bound_ns))
		return true;
	complain(
		"warning: %s: a constant offset is wrong by up to %s, more than the error bound of %s; use filter.netsync.correct or \"netsync apply\" instead.",
		get_host_info(ns, host).name, format_duration(off, most),
		format_duration(bound, constant.is_bounded ? constant.bound_ns : NETSYNC_UNKNOWN));
	return false;
}

int explain_bt2_args(const struct netsync *ns, const struct netsync_io *io)
{
	int status = EXIT_DONE;

	for (uint32_t i = 0; i < netsync_io_num_traces(io); i++) {
		const struct netsync_io_trace info = get_io_trace_info(io, i);

		if (is_ctf(&info))
			continue;
		complain("warning: %s: skipped, as babeltrace2 does not read %s.", info.path,
			 info.format);
		status = EXIT_PARTIAL;
	}
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		if (!explain_constant_offset(ns, i))
			status = EXIT_PARTIAL;
	return status;
}
