// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Convert the requested time window to a window of each host and trace, in times of their own
 * clocks.
 *
 *	host a	   |---------[=====]---------|		[ ] window
 *	host b	       |------[=====]------|		wrong clock: a window of the
 *							same length, at another time
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"

/* ---- start of traces ----------------------------------------------------- */

static uint64_t compute_host_range_length(const struct io_host *host)
{
	const struct range *r = &host->range;

	return r->hi < r->lo ? 0 : (uint64_t)r->hi - (uint64_t)r->lo;
}

/*
 * Guess each host's time at the start of the longest trace, so that records of one packet
 * are read in about the same slice:
 *
 *	the host's traces are nearly as long as the longest	they began together,
 *	(15/16; chosen)						  whatever clocks say
 *	their times have none in common with the longest's	the same
 *	otherwise						clocks are about right
 *
 * Return the length of the longest trace (ns), which is divided into slices.
 */
uint64_t io_set_starts(struct io_host *hosts, size_t num)
{
	const struct io_host *longest = hosts;

	for (size_t i = 1; i < num; i++)
		if (compute_host_range_length(&hosts[i]) > compute_host_range_length(longest))
			longest = &hosts[i];
	for (size_t i = 0; i < num; i++) {
		const struct range *r = &hosts[i].range, *l = &longest->range;
		bool apart = r->hi < l->lo || r->lo > l->hi;

		hosts[i].start_ns = l->lo;
		if (apart || compute_host_range_length(&hosts[i]) / 15 >=
				     compute_host_range_length(longest) / 16)
			hosts[i].start_ns = r->lo;
	}
	return compute_host_range_length(longest);
}

/* ---- windows ------------------------------------------------------------- */

static bool has_window(const struct netsync_io *io)
{
	return io->window.begin_is || io->window.end_is;
}

/*
 * Convert a limit to the host's time. If there is no limit, the result is @none. Return 0. On
 * failure, call io_fail() and return a negative value.
 */
static int compute_window_limit(struct netsync_io *io, const struct io_host *host, uint32_t is,
				int64_t limit_ns, int64_t none, int64_t *ns)
{
	*ns = none;
	if (is == NETSYNC_IO_NO_LIMIT)
		return 0;
	*ns = limit_ns;
	if (is == NETSYNC_IO_AT)
		return 0;
	if (host->range.hi < host->range.lo)
		return io_fail(
			io, -ENODATA,
			"%s: the start of its traces is unknown before they are read; specify absolute times instead of times after the start.",
			host->name);
	if (__builtin_add_overflow(host->start_ns, limit_ns, ns))
		*ns = limit_ns < 0 ? INT64_MIN : INT64_MAX;
	return 0;
}

static int set_host_window(struct netsync_io *io, struct io_host *host)
{
	const struct netsync_io_window *window = &io->window;
	int ret = compute_window_limit(io, host, window->begin_is, window->begin_ns, INT64_MIN,
				       &host->window.lo);

	if (!ret)
		ret = compute_window_limit(io, host, window->end_is, window->end_ns, INT64_MAX,
					   &host->window.hi);
	if (!ret && host->window.hi < host->window.lo)
		ret = io_fail(io, -ERANGE, "%s: the requested time window ends before it begins.",
			      host->name);
	return ret;
}

static int64_t subtract_time_shift(int64_t time_ns, int64_t shift_ns)
{
	int64_t t;

	/* Leave "no limit" unchanged. */
	if (time_ns == INT64_MIN || time_ns == INT64_MAX)
		return time_ns;
	if (!__builtin_sub_overflow(time_ns, shift_ns, &t))
		return t;
	return shift_ns > 0 ? INT64_MIN : INT64_MAX;
}

static void limit_trace_window(struct trace *trace)
{
	const struct range *window = &trace->host->window;
	const int64_t shift_ns = trace->info.shift_ns;

	trace->window.lo = subtract_time_shift(window->lo, shift_ns);
	trace->window.hi = subtract_time_shift(window->hi, shift_ns);
	if (trace->reader->limit && io_reads_trace(trace->io, trace))
		trace->reader->limit(trace);
}

/*
 * Limit the host's range, which is divided into slices, to the host's window. Return true if any
 * event of the host may be in the window.
 */
static bool clip_host_range(struct io_host *host)
{
	struct range *range = &host->range;

	if (range->hi < range->lo)
		return true;
	range->lo = max64(range->lo, host->window.lo);
	range->hi = min64(range->hi, host->window.hi);
	return range->lo <= range->hi;
}

static int note_host_windows(struct netsync_io *io, const struct io_host *hosts, size_t num)
{
	io->windows = malloc((num + 1) * sizeof(*io->windows));
	if (!io->windows)
		return io_fail_no_memory(io);
	for (size_t i = 0; i < num; i++)
		io->windows[i] = RANGE_ALL;
	io->num_windows = num;
	for (size_t i = 0; i < num; i++)
		if (hosts[i].number >= 0 && (size_t)hosts[i].number < num)
			io->windows[hosts[i].number] = hosts[i].window;
	return 0;
}

int io_set_windows(struct netsync_io *io, struct io_host *hosts, size_t num)
{
	bool any = !num;
	int ret = 0;

	if (!has_window(io))
		return 0;
	if (num)
		io_set_starts(hosts, num);
	for (size_t i = 0; i < num && !ret; i++)
		ret = set_host_window(io, &hosts[i]);
	for (size_t i = 0; i < num && !ret; i++)
		any |= clip_host_range(&hosts[i]);
	if (!ret && !any)
		ret = io_fail(io, -ERANGE,
			      "None of the traces has data in the requested time window.");
	if (!ret)
		ret = note_host_windows(io, hosts, num);
	for (size_t i = 0; i < io->num_traces && !ret; i++)
		limit_trace_window(io->traces[i]);
	return ret;
}

bool io_is_time_wanted(const struct netsync_io *io, uint32_t host, int64_t time_ns)
{
	return host >= io->num_windows || range_contains(&io->windows[host], time_ns);
}

int netsync_io_set_window(struct netsync_io *io, const struct netsync_io_window *window)
{
	if (window->size < sizeof(*window) || window->begin_is > NETSYNC_IO_SINCE_BEGIN ||
	    window->end_is > NETSYNC_IO_SINCE_BEGIN)
		return io_fail(io, -EINVAL, "Invalid time window.");
	if (io->was_read || io->live)
		return io_fail(
			io, -EBUSY,
			io->live ?
				"Live sessions are read from now on, so a time window cannot be set." :
				"The traces have already been read.");
	memcpy(&io->window, window, sizeof(io->window));
	return 0;
}
