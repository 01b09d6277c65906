// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader of OTF2 archives. open() reads the whole archive, which becomes a trace of each host;
 * read() passes on what the host's processes did, in the order in which they ended it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/otf2/otf2.h"

#define RECORD_ADVICE \
	"record an MPI program on several hosts, for example with Score-P (SCOREP_ENABLE_TRACING=true)"

/* A trace: one host of an archive. */
struct otf2_trace {
	struct otf2_archive *archive;
	size_t host;	/* index */
	uint64_t next;	/* index of the part after those in @parts */
	size_t at, num; /* in @parts */
	struct otf2_part parts[OTF2_BLOCK];
};

/* An anchor file begins with the head of a chunk and the name of the format. */
static bool is_otf2_anchor(const struct found *found)
{
	static const char magic[] = IO_OTF2_CHUNK "OTF2";

	return found->head_len > sizeof(magic) && !memcmp(found->head, magic, sizeof(magic));
}

/* ---- what the archive lacks ------------------------------------------------------ */

static void warn_of_unused_events(const struct otf2_archive *archive)
{
	static const char *const why[OTF2_NUM_UNUSED] = {
		[OTF2_NO_RANK] = "the archive does not report the MPI rank of their process",
		[OTF2_OTHER_COMM] =
			"netsync does not know their communicators, such as those between two groups",
		[OTF2_EMPTY_PARTS] =
			"some ranks may have exchanged no data, so that they did not wait for each other",
		[OTF2_PAUSED] =
			"recording was paused before, so that messages cannot be counted; record without pauses",
		[OTF2_BAD_TIME] = "their times are not valid",
	};

	for (int i = 0; i < OTF2_NUM_UNUSED; i++)
		if (archive->unused[i])
			io_warn(archive->io,
				"%s: %llu messages and collective operations were not used: %s.",
				archive->path, (unsigned long long)archive->unused[i], why[i]);
	if (archive->damage)
		io_warn(archive->io, "%s: the archive is damaged: %s.", archive->path,
			archive->damage);
}

/* ---- opening ----------------------------------------------------------------------- */

static void release_otf2_archive(struct otf2_archive *archive)
{
	if (--archive->users)
		return;
	otf2_release(archive);
	free(archive);
}

/* Set the first and last time of a host. Return false if it has no valid times. */
static bool set_otf2_range(struct trace *trace, const struct otf2_archive *archive,
			   const struct otf2_host *host)
{
	trace->range.hi = -1;
	return host->ticks.first <= host->ticks.last &&
	       otf2_get_ns(&archive->timer, host->offset, host->num_offsets, host->ticks.first,
			   false, &trace->range.lo) &&
	       otf2_get_ns(&archive->timer, host->offset, host->num_offsets, host->ticks.last, true,
			   &trace->range.hi);
}

/* Make a trace the one of the first host from @index on that has events. Return 1, 0 or -ENOMEM. */
static int assign_otf2_host(struct trace *trace, struct otf2_archive *archive, size_t index)
{
	struct otf2_trace *state;

	while (index < archive->num_hosts && !set_otf2_range(trace, archive, &archive->host[index]))
		index++;
	if (index == archive->num_hosts)
		return 0;
	state = calloc(1, sizeof(*state));
	trace->state = state;
	if (!state)
		return -ENOMEM;
	state->archive = archive;
	state->host = index;
	archive->users++;
	trace->host_name = strdup(archive->host[index].name);
	/* A clock with corrections is not the one of the same host without. */
	trace->clock_name = strdup(archive->host[index].num_offsets ? "otf2-offset" : "otf2");
	trace->epoch_ns = otf2_get_epoch(&archive->timer);
	trace->has_network = true;
	trace->info.damaged = !!archive->damage;
	/* Reading the temporary file takes less time than passing on its contents. */
	trace->is_chosen = true;
	return trace->host_name && trace->clock_name ? 1 : -ENOMEM;
}

static int otf2_reader_open(struct trace *trace)
{
	struct otf2_archive *archive = calloc(1, sizeof(*archive));
	int ret;

	if (!archive)
		return io_fail_no_memory(trace->io);
	*archive = (struct otf2_archive){
		.io = trace->io, .path = trace->path, .users = 1, .wants_parts = true
	};
	ret = otf2_read_archive(archive);
	if (!ret) {
		warn_of_unused_events(archive);
		ret = assign_otf2_host(trace, archive, 0);
		if (!ret)
			io_warn(trace->io, "%s: it contains no events. The trace was skipped.",
				trace->path);
		else if (ret < 0)
			io_fail_no_memory(trace->io);
	}
	release_otf2_archive(archive);
	return ret;
}

static int open_next_otf2_host(const struct trace *trace, struct trace *next)
{
	const struct otf2_trace *state = trace->state;

	return assign_otf2_host(next, state->archive, state->host + 1);
}

/* ---- reading ------------------------------------------------------------------------- */

static int pass_otf2_part(struct trace *trace, const struct otf2_part *from)
{
	/* OTF2_CollectiveOp */
	static const char *const names[] = {
		"barrier",
		"bcast",
		"gather",
		"gatherv",
		"scatter",
		"scatterv",
		"allgather",
		"allgatherv",
		"alltoall",
		"alltoallv",
		"alltoallw",
		"allreduce",
		"reduce",
		"reduce_scatter",
		"scan",
		"exscan",
		"reduce_scatter_block",
	};
	const struct otf2_trace *state = trace->state;
	struct span_part part = {
		.key = { from->key[0], from->key[1] },
		.check = from->check,
		.group_id = { 0, from->comm },
		.kind = NETSYNC_IO_COLLECTIVE,
		.start_ns = from->start_ns,
		.end_ns = from->end_ns,
		.role = from->role,
		.member = from->member,
		.members = from->members,
		.step = -1,
	};

	snprintf(part.group, sizeof(part.group), "%s", state->archive->comm[from->comm]);
	snprintf(part.what, sizeof(part.what), "%s",
		 from->operation < sizeof(names) / sizeof(names[0]) ? names[from->operation] :
								      "send");
	return io_add_part(trace, &part);
}

/* Return the next part. Return NULL at the end; set *@err after io_fail(). */
static const struct otf2_part *get_next_part(struct trace *trace, int *err)
{
	struct otf2_trace *state = trace->state;
	ssize_t num;

	*err = 0;
	if (state->at < state->num)
		return &state->parts[state->at];
	num = otf2_read_parts(state->archive, &state->archive->host[state->host], state->next,
			      state->parts);
	if (num < 0)
		*err = io_fail(trace->io, (int)num, "%s: reading its messages failed: %s.",
			       trace->path, strerror((int)-num));
	state->at = 0;
	state->num = num > 0 ? (size_t)num : 0;
	state->next += state->num;
	return state->num ? state->parts : NULL;
}

static int otf2_reader_read(struct trace *trace, int64_t until_ns)
{
	struct otf2_trace *state = trace->state;
	const struct otf2_part *part;
	int ret = state->next ? 0 : io_add_span(trace, trace->range.lo, trace->range.hi);

	while (!ret && (part = get_next_part(trace, &ret)) && part->end_ns <= until_ns) {
		ret = pass_otf2_part(trace, part);
		state->at++;
	}
	return ret < 0 ? ret : state->at < state->num;
}

static void otf2_reader_close(struct trace *trace)
{
	struct otf2_trace *state = trace->state;

	if (state)
		release_otf2_archive(state->archive);
	free(state);
	trace->state = NULL;
}

const struct trace_reader otf2_reader = {
	.format = "otf2",
	.avoids_loss = "record less, or with larger buffers",
	.to_record = RECORD_ADVICE,
	.claims = is_otf2_anchor,
	.open = otf2_reader_open,
	.open_next = open_next_otf2_host,
	.read = otf2_reader_read,
	.close = otf2_reader_close,
	.has_parts = true,
};
