// SPDX-License-Identifier: GPL-2.0-only
/* Match TCP segments that are split, merged, lost and retransmitted along their path. */
#include "matcher.h"

#define MSS 1448
#define PSH 0x0008
#define CWR 0x0080

/* Add a segment of a stream that began at sequence number 1000 with IP id 77. */
static void add_tcp_segment(struct bench *b, uint32_t host, int dir, int64_t time, uint32_t from,
			    uint32_t len)
{
	b->p.tcp.seq = 1000 + from;
	b->p.len = len;
	b->p.ip_id = (uint16_t)(77 + from / MSS);
	b->p.gso_size = len > MSS ? MSS : 0;
	add_packet_at_host(b, host, dir, time);
}

static void test_segment_cut_by_offload(void **state)
{
	struct bench *b = *state;

	b->p.tcp.flags |= PSH | CWR;
	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 45 * MSS);
	b->p.tcp.flags &= (uint16_t) ~(PSH | CWR);
	for (uint32_t i = 0; i < 45; i++)
		add_tcp_segment(b, B, NETSYNC_IN, 100 + i, i * MSS, MSS);
	expect_match_counts(b, 46, 0, 0);
	assert_int_equal(b->num, 1);
	expect_found_message(b, A, B, 10, 100);
}

static void test_put_together(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < 20; i++)
		add_tcp_segment(b, A, NETSYNC_OUT, 10 + i, i * MSS, MSS);
	b->p.tcp.flags |= PSH;
	add_tcp_segment(b, B, NETSYNC_IN, 100, 0, 20 * MSS);
	expect_match_counts(b, 21, 0, 0);
	assert_int_equal(b->num, 1);
	expect_found_message(b, A, B, 29, 100);
}

/* Segments are split at places other than those at which they were merged. */
static void test_other_edges(void **state)
{
	struct bench *b = *state;

	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 38 * MSS);
	add_tcp_segment(b, A, NETSYNC_OUT, 20, 38 * MSS, 32 * MSS);
	add_tcp_segment(b, B, NETSYNC_IN, 100, 0, 33 * MSS);
	add_tcp_segment(b, B, NETSYNC_IN, 200, 33 * MSS, 37 * MSS);
	expect_match_counts(b, 4, 0, 0);
	assert_int_equal(b->num, 2);
	expect_found_message(b, A, B, 10, 100);
	expect_found_message(b, A, B, 20, 200);
	/* In the opposite direction, both sent segments begin within the first received one. */
	b->p.tcp.ack++;
	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 33 * MSS);
	add_tcp_segment(b, A, NETSYNC_OUT, 20, 33 * MSS, 37 * MSS);
	add_tcp_segment(b, B, NETSYNC_IN, 100, 0, 38 * MSS);
	add_tcp_segment(b, B, NETSYNC_IN, 200, 38 * MSS, 32 * MSS);
	expect_match_counts(b, 8, 0, 0);
	assert_int_equal(b->num, 1);
	expect_found_message(b, A, B, 20, 100);
}

/* The receiver's trace is read first, and sequence numbers wrap around. */
static void test_wrapped_sequence_numbers(void **state)
{
	struct bench *b = *state;

	b->p.fields &= ~(uint32_t)NETSYNC_HAS_IP_ID;
	for (uint32_t i = 0; i < 45; i++)
		add_tcp_segment(b, B, NETSYNC_IN, 100 + i, UINT32_MAX - 1000 - 20 * MSS + i * MSS,
				MSS);
	b->p.tcp.seq = UINT32_MAX - 20 * MSS;
	b->p.len = 45 * MSS;
	b->p.gso_size = MSS;
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	expect_match_counts(b, 46, 0, 0);
	assert_int_equal(b->num, 1);
	expect_found_message(b, A, B, 10, 100);
}

/* A lost part is retransmitted, and its id reveals this. */
static void test_sent_again(void **state)
{
	struct bench *b = *state;

	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 10 * MSS);
	for (uint32_t i = 0; i < 10; i++)
		if (i != 4)
			add_tcp_segment(b, B, NETSYNC_IN, 100 + i, i * MSS, MSS);
	b->p.tcp.seq = 1000 + 4 * MSS;
	b->p.ip_id = 77 + 10;
	add_packet_at_host(b, A, NETSYNC_OUT, 500);
	add_packet_at_host(b, B, NETSYNC_IN, 600);
	expect_match_counts(b, 12, 0, 0);
	assert_int_equal(b->num, 2);
	expect_found_message(b, A, B, 10, 100);
	expect_found_message(b, A, B, 500, 600);
}

/* If neither an id nor a timestamp reveals a retransmission, the segment is not matched. */
static void test_sent_again_unclear(void **state)
{
	struct bench *b = *state;

	b->p.fields &= ~(uint32_t)(NETSYNC_HAS_IP_ID | NETSYNC_HAS_TSTAMP);
	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 10 * MSS);
	for (uint32_t i = 0; i < 10; i++)
		if (i != 4)
			add_tcp_segment(b, B, NETSYNC_IN, 100 + i, i * MSS, MSS);
	add_tcp_segment(b, A, NETSYNC_OUT, 500, 4 * MSS, MSS);
	add_tcp_segment(b, B, NETSYNC_IN, 600, 4 * MSS, MSS);
	expect_match_counts(b, 10, 2, 0);
	assert_int_equal(b->num, 1);
	expect_found_message(b, A, B, 10, 100);
	/* The first part is retransmitted, so that the received segment can be either of two. */
	b->p.tcp.ack++;
	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 10 * MSS);
	add_tcp_segment(b, A, NETSYNC_OUT, 500, 0, MSS);
	add_tcp_segment(b, B, NETSYNC_IN, 600, 0, MSS);
	assert_int_equal(matcher_settle(&b->m), 0);
	assert_int_equal(b->num, 0);
}

/*
 * A segment is seen on several devices. For a sent segment, the last device counts; for a received
 * segment, the first device counts.
 */
static void test_segment_on_several_devices(void **state)
{
	struct bench *b = *state;

	for (b->p.point = 1; b->p.point < 4; b->p.point++) {
		add_tcp_segment(b, A, NETSYNC_OUT, 10 * b->p.point, 0, 3 * MSS);
		for (uint32_t i = 0; i < 3; i++)
			add_tcp_segment(b, B, NETSYNC_IN, 100 * b->p.point + i, i * MSS, MSS);
	}
	expect_match_counts(b, 12, 0, 0);
	assert_int_equal(b->num, 1);
	expect_found_message(b, A, B, 30, 100);
}

/*
 * A packet is seen at sockets and at devices. The packet is split after the sending socket and
 * merged before the receiving socket.
 */
static void test_socket_and_device(void **state)
{
	struct bench *b = *state;

	/*
	 * The rounds have ids and timestamps, only ids, or neither; in the last round, segments are
	 * received as they were sent.
	 */
	for (int round = 0; round < 4; round++) {
		b->p.tcp.ack++;
		add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 5 * MSS);
		add_tcp_segment(b, B, NETSYNC_IN, 310, 0, (round < 3 ? 3 : 5) * MSS);
		if (round < 3)
			add_tcp_segment(b, B, NETSYNC_IN, 350, 3 * MSS, 2 * MSS);
		b->p.point = 1;
		for (uint32_t i = 0; i < 5; i++) {
			add_tcp_segment(b, A, NETSYNC_OUT, 20 + i, i * MSS, MSS);
			add_tcp_segment(b, B, NETSYNC_IN, 200 + i, i * MSS, MSS);
		}
		b->p.point = 0;
		b->p.fields &= ~(uint32_t)(round ? NETSYNC_HAS_IP_ID : NETSYNC_HAS_TSTAMP);
		expect_match_counts(b, round < 3 ? 13 * ((uint64_t)round + 1) : 51, 0, 0);
		assert_int_equal(b->num, 5);
		for (int i = 0; i < 5; i++)
			expect_found_message(b, A, B, 20 + i, 200 + i);
	}
}

/* One host sees the packet at its socket and its device, the other host only at its socket. */
static void test_socket_and_device_of_one(void **state)
{
	struct bench *b = *state;

	for (uint32_t host = A; host <= B; host++) {
		b->p.tcp.ack++;
		add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 5 * MSS);
		add_tcp_segment(b, B, NETSYNC_IN, 310, 0, 5 * MSS);
		b->p.point = 1;
		for (uint32_t i = 0; i < 5; i++)
			add_tcp_segment(b, host, host == A ? NETSYNC_OUT : NETSYNC_IN,
					(host == A ? 20 : 200) + i, i * MSS, MSS);
		b->p.point = 0;
	}
	expect_match_counts(b, 14, 0, 0);
	expect_found_message(b, A, B, 24, 310);
	expect_found_message(b, A, B, 10, 200);
	assert_int_equal(b->num, 0);
}

/* A sends to B through C, which is also traced, and which splits or merges TCP segments. */
static void test_router_cuts(void **state)
{
	struct bench *b = *state;

	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 20 * MSS);
	add_tcp_segment(b, C, NETSYNC_IN, 100, 0, 20 * MSS);
	for (uint32_t i = 0; i < 20; i++) {
		add_tcp_segment(b, C, NETSYNC_OUT, 110 + i, i * MSS, MSS);
		add_tcp_segment(b, B, NETSYNC_IN, 200 + i, i * MSS, MSS);
	}
	expect_match_counts(b, 42, 0, 0);
	expect_found_message(b, A, C, 10, 100);
	for (int i = 0; i < 20; i++)
		expect_found_message(b, C, B, 110 + i, 200 + i);
	assert_int_equal(b->num, 0);
}

static void test_router_of_parts(void **state)
{
	struct bench *b = *state;

	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 20 * MSS);
	for (uint32_t i = 0; i < 20; i++)
		add_tcp_segment(b, C, NETSYNC_IN, 100 + i, i * MSS, MSS);
	add_tcp_segment(b, C, NETSYNC_OUT, 130, 0, 10 * MSS);
	add_tcp_segment(b, C, NETSYNC_OUT, 131, 10 * MSS, 10 * MSS);
	add_tcp_segment(b, B, NETSYNC_IN, 200, 0, 15 * MSS);
	add_tcp_segment(b, B, NETSYNC_IN, 201, 15 * MSS, 5 * MSS);
	expect_match_counts(b, 25, 0, 0);
	expect_found_message(b, A, C, 10, 100);
	expect_found_message(b, A, B, 10, 200);
	expect_found_message(b, C, B, 131, 200);
	assert_int_equal(b->num, 0);
}

/* Segments are split along the path and then merged into their original form. */
static void test_router_in_parts(void **state)
{
	struct bench *b = *state;

	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 20 * MSS);
	for (uint32_t i = 0; i < 20; i++) {
		add_tcp_segment(b, C, NETSYNC_IN, 100 + i, i * MSS, MSS);
		add_tcp_segment(b, C, NETSYNC_OUT, 130 + i, i * MSS, MSS);
	}
	add_tcp_segment(b, B, NETSYNC_IN, 200, 0, 20 * MSS);
	expect_match_counts(b, 42, 0, 0);
	expect_found_message(b, A, B, 10, 200);
	expect_found_message(b, C, B, 149, 200);
	assert_int_equal(b->num, 0);
}

/* Two different hosts may have sent the segment, and neither received it from the other. */
static void test_segment_of_two_senders(void **state)
{
	struct bench *b = *state;

	b->p.fields &= ~(uint32_t)NETSYNC_HAS_ADDRS;
	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 20 * MSS);
	add_tcp_segment(b, C, NETSYNC_OUT, 20, 0, 20 * MSS);
	add_tcp_segment(b, C, NETSYNC_IN, 30, 0, 20 * MSS);
	for (uint32_t i = 0; i < 20; i++)
		add_tcp_segment(b, B, NETSYNC_IN, 200 + i, i * MSS, MSS);
	expect_match_counts(b, 0, 23, 0);
	assert_int_equal(b->num, 0);
}

/* Segments with data never match segments without data. */
static void test_without_data(void **state)
{
	struct bench *b = *state;

	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 100);
	add_tcp_segment(b, B, NETSYNC_IN, 20, 0, 0);
	expect_match_counts(b, 0, 0, 2);
}

/* Keep-alives and window probes differ only in their ids. */
static void test_window_probes(void **state)
{
	struct bench *b = *state;

	for (int i = 0; i < 40; i++) {
		b->p.len = (uint32_t)i % 2;
		b->p.ip_id = (uint16_t)(100 + i);
		add_packet_at_both(b, i * SEC);
	}
	expect_match_counts(b, 80, 0, 0);
	assert_int_equal(b->num, 40);
	b->p.fields &= ~(uint32_t)NETSYNC_HAS_IP_ID;
	b->p.tcp.ack++;
	for (int i = 0; i < 4; i++) {
		add_packet_at_both(b, i * SEC);
	}
	expect_match_counts(b, 80, 8, 0);
}

/* Addresses and ports are translated along the path, including those of split packets. */
static void test_translated_segments(void **state)
{
	struct bench *b = *state;

	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 100);
	add_tcp_segment(b, A, NETSYNC_OUT, 20, 10 * MSS, 10 * MSS);
	b->p.saddr[13] = 99;
	b->p.sport = 61000;
	add_tcp_segment(b, B, NETSYNC_IN, 100, 0, 100);
	for (uint32_t i = 10; i < 20; i++)
		add_tcp_segment(b, B, NETSYNC_IN, 200 + i, i * MSS, MSS);
	expect_match_counts(b, 13, 0, 0);
	assert_int_equal(sum_match_counts(&b->m).nat, 13);
	assert_int_equal(b->num, 2);
	expect_found_message(b, A, B, 10, 100);
	expect_found_message(b, A, B, 20, 210);
	/* Without fields that identify the packet, it is not matched. */
	b->p.fields &= ~(uint32_t)(NETSYNC_HAS_IP_ID | NETSYNC_HAS_TSTAMP);
	b->p.tcp.ack++;
	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 100);
	b->p.sport++;
	add_tcp_segment(b, B, NETSYNC_IN, 100, 0, 100);
	expect_match_counts(b, 13, 0, 2);
}

/* The same connection exists in two namespaces of a host. */
static void test_equal_connections_in_namespaces(void **state)
{
	struct bench *b = *state;

	b->p.fields |= NETSYNC_HAS_NETNS;
	b->p.netns = 1;
	add_tcp_segment(b, A, NETSYNC_OUT, 10, 0, 100);
	b->p.netns = 2;
	add_tcp_segment(b, A, NETSYNC_OUT, 20, 0, 100);
	add_tcp_segment(b, B, NETSYNC_IN, 100, 0, 100);
	expect_match_counts(b, 3, 0, 0);
	expect_found_message(b, A, B, 20, 100);
}

/* ---- a TCP stream over a network that loses packets -------------------- */

struct stream {
	uint64_t seed;
	int64_t now;	 /* time of the sender */
	int64_t arrival; /* time of the last arrival */
	uint16_t id;
	uint32_t wait; /* bytes that have been merged, but not passed on yet: */
	uint32_t wait_from;
	uint16_t wait_id;
	uint32_t wait_tsval;
	struct netsync_packet *event; /* all packet events */
	size_t events;
	bool devices; /* packets are also seen at devices, at times with odd numbers */
};

static void add_stream_event(struct bench *b, struct stream *s, uint32_t host, int dir,
			     uint32_t point, int64_t time)
{
	struct netsync_packet *p = &s->event[s->events++];

	*p = b->p;
	p->host = host;
	p->dir = (uint8_t)dir;
	p->point = point;
	p->time_ns = point ? time | 1 : time & ~1;
	p->gso_size = p->len > MSS ? MSS : 0;
}

/* Add the event of a receiving socket, at a time with an even number. */
static void receive_at_sockets(struct bench *b, struct stream *s, uint32_t point, uint32_t from,
			       uint32_t len, uint16_t id, uint32_t tsval)
{
	const struct netsync_packet base = b->p;

	b->p.tcp.seq = from;
	b->p.len = len;
	b->p.ip_id = id;
	b->p.tcp.tsval = tsval;
	add_stream_event(b, s, B, NETSYNC_IN, point, s->arrival + (point ? 0 : 7000));
	b->p = base;
}

static void hand_stream_on(struct bench *b, struct stream *s)
{
	if (s->wait)
		receive_at_sockets(b, s, 0, s->wait_from, s->wait, s->wait_id, s->wait_tsval);
	s->wait = 0;
}

static void receive_stream_bytes(struct bench *b, struct stream *s, uint32_t from, uint32_t len,
				 uint16_t id)
{
	int64_t t = s->now + 30000 + draw_integer_below(&s->seed, 100000);

	if (t > s->arrival)
		s->arrival = t;
	if (s->wait_from + s->wait != from || s->wait_tsval != b->p.tcp.tsval ||
	    (uint16_t)(s->wait_id + s->wait / MSS) != id || s->wait % MSS ||
	    draw_integer_below(&s->seed, 20) == 0)
		hand_stream_on(b, s);
	if (!s->wait) {
		s->wait_from = from;
		s->wait_id = id;
		s->wait_tsval = b->p.tcp.tsval;
	}
	s->wait += len;
	if (s->devices)
		receive_at_sockets(b, s, 1, from, len, id, b->p.tcp.tsval);
}

/* Send bytes. Retransmit lost segments a little later. */
static void send_stream_bytes(struct bench *b, struct stream *s, uint32_t from, uint32_t len,
			      int tries)
{
	bool lost[64] = { false };
	uint32_t n = (len + MSS - 1) / MSS;

	s->now += 200000 + draw_integer_below(&s->seed, 200000);
	b->p.tcp.tsval = (uint32_t)(s->now / 1000000);
	b->p.tcp.seq = from;
	b->p.len = len;
	b->p.ip_id = s->id;
	add_stream_event(b, s, A, NETSYNC_OUT, 0, s->now);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i * MSS, left = len - at;

		if (s->devices) {
			b->p.tcp.seq = from + at;
			b->p.len = left < MSS ? left : MSS;
			b->p.ip_id = (uint16_t)(s->id + i);
			add_stream_event(b, s, A, NETSYNC_OUT, 1, s->now + 100 + i);
		}
		lost[i] = tries && draw_integer_below(&s->seed, 50) == 0;
		if (!lost[i])
			receive_stream_bytes(b, s, from + at, left < MSS ? left : MSS,
					     (uint16_t)(s->id + i));
	}
	s->id = (uint16_t)(s->id + n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i * MSS, left = len - at;

		if (lost[i])
			send_stream_bytes(b, s, from + at, left < MSS ? left : MSS, 0);
	}
}

static void push_all_stream_events(struct bench *b, const struct stream *s)
{
	for (size_t i = 0; i < s->events; i++)
		assert_int_equal(matcher_add_packet(&b->m, &s->event[i]), 0);
	assert_int_equal(matcher_settle(&b->m), 0);
}

static int compare_messages_by_times(const void *a, const void *b)
{
	const struct found *p = a, *q = b;

	if (p->send != q->send)
		return p->send < q->send ? -1 : 1;
	return p->recv < q->recv ? -1 : p->recv > q->recv;
}

static void check_stream_in_any_order(struct bench *b, struct stream *s)
{
	struct bench *other;
	void *state;
	struct match_counts t[2];

	for (size_t i = s->events - 1; i; i--) {
		size_t j = (size_t)draw_integer_below(&s->seed, (int64_t)i + 1);
		struct netsync_packet p = s->event[i];

		s->event[i] = s->event[j];
		s->event[j] = p;
	}
	setup_matcher(&state);
	other = state;
	push_all_stream_events(other, s);
	t[0] = sum_match_counts(&b->m);
	t[1] = sum_match_counts(&other->m);
	assert_memory_equal(&t[0], &t[1], sizeof(t[0]));
	assert_int_equal(b->num, other->num);
	qsort(b->found, b->num, sizeof(*b->found), compare_messages_by_times);
	qsort(other->found, b->num, sizeof(*b->found), compare_messages_by_times);
	for (size_t i = 0; i < b->num; i++)
		assert_int_equal(compare_messages_by_times(&b->found[i], &other->found[i]), 0);
	teardown_matcher(&state);
}

static void check_stream(struct bench *b, uint32_t unknown, bool devices, uint64_t percent)
{
	struct stream s = {
		.seed = unknown + 1,
		.id = 65000,
		.devices = devices,
	};
	uint32_t at = UINT32_MAX - 1000000;
	size_t room = 400000;
	struct match_counts t;

	b->p.fields &= ~unknown;
	s.event = calloc(room, sizeof(*s.event));
	for (int i = 0; i < 2000; i++) {
		uint32_t len = (uint32_t)draw_integer_below(&s.seed, 45 * MSS) + 1;

		assert_true(s.events + 1000 < room);
		send_stream_bytes(b, &s, at, len, 1);
		at += len;
		hand_stream_on(b, &s);
		if (draw_integer_below(&s.seed, 10) == 0)
			b->p.tcp.ack += 100;
	}
	push_all_stream_events(b, &s);
	t = sum_match_counts(&b->m);
	assert_true(t.matched * 100 >= s.events * percent);
	assert_int_equal(t.matched + t.ambiguous + t.unmatched, s.events);
	/* No message is wrong: no message took less than 30 us, or 29.8 us with devices. */
	for (size_t i = 0; i < b->num; i++) {
		assert_true(b->found[i].recv - b->found[i].send >= 29800);
		assert_int_equal(b->found[i].send & 1, devices);
		assert_int_equal(b->found[i].recv & 1, devices);
	}
	assert_true(b->num > 1000);
	check_stream_in_any_order(b, &s);
	free(s.event);
}

static void test_segments_of_stream(void **state)
{
	check_stream(*state, 0, false, 100);
}

static void test_stream_without_ids(void **state)
{
	check_stream(*state, NETSYNC_HAS_IP_ID, false, 80);
}

static void test_stream_without_timestamps(void **state)
{
	check_stream(*state, NETSYNC_HAS_TSTAMP, false, 99);
}

static void test_stream_without_sizes(void **state)
{
	check_stream(*state, NETSYNC_HAS_GSO, false, 99);
}

static void test_stream_without_ids_and_sizes(void **state)
{
	check_stream(*state, NETSYNC_HAS_IP_ID | NETSYNC_HAS_TSTAMP | NETSYNC_HAS_GSO, false, 60);
}

/* The device sees lost segments separately. */
static void test_stream_at_devices(void **state)
{
	check_stream(*state, 0, true, 98);
}

static void test_stream_at_devices_without_ids_and_sizes(void **state)
{
	check_stream(*state, NETSYNC_HAS_IP_ID | NETSYNC_HAS_TSTAMP | NETSYNC_HAS_GSO, true, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_segment_cut_by_offload),
		TEST(test_put_together),
		TEST(test_other_edges),
		TEST(test_wrapped_sequence_numbers),
		TEST(test_sent_again),
		TEST(test_sent_again_unclear),
		TEST(test_segment_on_several_devices),
		TEST(test_socket_and_device),
		TEST(test_socket_and_device_of_one),
		TEST(test_router_cuts),
		TEST(test_router_of_parts),
		TEST(test_router_in_parts),
		TEST(test_segment_of_two_senders),
		TEST(test_without_data),
		TEST(test_window_probes),
		TEST(test_translated_segments),
		TEST(test_equal_connections_in_namespaces),
		TEST(test_segments_of_stream),
		TEST(test_stream_without_ids),
		TEST(test_stream_without_timestamps),
		TEST(test_stream_without_sizes),
		TEST(test_stream_without_ids_and_sizes),
		TEST(test_stream_at_devices),
		TEST(test_stream_at_devices_without_ids_and_sizes),
	};

	return cmocka_run_group_tests_name("match TCP", tests, NULL, NULL);
}
