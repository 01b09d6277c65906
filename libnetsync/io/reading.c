// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slices of traces whose reader has no worker of its own (captures, trace.dat and
 * perf.data files) -> their contents, read by reader processes, as many as there are jobs.
 *
 * When a process is started, as a copy of this process, all traces are open, and none of
 * those that it will read was begun: so it can read any. One process reads a trace from
 * its first slice to its end, and then another one: of a host's thousands of captures,
 * few are of the same time. Slices come in the order in which they were asked for; those
 * that were read ahead stay in the socket until their turn (stream/).
 *
 * If a process is stuck in a trace, another one reads its other traces: from their begin up
 * to where they had been read without sending, and then on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/patience.h"
#include "io/stream/stream.h"
#include "util/array.h"

/*
 * Limit of the slices that a worker knows at a time, so that its socket takes their commands at
 * once; further slices are sent when the worker has read half of them. Chosen, as SLICES_AHEAD:
 * with some twenty events in a slice (row trace.dat of selftests/bench/readers), sending 16
 * slices took longer than reading them.
 */
#define MAX_SENT 64

struct turn {
	struct trace *trace;
	int64_t until_ns; /* as printed */
	bool is_known;	  /* what is found was sent before, by another process */
};

struct reader_process {
	struct worker worker;
	struct stream stream; /* from it */
	int status;	      /* how it ended, where worker.fd < 0 */
	size_t traces;	      /* that it reads, and did not end */
	/*
	 * Turns up to @answered were answered, turns up to @sent were sent, and turns up to
	 * @num are to be sent.
	 */
	struct turn *turns;
	size_t answered, sent, num_turns;
	size_t turn_room; /* turns allocated */
};

/* ---- in the process ------------------------------------------------------ */

static int read_turn(struct trace *trace, const struct stream_turn *turn)
{
	int ret = 0;

	stream_begin_trace(trace, 0, turn->trace & STREAM_KNOWN);
	worker_begin_part(trace->number + 1);
	/* Slices may have been asked for before the trace was known to have ended. */
	if (!trace->progress.has_ended)
		ret = trace->reader->read(trace, turn->until_ns);
	if (ret < 0)
		return ret;
	trace->progress.has_ended = !ret;
	stream_put_state();
	stream_put_end(turn->until_ns, ret);
	return 0;
}

/* The process ends in stream_hear_turn(), when the one that started it is gone. */
static void read_turns(const void *data)
{
	struct netsync_io *io = *(struct netsync_io *const *)data;
	int ret = 0;

	stream_begin(io);
	while (!ret) {
		const struct stream_turn turn = stream_hear_turn();

		ret = read_turn(io->traces[turn.trace & ~STREAM_FLAGS], &turn);
	}
	stream_put_error(io, ret);
}

/* ---- workers ------------------------------------------------------------- */

/*
 * Files that readers have opened, or will open, for @keep, which has room for one of each
 * trace and all kept ones.
 */
static size_t collect_reader_files(const struct netsync_io *io, int *keep)
{
	size_t num = io_kept_files(io, keep);

	for (size_t i = 0; i < io->num_traces; i++) {
		const struct trace *trace = io->traces[i];

		if (trace->reader && trace->reader->file)
			keep[num++] = trace->reader->file(trace);
	}
	return num;
}

static int start_reader_process(struct netsync_io *io, struct reader_process *process)
{
	int *keep = malloc((io->num_traces + io->num_kept + 1) * sizeof(*keep));
	struct worker_task task = {
		.run = read_turns,
		/* The readers apply their own limits, because they belong to this process. */
		.limits = { .memory = UINT64_MAX / 2 },
		.keep = keep,
	};
	int ret;

	if (!keep)
		return -ENOMEM;
	task.num_keep = collect_reader_files(io, keep);
	ret = worker_start(&process->worker, &task, &io);
	free(keep);
	return ret;
}

/* Start a process. Return NULL if this is not possible now. */
static struct reader_process *add_worker(struct netsync_io *io)
{
	struct reader_process **last = array_add(&io->processes, io->num_processes, sizeof(*last));
	struct reader_process *process = last ? calloc(1, sizeof(*process)) : NULL;

	if (!process)
		return NULL;
	if (start_reader_process(io, process) < 0) {
		free(process);
		return NULL;
	}
	*last = process;
	io->num_processes++;
	return process;
}

/* A worker that has nothing to do, or a new one, or the one with the fewest traces. */
static struct reader_process *find_worker(struct netsync_io *io)
{
	const unsigned int jobs = io_jobs(io);
	struct reader_process *best = NULL, *new;
	unsigned int running = 0;

	for (size_t i = 0; i < io->num_processes; i++) {
		struct reader_process *process = io->processes[i];

		if (process->worker.fd < 0)
			continue;
		running++;
		if (!best || process->traces < best->traces)
			best = process;
	}
	if (running >= jobs || (best && !best->traces))
		return best;
	new = add_worker(io);
	return new ? new : best;
}

void io_stop_reading(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_processes; i++) {
		worker_stop(&io->processes[i]->worker);
		free(io->processes[i]->turns);
		free(io->processes[i]);
	}
	free(io->processes);
	io->processes = NULL;
	io->num_processes = 0;
}

/* ---- what workers send --------------------------------------------------- */

static void send_reader_turns(struct reader_process *process)
{
	const size_t known = process->sent - process->answered;
	const size_t left = process->num_turns - process->sent;
	const size_t num = left < MAX_SENT - known ? left : MAX_SENT - known;
	uint8_t bytes[MAX_SENT * STREAM_TURN_SIZE];

	if (!num || known > MAX_SENT / 2)
		return;
	for (size_t i = 0; i < num; i++) {
		const struct turn *turn = &process->turns[process->sent++];

		stream_put_turn(bytes + i * STREAM_TURN_SIZE,
				&(struct stream_turn){ turn->trace->number |
							       (turn->is_known ? STREAM_KNOWN : 0),
						       turn->until_ns });
	}
	worker_tell(&process->worker, bytes, num * STREAM_TURN_SIZE);
}

/* Forget turns that were answered. */
static void drop_answered_turns(struct reader_process *process)
{
	memmove(process->turns, process->turns + process->answered,
		(process->num_turns - process->answered) * sizeof(process->turns[0]));
	process->num_turns -= process->answered;
	process->sent -= process->answered;
	process->answered = 0;
}

/* Note what a worker is to read. */
static void queue_reader_turn(struct reader_process *process, const struct turn *turn)
{
	if (process->answered > process->num_turns / 2)
		drop_answered_turns(process);
	/* There is no memory: its traces end here. */
	if (array_grow(&process->turns, &process->turn_room, process->num_turns, sizeof(*turn))) {
		process->status = worker_stop(&process->worker);
		return;
	}
	process->turns[process->num_turns++] = *turn;
}

static void end_trace(struct trace *trace)
{
	trace->progress.pending = 0;
	trace->progress.has_ended = true;
	trace->progress.by->traces--;
}

/* A turn has ended. Return values are those of worker_use. */
static int use_turn_end(struct trace *trace)
{
	struct reader_process *process = trace->progress.by;
	const struct turn turn = process->turns[process->answered++];

	send_reader_turns(process);
	/* A slice of a trace that had ended before, or was moved to this process. */
	if (turn.trace != trace || turn.is_known)
		return 0;
	trace->progress.was_begun = true;
	trace->progress.read_ns = turn.until_ns;
	trace->progress.pending--;
	trace->progress.is_awaited = false;
	if (!process->stream.end.more)
		end_trace(trace);
	return 1;
}

static int use_reader_record(void *data, const struct worker_head *head, const void *payload)
{
	struct trace *trace = data;
	const int ret = stream_use(&trace->progress.by->stream, trace->io, head, payload);

	return ret > 0 ? use_turn_end(trace) : ret;
}

/* Have another worker read a trace from where a stuck one had come to. */
static void move_trace_to_reader(struct trace *trace, struct reader_process *to)
{
	trace->progress.by->traces--;
	trace->progress.by = to;
	to->traces++;
	if (trace->progress.was_begun)
		queue_reader_turn(to, &(struct turn){ trace, trace->progress.read_ns, true });
}

/* A worker is stuck in a trace: have another one read its other traces. */
static void replace_stuck(struct netsync_io *io, struct reader_process *stuck)
{
	struct reader_process *to = find_worker(io);

	/* These end as well, each in its turn. */
	if (!to)
		return;
	for (size_t i = 0; i < io->num_traces; i++) {
		struct trace_progress *progress = &io->traces[i]->progress;

		if (progress->by == stuck && !progress->has_ended)
			move_trace_to_reader(io->traces[i], to);
	}
	for (size_t i = stuck->answered; i < stuck->num_turns; i++)
		if (!stuck->turns[i].trace->progress.has_ended && !stuck->turns[i].is_known)
			queue_reader_turn(to, &stuck->turns[i]);
	if (to->worker.fd >= 0)
		send_reader_turns(to);
}

/*
 * The trace that a worker reads. What it found of the one that is awaited may be in its
 * memory still.
 */
static struct trace *find_trace_being_read(const struct reader_process *process,
					   struct trace *awaited)
{
	const uint64_t part = worker_get_part(&process->worker);
	struct trace *trace = part ? awaited->io->traces[part - 1] : awaited;

	return trace->progress.by == process && !trace->progress.has_ended ? trace : awaited;
}

static int take_reader_slice(struct trace *trace);

/* A worker is stuck: its current trace ends, and its other traces continue. */
static int give_up_stuck(struct trace *awaited)
{
	struct reader_process *process = awaited->progress.by;
	struct trace *stuck = find_trace_being_read(process, awaited);
	int ret;

	process->status = worker_stop(&process->worker);
	end_trace(stuck);
	replace_stuck(awaited->io, process);
	stuck->info.stuck++;
	ret = io_broke_off(stuck, &stuck->progress.packets, "", WORKER_WAS_STUCK);
	return ret || stuck == awaited ? ret : take_reader_slice(awaited);
}

/* A worker has ended before its trace: warn about the rest, which is lost. */
static int give_up_dead_reader(struct trace *trace)
{
	struct reader_process *process = trace->progress.by;
	bool was_killed;

	if (process->worker.fd >= 0 && process->worker.is_stuck)
		return give_up_stuck(trace);
	if (process->worker.fd >= 0)
		process->status = worker_stop(&process->worker);
	end_trace(trace);
	was_killed = worker_was_killed(process->status);
	trace->info.killed += was_killed;
	trace->info.stuck += process->worker.is_stuck;
	return io_broke_off(
		trace, &trace->progress.packets, "",
		was_killed ? WORKER_WAS_KILLED :
		process->worker.is_stuck ?
			     WORKER_WAS_STUCK :
			     "the process that read it exited early, which is a bug in netsync");
}

/* worker_patience.is_over() for the trace that the worker is reading. */
static bool is_reader_wait_over(void *data, int64_t silent_ms)
{
	struct trace *awaited = data;
	struct trace *current = find_trace_being_read(awaited->progress.by, awaited);
	struct patience patience = io_trace_patience(current);
	const struct worker_patience waits = io_worker_patience(&patience);
	bool over;

	patience.has_warned = awaited->progress.has_warned;
	over = waits.is_over(&patience, silent_ms);
	awaited->progress.has_warned = patience.has_warned;
	return over;
}

/* Use the next slice of a worker's commands. Return as trace_reader.read(). */
static int take_reader_slice(struct trace *trace)
{
	const struct worker_patience waits = { is_reader_wait_over, trace };
	struct reader_process *by = trace->progress.by;
	int ret;

	trace->progress.is_awaited = true;
	trace->progress.has_warned = false;
	by->stream.trace = trace;
	by->stream.packets = &trace->progress.packets;
	ret = worker_receive_while(&by->worker, &trace->progress.is_awaited, use_reader_record,
				   trace, &waits);
	if (!ret)
		return give_up_dead_reader(trace);
	return ret < 0 ? ret : !trace->progress.has_ended;
}

/* ---- slices -------------------------------------------------------------- */

/* Has the trace no events up to this time? */
static bool is_trace_idle(const struct trace *trace, int64_t until_ns)
{
	return trace->reader->is_idle && trace->reader->is_idle(trace, until_ns);
}

/* Find a worker for a trace at its first slice. */
static void choose_worker(struct trace *trace)
{
	if (trace->progress.is_chosen)
		return;
	trace->progress.is_chosen = true;
	trace->progress.packets.hi = -1;
	trace->progress.by = find_worker(trace->io);
	if (trace->progress.by)
		trace->progress.by->traces++;
}

void io_begin_reading(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_processes; i++)
		if (io->processes[i]->worker.fd >= 0)
			send_reader_turns(io->processes[i]);
}

void io_read_ahead(struct trace *trace, int64_t until_ns)
{
	struct reader_process *process;

	if (trace->reader->ahead) {
		trace->reader->ahead(trace, until_ns);
		return;
	}
	if (is_trace_idle(trace, until_ns) || trace->progress.has_ended)
		return;
	choose_worker(trace);
	process = trace->progress.by;
	if (!process)
		return;
	/* Where its worker has ended, that is noticed in the slice's turn. */
	trace->progress.pending++;
	if (process->worker.fd >= 0)
		queue_reader_turn(process, &(struct turn){ trace, until_ns, false });
}

int io_read_slice(struct trace *trace, int64_t until_ns)
{
	if (trace->progress.has_ended)
		return 0;
	if (is_trace_idle(trace, until_ns))
		return 1;
	return trace->progress.pending ? take_reader_slice(trace) :
					 trace->reader->read(trace, until_ns);
}
