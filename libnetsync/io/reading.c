// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read slices of traces in reader processes.
 *
 * Captures, trace.dat files and perf.data files are read by as many processes as there are jobs.
 * Each process is a copy of this process, started when all traces are open and before the traces
 * that it reads were begun, so it can read any of them. One process reads a trace from its first
 * slice to its end, and then another trace, because few of a host's thousands of captures cover
 * the same time. If a process is stuck in a trace, another process reads its other traces. That
 * process reads them from their beginning, without sending what was sent before.
 *
 * A CTF trace has its own processes, which open the trace; each reads a share of the streams.
 *
 * Slices arrive in the order in which they were requested. Slices that were read ahead stay in
 * the socket until their turn (stream/).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/patience.h"
#include "io/stream/stream.h"
#include "util/array.h"

/*
 * Maximum number of slices that are announced to a worker at a time, so that its socket accepts
 * their commands at once. Further slices are announced when the worker has read half of them.
 * Chosen, as SLICES_AHEAD: with some twenty events in a slice (row trace.dat of
 * selftests/bench/readers), sending 16 slices took longer than reading them.
 */
#define MAX_SENT 64

struct reader_process {
	struct worker worker;
	struct stream stream; /* records from the process */
	/* The only trace that the process reads, or NULL if it can read any trace. */
	struct trace *of;
	int status;    /* exit status, if worker.fd < 0 */
	size_t traces; /* number of traces assigned to the process that have not ended */
	/*
	 * Turns up to @answered were answered, turns up to @sent were sent, and turns up to
	 * @num are to be sent.
	 */
	struct stream_turn *turns;
	size_t answered, sent, num_turns;
	size_t turn_room; /* number of turns allocated */
};

/* ---- in the reader process ----------------------------------------------- */

int io_read_turn(struct trace *trace, uint32_t number, const struct stream_turn *turn)
{
	int ret;

	stream_begin_trace(trace, number, turn->trace & STREAM_KNOWN);
	worker_begin_part(trace->number + 1);
	ret = io_read_slice(trace, turn->until_ns);
	if (ret < 0)
		return ret;
	stream_put_state();
	stream_put_end(turn->until_ns, ret);
	return 0;
}

void io_read_turns(struct netsync_io *io, struct trace *own)
{
	int ret = 0;

	/*
	 * Shares describe processes of the parent process. In this process, they do not exist: it
	 * reads the traces itself.
	 */
	for (size_t i = 0; i < io->num_traces; i++)
		io->traces[i]->num_shares = 0;
	if (own)
		own->num_shares = 0;
	while (ret >= 0) {
		const struct stream_turn turn = stream_receive_turn();
		struct trace *trace = own ? own : io->traces[turn.trace & ~STREAM_FLAGS];

		if (!stream_limit_window(trace, &turn))
			ret = io_read_turn(trace, 0, &turn);
	}
	stream_put_error(io, ret);
}

static void read_any_trace(const void *data)
{
	struct netsync_io *io = *(struct netsync_io *const *)data;

	stream_begin(io);
	io_read_turns(io, NULL);
}

/* ---- reader processes ---------------------------------------------------- */

/*
 * Store the file descriptors that readers have opened or will open in @keep. @keep has space for
 * one file of each trace, and for all kept files.
 */
static size_t collect_reader_files(const struct netsync_io *io, int *keep)
{
	size_t num = io_list_kept_files(io, keep);

	for (size_t i = 0; i < io->num_traces; i++) {
		const struct trace *trace = io->traces[i];

		if (trace->reader && trace->reader->file)
			keep[num++] = trace->reader->file(trace);
	}
	return num;
}

/* Start a reader process. On failure, set *@ret to a negative errno value and return NULL. */
static struct reader_process *add_reader_process(struct netsync_io *io,
						 const struct worker_task *task, const void *data,
						 int *ret)
{
	struct reader_process **last = array_add(&io->processes, io->num_processes, sizeof(*last));
	struct reader_process *process = last ? calloc(1, sizeof(*process)) : NULL;

	*ret = process ? worker_start(&process->worker, task, data) : -ENOMEM;
	if (*ret < 0) {
		free(process);
		return NULL;
	}
	*last = process;
	io->num_processes++;
	return process;
}

/* Start a process that can read any trace. If the process cannot be started, return NULL. */
static struct reader_process *start_reader_process(struct netsync_io *io)
{
	int *keep = malloc((io->num_traces + io->num_kept + 1) * sizeof(*keep));
	struct worker_task task = {
		.run = read_any_trace,
		/* The readers in this process apply limits of their own. */
		.limits = { .memory = UINT64_MAX / 2 },
		.keep = keep,
	};
	struct reader_process *process;
	int ret;

	if (!keep)
		return NULL;
	task.num_keep = collect_reader_files(io, keep);
	process = add_reader_process(io, &task, &io, &ret);
	free(keep);
	return process;
}

/*
 * Return an idle process or a new process. If there is none, return the process with the fewest
 * traces.
 */
static struct reader_process *find_reader_process(struct netsync_io *io)
{
	const unsigned int jobs = io_get_jobs(io);
	struct reader_process *best = NULL, *new;
	unsigned int running = 0;

	for (size_t i = 0; i < io->num_processes; i++) {
		struct reader_process *process = io->processes[i];

		if (process->worker.fd < 0 || process->of)
			continue;
		running++;
		if (!best || process->traces < best->traces)
			best = process;
	}
	if (running >= jobs || (best && !best->traces))
		return best;
	new = start_reader_process(io);
	return new ? new : best;
}

static void free_reader_process(struct reader_process *process)
{
	free(process->turns);
	free(process);
}

void io_stop_reading(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_processes; i++) {
		worker_stop(&io->processes[i]->worker);
		free_reader_process(io->processes[i]);
	}
	free(io->processes);
	io->processes = NULL;
	io->num_processes = 0;
	for (size_t i = 0; i < io->num_traces; i++)
		io->traces[i]->num_shares = 0;
}

/* ---- shares -------------------------------------------------------------- */

static int add_share(struct trace *trace, struct reader_process *by)
{
	struct reading_share *last = array_add(&trace->shares, trace->num_shares, sizeof(*last));

	if (!last)
		return -ENOMEM;
	*last = (struct reading_share){ .trace = trace, .by = by, .packets.hi = -1 };
	trace->num_shares++;
	by->traces++;
	return 0;
}

/*
 * Choose a process for a trace before the trace's first slice is read. If there is no process, this
 * process reads the trace.
 */
static void choose_process(struct trace *trace)
{
	struct reader_process *process;

	if (trace->is_chosen)
		return;
	trace->is_chosen = true;
	process = find_reader_process(trace->io);
	if (process)
		add_share(trace, process);
}

int io_start_share(struct trace *trace, const struct worker_task *task, const void *data)
{
	struct reader_process *process;
	int ret;

	process = add_reader_process(trace->io, task, data, &ret);
	if (!process)
		return ret;
	process->of = trace;
	process->stream.trace = trace;
	/* The first process has already printed the warnings about opening the trace. */
	process->stream.is_quiet = trace->num_shares > 0;
	trace->is_chosen = true;
	ret = add_share(trace, process);
	if (ret)
		worker_stop(&process->worker);
	return ret;
}

int io_stop_share(struct trace *trace)
{
	struct netsync_io *io = trace->io;
	struct reader_process *process = trace->shares[--trace->num_shares].by;
	const int status = worker_stop(&process->worker);
	size_t i = 0;

	while (io->processes[i] != process)
		i++;
	io->processes[i] = io->processes[--io->num_processes];
	free_reader_process(process);
	return status;
}

void io_release_shares(struct trace *trace)
{
	while (trace->num_shares)
		io_stop_share(trace);
	free(trace->shares);
	trace->shares = NULL;
}

/* ---- records from processes ---------------------------------------------- */

static void send_reader_turns(struct reader_process *process)
{
	const size_t known = process->sent - process->answered;
	const size_t left = process->num_turns - process->sent;
	const size_t num = left < MAX_SENT - known ? left : MAX_SENT - known;
	uint8_t bytes[MAX_SENT * STREAM_TURN_SIZE];

	if (!num || known > MAX_SENT / 2)
		return;
	for (size_t i = 0; i < num; i++)
		stream_put_turn(bytes + i * STREAM_TURN_SIZE, &process->turns[process->sent++]);
	worker_send_command(&process->worker, bytes, num * STREAM_TURN_SIZE);
}

/* Discard turns that were answered. */
static void drop_answered_turns(struct reader_process *process)
{
	memmove(process->turns, process->turns + process->answered,
		(process->num_turns - process->answered) * sizeof(process->turns[0]));
	process->num_turns -= process->answered;
	process->sent -= process->answered;
	process->answered = 0;
}

/* Queue a turn for a worker. */
static void queue_reader_turn(struct reader_process *process, const struct stream_turn *turn)
{
	if (process->answered > process->num_turns / 2)
		drop_answered_turns(process);
	/* If out of memory, stop the worker. The traces of the worker then end. */
	if (array_grow(&process->turns, &process->turn_room, process->num_turns, sizeof(*turn))) {
		process->status = worker_stop(&process->worker);
		return;
	}
	process->turns[process->num_turns++] = *turn;
}

static void end_share(struct reading_share *share)
{
	share->has_ended = true;
	share->by->traces--;
}

/* Handle the end of a slice. Return the same values as worker_use functions. */
static int use_turn_end(struct reading_share *share)
{
	struct reader_process *process = share->by;
	const struct stream_turn turn = process->turns[process->answered++];

	send_reader_turns(process);
	/* Ignore a slice of a trace that has ended or that was moved to this process. */
	if (turn.trace != share->trace->number)
		return 0;
	share->was_begun = true;
	share->read_ns = turn.until_ns;
	share->is_awaited = false;
	if (!process->stream.end.more)
		end_share(share);
	return 1;
}

/* Store the first record of a process that reads only this trace. */
static int use_first_record(struct reading_share *share, const void *payload)
{
	memcpy(share->first, payload, share->first_size);
	share->by->stream.is_quiet = false;
	share->is_awaited = false;
	return 1;
}

static int use_reader_record(void *data, const struct worker_head *head, const void *payload)
{
	struct reading_share *share = data;
	struct reader_process *process = share->by;
	int ret;

	if (head->what == STREAM_OTHER && share->first && head->size == share->first_size)
		return use_first_record(share, payload);
	ret = stream_use_record(&process->stream, share->trace->io, head, payload);
	if (ret <= 0)
		return ret;
	/* A hostile trace may have taken control of a library in the process. */
	return process->answered < process->sent ? use_turn_end(share) : -EPROTO;
}

/* Let another process continue a trace from the time up to which the stuck process had read it. */
static void move_share(struct reading_share *share, struct reader_process *to)
{
	share->by->traces--;
	share->by = to;
	to->traces++;
	if (share->was_begun)
		queue_reader_turn(to, &(struct stream_turn){ share->trace->number | STREAM_KNOWN,
							     share->read_ns });
}

/* Let another process read the other traces of a process that is stuck in one trace. */
static void move_traces_from_stuck(struct netsync_io *io, struct reader_process *stuck)
{
	struct reader_process *to = find_reader_process(io);

	/* If there is no other process, these traces end as well, when their next slice is due. */
	if (!to)
		return;
	for (size_t i = 0; i < io->num_traces; i++) {
		struct reading_share *share = io->traces[i]->shares;

		if (io->traces[i]->num_shares && share->by == stuck && !share->has_ended)
			move_share(share, to);
	}
	for (size_t i = stuck->answered; i < stuck->num_turns; i++) {
		const struct stream_turn *turn = &stuck->turns[i];

		if (!(turn->trace & STREAM_KNOWN) && !io->traces[turn->trace]->shares->has_ended)
			queue_reader_turn(to, turn);
	}
	if (to->worker.fd >= 0)
		send_reader_turns(to);
}

/*
 * Return the share that a process is reading, and in which it may be stuck. That share may differ
 * from the share for which this process waits, whose findings may still be in the other process's
 * memory.
 */
static struct reading_share *find_share_being_read(struct reading_share *awaited)
{
	const struct reader_process *process = awaited->by;
	const uint64_t part = process->of ? 0 : worker_get_part(&process->worker);
	struct trace *trace = part ? awaited->trace->io->traces[part - 1] : awaited->trace;

	return part && trace->num_shares && trace->shares->by == process &&
			       !trace->shares->has_ended ?
		       trace->shares :
		       awaited;
}

/* Implement worker_patience.is_over() for the trace that the process is reading. */
static bool is_reader_wait_over(void *data, int64_t silent_ms)
{
	struct reading_share *awaited = data;
	struct patience patience = io_make_trace_patience(find_share_being_read(awaited)->trace);
	const struct worker_patience waits = io_make_worker_patience(&patience);
	bool over;

	patience.has_warned = awaited->has_warned;
	over = waits.is_over(&patience, silent_ms);
	awaited->has_warned = patience.has_warned;
	return over;
}

/*
 * Wait for the next slice or the first record of a process. Return the same values as
 * worker_receive_while().
 */
static int await_share(struct reading_share *share)
{
	const struct worker_patience waits = { is_reader_wait_over, share };
	struct reader_process *by = share->by;

	share->is_awaited = true;
	share->has_warned = false;
	by->stream.trace = share->trace;
	by->stream.packets = &share->packets;
	return worker_receive_while(&by->worker, &share->is_awaited, use_reader_record, share,
				    &waits);
}

int io_await_share(struct trace *trace, uint32_t number, void *record, size_t size)
{
	struct reading_share *share = &trace->shares[number];
	int ret;

	share->first = record;
	share->first_size = size;
	ret = await_share(share);
	share->first = NULL;
	return ret;
}

static int await_reader_slice(struct reading_share *share);

/*
 * Handle a process that has ended before its trace or is stuck: warn that the rest of the trace is
 * lost. If the process is stuck in another trace, continue with the trace for which this process
 * waits.
 */
static int give_up_share(struct reading_share *awaited)
{
	struct reader_process *process = awaited->by;
	const bool is_stuck = process->worker.fd >= 0 && process->worker.is_stuck;
	struct reading_share *share = is_stuck ? find_share_being_read(awaited) : awaited;
	struct trace *trace = share->trace;
	const char *why = "the process that read it exited early, which is a bug in netsync";
	const char *which = trace->num_shares > 1 ? "some streams were " : "";
	int ret;

	if (process->worker.fd >= 0)
		process->status = worker_stop(&process->worker);
	end_share(share);
	if (is_stuck && !process->of)
		move_traces_from_stuck(trace->io, process);
	if (worker_was_killed(process->status)) {
		trace->info.killed++;
		why = WORKER_WAS_KILLED;
	} else if (process->status == -ETIMEDOUT) {
		trace->info.stuck++;
		why = WORKER_WAS_STUCK;
	} else if (trace->reader->why_ended) {
		which = *which ? "damaged; some streams were " : "damaged; ";
		why = trace->reader->why_ended(process->status);
	}
	ret = io_warn_broken_off(trace, &share->packets, which, why);
	return ret || share == awaited ? ret : await_reader_slice(awaited);
}

/* Use the next slice of a process. Return the same values as trace_reader.read(). */
static int await_reader_slice(struct reading_share *share)
{
	const int ret = await_share(share);

	if (!ret)
		return give_up_share(share);
	return ret < 0 ? ret : !share->has_ended;
}

/* ---- slices -------------------------------------------------------------- */

/* Return whether the trace has no events up to this time. */
static bool is_trace_idle(const struct trace *trace, int64_t until_ns)
{
	return trace->reader->is_idle && trace->reader->is_idle(trace, until_ns);
}

void io_begin_reading(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_processes; i++)
		if (io->processes[i]->worker.fd >= 0)
			send_reader_turns(io->processes[i]);
}

/* Send the requested time window and the share to a process that reads only this trace. */
static void send_limits(const struct trace *trace, uint32_t share)
{
	const struct stream_turn limits[] = {
		{ STREAM_FROM, trace->window.lo },
		{ STREAM_TO, trace->window.hi },
		{ STREAM_SHARE, (int64_t)share << 32 | trace->num_shares },
	};
	uint8_t bytes[STREAM_TURN_SIZE];

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		stream_put_turn(bytes, &limits[i]);
		worker_send_command(&trace->shares[share].by->worker, bytes, sizeof(bytes));
	}
}

void io_read_ahead(struct trace *trace, int64_t until_ns)
{
	if (trace->reader->ahead) {
		trace->reader->ahead(trace, until_ns);
		return;
	}
	if (is_trace_idle(trace, until_ns) || trace->has_ended)
		return;
	choose_process(trace);
	for (uint32_t i = 0; i < trace->num_shares; i++) {
		struct reading_share *share = &trace->shares[i];
		struct reader_process *process = share->by;

		/* If the process has ended, this is noticed when the slice is due. */
		if (share->has_ended || process->worker.fd < 0)
			continue;
		if (process->of && !share->was_asked)
			send_limits(trace, i);
		share->was_asked = true;
		queue_reader_turn(process, &(struct stream_turn){ trace->number, until_ns });
	}
}

int io_read_slice(struct trace *trace, int64_t until_ns)
{
	int more = 0;

	if (trace->has_ended)
		return 0;
	if (is_trace_idle(trace, until_ns))
		return 1;
	if (!trace->num_shares)
		more = trace->reader->read(trace, until_ns);
	for (uint32_t i = 0; i < trace->num_shares; i++) {
		struct reading_share *share = &trace->shares[i];
		const int ret = share->has_ended ? 0 : await_reader_slice(share);

		if (ret < 0)
			return ret;
		more |= ret;
	}
	trace->has_ended = !more;
	return more;
}
