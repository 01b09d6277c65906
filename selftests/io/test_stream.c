// SPDX-License-Identifier: GPL-2.0-only
/*
 * A worker process sends what readers find, and this process receives it. Every event, span, count
 * and message must arrive in order, and invalid records must be refused.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "../lib/test.h"
#include "io/stream/stream.h"

#define EVENTS 20000 /* too many to fit into the buffers of several sockets */
#define NUMBER 7     /* number of the trace */

static struct trace trace, other;
static struct netsync_io io = { .traces = (struct trace *[]){ &trace }, .num_traces = 1 };
static struct stream stream;

/* What this process has received, and the state of the generator that predicts the next event. */
static struct {
	uint64_t random;
	uint32_t events;
	uint32_t spans;
	uint32_t parts;
	char warning[100];
	char error[100];
	int failed;
} came;

/* ---- the rest of the library -------------------------------------------------- */

static void make_event(uint64_t *state, struct event_seen *seen)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_SCTP };
	struct netsync_packet *pkt = &seen->pkt;
	const uint64_t r = draw_random64(state);

	memset(seen, 0, sizeof(*seen));
	seen->is_clock = r % 16 == 0;
	if (seen->is_clock) {
		seen->clock.time_ns = (int64_t)draw_random64(state);
		seen->clock.raw_ns = (int64_t)draw_random64(state);
		seen->clock.within_ns = (int64_t)(draw_random64(state) >> 1);
		seen->clock.rate = 2 * draw_between_0_and_1(state);
		seen->clock.number = (uint32_t)draw_random64(state);
		seen->clock.was_set = r & 16;
		return;
	}
	pkt->time_ns = (int64_t)draw_random64(state) >> (r >> 8) % 64;
	pkt->fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_SKB | NETSYNC_HAS_LEN;
	pkt->dir = r >> 5 & 1;
	pkt->protocol = protocols[r >> 6 & 3];
	pkt->skb = draw_random64(state) % 1000;
	pkt->len = (uint32_t)draw_random64(state);
	/* Generate a few flows with many packets each, and many flows with few packets. */
	pkt->sport = (uint16_t)(r >> 16) % (r >> 40 & 1 ? 3 : UINT16_MAX);
	pkt->saddr[15] = (uint8_t)(r >> 32) % 4;
	pkt->netns = r >> 41 & 1;
	seen->at.place = r >> 42 & 1;
	seen->at.device = r >> 43 & 1 ? draw_random64(state) : 0;
	if (pkt->protocol == IPPROTO_TCP) {
		pkt->tcp.seq = (uint32_t)draw_random64(state);
		pkt->tcp.ack = (uint32_t)draw_random64(state);
	} else if (pkt->protocol == IPPROTO_UDP) {
		pkt->fields |= NETSYNC_HAS_DIGEST;
		pkt->udp.digest = draw_random64(state);
	} else if (pkt->protocol == IPPROTO_ICMP) {
		pkt->icmp.seq = (uint16_t)draw_random64(state);
	} else {
		pkt->sctp.tsn = (uint32_t)draw_random64(state);
	}
}

int io_add_event(struct trace *to, struct event_seen *seen)
{
	struct event_seen expected;

	if (io.sink)
		return seen->is_clock ? io.sink->clock(to, &seen->clock) :
					io.sink->packet(to, &seen->pkt, &seen->at);
	assert_ptr_equal(to, &trace);
	make_event(&came.random, &expected);
	assert_int_equal(seen->is_clock, expected.is_clock);
	if (seen->is_clock) {
		assert_memory_equal(&seen->clock, &expected.clock, sizeof(seen->clock));
	} else {
		assert_memory_equal(&seen->pkt, &expected.pkt, sizeof(seen->pkt));
		assert_memory_equal(&seen->at, &expected.at, sizeof(seen->at));
	}
	came.events++;
	return 0;
}

int io_add_span(struct trace *to, int64_t first_ns, int64_t last_ns)
{
	if (io.sink)
		return io.sink->span(to, first_ns, last_ns);
	assert_int_equal(first_ns, INT64_MIN + came.spans);
	assert_int_equal(last_ns, INT64_MAX - came.spans);
	came.spans++;
	return 0;
}

static struct span_part make_part(uint32_t number)
{
	struct span_part part = {
		.key = { UINT64_MAX - number, number },
		.check = (uint64_t)number << 60,
		.start_ns = INT64_MIN + number,
		.end_ns = INT64_MAX - number,
		.group_id = { number, UINT64_MAX - number },
		.kind = number % (NETSYNC_IO_QUEUE + 1),
		.role = number % 2 ? SPAN_ALL_ROLES : SPAN_AFTER,
		.member = UINT32_MAX - number,
		.members = UINT32_MAX,
		.step = number ? INT32_MAX : -1,
	};

	memset(part.group, 'g', SPAN_NAME_SIZE - 1 - number);
	strcpy(part.what, number ? "allreduce" : "");
	return part;
}

int io_add_part(struct trace *to, const struct span_part *part)
{
	struct span_part expected;

	if (io.sink)
		return io.sink->part(to, part);
	expected = make_part(came.parts++);
	assert_memory_equal(part, &expected, sizeof(expected));
	return 0;
}

void io_warn(struct netsync_io *to, const char *format, ...)
{
	va_list arguments;
	char text[100];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (to->warn)
		to->warn(to->warn_data, text);
	else
		memcpy(came.warning, text, sizeof(text));
}

int io_fail(struct netsync_io *to, int err, const char *format, ...)
{
	va_list arguments;

	(void)to;
	va_start(arguments, format);
	vsnprintf(came.error, sizeof(came.error), format, arguments);
	va_end(arguments);
	return came.failed = err;
}

void netsync_io_set_warn(struct netsync_io *to, netsync_io_warn_func warn, void *data)
{
	to->warn = warn;
	to->warn_data = data;
}

/* ---- a process that reads ------------------------------------------------------ */

static void put_random_events(const struct stream_turn *turn, uint64_t *random)
{
	stream_begin_trace(&trace, NUMBER, turn->trace & STREAM_KNOWN);
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct event_seen seen;

		make_event(random, &seen);
		io_add_event(&trace, &seen);
		if (i % 1000 == 0 && !(turn->trace & STREAM_KNOWN))
			io_add_span(&trace, INT64_MIN + came.spans, INT64_MAX - came.spans);
		if (i % 1000 == 0) {
			const struct span_part part = make_part(came.parts + i / 1000);

			io_add_part(&trace, &part);
		}
		came.spans += i % 1000 == 0;
		if (i % 1000 == 500)
			worker_flush();
	}
	/* The worker must not send a span of another trace as one of this trace. */
	io_add_span(&other, 0, 0);
	trace.info.lost_events += 5;
	trace.unused += UINT32_MAX;
	io_warn(&io, "read %lld", (long long)turn->until_ns);
	stream_put_state();
	stream_put_end(turn->until_ns, turn->until_ns < INT64_MAX);
}

/* Read when requested. After the request for all events, end with an error. */
static void read_turns(const void *data)
{
	struct stream_turn turn;
	uint64_t random = 0;

	(void)data;
	stream_begin(&io);
	do {
		turn = stream_receive_turn();
		if (turn.trace & STREAM_KNOWN)
			put_random_events(&turn, &(uint64_t){ 1 });
		else
			put_random_events(&turn, &random);
	} while (turn.until_ns < INT64_MAX);
	io.error = "the end";
	stream_put_error(&io, -ENOTTY);
}

static int use_stream_worker_record(void *data, const struct worker_head *head, const void *payload)
{
	const int ret = stream_use_record(&stream, &io, head, payload);

	*(bool *)data = ret == 0;
	return ret;
}

static bool is_stream_wait_over(void *data, int64_t silent_ms)
{
	(void)data;
	return silent_ms >= 60000;
}

static int receive_turn(struct worker *worker, uint32_t flags, int64_t until_ns)
{
	const struct worker_patience waits = { is_stream_wait_over, NULL };
	uint8_t bytes[STREAM_TURN_SIZE];
	bool waiting = true;

	stream_put_turn(bytes, &(struct stream_turn){ NUMBER | flags, until_ns });
	worker_send_command(worker, bytes, sizeof(bytes));
	return worker_receive_while(worker, &waiting, use_stream_worker_record, &waiting, &waits);
}

static void test_events_of_turns(void **state)
{
	const struct worker_task task = { .run = read_turns, .limits.memory = UINT64_C(1) << 40 };
	struct range packets = { .hi = -1 };
	struct worker worker;

	(void)state;
	stream = (struct stream){ .trace = &trace, .number = NUMBER, .packets = &packets };
	/* Both processes already know that these events were lost. */
	trace.info.lost_events = 100;
	assert_int_equal(worker_start(&worker, &task, NULL), 0);
	assert_int_equal(receive_turn(&worker, 0, -5), 1);
	assert_int_equal(came.events, EVENTS);
	assert_int_equal(came.spans, EVENTS / 1000);
	assert_int_equal(came.parts, EVENTS / 1000);
	assert_string_equal(came.warning, "read -5");
	assert_true(stream.end.more);
	assert_int_equal(stream.end.read_ns, -5);
	assert_int_equal(trace.info.lost_events, 105);
	assert_true(packets.lo < packets.hi && stream.num_packets && stream.num_packets < EVENTS);
	/*
	 * For a trace that is already known, the worker sends only the record that ends its reply.
	 */
	assert_int_equal(receive_turn(&worker, STREAM_KNOWN, 5), 1);
	assert_int_equal(came.events, EVENTS);
	assert_string_equal(came.warning, "read -5");
	assert_int_equal(trace.info.lost_events, 105);
	came.spans = 2 * EVENTS / 1000;
	came.parts = 0;
	assert_int_equal(receive_turn(&worker, 0, INT64_MAX), 1);
	assert_int_equal(came.events, 2 * EVENTS);
	assert_int_equal(trace.info.lost_events, 110);
	assert_true(trace.unused == 2 * (uint64_t)UINT32_MAX);
	assert_false(stream.end.more);
	assert_int_equal(receive_turn(&worker, 0, 0), -ENOTTY);
	assert_string_equal(came.error, "the end");
	worker_stop(&worker);
}

/* ---- invalid records -------------------------------------------------------------- */

static int use_record(enum stream_what what, uint16_t number, const char *bytes, size_t size)
{
	const struct worker_head head = { size, what, number };

	return stream_use_record(&stream, &io, &head, bytes);
}

static void test_refused_records(void **state)
{
	static const char most[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	char part[200] = "";

	(void)state;
	stream = (struct stream){ .number = NUMBER };
	assert_int_equal(use_record(STREAM_END, NUMBER, "\0\0", 2), -EPROTO);
	stream.trace = &trace;
	assert_int_equal(use_record(STREAM_END, NUMBER, "\0\0", 2), 1);
	assert_int_equal(use_record(STREAM_END, NUMBER + 1, "\0\0", 2), -EPROTO);
	assert_int_equal(use_record(STREAM_END, NUMBER, "\0\2", 2), -EPROTO);
	assert_int_equal(use_record(STREAM_END, NUMBER, "\0", 1), -EPROTO);
	assert_int_equal(use_record(STREAM_SPAN, NUMBER, "\xff", 1), -EPROTO);
	/* A part that is truncated, and one with a name that does not end. */
	assert_int_equal(use_record(STREAM_PART, NUMBER, part, sizeof(part) - 3), -EPROTO);
	memset(part + 30, 'x', sizeof(part) - 30);
	assert_int_equal(use_record(STREAM_PART, NUMBER, part, sizeof(part)), -EPROTO);
	assert_int_equal(use_record(STREAM_EVENTS, NUMBER, "", 0), 0);
	/*
	 * The records have a flow number that is too large, a clock that is too fast, and a
	 * truncated event.
	 */
	assert_int_equal(use_record(STREAM_EVENTS, NUMBER, most, 10), -EPROTO);
	assert_int_equal(use_record(STREAM_EVENTS, NUMBER, "\1\0\0\0\0\0\0\0\0\0\0\x40\0", 13),
			 -EPROTO);
	assert_int_equal(use_record(STREAM_EVENTS, NUMBER, "\2", 1), -EPROTO);
	/* Counts exceed their limits, alone or as sums. */
	trace.info.damaged = 1;
	assert_int_equal(use_record(STREAM_STATE, NUMBER, "\xff\xff\xff\xff\x0f\0\0\0\0\0\0", 11),
			 -EPROTO);
	assert_int_equal(use_record(STREAM_STATE, NUMBER, "\0\0\0\0\0\0", 6), -EPROTO);
	assert_int_equal(use_record(STREAM_TRACE, NUMBER, "", 0), -EPROTO);
	assert_int_equal(use_record(UINT16_MAX, NUMBER, "", 0), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_of_turns),
		cmocka_unit_test(test_refused_records),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
