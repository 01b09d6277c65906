// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Limit the wait for reader processes and pipes that make no progress. First print a warning, and
 * later end the wait. A process that waits for a dead disk cannot be killed and is abandoned.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/patience.h"
#include "util/array.h"

/* Default limit of netsync_io_set_timeout() (ms). Chosen as in agents. */
#define TIMEOUT_MS 120000
/*
 * Maximum wait before the warning (ms). If a quarter of the time limit is shorter, the warning
 * comes after this quarter. Chosen.
 */
#define WARNING_MS 30000
/* The time limit is divided by this for a file system that was given up before. Chosen. */
#define HASTE 10

struct left_out {
	char *what, *why;
};

int64_t io_get_timeout_ms(const struct netsync_io *io)
{
	return io->timeout_ms ? io->timeout_ms : TIMEOUT_MS;
}

int64_t io_get_warning_ms(const struct netsync_io *io)
{
	return min64(WARNING_MS, io_get_timeout_ms(io) / 4);
}

void netsync_io_set_timeout(struct netsync_io *io, int64_t timeout_ns)
{
	/* Round up. 0 selects the default. */
	io->timeout_ms = timeout_ns <= 0 ? 0 : (timeout_ns - 1) / 1000000 + 1;
}

/* ---- waiting --------------------------------------------------------------- */

static bool was_given_up(const struct netsync_io *io, uint64_t device)
{
	for (size_t i = 0; i < io->num_stuck; i++)
		if (io->stuck[i] == device)
			return true;
	return false;
}

static void note_stuck_device(struct netsync_io *io, uint64_t device)
{
	uint64_t *last = was_given_up(io, device) ?
				 NULL :
				 array_add(&io->stuck, io->num_stuck, sizeof(*last));

	/* If out of memory, the next wait for this device is not shortened. */
	if (!last)
		return;
	*last = device;
	io->num_stuck++;
}

static bool is_trace_wait_over(void *data, int64_t silent_ms)
{
	struct patience *p = data;
	int64_t limit_ms = io_get_timeout_ms(p->io);

	/* A program that writes to a pipe may be silent for any length of time. */
	if (p->is_pipe && !p->io->timeout_ms)
		limit_ms = INT64_MAX;
	else if (was_given_up(p->io, p->device))
		limit_ms /= HASTE;
	if (silent_ms >= limit_ms) {
		if (!p->is_pipe)
			note_stuck_device(p->io, p->device);
		return true;
	}
	if (p->has_warned || silent_ms < io_get_warning_ms(p->io))
		return false;
	p->has_warned = true;
	if (limit_ms == INT64_MAX)
		io_warn(p->io,
			"%s: nothing was received for %lld s; waiting for more data, or for the end of the input.",
			p->path, (long long)(silent_ms + 500) / 1000);
	else
		io_warn(p->io, "%s%s%s: nothing was read for %lld s; waiting up to %lld s.",
			p->name ? p->name : "", p->name ? ": " : "", p->path,
			(long long)(silent_ms + 500) / 1000, (long long)(limit_ms + 999) / 1000);
	return false;
}

struct patience io_make_trace_patience(const struct trace *trace)
{
	return (struct patience){
		.io = trace->io,
		.name = trace->host_name,
		.path = trace->path,
		.device = trace->device,
	};
}

struct worker_patience io_make_worker_patience(struct patience *patience)
{
	return (struct worker_patience){ is_trace_wait_over, patience };
}

/* ---- files ------------------------------------------------------------------ */

static bool is_disk_wait_over(void *data, const struct disk_file *file, int64_t silent_ms,
			      bool *has_warned)
{
	struct patience patience = {
		.io = data,
		.path = file->name,
		.device = file->st.st_dev,
		.has_warned = *has_warned,
	};
	const bool over = is_trace_wait_over(&patience, silent_ms);

	*has_warned = patience.has_warned;
	return over;
}

struct disk *io_new_disk(struct netsync_io *io)
{
	return disk_new(is_disk_wait_over, io);
}

int io_probe_path(struct netsync_io *io, const char *path)
{
	const int ret = disk_visit_files(io->disk, path);

	return ret ? io_fail_file(io, path, ret) : 0;
}

ssize_t io_read_pipe(struct netsync_io *io, const char *path, int pipe, void *to, size_t size)
{
	struct patience patience = { .io = io, .path = path, .is_pipe = true };
	struct pollfd fd = { .fd = pipe, .events = POLLIN };
	int64_t silent_ms = 0;
	ssize_t len;
	int num;

	while (!(num = poll(&fd, 1, WORKER_TICK_MS)) || (num < 0 && errno == EINTR)) {
		silent_ms += num ? 0 : WORKER_TICK_MS;
		if (!num && is_trace_wait_over(&patience, silent_ms))
			return -ETIMEDOUT;
	}
	do {
		len = read(pipe, to, size);
	} while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : len;
}

/* ---- skipped inputs --------------------------------------------------------------- */

bool io_is_lost_error(int err)
{
	return err == -ETIMEDOUT || err == -ECHILD;
}

/*
 * Add a skipped input to the list, which takes ownership of @why. If @why is NULL, memory was
 * exhausted.
 */
static int note_skipped_input(struct netsync_io *io, const char *what, char *why)
{
	struct left_out *last = why ? array_add(&io->left_out, io->num_left_out, sizeof(*last)) :
				      NULL;

	if (!last) {
		free(why);
		return io_fail_no_memory(io);
	}
	*last = (struct left_out){ strdup(what), why };
	io->num_left_out++;
	return last->what ? 0 : io_fail_no_memory(io);
}

int io_skip_input(struct netsync_io *io, const char *what)
{
	const int ret = note_skipped_input(io, what, strdup(netsync_io_error(io)));

	if (!ret)
		io_warn(io, "%s It is skipped.", netsync_io_error(io));
	return ret;
}

int io_note_broken_off(struct netsync_io *io, const char *path, uint64_t at, const char *why)
{
	char *sentence = io_format("%s: read only up to byte %llu (%s).", path,
				   (unsigned long long)at, why);

	if (sentence)
		io_warn(io, "%s", sentence);
	return note_skipped_input(io, path, sentence);
}

void io_free_skipped(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_left_out; i++) {
		free(io->left_out[i].what);
		free(io->left_out[i].why);
	}
	free(io->left_out);
	free(io->stuck);
}

uint32_t netsync_io_num_left_out(const struct netsync_io *io)
{
	return (uint32_t)io->num_left_out;
}

int netsync_io_get_left_out(const struct netsync_io *io, uint32_t index,
			    struct netsync_io_left_out *info)
{
	if (index >= io->num_left_out || info->size < sizeof(*info))
		return -EINVAL;
	*info = (struct netsync_io_left_out){
		.size = info->size,
		.what = io->left_out[index].what,
		.why = io->left_out[index].why,
	};
	return 0;
}
