// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several clocks of one machine see the same packets. For the library, an LTTng trace, a trace.dat
 * file and a capture of one machine are three hosts.
 */
#include "matcher.h"

#define MSS 1448u

/* The machines on a packet's path, and the maximum number of clocks on each machine. */
enum { SENDER, ROUTER, RECEIVER, MACHINES };
enum { CLOCKS = 3 };

static uint32_t get_clock_of_machine(int machine, int number)
{
	return (uint32_t)(machine * CLOCKS + number);
}

static int get_machine_of_clock(uint32_t host)
{
	return (int)host / CLOCKS;
}

/* The distances between the clocks, which the library does not know. */
static int64_t read_shown_time(uint32_t host, int64_t time)
{
	return time + host * 1000 * SEC;
}

static int64_t recover_true_time(uint32_t host, int64_t time)
{
	return time - host * 1000 * SEC;
}

static int setup_clocks(void **state)
{
	int ret = setup_matcher(state);
	struct bench *b = *state;

	for (int i = HOSTS; i < MACHINES * CLOCKS; i++)
		assert_int_equal(matcher_add_host(&b->m), 0);
	return ret;
}

/*
 * Add a packet with the fields that one source reports: all fields, all fields except options and
 * offload (like LTTng's own events), or only the fields on the wire.
 */
static void add_packet_by_clock(struct bench *b, uint32_t host, int dir, int64_t time)
{
	static const uint32_t unknown[CLOCKS] = {
		0,
		NETSYNC_HAS_TSTAMP | NETSYNC_HAS_GSO | NETSYNC_HAS_DIGEST,
		NETSYNC_HAS_GSO,
	};
	const uint32_t fields = b->p.fields;

	b->p.fields &= ~unknown[host % CLOCKS];
	b->p.point = host;
	add_packet_at_host(b, host, dir, read_shown_time(host, time));
	b->p.fields = fields;
}

static void add_packet_by_clocks(struct bench *b, int machine, unsigned int clocks, int dir,
				 int64_t time)
{
	for (int i = 0; i < CLOCKS; i++)
		if (clocks & 1u << i)
			add_packet_by_clock(b, get_clock_of_machine(machine, i), dir, time + i);
}

static void change_to_next_packet(struct bench *b)
{
	b->p.ip_id++;
	if (b->p.protocol == 1)
		b->p.icmp.seq++;
	else if (b->p.protocol == 132)
		b->p.sctp.tsn++;
	else if (b->p.protocol == 17)
		b->p.udp.digest++;
	else
		b->p.tcp.seq += b->p.len;
}

/* Check that all messages found are true. */
static void check_true_messages(const struct bench *b)
{
	for (size_t i = 0; i < b->num; i++) {
		const struct found *f = &b->found[i];

		assert_true(recover_true_time(f->to, f->recv) >
			    recover_true_time(f->from, f->send));
		assert_true(get_machine_of_clock(f->from) < get_machine_of_clock(f->to));
	}
}

static size_t count_messages_between(const struct bench *b, uint32_t from, uint32_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < b->num; i++)
		n += b->found[i].from == from && b->found[i].to == to;
	return n;
}

/*
 * For all combinations of clocks at both ends, check that each clock at one end has its message to
 * each clock at the other end.
 */
static void check_every_mixture(struct bench *b)
{
	for (unsigned int out = 1; out < 1 << CLOCKS; out++) {
		for (unsigned int in = 1; in < 1 << CLOCKS; in++) {
			uint64_t before = sum_match_counts(&b->m).matched;
			int n = __builtin_popcount(out), k = __builtin_popcount(in);

			b->num = 0;
			change_to_next_packet(b);
			add_packet_by_clocks(b, SENDER, out, NETSYNC_OUT, 100);
			add_packet_by_clocks(b, RECEIVER, in, NETSYNC_IN, 200);
			expect_match_counts(b, before + (uint64_t)(n + k), 0, 0);
			assert_int_equal(b->num, n * k);
			check_true_messages(b);
			for (uint32_t i = 0; i < CLOCKS; i++)
				for (uint32_t j = 0; j < CLOCKS; j++)
					assert_int_equal(
						count_messages_between(
							b, get_clock_of_machine(SENDER, (int)i),
							get_clock_of_machine(RECEIVER, (int)j)),
						(out >> i & in >> j) & 1);
		}
	}
}

static void test_clocks_with_tcp(void **state)
{
	check_every_mixture(*state);
}

static void test_clocks_with_udp(void **state)
{
	struct bench *b = *state;

	b->p.protocol = 17;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_LEN | NETSYNC_HAS_IP_ID |
		      NETSYNC_HAS_DIGEST;
	check_every_mixture(b);
}

static void test_clocks_with_ping(void **state)
{
	struct bench *b = *state;

	b->p.protocol = 1;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_LEN | NETSYNC_HAS_IP_ID | NETSYNC_HAS_ECHO;
	b->p.icmp.type = 8;
	check_every_mixture(b);
}

static void test_clocks_with_sctp(void **state)
{
	struct bench *b = *state;

	b->p.protocol = 132;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_LEN | NETSYNC_HAS_IP_ID |
		      NETSYNC_HAS_SCTP | NETSYNC_HAS_TSN;
	b->p.sctp.vtag = 99;
	check_every_mixture(b);
}

static void add_segment_by_clock(struct bench *b, uint32_t host, int dir, int64_t time,
				 uint32_t from, uint32_t len)
{
	const struct netsync_packet base = b->p;

	b->p.tcp.seq += from;
	b->p.ip_id = (uint16_t)(base.ip_id + from / MSS);
	b->p.len = len;
	b->p.gso_size = len > MSS ? MSS : 0;
	add_packet_by_clock(b, host, dir, time);
	b->p = base;
}

/* One clock sees the packets at sockets, and the other clocks see the packets on the wire. */
static void test_clocks_at_sockets_and_wire(void **state)
{
	struct bench *b = *state;
	const uint32_t sock = get_clock_of_machine(SENDER, 0),
		       wire = get_clock_of_machine(SENDER, 2);
	const uint32_t far = get_clock_of_machine(RECEIVER, 2),
		       near = get_clock_of_machine(RECEIVER, 1);

	add_segment_by_clock(b, sock, NETSYNC_OUT, 10, 0, 20 * MSS);
	for (uint32_t i = 0; i < 20; i++) {
		add_segment_by_clock(b, wire, NETSYNC_OUT, 20 + i, i * MSS, MSS);
		add_segment_by_clock(b, far, NETSYNC_IN, 100 + i, i * MSS, MSS);
	}
	add_segment_by_clock(b, near, NETSYNC_IN, 200, 0, 15 * MSS);
	add_segment_by_clock(b, near, NETSYNC_IN, 201, 15 * MSS, 5 * MSS);
	expect_match_counts(b, 43, 0, 0);
	check_true_messages(b);
	expect_found_message(b, sock, far, read_shown_time(sock, 10), read_shown_time(far, 100));
	expect_found_message(b, sock, near, read_shown_time(sock, 10), read_shown_time(near, 200));
	for (uint32_t i = 0; i < 20; i++)
		expect_found_message(b, wire, far, read_shown_time(wire, 20 + i),
				     read_shown_time(far, 100 + i));
	/* Packets that match as a whole are not searched for in parts. */
	assert_int_equal(b->num, 0);
}

/* All clocks of a router see the packets that arrive and those that leave. */
static void test_clocks_of_router(void **state)
{
	struct bench *b = *state;

	for (unsigned int out = 1; out < 1 << CLOCKS; out++) {
		for (unsigned int on = 1; on < 1 << CLOCKS; on++) {
			b->num = 0;
			change_to_next_packet(b);
			add_packet_by_clocks(b, SENDER, out, NETSYNC_OUT, 100);
			add_packet_by_clocks(b, ROUTER, on, NETSYNC_IN, 200);
			add_packet_by_clocks(b, ROUTER, on, NETSYNC_OUT, 300);
			add_packet_by_clocks(b, RECEIVER, 7, NETSYNC_IN, 400);
			assert_int_equal(matcher_settle(&b->m), 0);
			assert_int_equal(sum_match_counts(&b->m).ambiguous, 0);
			check_true_messages(b);
			for (int i = 0; i < CLOCKS; i++)
				assert_int_equal(
					count_messages_between(b, get_clock_of_machine(SENDER, i),
							       get_clock_of_machine(RECEIVER, 1)),
					out >> i & 1);
			/* The order of records from several clocks is unknown. */
			for (int i = 0; i < CLOCKS; i++)
				assert_int_equal(
					count_messages_between(b, get_clock_of_machine(ROUTER, i),
							       get_clock_of_machine(RECEIVER, 2)),
					on == 1u << i);
		}
	}
}

/* A clock of the router sees the packets that the router sends, but not those that it receives. */
static void test_router_in_the_dark(void **state)
{
	struct bench *b = *state;
	uint64_t seed = 1;

	for (int i = 0; i < 3000; i++) {
		change_to_next_packet(b);
		add_packet_by_clocks(b, SENDER, 1 + (unsigned int)draw_integer_below(&seed, 7),
				     NETSYNC_OUT, 100);
		add_packet_by_clocks(b, ROUTER, 1, NETSYNC_IN, 200);
		add_packet_by_clocks(b, ROUTER, 1 | (unsigned int)draw_integer_below(&seed, 8),
				     NETSYNC_OUT, 300);
		add_packet_by_clocks(b, RECEIVER, (unsigned int)draw_integer_below(&seed, 8),
				     NETSYNC_IN, 400);
	}
	assert_int_equal(matcher_settle(&b->m), 0);
	check_true_messages(b);
	assert_true(count_messages_between(b, get_clock_of_machine(ROUTER, 1),
					   get_clock_of_machine(RECEIVER, 1)));
}

/* A clock of the router sees only sent packets, and packets are segmented along the path. */
static void test_parts_in_the_dark(void **state)
{
	struct bench *b = *state;
	const uint32_t from = get_clock_of_machine(SENDER, 0),
		       dark = get_clock_of_machine(ROUTER, 1);
	const uint32_t router = get_clock_of_machine(ROUTER, 0),
		       to = get_clock_of_machine(RECEIVER, 0);

	add_segment_by_clock(b, from, NETSYNC_OUT, 10, 0, 20 * MSS);
	for (uint32_t i = 0; i < 20; i++) {
		add_segment_by_clock(b, router, NETSYNC_IN, 100 + i, i * MSS, MSS);
		add_segment_by_clock(b, router, NETSYNC_OUT, 130 + i, i * MSS, MSS);
	}
	add_segment_by_clock(b, dark, NETSYNC_OUT, 130, 0, 20 * MSS);
	for (uint32_t i = 0; i < 20; i++)
		add_segment_by_clock(b, to, NETSYNC_IN, 200 + i, i * MSS, MSS);
	assert_int_equal(matcher_settle(&b->m), 0);
	check_true_messages(b);
	assert_int_equal(count_messages_between(b, dark, router), 0);
	assert_true(count_messages_between(b, from, to));
	assert_true(count_messages_between(b, dark, to));
}

/* One clock sees addresses before translation, and the other clocks see them after translation. */
static void test_clocks_around_nat(void **state)
{
	struct bench *b = *state;

	for (int i = 0; i < 100; i++) {
		change_to_next_packet(b);
		b->p.saddr[15] = 1;
		add_packet_by_clocks(b, SENDER, 1, NETSYNC_OUT, 100);
		b->p.saddr[15] = 77;
		add_packet_by_clocks(b, SENDER, 6, NETSYNC_OUT, 200);
		add_packet_by_clocks(b, RECEIVER, 7, NETSYNC_IN, 300);
	}
	expect_match_counts(b, 500, 0, 100);
	assert_int_equal(sum_match_counts(&b->m).nat, 0);
	assert_int_equal(b->num, 600);
	check_true_messages(b);
	/* If only this clock is traced, the match is unambiguous. */
	change_to_next_packet(b);
	b->p.saddr[15] = 1;
	add_packet_by_clocks(b, SENDER, 1, NETSYNC_OUT, 100);
	b->p.saddr[15] = 77;
	add_packet_by_clocks(b, RECEIVER, 7, NETSYNC_IN, 300);
	expect_match_counts(b, 504, 0, 100);
	assert_int_equal(sum_match_counts(&b->m).nat, 4);
}

/* Each clock misses some packets. Some packets are retransmitted, and some are lost. */
static void test_clocks_with_losses(void **state)
{
	struct bench *b = *state;
	uint64_t seed = 3;

	for (int i = 0; i < 5000; i++) {
		int64_t t = i * SEC;
		int tries = 0;

		b->p.tcp.seq += b->p.len;
		b->p.len = 1 + (uint32_t)draw_integer_below(&seed, MSS);
		do {
			b->p.ip_id++;
			t += 1000;
			add_packet_by_clocks(b, SENDER, (unsigned int)draw_integer_below(&seed, 8),
					     NETSYNC_OUT, t);
		} while (++tries < 3 && draw_integer_below(&seed, 4) == 0);
		add_packet_by_clocks(b, RECEIVER, (unsigned int)draw_integer_below(&seed, 8),
				     NETSYNC_IN, t + 500);
	}
	assert_int_equal(matcher_settle(&b->m), 0);
	assert_int_equal(sum_match_counts(&b->m).ambiguous, 0);
	check_true_messages(b);
	for (int i = 0; i < CLOCKS; i++)
		for (int j = 0; j < CLOCKS; j++)
			assert_in_range(count_messages_between(b, get_clock_of_machine(SENDER, i),
							       get_clock_of_machine(RECEIVER, j)),
					1000, 1500);
}

/* The offsets of all clocks become known, and memory use stays constant. */
static void test_memory_of_all_clocks(void **state)
{
	struct bench *b = *state;

	for (int i = 0; i < CLOCKS; i++)
		matcher_advance(&b->m, get_clock_of_machine(ROUTER, i), INT64_MAX);
	for (int i = 0; i < 100000; i++) {
		int64_t t = i * INT64_C(1000000);

		change_to_next_packet(b);
		add_packet_by_clocks(b, SENDER, 7, NETSYNC_OUT, t);
		add_packet_by_clocks(b, RECEIVER, 7, NETSYNC_IN, t + 50);
		for (uint32_t h = 0; h < MACHINES * CLOCKS && i % 100 == 99; h++)
			if (get_machine_of_clock(h) != ROUTER)
				matcher_advance(&b->m, h, read_shown_time(h, t));
		assert_true(count_kept_records(&b->m) < 120000);
	}
	expect_match_counts(b, 600000, 0, 0);
	assert_int_equal(b->num, 900000);
	check_true_messages(b);
}

#define TEST_CLOCKS(t) cmocka_unit_test_setup_teardown(t, setup_clocks, teardown_matcher)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_CLOCKS(test_clocks_with_tcp),
		TEST_CLOCKS(test_clocks_with_udp),
		TEST_CLOCKS(test_clocks_with_ping),
		TEST_CLOCKS(test_clocks_with_sctp),
		TEST_CLOCKS(test_clocks_at_sockets_and_wire),
		TEST_CLOCKS(test_clocks_of_router),
		TEST_CLOCKS(test_router_in_the_dark),
		TEST_CLOCKS(test_parts_in_the_dark),
		TEST_CLOCKS(test_clocks_around_nat),
		TEST_CLOCKS(test_clocks_with_losses),
		TEST_CLOCKS(test_memory_of_all_clocks),
	};

	return cmocka_run_group_tests_name("match clocks", tests, NULL, NULL);
}
