// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the packet events of a CTF trace in separate processes (read.c), because many faults in a
 * damaged or hostile trace make libbabeltrace2 2.0 end its process. One process opens the trace. If
 * there are more jobs than traces, other processes join it. Each process then reads a share of the
 * streams.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/read.h"
#include "io/events.h"

static bool is_ctf_folder(const struct found *found)
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

/* ---- processes --------------------------------------------------------- */

/* Start a process that opens the trace. Return 0 or a negative errno value. */
static int start_ctf_share(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	const struct worker_task task = {
		.run = ctf_read_trace,
		.limits = ctf->files.limits,
	};

	return io_start_share(trace, &task, &ctf);
}

/*
 * Return whether a process sees the same streams as the first process. If not, they cannot share
 * the streams.
 */
static bool has_same_streams(struct trace *trace, uint32_t share)
{
	const struct ctf *ctf = trace->state;
	struct ctf_opened opened = { 0 };

	return io_await_share(trace, share, &opened, sizeof(opened)) > 0 &&
	       opened.streams == ctf->opened.streams &&
	       opened.streams_hash == ctf->opened.streams_hash;
}

/*
 * Start more processes. In two cases, only the first process reads the trace: if other processes do
 * not see the same streams, or if the streams must be read together, because network namespaces get
 * numbers in the order in which they appear.
 */
static void divide_ctf_streams(struct trace *trace, uint32_t most)
{
	const struct ctf_opened *opened = &((struct ctf *)trace->state)->opened;
	bool same = true;

	if (!opened->all_direct)
		return;
	if (most > opened->streams)
		most = (uint32_t)opened->streams;
	while (trace->num_shares < most && !start_ctf_share(trace))
		;
	for (uint32_t i = 1; i < trace->num_shares && same; i++)
		same = has_same_streams(trace, i);
	while (!same && trace->num_shares > 1)
		io_stop_share(trace);
	/* If a process could not join, the others are not affected. */
	if (!same)
		io_forget_error(trace->io);
}

/* ---- the reader -------------------------------------------------------- */

static int open_in_reader_process(struct trace *trace)
{
	struct ctf *ctf = trace->state;
	int ret = start_ctf_share(trace);

	if (ret < 0)
		return io_fail(trace->io, ret, "%s: cannot start a process to read the trace: %s.",
			       trace->path, strerror(-ret));
	return io_await_share(trace, 0, &ctf->opened, sizeof(ctf->opened));
}

/*
 * Handle the end of a process that should have opened the trace. Return the same values as
 * trace_reader.open().
 */
static int give_up_ctf_opening(struct trace *trace)
{
	const struct range none = { .hi = -1 };
	const int status = io_stop_share(trace);
	const bool is_stuck = status == -ETIMEDOUT;

	if (!is_stuck && !worker_was_killed(status))
		return io_warn_broken_off(trace, &none, "damaged; ", ctf_explain_end(status));
	return io_fail(trace->io, is_stuck ? -ETIMEDOUT : -ECHILD, "%s: %s.", trace->path,
		       ctf_explain_end(status));
}

/*
 * Fill in the trace from the records of the process. Return 1, or 0 if the trace cannot be read. On
 * failure, call io_fail() and return a negative value.
 */
static int use_opened_trace(struct trace *trace)
{
	const struct ctf *ctf = trace->state;
	const struct ctf_opened *opened = &ctf->opened;
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
	ret = ctf_set_identity(trace, &opened->is);
	return ret < 0 ? ret : 1;
}

static int ctf_open(struct trace *trace)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	char *reason;
	int ret;

	if (!ctf)
		return io_fail_no_memory(trace->io);
	trace->state = ctf;
	ret = ctf_files_open(&ctf->files, trace);
	if (ret < 0)
		return ret;
	reason = ctf_try_opening(&ctf->files);
	if (reason && ctf->files.is_stuck)
		ret = io_fail(trace->io, -ETIMEDOUT, "%s: %s.", trace->path, reason);
	else
		ret = reason ? ctf_salvage_trace(&ctf->files) : 0;
	free(reason);
	if (!ret)
		ret = open_in_reader_process(trace);
	return ret > 0 ? use_opened_trace(trace) : ret < 0 ? ret : give_up_ctf_opening(trace);
}

static void ctf_close(struct trace *trace)
{
	struct ctf *ctf = trace->state;

	if (!ctf)
		return;
	ctf_files_close(&ctf->files);
	free(ctf);
}

const struct trace_reader ctf_reader = {
	.format = "ctf",
	.avoids_loss = "larger sub-buffers avoid this",
	.to_record =
		"record inet_sock_local_in and inet_sock_local_out (module netsync), or net_dev_queue and net_if_receive_skb",
	.claims = is_ctf_folder,
	.open = ctf_open,
	.divide = divide_ctf_streams,
	.read = ctf_read_slice,
	.why_ended = ctf_explain_end,
	.close = ctf_close,
	.read_events = ctf_read_events,
};
