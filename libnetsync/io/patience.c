// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Processes that read, and make no progress -> a warning after a while, then an end of the
 * wait. What a dead disk holds cannot be killed, and is not waited for.
 */
#include <errno.h>
#include <fts.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/patience.h"
#include "util/array.h"

/* The limit of netsync_io_set_timeout() if it is not called, ms. Chosen: as in agents. */
#define TIMEOUT_MS 120000
/* The wait before the warning: a quarter of the limit, but at most so long, ms. Chosen. */
#define WARNING_MS 30000
/* A file system that was given up once is waited for a tenth as long. Chosen. */
#define HASTE 10

struct left_out {
	char *what, *why;
};

int64_t io_timeout_ms(const struct netsync_io *io)
{
	return io->timeout_ms ? io->timeout_ms : TIMEOUT_MS;
}

int64_t io_warning_ms(const struct netsync_io *io)
{
	return min64(WARNING_MS, io_timeout_ms(io) / 4);
}

void netsync_io_set_timeout(struct netsync_io *io, int64_t timeout_ns)
{
	/* Rounded up; 0 is the default. */
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

static void note_stuck(struct netsync_io *io, uint64_t device)
{
	uint64_t *last = was_given_up(io, device) ? NULL :
			 array_add(&io->stuck, io->num_stuck, sizeof(*last));

	/* Without memory the next wait is as long as this one. */
	if (!last)
		return;
	*last = device;
	io->num_stuck++;
}

static bool is_over(void *data, int64_t silent_ms)
{
	struct patience *p = data;
	int64_t limit_ms = io_timeout_ms(p->io);

	if (was_given_up(p->io, p->device))
		limit_ms /= HASTE;
	if (silent_ms >= limit_ms) {
		note_stuck(p->io, p->device);
		return true;
	}
	if (p->has_warned || silent_ms < io_warning_ms(p->io))
		return false;
	p->has_warned = true;
	io_warn(p->io, "%s%s%s: nothing was read for %lld s; waiting up to %lld s.",
		p->name ? p->name : "", p->name ? ": " : "", p->path,
		(long long)(silent_ms + 500) / 1000, (long long)(limit_ms + 999) / 1000);
	return false;
}

struct patience io_trace_patience(const struct trace *trace)
{
	return (struct patience){
		.io = trace->io,
		.name = trace->host_name,
		.path = trace->path,
		.device = trace->device,
	};
}

struct worker_patience io_worker_patience(struct patience *patience)
{
	return (struct worker_patience){ is_over, patience };
}

/* ---- probing ---------------------------------------------------------------- */

/* A record of the prober: a path was walked through. */
#define PROBED 0

static void read_beginning(const char *path)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char byte;

	if (fd < 0)
		return;
	if (pread(fd, &byte, 1, 0) < 0)
		errno = 0;
	close(fd);
}

/* As the search in find.c goes. Errors are found by that. */
static void walk_path(char *path)
{
	char *paths[] = { path, NULL };
	struct stat st;
	FTS *fts = stat(path, &st) ? NULL :
		   fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (fts && (entry = fts_read(fts))) {
		worker_is_alive();
		if (entry->fts_info == FTS_F)
			read_beginning(entry->fts_path);
	}
	if (fts)
		fts_close(fts);
}

/* The worker ends in worker_hear(), when this process is gone. */
static void probe_paths(const void *data)
{
	char path[PATH_MAX];

	(void)data;
	for (;;) {
		worker_hear(path, sizeof(path));
		walk_path(path);
		worker_put(PROBED, 0, "", 0);
	}
}

static int use_probed(void *data, const struct worker_head *head, const void *payload)
{
	bool *waiting = data;

	(void)head;
	(void)payload;
	*waiting = false;
	return 1;
}

/* NULL: none can be started, and paths are opened without. */
static struct worker *get_prober(struct netsync_io *io)
{
	const struct worker_task task = {
		.run = probe_paths,
		.limits = { .memory = UINT64_MAX / 2 },
	};

	if (io->prober)
		return io->prober;
	io->prober = calloc(1, sizeof(*io->prober));
	if (io->prober && worker_start(io->prober, &task, NULL) < 0) {
		free(io->prober);
		io->prober = NULL;
	}
	return io->prober;
}

void io_stop_prober(struct netsync_io *io)
{
	if (!io->prober)
		return;
	worker_stop(io->prober);
	free(io->prober);
	io->prober = NULL;
}

int io_probe_path(struct netsync_io *io, const char *path, const char *name)
{
	struct patience patience = { .io = io, .name = name, .path = path };
	const struct worker_patience waits = io_worker_patience(&patience);
	struct worker *prober = get_prober(io);
	char command[PATH_MAX] = "";
	bool waiting = true, is_stuck;

	/* The system refuses a longer path. */
	if (!prober || strlen(path) >= sizeof(command))
		return 0;
	memcpy(command, path, strlen(path));
	worker_tell(prober, command, sizeof(command));
	if (worker_receive_while(prober, &waiting, use_probed, &waiting, &waits) > 0)
		return 0;
	is_stuck = prober->is_stuck;
	io_stop_prober(io);
	return is_stuck ? io_fail(io, -ETIMEDOUT, "%s: nothing was read from it for %lld s.",
				  path, (long long)io_timeout_ms(io) / 1000) : 0;
}

/* ---- what is skipped ------------------------------------------------------------ */

bool io_is_lost(int err)
{
	return err == -ETIMEDOUT || err == -ECHILD;
}

int io_leave_out(struct netsync_io *io, const char *what)
{
	struct left_out *last = array_add(&io->left_out, io->num_left_out, sizeof(*last));

	if (!last)
		return io_no_memory(io);
	*last = (struct left_out){ strdup(what), strdup(netsync_io_error(io)) };
	io->num_left_out++;
	if (!last->what || !last->why)
		return io_no_memory(io);
	io_warn(io, "%s It is skipped.", last->why);
	return 0;
}

void io_free_left_out(struct netsync_io *io)
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
