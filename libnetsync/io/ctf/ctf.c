// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A CTF trace -> packet events, read by workers (read.c): much in a damaged or hostile
 * trace ends libbabeltrace2 2.0 and its process. One opens the trace; where there are more
 * jobs than traces, others join it, and each reads a share of the streams.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/read.h"
#include "io/ctf/stream.h"
#include "io/events.h"
#include "io/patience.h"
#include "util/array.h"

/* A worker, and how far it has read its share of the streams. */
struct ctf_worker {
	struct trace *trace;
	struct worker worker;
	struct stream stream; /* from it; quiet while it joins, as all of that was said before */
	struct ctf_opened opened;
	bool waiting;	      /* for CTF_OPENED, or until read_ns > until_ns */
	int64_t until_ns;     /* end of the slice that is read now, as printed */
	int64_t asked_ns;     /* it was asked for all up to this */
	int64_t read_ns;      /* the worker has sent all packets before */
	struct range packets; /* times of packets that came, ns; hi < lo: none */
};

struct ctf {
	struct ctf_files files;
	struct ctf_worker **readings;
	uint32_t num_readings;
};

static bool ctf_claims(const struct found *found)
{
	struct stat metadata;
	char *name;
	bool claims;

	if (!S_ISDIR(found->st->st_mode))
		return false;
	name = io_format("%s/metadata", found->path);
	claims = name && !stat(name, &metadata) && S_ISREG(metadata.st_mode);
	free(name);
	return claims;
}

/* ---- what the worker sends --------------------------------------------- */

static bool was_read_until(const struct ctf_worker *in, int64_t until_ns)
{
	return in->read_ns > until_ns || in->read_ns == INT64_MAX;
}

static int use_ctf_worker_record(void *data, const struct worker_head *head, const void *payload)
{
	struct ctf_worker *in = data;
	int ret;

	if (head->what == CTF_OPENED) {
		memcpy(&in->opened, payload, sizeof(in->opened));
		in->stream.is_quiet = false;
		in->waiting = false;
		return 0;
	}
	ret = stream_use(&in->stream, in->trace->io, head, payload);
	if (ret <= 0)
		return ret;
	in->read_ns = in->stream.end.read_ns;
	in->waiting = !was_read_until(in, in->until_ns);
	/* Records that were read ahead stay in the socket until their turn number is due. */
	return !in->waiting;
}

/*
 * Return 1 if the worker has completed its task; 0 if it has ended; or a negative value after
 * io_fail().
 */
static int wait_for_worker(struct ctf_worker *in)
{
	struct patience patience = io_trace_patience(in->trace);
	const struct worker_patience waits = io_worker_patience(&patience);

	in->waiting = true;
	return worker_receive_while(&in->worker, &in->waiting, use_ctf_worker_record, in, &waits);
}

/* The worker has ended before its streams: warn about the rest, which is lost. */
static int give_up_ctf_worker(struct ctf_worker *in)
{
	const struct ctf *ctf = in->trace->state;
	const int status = worker_stop(&in->worker);
	const bool all = ctf->num_readings == 1;
	const bool killed = worker_was_killed(status);

	const bool is_stuck = status == -ETIMEDOUT;

	in->read_ns = INT64_MAX;
	in->trace->info.killed += killed;
	in->trace->info.stuck += is_stuck;
	return io_broke_off(in->trace, &in->packets,
			    killed || is_stuck ?
				    (all ? "" : "some streams were ") :
				    (all ? "damaged; " : "damaged; some streams were "),
			    ctf_why_ended(status));
}

/* ---- workers ----------------------------------------------------------- */

/* Start a worker, which opens the trace. Return 0 or a negative errno value. */
static int start_ctf_worker(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	const struct worker_task task = {
		.run = ctf_read_trace,
		.limits = ctf->files.limits,
	};
	struct ctf_worker *in = calloc(1, sizeof(*in)), **last;
	int ret = -ENOMEM;

	last = array_add(&ctf->readings, ctf->num_readings, sizeof(*last));
	if (in && last)
		ret = worker_start(&in->worker, &task, &ctf->files);
	if (ret < 0) {
		free(in);
		return ret;
	}
	in->trace = trace;
	in->stream.trace = trace;
	in->stream.packets = &in->packets;
	in->stream.is_quiet = ctf->num_readings > 0;
	in->packets.hi = -1;
	in->asked_ns = INT64_MIN;
	in->read_ns = INT64_MIN;
	*last = in;
	ctf->num_readings++;
	return 0;
}

/* Stop the worker that was started last. */
static void stop_last_ctf_worker(struct ctf *ctf)
{
	struct ctf_worker *in = ctf->readings[--ctf->num_readings];

	worker_stop(&in->worker);
	free(in);
}

/* Does a worker see the same streams as the first worker? Otherwise they cannot share streams. */
static bool sees_same_streams(const struct ctf *ctf, struct ctf_worker *in)
{
	const struct ctf_opened *first = &ctf->readings[0]->opened;

	return wait_for_worker(in) > 0 && in->opened.streams == first->streams &&
	       in->opened.streams_hash == first->streams_hash;
}

/*
 * Read by the first worker alone where others cannot join it, or events of streams do not
 * come stream by stream: network namespaces get their numbers as they come.
 */
static void ctf_divide(struct trace *trace, uint32_t most)
{
	struct ctf *ctf = trace->state;
	const struct ctf_opened *opened = &ctf->readings[0]->opened;
	bool same = true;

	if (!opened->all_walked)
		return;
	if (most > opened->streams)
		most = (uint32_t)opened->streams;
	while (ctf->num_readings < most && !start_ctf_worker(trace))
		;
	for (uint32_t i = 1; i < ctf->num_readings && same; i++)
		same = sees_same_streams(ctf, ctf->readings[i]);
	while (!same && ctf->num_readings > 1)
		stop_last_ctf_worker(ctf);
	/* One that could not join has failed for itself alone. */
	if (!same)
		io_forget_error(trace->io);
}

/* ---- the reader -------------------------------------------------------- */

static int open_by_worker(struct trace *trace)
{
	const struct ctf *ctf = trace->state;
	int ret = start_ctf_worker(trace);

	if (ret < 0)
		return io_fail(trace->io, ret, "%s: cannot start a process to read the trace: %s.",
			       trace->path, strerror(-ret));
	return wait_for_worker(ctf->readings[0]);
}

/* The worker that was to open the trace has ended. Return as trace_reader.open(). */
static int give_up_opening(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	const int status = worker_stop(&ctf->readings[0]->worker);
	const bool is_stuck = status == -ETIMEDOUT;

	if (!is_stuck && !worker_was_killed(status))
		return io_broke_off(trace, &ctf->readings[0]->packets, "damaged; ",
				    ctf_why_ended(status));
	return io_fail(trace->io, is_stuck ? -ETIMEDOUT : -ECHILD, "%s: %s.", trace->path,
		       ctf_why_ended(status));
}

/*
 * Fill in the trace. Return 1; 0 if the trace cannot be read; or a negative value after
 * io_fail().
 */
static int use_opened_trace(struct trace *trace)
{
	const struct ctf *ctf = trace->state;
	const struct ctf_opened *opened = &ctf->readings[0]->opened;
	int ret;

	if (!opened->is.has_clock) {
		io_warn(trace->io, "%s: %s; it was skipped.", trace->path,
			trace->info.damaged ? "none of its streams can be read" :
					      "the trace contains no events");
		return 0;
	}
	trace->readable = ctf->files.scratch ? ctf->files.folder : NULL;
	trace->range = opened->range;
	trace->range_hash = opened->range_hash;
	ret = ctf_identify(trace, &opened->is);
	return ret < 0 ? ret : 1;
}

static int ctf_open(struct trace *trace)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	char *reason;
	int ret;

	if (!ctf)
		return io_no_memory(trace->io);
	trace->state = ctf;
	ret = ctf_files_open(&ctf->files, trace);
	if (ret < 0)
		return ret;
	reason = ctf_try(&ctf->files);
	if (reason && ctf->files.is_stuck)
		ret = io_fail(trace->io, -ETIMEDOUT, "%s: %s.", trace->path, reason);
	else
		ret = reason ? ctf_salvage(&ctf->files) : 0;
	free(reason);
	if (!ret)
		ret = open_by_worker(trace);
	return ret > 0 ? use_opened_trace(trace) : ret < 0 ? ret : give_up_opening(trace);
}

/* Send a worker a turn. */
static void send_ctf_turn(struct ctf_worker *in, uint32_t flag, int64_t time_ns)
{
	uint8_t bytes[STREAM_TURN_SIZE];

	stream_put_turn(bytes, &(struct stream_turn){ flag, time_ns });
	worker_tell(&in->worker, bytes, sizeof(bytes));
}

static void ctf_ahead(struct trace *trace, int64_t until_ns)
{
	struct ctf *ctf = trace->state;

	for (uint32_t i = 0; i < ctf->num_readings; i++) {
		struct ctf_worker *in = ctf->readings[i];

		if (until_ns <= in->asked_ns || was_read_until(in, until_ns))
			continue;
		if (in->asked_ns == INT64_MIN) {
			send_ctf_turn(in, STREAM_FROM, trace->window.lo);
			send_ctf_turn(in, STREAM_TO, trace->window.hi);
			send_ctf_turn(in, STREAM_SHARE, (int64_t)i << 32 | ctf->num_readings);
		}
		send_ctf_turn(in, 0, until_ns);
		in->asked_ns = until_ns;
	}
}

/* Take what a worker has read up to the end of a slice. Return 0, or a negative value. */
static int take_ctf_slice(struct ctf_worker *in, int64_t until_ns)
{
	int ret;

	if (was_read_until(in, until_ns))
		return 0;
	in->until_ns = until_ns;
	ret = wait_for_worker(in);
	return ret > 0 ? 0 : ret < 0 ? ret : give_up_ctf_worker(in);
}

static int ctf_read(struct trace *trace, int64_t until_ns)
{
	struct ctf *ctf = trace->state;
	int ret = 0;
	bool more = false;

	ctf_ahead(trace, until_ns);
	for (uint32_t i = 0; i < ctf->num_readings && !ret; i++) {
		ret = take_ctf_slice(ctf->readings[i], until_ns);
		more |= ctf->readings[i]->read_ns < INT64_MAX;
	}
	return ret < 0 ? ret : more;
}

static void ctf_close(struct trace *trace)
{
	struct ctf *ctf = trace->state;

	if (!ctf)
		return;
	while (ctf->num_readings)
		stop_last_ctf_worker(ctf);
	free(ctf->readings);
	ctf_files_close(&ctf->files);
	free(ctf);
}

const struct trace_reader ctf_reader = {
	.format = "ctf",
	.avoids_loss = "larger sub-buffers avoid this",
	.to_record =
		"record inet_sock_local_in and inet_sock_local_out (module netsync), or net_dev_queue and net_if_receive_skb",
	.claims = ctf_claims,
	.open = ctf_open,
	.divide = ctf_divide,
	.read = ctf_read,
	.ahead = ctf_ahead,
	.close = ctf_close,
	.read_events = ctf_read_events,
};
