// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A CTF trace -> packet events, read by a worker (read.c): much in a damaged or hostile
 * trace ends libbabeltrace2 2.0 and its process.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/read.h"
#include "io/ctf/stream.h"

struct ctf {
	struct ctf_files files;
	struct worker worker;
	struct ctf_opened opened;
	bool waiting;		/* for CTF_OPENED, or until read_ns > until_ns */
	int64_t until_ns;	/* end of the slice that is read now, as printed */
	int64_t told_ns;	/* the last time that the worker was told */
	int64_t read_ns;	/* the worker has sent all packets before */
	struct range packets;	/* times of packets that came, ns; hi < lo: none */
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

static int use_event(struct trace *trace, const struct event_seen *seen)
{
	struct ctf *ctf = trace->state;

	if (!seen->is_clock)
		range_extend(&ctf->packets, seen->pkt.time_ns, seen->pkt.time_ns);
	return io_event(trace, seen);
}

static int use_state(struct trace *trace, const struct ctf_state *state)
{
	trace->info.lost_events += state->counts.lost_events;
	trace->info.lost_packets += state->counts.lost_packets;
	trace->info.damaged += state->damaged;
	trace->out_of_range += state->counts.out_of_range;
	/* Traces have no host until all are open. */
	if (!trace->host || state->span.hi < state->span.lo)
		return 0;
	return io_span(trace, state->span.lo, state->span.hi);
}

static bool is_read(const struct ctf *ctf, int64_t until_ns)
{
	return ctf->read_ns > until_ns || ctf->read_ns == INT64_MAX;
}

static int use_record(void *data, const struct worker_head *head,
		      const void *payload)
{
	struct trace *trace = data;
	struct ctf *ctf = trace->state;

	switch (head->what) {
	case CTF_WARNING:
		io_warn(trace->io, "%s", (const char *)payload);
		return 0;
	case CTF_EVENT:
		return trace->host ? use_event(trace, payload) : 0;
	case CTF_STATE:
		return use_state(trace, payload);
	case CTF_OPENED:
		memcpy(&ctf->opened, payload, sizeof(ctf->opened));
		ctf->waiting = false;
		return 0;
	case CTF_READ:
		memcpy(&ctf->read_ns, payload, sizeof(ctf->read_ns));
		ctf->waiting = !is_read(ctf, ctf->until_ns);
		/* Records that were read ahead stay in the socket until their turn. */
		return !ctf->waiting;
	case CTF_FAILED:
		return io_fail(trace->io, head->number ? -head->number : -EIO,
			       "%s", (const char *)payload);
	default:
		return 0;
	}
}

/* 1: the worker has done its task; 0: it has ended; negative: io_fail() was called. */
static int wait_for_worker(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	int ret;

	ctf->waiting = true;
	while ((ret = worker_receive(&ctf->worker, use_record, trace)) > 0) {
		if (!ctf->waiting)
			return 1;
		worker_wait(&ctf->worker);
	}
	return ret;
}

/* The worker has ended before the trace: warn about the rest, which is lost. */
static int gave_up(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	const struct range *packets = &ctf->packets;
	const int status = worker_stop(&ctf->worker);
	const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	const char *damaged = killed ? "" : "it is damaged and ";
	const char *why = ctf_why_ended(status);

	trace->info.damaged++;
	if (packets->hi < packets->lo) {
		io_warn(trace->io, "%s: %swas not read at all (%s).",
			trace->path, damaged, why);
		return 0;
	}
	io_warn(trace->io, "%s: %swas read up to its packet event at %lld ns only (%s).",
		trace->path, damaged, (long long)packets->hi, why);
	return io_span(trace, packets->lo, packets->hi);
}

/* ---- the reader -------------------------------------------------------- */

static int start(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	const struct worker_task task = {
		.run = ctf_read_trace,
		.limits = ctf->files.limits,
	};
	int ret = worker_start(&ctf->worker, &task, &ctf->files);

	if (ret < 0)
		return io_fail(trace->io, ret, "%s: no process can be started to read it: %s.",
			       trace->path, strerror(-ret));
	return wait_for_worker(trace);
}

/* Fill in the trace. 1; 0: nothing can be read; negative: io_fail() was called. */
static int use_opened(struct trace *trace)
{
	struct ctf *ctf = trace->state;

	const struct ctf_opened *opened = &ctf->opened;
	int ret;

	if (!opened->is.has_clock) {
		io_warn(trace->io, "%s: %s; the trace was not used.",
			trace->path,
			trace->info.damaged ? "none of its streams can be read" :
			"nothing was recorded in it");
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
	ctf->worker.fd = -1;
	ctf->packets.hi = -1;
	ctf->told_ns = INT64_MIN;
	ctf->read_ns = INT64_MIN;
	ret = ctf_files_open(&ctf->files, trace);
	if (ret < 0)
		return ret;
	reason = ctf_try(&ctf->files);
	ret = reason ? ctf_salvage(&ctf->files) : 0;
	free(reason);
	if (!ret)
		ret = start(trace);
	return ret > 0 ? use_opened(trace) : ret < 0 ? ret : gave_up(trace);
}

static void ctf_ahead(struct trace *trace, int64_t until_ns)
{
	struct ctf *ctf = trace->state;
	const struct ctf_wanted wanted = { until_ns, trace->window };

	if (until_ns <= ctf->told_ns || is_read(ctf, until_ns))
		return;
	worker_tell(&ctf->worker, &wanted, sizeof(wanted));
	ctf->told_ns = until_ns;
}

static int ctf_read(struct trace *trace, int64_t until_ns)
{
	struct ctf *ctf = trace->state;
	int ret;

	ctf_ahead(trace, until_ns);
	if (is_read(ctf, until_ns))
		return ctf->read_ns < INT64_MAX;
	ctf->until_ns = until_ns;
	ret = wait_for_worker(trace);
	if (!ret)
		return gave_up(trace);
	return ret < 0 ? ret : ctf->read_ns < INT64_MAX;
}

static void ctf_close(struct trace *trace)
{
	struct ctf *ctf = trace->state;

	if (!ctf)
		return;
	worker_stop(&ctf->worker);
	ctf_files_close(&ctf->files);
	free(ctf);
}

const struct trace_reader ctf_reader = {
	.format = "ctf",
	.avoids_loss = "larger sub-buffers avoid that",
	.to_record = "record inet_sock_local_in and inet_sock_local_out (module netsync), or net_dev_queue and net_if_receive_skb",
	.claims = ctf_claims,
	.open = ctf_open,
	.read = ctf_read,
	.ahead = ctf_ahead,
	.close = ctf_close,
};
