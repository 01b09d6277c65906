// SPDX-License-Identifier: LGPL-2.1-or-later
/* Send the findings of readers in this process to the process that started it, as records. */
#include <string.h>

#include "io/stream/stream.h"

/* Maximum size of a record of counts or times (bytes): each number takes at most ten. */
#define MAX_NUMBERS (10 * (TRACE_COUNTS + 1))

/* Maximum size of a part: six numbers, three of fixed size, and two names. */
#define MAX_PART (10 * 7 + 8 * 5 + 2 * SPAN_NAME_SIZE)

/* State of the trace that is being read. */
static struct {
	struct trace *trace;
	uint16_t number; /* number of the trace */
	bool is_known;	 /* another process sent the findings before, so nothing is sent */
	struct code code;
} sending;

static int send_packet(struct trace *trace, const struct netsync_packet *pkt,
		       const struct observation_point *at)
{
	struct bytes_put put;

	(void)trace;
	if (sending.is_known)
		return 0;
	put.at = worker_reserve_bytes(STREAM_EVENTS, sending.number, CODE_MAX_EVENT);
	code_encode_packet(&sending.code, &put, pkt, at);
	worker_commit_bytes(put.at);
	return 0;
}

static int send_clock(struct trace *trace, const struct clock_event *clock)
{
	struct bytes_put put;

	(void)trace;
	if (sending.is_known)
		return 0;
	put.at = worker_reserve_bytes(STREAM_EVENTS, sending.number, CODE_MAX_EVENT);
	code_encode_clock(&sending.code, &put, clock);
	worker_commit_bytes(put.at);
	return 0;
}

static int send_span(struct trace *trace, int64_t first_ns, int64_t last_ns)
{
	uint8_t bytes[MAX_NUMBERS];
	struct bytes_put put = { bytes };

	bytes_put_signed(&put, first_ns);
	bytes_put_signed(&put, last_ns);
	/* A trace that is given up during another trace's turn sends nothing more. */
	if (!sending.is_known && trace == sending.trace)
		worker_put(STREAM_SPAN, sending.number, bytes, put.at - bytes);
	return 0;
}

static int send_part(struct trace *trace, const struct span_part *part)
{
	uint8_t bytes[MAX_PART];
	struct bytes_put put = { bytes };

	(void)trace;
	for (int i = 0; i < 2; i++)
		bytes_put_fixed(&put, part->key[i], sizeof(part->key[i]));
	bytes_put_fixed(&put, part->check, sizeof(part->check));
	for (int i = 0; i < 2; i++)
		bytes_put_fixed(&put, part->group_id[i], sizeof(part->group_id[i]));
	bytes_put_signed(&put, part->start_ns);
	bytes_put_signed(&put, part->end_ns);
	bytes_put_number(&put, part->kind);
	bytes_put_number(&put, part->role);
	bytes_put_number(&put, part->member);
	bytes_put_number(&put, part->members);
	bytes_put_signed(&put, part->step);
	bytes_put_raw(&put, part->group, strlen(part->group) + 1);
	bytes_put_raw(&put, part->what, strlen(part->what) + 1);
	if (!sending.is_known)
		worker_put(STREAM_PART, sending.number, bytes, put.at - bytes);
	return 0;
}

static void send_warning(void *data, const char *sentence)
{
	(void)data;
	if (sending.is_known)
		return;
	worker_put_text(STREAM_WARNING, 0, sentence);
	/* The warning may concern a long wait, after which nothing else is sent soon. */
	worker_flush();
}

void stream_begin(struct netsync_io *io)
{
	static const struct io_sink sink = { send_packet, send_clock, send_span, send_part };

	/* This process may be a forked copy of a process that sent records. */
	memset(&sending, 0, sizeof(sending));
	io->observe = NULL;
	io->sink = &sink;
	netsync_io_set_warn(io, send_warning, NULL);
	for (size_t i = 0; i < io->num_traces; i++)
		io->traces[i]->sent = trace_get_counts(io->traces[i]);
}

void stream_put_turn(uint8_t to[STREAM_TURN_SIZE], const struct stream_turn *turn)
{
	struct bytes_put put = { to };

	bytes_put_fixed(&put, turn->trace, sizeof(turn->trace));
	bytes_put_fixed(&put, (uint64_t)turn->until_ns, sizeof(turn->until_ns));
}

struct stream_turn stream_receive_turn(void)
{
	uint8_t bytes[STREAM_TURN_SIZE];
	struct bytes_take take = bytes_take_all(bytes, sizeof(bytes));
	struct stream_turn turn;

	worker_read_command(bytes, sizeof(bytes));
	turn.trace = (uint32_t)bytes_take_fixed(&take, sizeof(turn.trace));
	turn.until_ns = (int64_t)bytes_take_fixed(&take, sizeof(turn.until_ns));
	return turn;
}

bool stream_limit_window(struct trace *trace, const struct stream_turn *turn)
{
	if (turn->trace & STREAM_FROM) {
		trace->window.lo = turn->until_ns;
	} else if (turn->trace & STREAM_TO) {
		trace->window.hi = turn->until_ns;
		if (trace->reader->limit)
			trace->reader->limit(trace);
	} else if (turn->trace & STREAM_SHARE) {
		trace->share = (uint32_t)((uint64_t)turn->until_ns >> 32);
		trace->of = (uint32_t)turn->until_ns;
	} else {
		return false;
	}
	return true;
}

void stream_begin_trace(struct trace *trace, uint32_t number, bool is_known)
{
	sending.trace = trace;
	sending.number = (uint16_t)number;
	sending.is_known = is_known;
}

void stream_put_state(void)
{
	struct trace_counts *sent = &sending.trace->sent;
	const struct trace_counts now = trace_get_counts(sending.trace);
	uint8_t bytes[MAX_NUMBERS];
	struct bytes_put put = { bytes };

	trace_encode_counts(&put, sent, &now);
	if (!sending.is_known && memcmp(&now, sent, sizeof(now)))
		worker_put(STREAM_STATE, sending.number, bytes, put.at - bytes);
	*sent = now;
}

void stream_put_end(int64_t read_ns, bool more)
{
	uint8_t bytes[MAX_NUMBERS];
	struct bytes_put put = { bytes };

	bytes_put_signed(&put, read_ns);
	bytes_put_number(&put, more);
	worker_put(STREAM_END, sending.number, bytes, put.at - bytes);
}

void stream_put_error(const struct netsync_io *io, int error)
{
	worker_put_text(STREAM_ERROR, (uint16_t)-error, io->error ? io->error : "");
}
