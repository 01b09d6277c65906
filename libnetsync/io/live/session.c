// SPDX-License-Identifier: LGPL-2.1-or-later
/* Process the packets, spans and losses that the viewer of a live session sends. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/live/internal.h"
#include "util/array.h"

/*
 * Wait (ms) before a session that could not be read is tried again. It doubles each time. Chosen.
 */
#define RETRY_SESSION_MS 1000
#define RETRY_MAX_MS 30000
/* Time in which lttng-relayd notices that a viewer has left (ms). Chosen. */
#define LEAVING_MS 2000

/* ---- records from viewers ---------------------------------------------- */

static char *format_time_text(char *buffer, size_t size, int64_t time_ns)
{
	time_t seconds = time_ns / 1000000000 - (time_ns % 1000000000 < 0);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(buffer, size, "%F %T", &tm))
		snprintf(buffer, size, "%lld ns", (long long)time_ns);
	return buffer;
}

static int add_session_trace(struct session *session, const struct ctf_identity *is)
{
	struct netsync_io *io = session->relay->io;
	struct trace **own = array_add(&session->traces, session->num_traces, sizeof(*own));
	struct trace *trace;
	int ret;

	if (!own)
		return io_fail_no_memory(io);
	trace = live_add_trace(io->live, session->is.url);
	if (!trace)
		return -ENOMEM;
	*own = trace;
	session->num_traces++;
	trace->info.format = ctf_reader.format;
	trace->info.late = session->late;
	trace->real_path = strdup(session->is.url);
	ret = ctf_set_identity(trace, is);
	if (ret < 0)
		return ret;
	if (!trace->real_path || io_make_printable(&trace->host_name))
		return io_fail_no_memory(io);
	session->held = !io->live->has_begun;
	return session->held ? 1 : live_find_host(io->live, trace);
}

static int use_session_trace(struct session *session, size_t number, const struct ctf_identity *is)
{
	int ret = 0;

	if (number >= session->num_traces)
		ret = add_session_trace(session, is);
	if (number < session->num_traces) {
		session->traces[number]->has_network = is->has_network;
		session->traces[number]->has_unusable = is->has_unusable;
	}
	return ret;
}

/* At the first span of a session that was already running, warn that its data begin only there. */
static void warn_of_late_start(struct session *session, const struct worker_head *head,
			       const void *payload)
{
	struct bytes_take span = bytes_take_all(payload, head->size);
	char begin[64];

	if (!session->late || session->has_reported_late)
		return;
	io_warn(session->relay->io, "%s: the session was already running; its data starts at %s.",
		session->is.url, format_time_text(begin, sizeof(begin), bytes_take_signed(&span)));
	session->has_reported_late = true;
}

/* Warn of losses when the first of them are reported. */
static void warn_of_live_losses(const struct trace *trace, bool had_lost_events,
				bool had_lost_packets, bool had_out_of_range)
{
	struct netsync_io *io = trace->io;

	if (trace->info.lost_events && !had_lost_events)
		io_warn(io, "%s: the tracer has started to discard events; %s.", trace->path,
			ctf_reader.avoids_loss);
	if (trace->info.lost_packets && !had_lost_packets)
		io_warn(io, "%s: trace packets are missing because the tracer overwrites them.",
			trace->path);
	if (trace->out_of_range && !had_out_of_range)
		io_warn(io,
			"%s: packet events outside the years 1824 to 2116 are not used; check that the clock of %s is set.",
			trace->path, trace->host_name);
}

/* Process a record of io/stream about a trace. */
static int use_trace_record(struct session *session, const struct worker_head *head,
			    const void *payload)
{
	struct trace *trace = session->traces[head->number];
	const bool had_lost_events = trace->info.lost_events;
	const bool had_lost_packets = trace->info.lost_packets;
	const bool had_out_of_range = trace->out_of_range;
	const uint64_t packets = session->stream.num_packets;
	int ret;

	session->stream.trace = trace;
	session->stream.number = head->number;
	if (head->what == STREAM_SPAN)
		warn_of_late_start(session, head, payload);
	ret = stream_use_record(&session->stream, trace->io, head, payload);
	if (head->what == STREAM_STATE)
		warn_of_live_losses(trace, had_lost_events, had_lost_packets, had_out_of_range);
	trace->io->live->packets += session->stream.num_packets - packets;
	return ret;
}

static void use_session_time(struct session *session, int64_t time_ns)
{
	bool has_network = false;

	session->time_ns = time_ns;
	session->has_time = true;
	/* A session that fails repeatedly before this point is not retried more often. */
	if (live_now_ms() - session->began_ms > RETRY_MAX_MS)
		session->delay_ms = 0;
	if (session->has_reported_silent || live_now_ms() - session->began_ms < SETTLE_MS)
		return;
	for (size_t i = 0; i < session->num_traces; i++)
		has_network |= session->traces[i]->has_network || session->traces[i]->has_unusable;
	if (!has_network)
		io_warn(session->relay->io, "%s: no network events in this session; %s.",
			session->is.url, ctf_reader.to_record);
	session->has_reported_silent = true;
}

static void warn_of_failed_session(const struct session *session, const char *why)
{
	io_warn(session->relay->io, "%s: reading the session failed (%s); trying again.",
		session->is.url, why);
}

static int use_viewer_record(void *data, const struct worker_head *head, const void *payload)
{
	struct session *session = data;

	switch (head->what) {
	case LIVE_TRACE:
		return use_session_trace(session, head->number, payload);
	case LIVE_TIME:
		use_session_time(session, *(const int64_t *)payload);
		return 0;
	case STREAM_WARNING:
		io_warn(session->relay->io, "%s", (const char *)payload);
		return 0;
	case STREAM_ERROR:
		warn_of_failed_session(session, payload);
		session->failed = true;
		return 0;
	default:
		return head->number < session->num_traces ?
			       use_trace_record(session, head, payload) :
			       0;
	}
}

/* ---- attaching --------------------------------------------------------- */

static int attach_viewer(struct session *session)
{
	struct netsync_io *io = session->relay->io;
	const struct live_task task = { io, session->is.url };
	int ret = worker_start(&session->viewer, &live_view, &task);

	if (!session->is.streams)
		session->late = false;
	session->failed = false;
	session->has_reported_busy = false;
	session->has_reported_late = false;
	session->has_reported_silent = false;
	session->has_time = false;
	session->num_traces = 0;
	memset(&session->stream, 0, sizeof(session->stream));
	session->began_ms = io->live->newest_ms = live_now_ms();
	if (ret < 0)
		return io_fail(io, ret, "%s: cannot start a process to read the session: %s.",
			       session->is.url, strerror(-ret));
	return 0;
}

/* Handle the end of a viewer, which ends with the session or because it failed. */
static void detach_viewer(struct session *session)
{
	int status = worker_stop(&session->viewer);
	bool failed = session->failed;

	if (status && !failed) {
		if (live_has_timed_out(status))
			io_warn(session->relay->io,
				"%s: the relay daemon has not responded for %d s; trying again.",
				session->is.url, LIVE_PATIENCE_S);
		else
			warn_of_failed_session(session, ctf_explain_end(status));
		failed = true;
	}
	for (size_t i = 0; i < session->num_traces; i++)
		session->traces[i]->info.running = 0;
	session->num_traces = 0;
	/* If the session has reappeared, data may have been missed meanwhile. */
	session->late = true;
	session->left_ms = live_now_ms();
	if (!failed)
		return;
	session->delay_ms = session->delay_ms ? session->delay_ms * 2 : RETRY_SESSION_MS;
	if (session->delay_ms > RETRY_MAX_MS)
		session->delay_ms = RETRY_MAX_MS;
	session->retry_ms = session->left_ms + session->delay_ms;
}

int session_attach(struct session *session)
{
	if (session->viewer.fd >= 0 || live_now_ms() < session->retry_ms)
		return 0;
	if (!session->is.clients)
		return attach_viewer(session);
	/* The current viewer may still be the previous one of this process. */
	if (session->left_ms && live_now_ms() < session->left_ms + LEAVING_MS)
		return 0;
	if (!session->has_reported_busy)
		io_warn(session->relay->io,
			"%s: the session already has another viewer, and the relay daemon allows only one; waiting until that viewer leaves.",
			session->is.url);
	session->has_reported_busy = true;
	session->late = true;
	return 0;
}

int session_receive(struct session *session)
{
	int ret = worker_receive(&session->viewer, use_viewer_record, session);

	if (!ret)
		detach_viewer(session);
	return ret < 0 ? ret : 0;
}

void session_free(struct session *session)
{
	worker_stop(&session->viewer);
	free(session->traces);
	free(session);
}
