// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test messages over hours with results in between: the results must not change, and memory use
 * must be limited.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define HOSTS 10

struct stream {
	struct netsync *ns;
	uint64_t seed;
	uint32_t sent[HOSTS][HOSTS];
	size_t most; /* maximum number of bytes in use */
};

static void start_test_stream(struct stream *s, uint64_t seed)
{
	*s = (struct stream){ .ns = netsync_new(), .seed = seed };
	for (int h = 0; h < HOSTS; h++) {
		const char name[] = { 'h', (char)('0' + h), 0 };

		assert_int_equal(netsync_add_host(s->ns, name), h);
	}
}

/* Read a clock that deviates by 50 us in ten minutes. */
static int64_t read_stream_clock(uint32_t host, int64_t t)
{
	double bend = 50e3 * sin((double)t * (2 * M_PI / 600e9) + host);

	return EPOCH + host * 7 * SEC + t + (int64_t)bend + (int64_t)((double)t * 1e-6 * host);
}

struct event {
	uint32_t from;
	uint32_t to;
	int64_t send;
	int64_t recv;
};

static struct event draw_stream_message(struct stream *s, int64_t t)
{
	struct event e;

	e.from = (uint32_t)draw_integer_below(&s->seed, HOSTS);
	e.to = (uint32_t)draw_integer_below(&s->seed, HOSTS - 1);
	e.to += e.to >= e.from;
	e.send = read_stream_clock(e.from, t);
	e.recv = read_stream_clock(e.to,
				   t + 30000 + (int64_t)draw_from_exponential(&s->seed, 100e3));
	return e;
}

static void push_stream_message(struct stream *s, const struct event *e)
{
	assert_int_equal(netsync_push_message(s->ns, e->from, e->to, e->send, e->recv), 0);
}

/*
 * Make the next packet of bulk traffic. Each pair has one connection. Each connection starts at a
 * different sequence number.
 */
static struct netsync_packet make_stream_packet(struct stream *s, const struct event *e)
{
	uint32_t sent = s->sent[e->from][e->to]++;
	uint32_t begin = (e->from * HOSTS + e->to) * UINT32_C(0x9e3779b1);
	uint32_t back = (e->to * HOSTS + e->from) * UINT32_C(0x9e3779b1);
	struct netsync_packet p = {
		.size = sizeof(p),
		.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS |
			  NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN,
		.saddr = { [10] = 0xff, [11] = 0xff, [12] = 10 },
		.daddr = { [10] = 0xff, [11] = 0xff, [12] = 10 },
		.sport = e->from > e->to ? 80 : 40000,
		.dport = e->from > e->to ? 40000 : 80,
		.protocol = 6,
		.ip_id = (uint16_t)(begin + sent),
		.tcp = {
			.seq = begin + sent * 1448,
			.ack = back + sent * 100,
			.flags = 0x8010,
		},
		.len = 1448,
	};

	p.saddr[15] = (uint8_t)(e->from + 1);
	p.daddr[15] = (uint8_t)(e->to + 1);
	return p;
}

/* Make the event of a packet at the host that sent or received it. */
static struct netsync_packet see_stream_packet(struct netsync_packet p, const struct event *e,
					       enum netsync_dir dir)
{
	p.dir = (uint8_t)dir;
	p.host = dir == NETSYNC_OUT ? e->from : e->to;
	p.time_ns = dir == NETSYNC_OUT ? e->send : e->recv;
	return p;
}

static void push_stream_packets(struct stream *s, const struct event *e)
{
	const struct netsync_packet p = make_stream_packet(s, e);

	for (int dir = NETSYNC_OUT; dir <= NETSYNC_IN; dir++) {
		const struct netsync_packet seen = see_stream_packet(p, e, (enum netsync_dir)dir);

		assert_int_equal(netsync_push_packet(s->ns, &seen), 0);
	}
}

static void note_memory_use(struct stream *s)
{
	struct mallinfo2 m = mallinfo2();

	if (m.uordblks + m.hblkhd > s->most)
		s->most = m.uordblks + m.hblkhd;
}

static void solve_stream(struct stream *s, enum netsync_method method)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = method,
		.reference = "h0",
	};

	assert_int_equal(netsync_solve(s->ns, &opt), 0);
}

/* Check that both objects have the same clocks, bit by bit. */
static void check_same_streams(const struct stream *a, const struct stream *b)
{
	for (uint32_t h = 0; h < HOSTS; h++) {
		struct netsync_model m = { .size = sizeof(m) }, n = m;

		assert_int_equal(netsync_clock_model(netsync_host_clock(a->ns, h), &m), 0);
		assert_int_equal(netsync_clock_model(netsync_host_clock(b->ns, h), &n), 0);
		assert_int_equal(m.num_segments, n.num_segments);
		assert_int_equal(m.num_knots, n.num_knots);
		assert_memory_equal(m.segments, n.segments, m.num_segments * sizeof(*m.segments));
		assert_memory_equal(m.knots, n.knots, m.num_knots * sizeof(*m.knots));
	}
}

/* Solving once at the end, or many times in between, gives the same clocks. */
static void test_solved_in_between(void **state)
{
	enum { N = 60000 };
	static const enum netsync_method methods[] = {
		NETSYNC_METHOD_HULL,
		NETSYNC_METHOD_AUTO,
		NETSYNC_METHOD_REGRESSION,
	};

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct stream once, often;

		start_test_stream(&once, 1);
		start_test_stream(&often, 1);
		for (int i = 0; i < N; i++) {
			int64_t t = 600 * SEC / N * i;
			struct event e = draw_stream_message(&once, t);

			push_stream_message(&once, &e);
			e = draw_stream_message(&often, t);
			push_stream_message(&often, &e);
			/* Also solve early, when not all pairs are known. */
			if (i == 20 || i == 1000 || i % (N / 5) == 77)
				solve_stream(&often, methods[k]);
		}
		solve_stream(&once, methods[k]);
		solve_stream(&often, methods[k]);
		check_same_streams(&once, &often);
		netsync_free(once.ns);
		netsync_free(often.ns);
	}
}

/*
 * Ten hosts exchange 10,000 packets per second, which are pushed in the order in which readers push
 * them.
 */
static void test_memory_of_packets(void **state)
{
	/* Messages of the first half minute are deferred until clock readings arrive. */
	enum { RATE = 5000, SECONDS = 80 };
	struct netsync_stats stats = { .size = sizeof(stats) };
	struct stream s;
	size_t half = 0;

	(void)state;
	start_test_stream(&s, 2);
	for (int64_t i = 0; i < RATE * SECONDS; i++) {
		int64_t t = SEC / RATE * i;
		struct event e = draw_stream_message(&s, t);

		push_stream_packets(&s, &e);
		for (uint32_t h = 0; h < HOSTS && i % RATE == RATE - 1; h++)
			assert_int_equal(netsync_advance(s.ns, h, read_stream_clock(h, t - SEC)),
					 0);
		if (i % (2 * RATE) == 0)
			note_memory_use(&s);
		if (i == RATE * SECONDS / 2)
			half = s.most;
	}
	solve_stream(&s, NETSYNC_METHOD_HULL);
	note_memory_use(&s);
	netsync_get_stats(s.ns, &stats);
	assert_int_equal(stats.matched, stats.packets);
	assert_int_equal(stats.evicted, 0);
	assert_true(s.most <= 64 << 20);
	assert_true(s.most <= half + half / 10);
	netsync_free(s.ns);
}

/*
 * While the last host pauses, its packets are pushed 100 s late, in blocks. All of them are matched,
 * and memory use stays limited.
 */
static void test_paused_host(void **state)
{
	enum { RATE = 500, SECONDS = 1200, LATE = RATE * 100, PAUSED = HOSTS - 1 };
	struct netsync_packet *late = calloc(2 * LATE, sizeof(*late));
	struct netsync_stats stats = { .size = sizeof(stats) };
	size_t num = 0, half = 0;
	struct stream s;

	(void)state;
	start_test_stream(&s, 4);
	for (int64_t i = 0; i < RATE * SECONDS; i++) {
		const int64_t t = SEC / RATE * i;
		const struct event e = draw_stream_message(&s, t);
		const struct netsync_packet p = make_stream_packet(&s, &e);

		for (int dir = NETSYNC_OUT; dir <= NETSYNC_IN; dir++) {
			struct netsync_packet seen = see_stream_packet(p, &e,
								       (enum netsync_dir)dir);

			/* The first packets show how the clocks differ. */
			if (seen.host == PAUSED && i >= 10 * RATE)
				late[num++] = seen;
			else
				assert_int_equal(netsync_push_packet(s.ns, &seen), 0);
		}
		for (uint32_t h = 0; h < PAUSED && i % RATE == RATE - 1; h++)
			netsync_advance(s.ns, h, read_stream_clock(h, t - SEC));
		assert_int_equal(netsync_pause(s.ns, PAUSED), 0);
		for (size_t k = 0; k < num && i % LATE == LATE - 1; k++)
			assert_int_equal(netsync_push_packet(s.ns, &late[k]), 0);
		num = i % LATE == LATE - 1 ? 0 : num;
		if (i % LATE == LATE - 1)
			note_memory_use(&s);
		half = i == RATE * SECONDS / 2 ? s.most : half;
	}
	solve_stream(&s, NETSYNC_METHOD_HULL);
	netsync_get_stats(s.ns, &stats);
	assert_int_equal(stats.matched, stats.packets);
	assert_int_equal(stats.evicted, 0);
	assert_true(s.most <= half + half / 10);
	assert_int_equal(netsync_pause(s.ns, HOSTS), -EINVAL);
	netsync_free(s.ns);
	free(late);
}

/* While all hosts pause, packets wait for their counterparts. */
static void test_all_hosts_paused(void **state)
{
	enum { N = 20000, BLOCK = 2000 };
	struct netsync_stats stats = { .size = sizeof(stats) };
	struct netsync_packet late[2 * BLOCK];
	struct stream s;
	size_t num = 0;

	(void)state;
	start_test_stream(&s, 5);
	for (int64_t i = 0; i < N; i++) {
		const struct event e = draw_stream_message(&s, i * SEC / 100);
		const struct netsync_packet p = make_stream_packet(&s, &e);
		const struct netsync_packet out = see_stream_packet(p, &e, NETSYNC_OUT);

		assert_int_equal(netsync_push_packet(s.ns, &out), 0);
		late[num++] = see_stream_packet(p, &e, NETSYNC_IN);
		if (num < BLOCK)
			continue;
		/* A result in between decides what can be decided. */
		solve_stream(&s, NETSYNC_METHOD_HULL);
		for (uint32_t h = 0; h < HOSTS; h++)
			netsync_pause(s.ns, h);
		while (num)
			assert_int_equal(netsync_push_packet(s.ns, &late[--num]), 0);
	}
	solve_stream(&s, NETSYNC_METHOD_HULL);
	netsync_get_stats(s.ns, &stats);
	assert_int_equal(stats.matched, stats.packets);
	netsync_free(s.ns);
}

/* Messages of two days take scarcely more memory than messages of one day. */
static void test_memory_of_messages(void **state)
{
	enum { N = 3000000 };
	struct stream s;
	size_t half = 0;

	(void)state;
	start_test_stream(&s, 3);
	for (int64_t i = 0; i < N; i++) {
		struct event e = draw_stream_message(&s, 2 * 86400 * SEC / N * i);

		push_stream_message(&s, &e);
		if (i % (N / 50) == 0)
			note_memory_use(&s);
		if (i == N / 2)
			half = s.most;
	}
	solve_stream(&s, NETSYNC_METHOD_HULL);
	note_memory_use(&s);
	assert_true(s.most <= 48 << 20);
	assert_true(s.most <= half + half / 4);
	netsync_free(s.ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_solved_in_between),  cmocka_unit_test(test_memory_of_packets),
		cmocka_unit_test(test_memory_of_messages), cmocka_unit_test(test_paused_host),
		cmocka_unit_test(test_all_hosts_paused),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
