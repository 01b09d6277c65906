// SPDX-License-Identifier: LGPL-2.1-or-later
/* Live sessions of relay daemons -> packets, as they come: the public calls. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "io/live/internal.h"

/* Wait for what is sent, and use it: once from each that has something. */
static int receive(struct live *live, int timeout_ms)
{
	size_t num = live->num_relays, max = num + live->num_sessions;
	struct pollfd *fds = calloc(max + 1, sizeof(*fds));
	int ret;

	if (!fds)
		return io_no_memory(live->io);
	for (size_t i = 0; i < max; i++)
		fds[i] = (struct pollfd){
			.fd = i < num ? live->relays[i]->lister.fd :
			      live->sessions[i - num]->held ? -1 :
			      live->sessions[i - num]->viewer.fd,
			.events = POLLIN,
		};
	ret = poll(fds, max, timeout_ms);
	if (ret < 0)
		ret = io_fail(live->io, -errno, "%s.", strerror(errno));
	else if (ret > 0)
		ret = 0;
	/* Viewers first: to them listers can add, and take some away. */
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

int netsync_io_poll(struct netsync_io *io, int timeout_ms)
{
	struct live *live = io->live;
	int64_t end = live_now_ms() + timeout_ms, left;
	int ret;

	if (!live)
		return io_fail(io, -ENODATA, "No live session was given.");
	live->packets = 0;
	do {
		ret = 0;
		for (size_t i = 0; i < live->num_relays && !ret; i++)
			ret = relay_start(live->relays[i]);
		left = end - live_now_ms();
		if (!ret)
			ret = receive(live, left < 0 ? 0 :
				      left < RETRY_MS ? left : RETRY_MS);
		if (!ret)
			ret = live_begin_hosts(live);
		if (!ret)
			ret = live_promise(live);
	} while (!ret && live_now_ms() < end);
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
			"%s: live sessions and recorded traces are not read together.",
			url);
	if (!io->live)
		io->live = calloc(1, sizeof(*io->live));
	if (!io->live)
		return io_no_memory(io);
	io->live->io = io;
	for (size_t i = 0; i < io->live->num_relays; i++)
		if (!strcmp(io->live->relays[i]->url, url))
			return io_fail(io, -EEXIST,
				"%s: this was given already.", url);
	return relay_add(io->live, url);
}

void live_free(struct live *live)
{
	if (!live)
		return;
	for (size_t i = 0; i < live->num_sessions; i++)
		session_free(live->sessions[i]);
	for (size_t i = 0; i < live->num_relays; i++)
		relay_free(live->relays[i]);
	for (size_t i = 0; i < live->num_hosts; i++)
		free(live->hosts[i]);
	free(live->sessions);
	free(live->relays);
	free(live->hosts);
	free(live);
}
