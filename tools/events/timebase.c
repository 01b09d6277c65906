// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the input of a command, and find the corrections of its hosts' clocks. The corrections are
 * estimated, or come from a given result.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/since-1970.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/now.h"
#include "common/result-info.h"
#include "common/result-output.h"
#include "timebase.h"

/*
 * Maximum number of steps to find the host's time of a corrected time. Chosen: for rates within 1 %,
 * ten steps reach 1 ns even if the clocks differ by 50 years.
 */
#define MAX_INVERSE_STEPS 10

/* ---- times ------------------------------------------------------------- */

bool timebase_correct_time(const struct timebase_host *host, int64_t time_ns, int64_t *time_ref)
{
	return host->clock && !__builtin_add_overflow(time_ns, host->shift_ns, &time_ns) &&
	       !netsync_convert(host->clock, time_ns, time_ref, NULL);
}

bool timebase_find_host_time(const struct timebase_host *host, int64_t time_ref, int64_t *time_ns)
{
	int64_t corrected, rest = INT64_MAX;

	*time_ns = time_ref;
	/*
	 * The rate of a clock is close to 1, so that each step makes the rest smaller by a factor of
	 * thousands, unless the clock was stepped here.
	 */
	for (int i = 0; i < MAX_INVERSE_STEPS && rest; i++)
		if (!timebase_correct_time(host, *time_ns, &corrected) ||
		    __builtin_sub_overflow(time_ref, corrected, &rest) ||
		    __builtin_add_overflow(*time_ns, rest, time_ns))
			return false;
	return true;
}

static void extend_corrected_span(const struct timebase_host *host, int64_t from_ns, int64_t to_ns,
				  int64_t *first_ns, int64_t *last_ns)
{
	int64_t t;

	if (from_ns > to_ns)
		return;
	if (timebase_correct_time(host, from_ns, &t) && t < *first_ns)
		*first_ns = t;
	if (timebase_correct_time(host, to_ns, &t) && t > *last_ns)
		*last_ns = t;
}

bool timebase_find_span(const struct timebase *base, int64_t *first_ns, int64_t *last_ns)
{
	*first_ns = INT64_MAX;
	*last_ns = INT64_MIN;
	for (uint32_t i = 0; i < base->num_hosts; i++) {
		const struct netsync_host_info info = get_host_info(base->ns, i);

		extend_corrected_span(&base->hosts[i], info.first_ns, info.last_ns, first_ns,
				      last_ns);
	}
	for (uint32_t i = 0; i < netsync_io_num_traces(base->io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(base->io, i);

		extend_corrected_span(&base->hosts[trace.host], trace.first_ns, trace.last_ns,
				      first_ns, last_ns);
	}
	return *first_ns <= *last_ns;
}

int64_t timebase_find_second(const struct timebase *base)
{
	int64_t second = base->begin_ns, last;

	if (second == INT64_MIN && !timebase_find_span(base, &second, &last))
		return 0;
	/* The beginning of the second does not fit into 64 bits. */
	if (second < INT64_MIN + NS_PER_S)
		return INT64_MIN;
	return second - (second % NS_PER_S + NS_PER_S) % NS_PER_S;
}

/*
 * Find the difference between corrected time and the wall-clock time that a trace reports for its
 * start. Return false if the trace does not report it.
 */
static bool find_wall_shift(const struct timebase *base, const struct netsync_io_trace *trace,
			    int64_t *shift_ns)
{
	const struct netsync_host_info info = get_host_info(base->ns, trace->host);
	/* Traces without packets were not read. */
	const int64_t time_ns = trace->first_ns <= trace->last_ns ? trace->first_ns : info.first_ns;
	int64_t wall_ns, ref_ns;

	return trace->has_wall &&
	       timebase_correct_time(&base->hosts[trace->host], time_ns, &ref_ns) &&
	       !__builtin_sub_overflow(time_ns, trace->shift_ns, &wall_ns) &&
	       !__builtin_add_overflow(wall_ns, trace->wall_shift_ns, &wall_ns) &&
	       is_since_1970(wall_ns) && !__builtin_sub_overflow(wall_ns, ref_ns, shift_ns);
}

bool timebase_find_wall_shift(const struct timebase *base, int64_t *shift_ns)
{
	int64_t first_ns, last_ns;
	bool has_trace = false, is_found = false;

	/* Use the wall clock of the reference or, if it is not known, of any other host. */
	for (uint32_t i = 0; i < netsync_io_num_traces(base->io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(base->io, i);
		const bool is_reference = !strcmp(base->hosts[trace.host].name, base->reference);

		has_trace = has_trace || is_reference;
		if ((is_reference || !is_found) && find_wall_shift(base, &trace, shift_ns)) {
			is_found = true;
			if (is_reference)
				return true;
		}
	}
	if (is_found || has_trace)
		return is_found;
	/* Text files do not say which clock their times belong to. */
	*shift_ns = 0;
	return timebase_find_span(base, &first_ns, &last_ns) && is_since_1970(first_ns);
}

/* Return whether every trace was read. The events of traces without packets are read only later. */
static bool are_all_spans_known(const struct timebase *base)
{
	for (uint32_t i = 0; i < netsync_io_num_traces(base->io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(base->io, i);

		if (trace.first_ns > trace.last_ns)
			return false;
	}
	return true;
}

bool timebase_set_window(struct timebase *base, const struct time_window *window, bool with_events)
{
	int64_t first_ns, last_ns;

	base->begin_ns = INT64_MIN;
	base->end_ns = INT64_MAX;
	if (!window_is_given(window))
		return true;
	if (timebase_find_span(base, &first_ns, &last_ns))
		return window_find(window, first_ns, last_ns,
				   !with_events || are_all_spans_known(base), &base->begin_ns,
				   &base->end_ns);
	complain(
		"--begin, --end: these options cannot be used, because no host in the traces could be corrected.");
	return false;
}

/* ---- clocks ------------------------------------------------------------ */

/*
 * Find the correction of a host. Return 0, -ENODATA if the host is not corrected, or another
 * negative errno value. Problems are reported.
 */
static int find_timebase_clock(struct timebase *base, const struct input *input, uint32_t number)
{
	struct timebase_host *host = &base->hosts[number];
	const struct model_host *found;
	struct netsync_host_info info;
	int ret;

	if (!input->model) {
		host->clock = netsync_host_clock(base->ns, number);
		return 0;
	}
	ret = model_match(&base->model, base->ns, base->io, number, &found, &host->shift_ns);
	if (!ret)
		ret = model_read_clock(&base->model, found, &host->own);
	host->clock = host->own;
	if (ret) {
		complain(ret == -ENODATA ? "warning: %s" : "%s", model_error(&base->model));
		return ret;
	}
	info = get_host_info(base->ns, number);
	return input_check_span(input, &base->model, found, host->own, &info, host->shift_ns) ?
		       0 :
		       -ERANGE;
}

static int find_timebase_clocks(struct timebase *base, const struct input *input)
{
	int status = EXIT_DONE;

	base->num_hosts = netsync_num_hosts(base->ns);
	base->hosts = calloc(base->num_hosts + 1, sizeof(*base->hosts));
	if (!base->hosts) {
		complain_no_memory();
		return EXIT_BAD;
	}
	base->reference = input->model ? base->model.reference :
					 get_host_info(base->ns, netsync_reference(base->ns)).name;
	for (uint32_t i = 0; i < base->num_hosts; i++) {
		int ret;

		base->hosts[i].name = get_host_info(base->ns, i).name;
		ret = find_timebase_clock(base, input, i);
		if (!ret)
			continue;
		if (ret != -ENODATA)
			return EXIT_BAD;
		status = EXIT_PARTIAL;
	}
	return status;
}

int timebase_find(struct timebase *base, const struct input *input)
{
	return input_solve(input, base->ns, base->io) ? find_timebase_clocks(base, input) :
							EXIT_BAD;
}

int timebase_explain(const struct timebase *base, const struct input *input, int status)
{
	const struct outcome outcome = OUTCOME_DEFAULT;

	if (!input->model)
		status = outcome_explain(&outcome, base->ns);
	return status == EXIT_DONE ? input_get_status(input, base->io) : status;
}

/* ---- opening and closing --------------------------------------------------- */

bool timebase_open(struct timebase *base, const struct input *input)
{
	*base = (struct timebase){ .ns = netsync_new() };
	base->io = base->ns ? netsync_io_new(base->ns) : NULL;
	if (!base->io)
		return complain_no_memory();
	if (!input->model || !model_open(&base->model, input->model))
		return true;
	complain("%s", model_error(&base->model));
	return false;
}

void timebase_close(struct timebase *base)
{
	for (uint32_t i = 0; i < base->num_hosts && base->hosts; i++)
		netsync_clock_free(base->hosts[i].own);
	free(base->hosts);
	model_close(&base->model);
	netsync_io_free(base->io);
	netsync_free(base->ns);
}
