// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slices of traces whose reader has no worker of its own (captures, trace.dat and
 * perf.data files) -> their contents, read by reader processes, as many as there are jobs.
 *
 *	this process			worker
 *	struct reader_turns -->			slices of traces
 *			<-- ASIDE_FOUND ...	what trace_reader.read() finds in one
 *			<-- ASIDE_READ		and so on, for each
 *	struct reader_turns -->			ASIDE_FAILED is the last record
 *
 * When a worker is started, as a copy of this process, all traces are open, and none of
 * those that it will read was begun: so it can read any. One worker reads a trace from
 * its first slice to its end, and then another one: of a host's thousands of captures,
 * few are of the same time. Slices come in the order in which they were asked for; those
 * that were read ahead stay in the socket until their turn.
 *
 * If a worker is stuck in a trace, another one reads its other traces: from their begin up
 * to where they had been read without telling, and then on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/patience.h"
#include "io/worker/worker.h"
#include "util/array.h"

/*
 * Limit of the slices that a worker knows at a time, so that its socket takes their commands at
 * once; further slices are sent when the worker has read half of them. Chosen, as SLICES_AHEAD:
 * with some twenty events in a slice (row trace.dat of selftests/bench/readers), sending 16
 * slices took longer than reading them.
 */
#define MAX_SENT 64

enum aside_what {
	ASIDE_WARNING,		/* text */
	ASIDE_FOUND,		/* struct found_item, as many as there are */
	ASIDE_READ,		/* struct slice_read */
	ASIDE_FAILED,		/* text; its number is the errno */
};

struct turn {
	struct trace *trace;	/* at the same address in both processes */
	int64_t until_ns;	/* as printed */
	bool is_known;		/* what is found was told before, by another worker */
};

struct reader_turns {
	uint32_t num;
	struct turn turn[MAX_SENT];
};

struct found_item {
	bool is_span;
	union {
		struct event_seen seen;
		struct range span;
	};
};

#define MAX_ITEMS (WORKER_MAX_SIZE / sizeof(struct found_item))

/* The counters of struct trace that a reader process increments. */
struct counts {
	uint64_t lost_events;
	uint64_t lost_packets;
	uint64_t out_of_range;
	uint64_t unused;
	uint32_t damaged;
};

struct slice_read {
	const struct trace *trace;
	bool more;
	bool is_known;		/* struct turn.is_known */
	struct counts counts;	/* since its last slice */
};

struct aside {
	struct worker worker;
	int status;		/* how it ended, where worker.fd < 0 */
	size_t traces;		/* that it reads, and did not end */
	/* Turns up to @answered were answered, up to @sent told, and up to @num are to be told. */
	struct turn *turns;
	size_t answered, sent, num_turns;
	size_t turn_room;	/* turns allocated */
};

/* ---- in the worker ------------------------------------------------------- */

static struct {
	struct found_item items[MAX_ITEMS];
	size_t num;
} found;

static void send_found_items(void)
{
	if (found.num)
		worker_put(ASIDE_FOUND, 0, found.items,
			   found.num * sizeof(found.items[0]));
	found.num = 0;
}

static struct found_item *add_found_item(void)
{
	if (found.num == MAX_ITEMS)
		send_found_items();
	return &found.items[found.num++];
}

static int put_found_packet(struct trace *trace, const struct netsync_packet *pkt,
			    const struct observation_point *at)
{
	struct found_item *item = add_found_item();

	(void)trace;
	item->is_span = false;
	item->seen.is_clock = false;
	item->seen.pkt = *pkt;
	item->seen.at = *at;
	return 0;
}

static int put_found_clock(struct trace *trace, const struct clock_event *clock)
{
	struct found_item *item = add_found_item();

	(void)trace;
	item->is_span = false;
	item->seen.is_clock = true;
	item->seen.clock = *clock;
	return 0;
}

static int put_found_span(struct trace *trace, int64_t first_ns, int64_t last_ns)
{
	struct found_item *item = add_found_item();

	(void)trace;
	item->is_span = true;
	item->span = (struct range){ first_ns, last_ns };
	return 0;
}

static void put_warning(void *data, const char *sentence)
{
	(void)data;
	send_found_items();
	worker_put_text(ASIDE_WARNING, 0, sentence);
}

static struct counts get_trace_counts(const struct trace *trace)
{
	return (struct counts){
		.lost_events = trace->info.lost_events,
		.lost_packets = trace->info.lost_packets,
		.out_of_range = trace->out_of_range,
		.unused = trace->unused,
		.damaged = trace->info.damaged,
	};
}

static int drop_packet(struct trace *trace, const struct netsync_packet *pkt,
		       const struct observation_point *at)
{
	(void)trace;
	(void)pkt;
	(void)at;
	return 0;
}

static int drop_clock(struct trace *trace, const struct clock_event *clock)
{
	(void)trace;
	(void)clock;
	return 0;
}

static int drop_span(struct trace *trace, int64_t first_ns, int64_t last_ns)
{
	(void)trace;
	(void)first_ns;
	(void)last_ns;
	return 0;
}

/* Set who takes what is found. */
static void set_found_sink(struct netsync_io *io, bool is_known)
{
	static const struct io_sink puts = { put_found_packet, put_found_clock, put_found_span };
	static const struct io_sink drops = { drop_packet, drop_clock, drop_span };

	io->sink = is_known ? &drops : &puts;
	netsync_io_set_warn(io, is_known ? NULL : put_warning, NULL);
}

static int read_turn(const struct turn *turn)
{
	struct trace *trace = turn->trace;
	const struct counts before = get_trace_counts(trace);
	struct slice_read read = { .trace = trace, .is_known = turn->is_known };
	int ret = 0;

	set_found_sink(trace->io, turn->is_known);
	worker_begin_part((uintptr_t)trace);
	/* Slices may have been asked for before the trace was known to have ended. */
	if (!trace->aside.has_ended)
		ret = trace->reader->read(trace, turn->until_ns);
	send_found_items();
	if (ret < 0)
		return ret;
	trace->aside.has_ended = !ret;
	read.more = ret;
	read.counts = get_trace_counts(trace);
	read.counts.lost_events -= before.lost_events;
	read.counts.lost_packets -= before.lost_packets;
	read.counts.out_of_range -= before.out_of_range;
	read.counts.unused -= before.unused;
	read.counts.damaged -= before.damaged;
	worker_put(ASIDE_READ, 0, &read, sizeof(read));
	return 0;
}

/* The worker ends in worker_hear(), when this process is gone. */
static void read_turns(const void *data)
{
	struct netsync_io *io = *(struct netsync_io *const *)data;
	struct reader_turns turns;
	int ret = 0;

	found.num = 0;
	io->observe = NULL;
	while (!ret) {
		worker_hear(&turns, sizeof(turns));
		for (uint32_t i = 0; i < turns.num && !ret; i++)
			ret = read_turn(&turns.turn[i]);
	}
	worker_put_text(ASIDE_FAILED, -ret, netsync_io_error(io));
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

static int start_reader_process(struct netsync_io *io, struct aside *aside)
{
	int *keep = malloc((io->num_traces + io->num_kept + 1) * sizeof(*keep));
	struct worker_task task = {
		.run = read_turns,
		/* The readers limit themselves: they are those of this process. */
		.limits = { .memory = UINT64_MAX / 2 },
		.keep = keep,
	};
	int ret;

	if (!keep)
		return -ENOMEM;
	task.num_keep = collect_reader_files(io, keep);
	ret = worker_start(&aside->worker, &task, &io);
	free(keep);
	return ret;
}

/* Start a worker. NULL: that is not possible now. */
static struct aside *add_worker(struct netsync_io *io)
{
	struct aside **last = array_add(&io->asides, io->num_asides, sizeof(*last));
	struct aside *aside = last ? calloc(1, sizeof(*aside)) : NULL;

	if (!aside)
		return NULL;
	if (start_reader_process(io, aside) < 0) {
		free(aside);
		return NULL;
	}
	*last = aside;
	io->num_asides++;
	return aside;
}

/* A worker that has nothing to do, or a new one, or the one with the fewest traces. */
static struct aside *find_worker(struct netsync_io *io)
{
	const unsigned int jobs = io_jobs(io);
	struct aside *best = NULL, *new;
	unsigned int running = 0;

	for (size_t i = 0; i < io->num_asides; i++) {
		struct aside *aside = io->asides[i];

		if (aside->worker.fd < 0)
			continue;
		running++;
		if (!best || aside->traces < best->traces)
			best = aside;
	}
	if (running >= jobs || (best && !best->traces))
		return best;
	new = add_worker(io);
	return new ? new : best;
}

void io_stop_asides(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_asides; i++) {
		worker_stop(&io->asides[i]->worker);
		free(io->asides[i]->turns);
		free(io->asides[i]);
	}
	free(io->asides);
	io->asides = NULL;
	io->num_asides = 0;
}

/* ---- what workers send --------------------------------------------------- */

static void send_reader_turns(struct aside *aside)
{
	const size_t known = aside->sent - aside->answered;
	const size_t left = aside->num_turns - aside->sent;
	const size_t num = left < MAX_SENT - known ? left : MAX_SENT - known;
	struct reader_turns turns = { .num = num };

	if (!num || known > MAX_SENT / 2)
		return;
	memcpy(turns.turn, aside->turns + aside->sent, num * sizeof(turns.turn[0]));
	worker_tell(&aside->worker, &turns, sizeof(turns));
	aside->sent += num;
}

/* Forget turns that were answered. */
static void drop_answered_turns(struct aside *aside)
{
	memmove(aside->turns, aside->turns + aside->answered,
		(aside->num_turns - aside->answered) * sizeof(aside->turns[0]));
	aside->num_turns -= aside->answered;
	aside->sent -= aside->answered;
	aside->answered = 0;
}

/* Note what a worker is to read. */
static void queue_reader_turn(struct aside *aside, const struct turn *turn)
{
	if (aside->answered > aside->num_turns / 2)
		drop_answered_turns(aside);
	/* There is no memory: its traces end here. */
	if (array_grow(&aside->turns, &aside->turn_room, aside->num_turns,
		       sizeof(*turn))) {
		aside->status = worker_stop(&aside->worker);
		return;
	}
	aside->turns[aside->num_turns++] = *turn;
}

static int use_found_items(struct trace *trace, const struct found_item *items, size_t num)
{
	int ret = 0;

	for (size_t i = 0; i < num && !ret; i++) {
		const struct found_item *item = &items[i];

		if (item->is_span) {
			ret = io_span(trace, item->span.lo, item->span.hi);
			continue;
		}
		if (!item->seen.is_clock)
			range_extend(&trace->aside.packets, item->seen.pkt.time_ns,
				     item->seen.pkt.time_ns);
		ret = io_event(trace, &item->seen);
	}
	return ret;
}

static void add_slice_counts(struct trace *trace, const struct counts *counts)
{
	trace->info.lost_events += counts->lost_events;
	trace->info.lost_packets += counts->lost_packets;
	trace->info.damaged += counts->damaged;
	trace->out_of_range += counts->out_of_range;
	trace->unused += counts->unused;
}

static void end_trace(struct trace *trace)
{
	trace->aside.pending = 0;
	trace->aside.has_ended = true;
	trace->aside.by->traces--;
}

/* Return: as worker_use. */
static int use_slice_read(struct trace *trace, const struct slice_read *read)
{
	struct aside *aside = trace->aside.by;

	const int64_t until_ns = aside->turns[aside->answered++].until_ns;

	send_reader_turns(aside);
	/* A slice of a trace that had ended before, or was moved to this worker. */
	if (read->trace != trace || read->is_known)
		return 0;
	trace->aside.was_begun = true;
	trace->aside.read_ns = until_ns;
	add_slice_counts(trace, &read->counts);
	trace->aside.pending--;
	trace->aside.is_awaited = false;
	if (!read->more)
		end_trace(trace);
	return 1;
}

static int use_reader_record(void *data, const struct worker_head *head, const void *payload)
{
	struct trace *trace = data;

	switch (head->what) {
	case ASIDE_WARNING:
		io_warn(trace->io, "%s", (const char *)payload);
		return 0;
	case ASIDE_FOUND:
		return use_found_items(trace, payload, head->size / sizeof(struct found_item));
	case ASIDE_READ:
		return use_slice_read(trace, payload);
	case ASIDE_FAILED:
		return io_fail(trace->io, head->number ? -head->number : -EIO,
			       "%s", (const char *)payload);
	default:
		return 0;
	}
}

/* Have another worker read a trace from where a stuck one had come to. */
static void move_trace_to_reader(struct trace *trace, struct aside *to)
{
	trace->aside.by->traces--;
	trace->aside.by = to;
	to->traces++;
	if (trace->aside.was_begun)
		queue_reader_turn(to, &(struct turn){ trace, trace->aside.read_ns, true });
}

/* A worker is stuck in a trace: have another one read its other traces. */
static void replace_stuck(struct netsync_io *io, struct aside *stuck)
{
	struct aside *to = find_worker(io);

	/* These end as well, each in its turn. */
	if (!to)
		return;
	for (size_t i = 0; i < io->num_traces; i++) {
		struct aside_trace *aside = &io->traces[i]->aside;

		if (aside->by == stuck && !aside->has_ended)
			move_trace_to_reader(io->traces[i], to);
	}
	for (size_t i = stuck->answered; i < stuck->num_turns; i++)
		if (!stuck->turns[i].trace->aside.has_ended && !stuck->turns[i].is_known)
			queue_reader_turn(to, &stuck->turns[i]);
	if (to->worker.fd >= 0)
		send_reader_turns(to);
}

/*
 * The trace that a worker reads. What it found of the one that is awaited may be in its
 * memory still.
 */
static struct trace *find_trace_being_read(const struct aside *aside, struct trace *awaited)
{
	const uint64_t part = worker_get_part(&aside->worker);
	const struct netsync_io *io = awaited->io;

	for (size_t i = 0; i < io->num_traces; i++)
		if ((uintptr_t)io->traces[i] == part &&
		    io->traces[i]->aside.by == aside && !io->traces[i]->aside.has_ended)
			return io->traces[i];
	return awaited;
}

static int take_reader_slice(struct trace *trace);

/* A worker is stuck: its current trace ends, and the others go on. */
static int give_up_stuck(struct trace *awaited)
{
	struct aside *aside = awaited->aside.by;
	struct trace *stuck = find_trace_being_read(aside, awaited);
	int ret;

	aside->status = worker_stop(&aside->worker);
	end_trace(stuck);
	replace_stuck(awaited->io, aside);
	stuck->info.stuck++;
	ret = io_broke_off(stuck, &stuck->aside.packets, "", WORKER_WAS_STUCK);
	return ret || stuck == awaited ? ret : take_reader_slice(awaited);
}

/* A worker has ended before its trace: warn about the rest, which is lost. */
static int give_up_dead_reader(struct trace *trace)
{
	struct aside *aside = trace->aside.by;
	bool was_killed;

	if (aside->worker.fd >= 0 && aside->worker.is_stuck)
		return give_up_stuck(trace);
	if (aside->worker.fd >= 0)
		aside->status = worker_stop(&aside->worker);
	end_trace(trace);
	was_killed = worker_was_killed(aside->status);
	trace->info.killed += was_killed;
	trace->info.stuck += aside->worker.is_stuck;
	return io_broke_off(trace, &trace->aside.packets, "",
			    was_killed ? WORKER_WAS_KILLED :
			    aside->worker.is_stuck ? WORKER_WAS_STUCK :
			    "the process that read it exited early, which is a bug in netsync");
}

/* worker_patience.is_over() for the trace that the worker is reading. */
static bool is_reader_wait_over(void *data, int64_t silent_ms)
{
	struct trace *awaited = data;
	struct trace *current = find_trace_being_read(awaited->aside.by, awaited);
	struct patience patience = io_trace_patience(current);
	const struct worker_patience waits = io_worker_patience(&patience);
	bool over;

	patience.has_warned = awaited->aside.has_warned;
	over = waits.is_over(&patience, silent_ms);
	awaited->aside.has_warned = patience.has_warned;
	return over;
}

/* Use the next slice of a worker's commands. Returns as trace_reader.read(). */
static int take_reader_slice(struct trace *trace)
{
	const struct worker_patience waits = { is_reader_wait_over, trace };
	int ret;

	trace->aside.is_awaited = true;
	trace->aside.has_warned = false;
	ret = worker_receive_while(&trace->aside.by->worker, &trace->aside.is_awaited,
				   use_reader_record, trace, &waits);
	if (!ret)
		return give_up_dead_reader(trace);
	return ret < 0 ? ret : !trace->aside.has_ended;
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
	if (trace->aside.is_chosen)
		return;
	trace->aside.is_chosen = true;
	trace->aside.packets.hi = -1;
	trace->aside.by = find_worker(trace->io);
	if (trace->aside.by)
		trace->aside.by->traces++;
}

void io_begin_reading(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_asides; i++)
		if (io->asides[i]->worker.fd >= 0)
			send_reader_turns(io->asides[i]);
}

void io_read_ahead(struct trace *trace, int64_t until_ns)
{
	struct aside *aside;

	if (trace->reader->ahead) {
		trace->reader->ahead(trace, until_ns);
		return;
	}
	if (is_trace_idle(trace, until_ns) || trace->aside.has_ended)
		return;
	choose_worker(trace);
	aside = trace->aside.by;
	if (!aside)
		return;
	/* Where its worker has ended, that is noticed in the slice's turn. */
	trace->aside.pending++;
	if (aside->worker.fd >= 0)
		queue_reader_turn(aside, &(struct turn){ trace, until_ns, false });
}

int io_read_slice(struct trace *trace, int64_t until_ns)
{
	if (trace->aside.has_ended)
		return 0;
	if (is_trace_idle(trace, until_ns))
		return 1;
	return trace->aside.pending ? take_reader_slice(trace) :
				      trace->reader->read(trace, until_ns);
}
