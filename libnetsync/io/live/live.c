// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The public calls that read packets as they arrive: of live sessions from relay daemons, or of
 * captures that grow.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "io/live/internal.h"

static int compare_traces_by_host_name(const void *a, const void *b)
{
	const struct trace *p = *(struct trace **)a, *q = *(struct trace **)b;

	return strcmp(p->host_name, q->host_name);
}

/* Has the trace no packets yet? Whether it will have a host is not known. */
static bool is_empty_capture(const struct trace *trace)
{
	return trace->reader && trace->range.hi < trace->range.lo;
}

/*
 * Let the first sessions or captures wait for each other, so that their hosts are numbered by
 * name, as hosts of recorded traces are. The result is then exactly the same.
 */
static int begin_live_hosts(struct live_input *live)
{
	struct netsync_io *io = live->io;
	int ret = 0;

	if (live->has_begun || !io->num_traces || live_is_settling(live))
		return 0;
	if (live->num_captures ? !captures_have_begun(live) :
				 live_now_ms() - live->newest_ms < GATHER_MS)
		return 0;
	live->has_begun = true;
	qsort(io->traces, io->num_traces, sizeof(*io->traces), compare_traces_by_host_name);
	for (size_t i = 0; i < io->num_traces && !ret; i++)
		if (!is_empty_capture(io->traces[i]))
			ret = live_find_host(live, io->traces[i]);
	for (size_t i = 0; i < live->num_sessions && !ret; i++) {
		struct session *session = live->sessions[i];

		if (session->held)
			ret = session_receive(session);
		session->held = false;
	}
	return ret;
}

/* Wait for data, and process the data of each process that has sent some. */
static int receive_live_data(struct live_input *live, int timeout_ms)
{
	size_t num = live->num_relays, max = num + live->num_sessions;
	struct pollfd *fds = calloc(max + 1, sizeof(*fds));
	int ret;

	if (!fds)
		return io_fail_no_memory(live->io);
	for (size_t i = 0; i < max; i++)
		fds[i] = (struct pollfd){
			.fd = i < num			    ? live->relays[i]->lister.fd :
			      live->sessions[i - num]->held ? -1 :
							      live->sessions[i - num]->viewer.fd,
			.events = POLLIN,
		};
	ret = poll(fds, max, timeout_ms);
	if (ret < 0)
		ret = io_fail(live->io, -errno, "%s.", strerror(errno));
	else if (ret > 0)
		ret = 0;
	/* Process viewers before listers, because listers add and remove viewers. */
	for (size_t i = max; i-- > 0 && !ret;) {
		if (!(fds[i].revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		if (i < num)
			ret = relay_receive(live->relays[i]);
		else
			ret = session_receive(live->sessions[i - num]);
	}
	free(fds);
	return ret;
}

/* Wait for data, and process the data of all sessions, captures and clocks. */
static int receive_all(struct live_input *live, int timeout_ms)
{
	int ret = 0;

	for (size_t i = 0; i < live->num_relays && !ret; i++)
		ret = relay_start_lister(live->relays[i]);
	if (!ret)
		ret = clocks_read_files(live);
	if (!ret)
		ret = receive_live_data(live, timeout_ms);
	if (!ret)
		ret = captures_examine(live);
	if (!ret)
		ret = begin_live_hosts(live);
	if (!ret)
		ret = captures_check_addresses(live);
	if (!ret)
		ret = captures_read(live);
	return ret ? ret : live_advance_hosts(live);
}

int netsync_io_poll(struct netsync_io *io, int timeout_ms)
{
	struct live_input *live = io->live;
	int64_t end = live_now_ms() + timeout_ms, left;
	int ret;

	if (!live)
		return io_fail(io, -ENODATA, "No live session or capture was given.");
	live->packets = 0;
	live->wants_all = timeout_ms <= 0;
	do {
		left = end - live_now_ms();
		if (left < 0 || captures_are_behind(live))
			left = 0;
		ret = receive_all(live, left < RETRY_MS ? (int)left : RETRY_MS);
	} while (!ret && (live_now_ms() < end || (live->wants_all && captures_are_behind(live))));
	if (ret == -EINTR)
		ret = 0;
	if (!ret)
		ret = io_make_infos(io);
	if (ret < 0)
		return ret;
	return live->packets < INT_MAX ? live->packets : INT_MAX;
}

int netsync_io_add_live(struct netsync_io *io, const char *url)
{
	if (io->was_read || io->num_texts || (io->num_traces && !io->live))
		return io_fail(io, -EBUSY,
			       "%s: live sessions and recorded traces cannot be read together.",
			       url);
	if (!io->live)
		io->live = calloc(1, sizeof(*io->live));
	if (!io->live)
		return io_fail_no_memory(io);
	io->live->io = io;
	if (capture_is_path(url) ? io->live->num_relays : io->live->num_captures)
		return io_fail(io, -EBUSY,
			       "%s: LTTng sessions and captures cannot be followed together.", url);
	if (capture_is_path(url))
		return captures_add(io->live, url);
	for (size_t i = 0; i < io->live->num_relays; i++)
		if (!strcmp(io->live->relays[i]->url, url))
			return io_fail(io, -EEXIST, "%s: this URL was already given.", url);
	return relay_add(io->live, url);
}

int netsync_io_add_live_clocks(struct netsync_io *io, const char *path)
{
	if (!io->live)
		return io_fail(io, -ENODATA, "%s: no live session or capture was given.", path);
	return clocks_add_file(io->live, path);
}

void live_free(struct live_input *live)
{
	if (!live)
		return;
	for (size_t i = 0; i < live->num_sessions; i++)
		session_free(live->sessions[i]);
	for (size_t i = 0; i < live->num_relays; i++)
		relay_free(live->relays[i]);
	for (size_t i = 0; i < live->num_hosts; i++)
		free(live->hosts[i]);
	captures_free(live);
	clocks_free(live);
	free(live->sessions);
	free(live->relays);
	free(live->hosts);
	free(live);
}
