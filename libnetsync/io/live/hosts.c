// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Add traces of live sessions and captures, assign them to hosts, and compute the times up to
 * which the traces and clock readings of each host were read.
 */
#include <stdlib.h>
#include <string.h>

#include "io/live/internal.h"
#include "util/array.h"

struct trace *live_add_trace(struct live_input *live, const char *path)
{
	struct netsync_io *io = live->io;
	struct trace *trace = calloc(1, sizeof(*trace));
	struct trace **last = array_add(&io->traces, io->num_traces, sizeof(*last));

	if (!trace || !last) {
		free(trace);
		io_fail_no_memory(io);
		return NULL;
	}
	*last = trace;
	io->num_traces++;
	trace->io = io;
	trace->window = RANGE_ALL;
	trace->info.host = NETSYNC_IO_NO_HOST;
	trace->info.last_ns = -1;
	trace->info.running = 1;
	trace->range.hi = -1;
	trace->max_points = LIVE_MAX_POINTS;
	trace->path = strdup(path);
	if (trace->path)
		return trace;
	io_fail_no_memory(io);
	return NULL;
}

int live_find_host(struct live_input *live, struct trace *trace)
{
	struct io_host **last, *host = NULL;
	int ret;

	for (size_t i = 0; i < live->num_hosts && !host; i++)
		if (io_is_same_host(live->hosts[i]->base, trace))
			host = live->hosts[i];
	if (host)
		return io_bring_to_base(live->io, host, trace);
	host = calloc(1, sizeof(*host));
	last = array_add(&live->hosts, live->num_hosts, sizeof(*last));
	if (!host || !last) {
		free(host);
		return io_fail_no_memory(live->io);
	}
	*last = host;
	live->num_hosts++;
	host->base = trace;
	host->range.hi = -1;
	ret = io_bring_to_base(live->io, host, trace);
	if (ret < 0)
		return ret;
	host->number = netsync_add_host(live->io->ns, trace->host_name);
	if (host->number < 0)
		return io_fail(live->io, host->number, "%s: %s", trace->host_name,
			       netsync_error(live->io->ns));
	return clocks_join_host(live, host);
}

/*
 * Compute the time up to which all traces of a host were read. Return INT64_MAX if no session
 * reads the host, and no growing capture.
 */
static int64_t compute_host_time(const struct live_input *live, const struct io_host *host)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < live->num_captures; i++) {
		const struct live_capture *capture = live->captures[i];

		if (capture->trace && capture->trace->host == host)
			least = min64(least, capture_get_read_time(live, capture));
	}
	for (size_t i = 0; i < live->num_sessions; i++) {
		const struct session *s = live->sessions[i];

		for (size_t j = 0; j < s->num_traces; j++) {
			int64_t time;

			if (s->held || s->traces[j]->host != host)
				continue;
			if (!s->has_time)
				return INT64_MIN;
			if (!__builtin_add_overflow(s->time_ns, s->traces[j]->info.shift_ns,
						    &time) &&
			    time < least)
				least = time;
		}
	}
	return least;
}

bool live_is_settling(const struct live_input *live)
{
	int64_t now = live_now_ms();

	for (size_t i = 0; i < live->num_sessions; i++) {
		const struct session *s = live->sessions[i];

		if (s->viewer.fd >= 0 && !s->num_traces && now - s->began_ms < SETTLE_MS)
			return true;
	}
	return false;
}

/*
 * Report to libnetsync the time up to which all hosts were read. While the host of a new
 * session is not known yet, no host advances, and hosts that are no longer read are withdrawn,
 * because the session may belong to one of them. Otherwise packets that other hosts sent
 * meanwhile would find no counterpart.
 *
 * Every host may bring more packets: a capture that does not grow may grow again, with packets that
 * its writer has delayed, and an ended session may begin again. No host waits for these packets,
 * but packets that they may match are kept.
 */
int live_advance_hosts(struct live_input *live)
{
	const bool settling = live_is_settling(live);

	for (size_t i = 0; i < live->num_hosts; i++) {
		const struct io_host *host = live->hosts[i];
		int64_t until = INT64_MIN;
		int ret;

		if (!settling)
			until = clocks_find_known_until(live, host, compute_host_time(live, host));
		ret = until == INT64_MAX ? netsync_pause(live->io->ns, host->number) :
					   netsync_advance(live->io->ns, host->number, until);
		if (ret < 0)
			return io_fail(live->io, ret, "%s.", netsync_error(live->io->ns));
	}
	return 0;
}
