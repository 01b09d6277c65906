// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decode the bytes that a server sends: first to frames, then to decompressed data, and finally to
 * records.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#include "io/patience.h"
#include "io/remote/protocol.h"
#include "io/remote/remote.h"
#include "io/stream/stream.h"

/* Size of the buffer for decompressed data (bytes). Chosen to exceed the size of any record. */
#define PLAIN_SIZE 65536

struct receiver {
	struct netsync_io *io;
	const char *label;
	int in, out;
	ZSTD_DCtx *zstd;
	const char *why; /* reason why no more records follow, or NULL */
	bool greeted;
	/* Time since the last data, and since the last record (ms). */
	int64_t silent_ms, mute_ms;
	bool has_warned; /* whether a warning about the current wait was printed */
	uint64_t bytes;	 /* number of bytes received */
	/*
	 * Received data, which are unused from @at on, and the number of bytes that are missing in
	 * the current frame.
	 */
	uint8_t raw[REMOTE_MAX_FRAME];
	size_t at, num;
	size_t left;
	bool held; /* whether zstd may have more output for the input that it has consumed */
	uint8_t plain[PLAIN_SIZE];
	size_t plain_at, plain_num;
	char payload[WORKER_MAX_SIZE + 1];
	/* Commands that the connection has not accepted yet. */
	uint8_t *unsent;
	size_t num_unsent, unsent_room;
};

static int64_t now_ms(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct receiver *receiver_new(struct netsync_io *io, const char *label, int in, int out)
{
	struct receiver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->io = io;
	r->label = label;
	r->in = in;
	r->out = out;
	r->zstd = ZSTD_createDCtx();
	if (r->zstd &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, REMOTE_WINDOW_LOG)))
		return r;
	receiver_free(r);
	return NULL;
}

void receiver_free(struct receiver *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	free(r->unsent);
	free(r);
}

const char *receiver_get_why(const struct receiver *r)
{
	return r->why;
}

uint64_t receiver_get_bytes(const struct receiver *r)
{
	return r->bytes;
}

/* End receiving because of @why, unless a reason was stored before. Always return false. */
static bool end_receiving(struct receiver *r, const char *why)
{
	if (!r->why)
		r->why = why;
	return false;
}

/* ---- connection ---------------------------------------------------------------- */

static void write_unsent_commands(struct receiver *r)
{
	const ssize_t num = write(r->out, r->unsent, r->num_unsent);

	if (num < 0 && errno != EAGAIN && errno != EINTR)
		end_receiving(r, "the connection ended");
	if (num <= 0)
		return;
	r->num_unsent -= num;
	memmove(r->unsent, r->unsent + num, r->num_unsent);
}

bool receiver_send_data(struct receiver *r, const void *data, size_t size)
{
	if (r->unsent_room - r->num_unsent < size) {
		const size_t room = 2 * r->unsent_room + size;
		uint8_t *unsent = realloc(r->unsent, room);

		if (!unsent)
			return end_receiving(r, "out of memory");
		r->unsent = unsent;
		r->unsent_room = room;
	}
	memcpy(r->unsent + r->num_unsent, data, size);
	r->num_unsent += size;
	write_unsent_commands(r);
	return !r->why;
}

/* Return false if no more data will arrive. */
static bool read_connection(struct receiver *r)
{
	ssize_t num;

	memmove(r->raw, r->raw + r->at, r->num - r->at);
	r->num -= r->at;
	r->at = 0;
	num = read(r->in, r->raw + r->num, sizeof(r->raw) - r->num);
	if (num < 0)
		return errno == EAGAIN || errno == EINTR ||
		       end_receiving(r, "the connection ended");
	if (!num)
		return end_receiving(r, "the connection ended");
	r->num += num;
	r->bytes += num;
	r->silent_ms = 0;
	return true;
}

/* Print one warning in each wait. The server itself may have printed one before. */
static void warn_of_wait(struct receiver *r)
{
	const int64_t warning_ms = io_get_warning_ms(r->io);

	if (r->has_warned || r->mute_ms < warning_ms * 3 / 2)
		return;
	r->has_warned = true;
	if (r->silent_ms >= warning_ms)
		io_warn(r->io, "%s: no response for %lld s; waiting up to %lld s.", r->label,
			(long long)r->silent_ms / 1000,
			(long long)io_get_timeout_ms(r->io) * REMOTE_SLACK_PERCENT / 100000);
	else
		io_warn(r->io,
			"%s: the remote netsync is alive, but has found nothing for %lld s; waiting up to %lld s.",
			r->label, (long long)r->mute_ms / 1000,
			(long long)io_get_timeout_ms(r->io) * REMOTE_MUTE / 1000);
}

/* Add @ms to the time of waiting. Return false if the time limit has passed. */
static bool count_waiting_time(struct receiver *r, int64_t ms)
{
	const int64_t limit_ms = io_get_timeout_ms(r->io);

	/* Both ends may have been stopped for a long time, for example by ^Z. */
	ms = ms < 2 * WORKER_TICK_MS ? ms : WORKER_TICK_MS;
	r->silent_ms += ms;
	r->mute_ms += ms;
	if (r->silent_ms >= limit_ms * REMOTE_SLACK_PERCENT / 100)
		return end_receiving(r, "it no longer responds");
	if (r->mute_ms >= limit_ms * REMOTE_MUTE)
		return end_receiving(r, "the remote netsync is alive, but sends no data");
	warn_of_wait(r);
	return true;
}

/* Wait until data can be received or sent. If the connection has ended, return false. */
static bool wait_for_more(struct receiver *r)
{
	struct pollfd fds[] = {
		{ .fd = r->in, .events = POLLIN },
		{ .fd = r->num_unsent ? r->out : -1, .events = POLLOUT },
	};
	const int64_t begin_ms = now_ms();
	const int num = poll(fds, 2, WORKER_TICK_MS);

	if (num < 0)
		return errno == EINTR || end_receiving(r, "the connection ended");
	if (!count_waiting_time(r, now_ms() - begin_ms))
		return false;
	if (fds[1].revents)
		write_unsent_commands(r);
	return fds[0].revents ? read_connection(r) : !r->why;
}

/* ---- frames ---------------------------------------------------------------------- */

static bool check_hello(struct receiver *r)
{
	const uint8_t *hello = r->raw;

	if (memcmp(hello, REMOTE_MAGIC, sizeof(REMOTE_MAGIC) - 1))
		return end_receiving(r, "the data does not follow the netsync protocol");
	if (hello[REMOTE_HELLO_SIZE - 1] != REMOTE_VERSION)
		return end_receiving(
			r,
			"the remote netsync uses another version of the protocol; install the same version of netsync on both machines");
	r->at = REMOTE_HELLO_SIZE;
	return r->greeted = true;
}

/* Read the size of the next frame. */
static bool read_frame_head(struct receiver *r)
{
	r->left = remote_get_32(r->raw + r->at);
	r->at += 4;
	return r->left <= REMOTE_MAX_FRAME ||
	       end_receiving(r, "the data does not follow the netsync protocol");
}

static bool decompress_received(struct receiver *r)
{
	const size_t size = r->left < r->num - r->at ? r->left : r->num - r->at;
	ZSTD_inBuffer in = { r->raw + r->at, size, 0 };
	ZSTD_outBuffer out = { r->plain, sizeof(r->plain), r->plain_num };
	size_t ret;

	ret = ZSTD_decompressStream(r->zstd, &out, &in);
	/* In valid data, the stream never ends. */
	if (ZSTD_isError(ret) || !ret)
		return end_receiving(r, "the data is damaged");
	r->at += in.pos;
	r->left -= in.pos;
	r->held = out.pos == out.size;
	r->plain_num = out.pos;
	return true;
}

/* Get more decompressed data. If there are none, return false. */
static bool get_more_records(struct receiver *r)
{
	if (r->why)
		return false;
	memmove(r->plain, r->plain + r->plain_at, r->plain_num - r->plain_at);
	r->plain_num -= r->plain_at;
	r->plain_at = 0;
	if (!r->greeted)
		return r->num < REMOTE_HELLO_SIZE ? wait_for_more(r) : check_hello(r);
	if (r->held || (r->left && r->at < r->num))
		return decompress_received(r);
	if (!r->left && r->num - r->at >= 4)
		return read_frame_head(r);
	return wait_for_more(r);
}

bool receiver_next_record(struct receiver *r, struct worker_head *head, const char **payload)
{
	ssize_t num;

	while (!(num = worker_decode_record(r->plain + r->plain_at, r->plain_num - r->plain_at,
					    head, r->payload)))
		if (!get_more_records(r))
			return false;
	if (num < 0)
		return end_receiving(r, "the data does not follow the netsync protocol");
	r->plain_at += num;
	r->mute_ms = 0;
	r->has_warned = head->what == STREAM_WARNING;
	*payload = r->payload;
	return true;
}
