// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Serve traces of this machine to the client at the other end of a connection. A worker reads the
 * traces and passes the requested records to this process. This process compresses the records.
 * While the worker sends none, it sends keepalives.
 */
#include <errno.h>
#include <fts.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "io/patience.h"
#include "io/remote/protocol.h"
#include "io/stream/stream.h"

/*
 * Compression level of zstd. Chosen: it compresses well, and faster than any network except
 * loopback can send.
 */
#define LEVEL 3

struct serving {
	struct netsync_io *io;
	const char *const *what;
	uint32_t num;
	bool only_described; /* whether the client only requests the list of traces */
};

static struct {
	size_t left_out; /* number of given paths and captures that were skipped */
	/* Turns that were received but not read yet. */
	struct stream_turn turns[REMOTE_MAX_TURNS];
	size_t num_turns;
} found;

/* ---- in the worker: list of traces ------------------------------------------- */

/*
 * Send a sidecar file, unless it was sent for the previous trace. Consecutive traces usually have
 * the same sidecar files.
 */
static void send_sidecar_file(const struct trace *trace, enum sidecar which)
{
	static char *last[NUM_SIDECARS];
	char bytes[WORKER_MAX_SIZE], *path;
	struct disk_file *file = io_open_sidecar(trace, which, &path);
	const bool is_known = path && last[which] && !strcmp(path, last[which]);
	ssize_t num;

	if (!file)
		return;
	if (file->st.st_size > REMOTE_MAX_SIDECAR) {
		io_warn(trace->io, "%s: too large to be read remotely; it was not used.", path);
		disk_close(file);
		free(path);
		return;
	}
	worker_put_text(STREAM_SIDECAR, which, path);
	for (off_t at = 0; !is_known && at < file->st.st_size; at += num) {
		num = disk_read(file, bytes, min64(sizeof(bytes), file->st.st_size - at), at);
		if (num <= 0)
			break;
		worker_put(STREAM_SIDECAR_BYTES, which, bytes, num);
	}
	disk_close(file);
	free(last[which]);
	last[which] = path;
}

static void send_trace_description(struct trace *trace, size_t number)
{
	static const struct trace_counts none;
	uint8_t bytes[CODE_MAX_EVENT];
	struct bytes_put put = { bytes };

	worker_put_text(STREAM_PATH, 0, trace->path);
	worker_put_text(STREAM_REAL_PATH, 0, trace->real_path);
	worker_put_text(STREAM_HOST, 0, trace->host_name);
	worker_put_text(STREAM_FORMAT, 0, trace->reader->format);
	if (trace->clock_name)
		worker_put_text(STREAM_CLOCK, 0, trace->clock_name);
	for (unsigned int i = 0; i < NUM_SIDECARS; i++)
		send_sidecar_file(trace, i);
	bytes_put_number(&put, trace->has_clock_uuid);
	bytes_put_raw(&put, trace->clock_uuid, UUID_SIZE);
	bytes_put_number(&put, trace->has_uuid);
	bytes_put_raw(&put, trace->uuid, UUID_SIZE);
	bytes_put_number(&put, trace->has_network);
	bytes_put_number(&put, trace->has_netns);
	bytes_put_signed(&put, trace->epoch_ns);
	bytes_put_number(&put, trace->has_wall);
	bytes_put_signed(&put, trace->wall_shift_ns);
	bytes_put_signed(&put, trace->range.lo);
	bytes_put_signed(&put, trace->range.hi);
	bytes_put_number(&put, trace->range_hash);
	bytes_put_number(&put, trace->max_points);
	trace->sent = trace_get_counts(trace);
	trace_encode_counts(&put, &none, &trace->sent);
	worker_put(STREAM_TRACE, number, bytes, put.at - bytes);
}

/* Compute the size of all files of a trace (bytes). */
static uint64_t compute_trace_size(const struct trace *trace)
{
	char *paths[] = { trace->real_path, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	uint64_t size = 0;
	FTSENT *entry;

	while (fts && (entry = fts_read(fts)))
		if (entry->fts_info == FTS_F)
			size += (uint64_t)entry->fts_statp->st_size;
	if (fts)
		fts_close(fts);
	return size;
}

static void send_trace_descriptions(const struct netsync_io *io)
{
	const size_t left_out = found.left_out + io->num_left_out;
	uint8_t bytes[CODE_MAX_EVENT];
	struct bytes_put put = { bytes };
	uint64_t size = 0;

	for (size_t i = 0; i < io->num_traces; i++) {
		send_trace_description(io->traces[i], i);
		size += compute_trace_size(io->traces[i]);
	}
	bytes_put_number(&put, size);
	worker_put(STREAM_OPENED, left_out < UINT16_MAX ? left_out : UINT16_MAX, bytes,
		   put.at - bytes);
}

/*
 * Add all paths. If a path is wrong, traces that were found before it are still used. If no path
 * has a trace, return the error of the only path. If there are several paths, their errors have
 * already been reported.
 */
static int add_served_paths(const struct serving *serving)
{
	struct netsync_io *io = serving->io;

	for (uint32_t i = 0; i < serving->num; i++) {
		const size_t before = io->num_traces;
		const int ret = netsync_io_add(io, serving->what[i]);

		if (ret >= 0)
			continue;
		if (ret == -ENOMEM || (serving->num == 1 && !io->num_traces))
			return ret;
		/* This error was already reported and counted. */
		if (ret == -ETIMEDOUT)
			continue;
		if (io->num_traces > before)
			io_warn(io, "%s The rest of %s was skipped.", netsync_io_error(io),
				serving->what[i]);
		else
			io_warn(io, "%s It was skipped.", netsync_io_error(io));
		found.left_out++;
	}
	return io->num_traces ? 0 :
				io_fail(io, -ENODATA,
					"None of the paths contains a trace that can be opened.");
}

/*
 * Skip captures. The directions of their packets depend on all captures together, and this machine
 * does not have all of them.
 */
static int skip_captures(struct netsync_io *io)
{
	struct trace *first = NULL;
	size_t kept = 0, num;
	int ret = 0;

	for (size_t i = 0; i < io->num_traces; i++) {
		struct trace *trace = io->traces[i];

		if (trace->reader != &pcap_reader)
			io->traces[kept++] = trace;
		else if (!first)
			first = trace;
		else
			io_free_trace(trace);
	}
	if (!first)
		return 0;
	num = io->num_traces - kept;
	io->num_traces = kept;
	found.left_out += num;
	if (!kept)
		ret = io_fail(io, -EOPNOTSUPP,
			      "%s: captures cannot be read remotely; copy it instead.",
			      first->path);
	else if (num == 1)
		io_warn(io,
			"%s: captures cannot be read remotely, so it was skipped; copy it instead.",
			first->path);
	else
		io_warn(io,
			"%s: captures cannot be read remotely, so %zu of them, such as this one, were skipped; copy them instead.",
			first->path, num);
	io_free_trace(first);
	return ret;
}

static int check_number_of_traces(struct netsync_io *io)
{
	return io->num_traces <= REMOTE_MAX_TRACES ?
		       0 :
		       io_fail(io, -E2BIG,
			       "There are more than %d traces; specify fewer at a time.",
			       REMOTE_MAX_TRACES);
}

static int open_served_traces(const struct serving *serving, struct io_host **hosts, size_t *num)
{
	struct netsync_io *io = serving->io;
	int ret;

	/* The parent process does not know for which file the worker is waiting. */
	disk_use_in_process(io->disk);
	ret = add_served_paths(serving);
	if (ret >= 0)
		ret = skip_captures(io);
	if (ret >= 0)
		ret = check_number_of_traces(io);
	if (ret >= 0)
		ret = io_make_hosts(io, hosts, num);
	if (ret >= 0)
		ret = io_prepare_readers(io);
	if (ret < 0)
		return ret;
	if (!serving->only_described)
		io_divide_traces(io, io->num_traces);
	send_trace_descriptions(io);
	return 0;
}

/* ---- in the worker: turns ------------------------------------------------------ */

/* Receive turns. Wait for the first turn, and also use all turns that have already arrived. */
static void receive_remote_turns(struct netsync_io *io)
{
	while (!found.num_turns || (found.num_turns < REMOTE_MAX_TURNS && worker_has_command())) {
		const struct stream_turn turn = stream_receive_turn();
		const uint32_t number = turn.trace & ~STREAM_FLAGS;

		if (number >= io->num_traces || stream_limit_window(io->traces[number], &turn))
			continue;
		/*
		 * Ignore turns that were requested before the client knew that the trace had ended.
		 */
		if (io->traces[number]->has_ended || turn.trace & STREAM_KNOWN)
			continue;
		io_read_ahead(io->traces[number], turn.until_ns);
		found.turns[found.num_turns++] = turn;
	}
	io_begin_reading(io);
}

static int read_next_turn(struct netsync_io *io)
{
	const struct stream_turn turn = found.turns[0];
	struct trace *trace = io->traces[turn.trace];

	memmove(found.turns, found.turns + 1, --found.num_turns * sizeof(found.turns[0]));
	return trace->has_ended ? 0 : io_read_turn(trace, turn.trace, &turn);
}

static void run_serving_reader(const void *data)
{
	const struct serving *serving = data;
	struct netsync_io *io = serving->io;
	struct io_host *hosts = NULL;
	size_t num_hosts = 0;
	int ret;

	stream_begin(io);
	ret = open_served_traces(serving, &hosts, &num_hosts);
	if (!ret && serving->only_described)
		return;
	while (ret >= 0) {
		receive_remote_turns(io);
		ret = read_next_turn(io);
	}
	stream_put_error(io, ret);
}

/* ---- in the parent process: connection to the client ---------------------------- */

struct sending {
	struct worker worker;
	ZSTD_CCtx *zstd;
	int in, out;
	int error;	    /* error of writing */
	int64_t give_up_ms; /* longest wait for a worker without progress (ms) */
	int64_t silent_ms;  /* time since the worker has made progress (ms) */
	int64_t unsaid_ms;  /* time since the last frame or keepalive (ms) */
	bool failed;	    /* whether no further failure must be reported to the client */
	/* The size of a frame, followed by the frame. */
	uint8_t frame[4 + REMOTE_MAX_FRAME];
	size_t used;
};

static int write_connection(struct sending *s, const void *data, size_t size)
{
	const char *from = data;

	while (size && !s->error) {
		const ssize_t num = write(s->out, from, size);
		struct pollfd fd = { .fd = s->out, .events = POLLOUT };

		if (num < 0 && errno == EAGAIN)
			poll(&fd, 1, -1);
		else if (num < 0 && errno != EINTR)
			s->error = -errno;
		if (num > 0) {
			from += num;
			size -= num;
		}
	}
	return s->error;
}

static int send_frame(struct sending *s)
{
	remote_put_32(s->frame, s->used);
	write_connection(s, s->frame, 4 + s->used);
	s->used = 0;
	return s->error;
}

static int compress_to_frames(struct sending *s, const void *data, size_t size,
			      ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { s->frame + 4, REMOTE_MAX_FRAME, s->used };

		left = ZSTD_compressStream2(s->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return s->error = -ENOMEM;
		s->used = out.pos;
		if (s->used == REMOTE_MAX_FRAME)
			send_frame(s);
	} while (!s->error && (in.pos < size || (how == ZSTD_e_flush && left)));
	return s->error;
}

/* Pass a record from the worker to the client. */
static int send_record(void *data, const struct worker_head *head, const void *payload)
{
	struct sending *s = data;
	uint8_t bytes[WORKER_HEAD_SIZE];

	s->failed |= head->what == STREAM_ERROR;
	worker_encode_head(bytes, head);
	compress_to_frames(s, bytes, sizeof(bytes), ZSTD_e_continue);
	return compress_to_frames(s, payload, head->size, ZSTD_e_continue);
}

/* When the worker has ended, send the reason, unless the worker has sent one. */
static void send_end_reason(struct sending *s, const char *why)
{
	const struct worker_head head = { strlen(why) + 1, STREAM_ERROR, EIO };

	worker_stop(&s->worker);
	if (!s->failed)
		send_record(s, &head, why);
}

/*
 * Called if the worker has sent nothing for WORKER_TICK_MS. If the worker is given up, return
 * false.
 */
static bool check_worker_progress(struct sending *s)
{
	s->silent_ms += WORKER_TICK_MS;
	s->unsaid_ms += WORKER_TICK_MS;
	if (worker_made_progress(&s->worker))
		s->silent_ms = 0;
	if (s->silent_ms >= s->give_up_ms) {
		send_end_reason(
			s,
			"the remote process that reads the traces made no progress and was abandoned");
		if (!compress_to_frames(s, NULL, 0, ZSTD_e_flush) && s->used)
			send_frame(s);
		return false;
	}
	if (s->silent_ms || s->unsaid_ms < REMOTE_ALIVE_MS)
		return true;
	s->unsaid_ms = 0;
	return !send_frame(s);
}

/* Pass commands to the worker. If the client has closed the connection, return false. */
static bool forward_commands(struct sending *s)
{
	uint8_t bytes[WORKER_MAX_SIZE];
	const ssize_t num = read(s->in, bytes, sizeof(bytes));

	if (num > 0)
		worker_send_command(&s->worker, bytes, (size_t)num);
	return num > 0 || (num < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Transfer data once. If the client is gone or has received the end, return false. */
static bool relay_data_once(struct sending *s)
{
	struct pollfd fds[] = {
		/*
		 * While commands remain unsent, do not read more, so that the client cannot fill
		 * the memory.
		 */
		{ .fd = s->in, .events = s->worker.num_unsent ? 0 : POLLIN },
		{ .fd = s->worker.fd, .events = POLLIN | (s->worker.num_unsent ? POLLOUT : 0) },
	};
	const int num = poll(fds, 2, WORKER_TICK_MS);
	int ret = 1;

	if (num < 0)
		return errno == EINTR;
	if (!num)
		return check_worker_progress(s);
	s->silent_ms = 0;
	if (fds[0].revents && !forward_commands(s))
		return false;
	if (fds[1].revents)
		ret = worker_receive(&s->worker, send_record, s);
	if (!ret)
		send_end_reason(s, "the remote process that reads the traces exited early");
	/* Records that follow immediately are compressed better if they are in the same frame. */
	if (!s->error && (ret <= 0 || !worker_has_more(&s->worker)) &&
	    !compress_to_frames(s, NULL, 0, ZSTD_e_flush) && s->used)
		send_frame(s);
	return ret > 0 && !s->error;
}

static int begin_serving(struct netsync_io *io, struct sending *s, const struct serving *serving)
{
	const struct worker_task task = {
		.run = run_serving_reader,
		/*
		 * The worker's own reading has no limits. The worker's reader processes have limits
		 * of their own.
		 */
		.limits = { .memory = UINT64_MAX / 2 },
	};
	uint8_t hello[REMOTE_HELLO_SIZE] = REMOTE_MAGIC;
	int ret;

	hello[REMOTE_HELLO_SIZE - 1] = REMOTE_VERSION;
	if (write_connection(s, hello, sizeof(hello)))
		return s->error;
	s->zstd = ZSTD_createCCtx();
	if (!s->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_windowLog, REMOTE_WINDOW_LOG)))
		return io_fail_no_memory(io);
	ret = worker_start(&s->worker, &task, serving);
	return ret < 0 ? io_fail(io, ret, "Cannot start a process to read the traces: %s.",
				 strerror(-ret)) :
			 0;
}

/* Serve the traces. If no commands are to be received, @in is -1. */
static int serve_traces(const struct serving *serving, int in, int out)
{
	struct netsync_io *io = serving->io;
	struct sending *s;
	int ret;

	if (io->num_traces || io->num_texts || io->live || io->was_read)
		return io_fail(io, -EBUSY,
			       "A reader that serves traces cannot be used for any other purpose.");
	s = calloc(1, sizeof(*s));
	if (!s)
		return io_fail_no_memory(io);
	s->in = in;
	s->out = out;
	s->give_up_ms = io_get_timeout_ms(io) * REMOTE_SLACK_PERCENT / 100;
	s->worker.fd = -1;
	/* If a client receives only the list of traces, it does not get a record about the end. */
	s->failed = serving->only_described;
	ret = begin_serving(io, s, serving);
	io->was_read = true;
	while (!ret && relay_data_once(s))
		;
	worker_stop(&s->worker);
	ZSTD_freeCCtx(s->zstd);
	free(s);
	return ret;
}

int netsync_io_serve(struct netsync_io *io, const char *const *what, uint32_t num, int in, int out)
{
	const struct serving serving = { io, what, num, .only_described = false };

	return serve_traces(&serving, in, out);
}

int netsync_io_describe(struct netsync_io *io, const char *const *what, uint32_t num, int out)
{
	const struct serving serving = { io, what, num, .only_described = true };

	return serve_traces(&serving, -1, out);
}
