// SPDX-License-Identifier: GPL-2.0-only
/* Check how long records are kept: no message may be lost, and memory use must not grow. */
#include "matcher.h"

/* The clocks of A and B are decades apart. */
#define APART (INT64_C(1) << 61)

/* Add packet number i at one end. Packets alternate between both directions. */
static void add_numbered_packet(struct bench *b, int i, int dir, int64_t gap)
{
	bool back = i % 2;
	int64_t t = (int64_t)i * gap + (dir == NETSYNC_IN ? 50 : 0);
	uint32_t host = back == (dir == NETSYNC_OUT) ? B : A;

	b->p.saddr[15] = back ? 2 : 1;
	b->p.daddr[15] = back ? 1 : 2;
	b->p.tcp.seq = (uint32_t)i * 100;
	b->p.ip_id = (uint16_t)i;
	add_packet_at_host(b, host, dir, host == A ? t : t + APART);
}

static void advance_host(struct bench *b, uint32_t host, int64_t time)
{
	matcher_advance(&b->m, host, time);
}

/* Each packet is matched once. The test marks hosts that have no further events. */
static void test_memory_of_stream(void **state)
{
	struct bench *b = *state;

	advance_host(b, C, INT64_MAX);
	for (int i = 0; i < 500000; i++) {
		add_numbered_packet(b, i, NETSYNC_OUT, 1000000);
		add_numbered_packet(b, i, NETSYNC_IN, 1000000);
		if (i % 100 == 99) {
			advance_host(b, A, i * INT64_C(1000000));
			advance_host(b, B, i * INT64_C(1000000) + APART);
		}
		assert_true(count_kept_records(&b->m) < 40000);
	}
	assert_true(b->num > 480000);
	expect_match_counts(b, 1000000, 0, 0);
	assert_int_equal(b->num, 500000);
}

/* Packets exchanged with machines that are not traced are not kept forever. */
static void test_packets_of_untraced_machines(void **state)
{
	struct bench *b = *state;

	advance_host(b, C, INT64_MAX);
	for (int i = 0; i < 300000; i++) {
		add_numbered_packet(b, i, NETSYNC_OUT, 1000000);
		if (i % 10 < 2)
			add_numbered_packet(b, i, NETSYNC_IN, 1000000);
		if (i % 100 == 99) {
			advance_host(b, A, i * INT64_C(1000000));
			advance_host(b, B, i * INT64_C(1000000) + APART);
		}
		assert_true(count_kept_records(&b->m) < 40000);
	}
	expect_match_counts(b, 120000, 0, 240000);
	assert_int_equal(b->m.evicted, 0);
}

/* The packets of one host arrive long before the packets of the other host. */
static void test_late_host(void **state)
{
	struct bench *b = *state;
	const int lag = 50000, n = 300000;

	advance_host(b, C, INT64_MAX);
	for (int i = 0; i < n + lag; i++) {
		for (int j = 0; j < 2; j++) {
			int k = j ? i - lag : i;

			if (k < 0 || k >= n)
				continue;
			add_numbered_packet(b, k, (k % 2 == j) ? NETSYNC_OUT : NETSYNC_IN, 1000000);
		}
		advance_host(b, A, i * INT64_C(1000000));
		advance_host(b, B, (i - lag) * INT64_C(1000000) + APART);
		assert_true(count_kept_records(&b->m) < 2 * (uint32_t)lag + 40000);
	}
	expect_match_counts(b, 2 * (uint64_t)n, 0, 0);
	assert_int_equal(b->num, n);
}

/* All packets of one host arrive before all packets of the other host. */
static void test_one_after_the_other(void **state)
{
	struct bench *b = *state;
	const int n = 200000;

	for (int j = 0; j < 2; j++) {
		for (int i = 0; i < n; i++) {
			add_numbered_packet(b, i, (i % 2 == j) ? NETSYNC_OUT : NETSYNC_IN, 1000000);
			if (i % 100 == 0)
				advance_host(b, j ? B : A, i * INT64_C(1000000) + (j ? APART : 0));
		}
		advance_host(b, j ? B : A, INT64_MAX);
	}
	expect_match_counts(b, 2 * (uint64_t)n, 0, 0);
	assert_int_equal(b->num, n);
}

/* While a host has no events at all, the library keeps the packets of all other hosts. */
static void test_silent_host(void **state)
{
	struct bench *b = *state;

	for (int i = 0; i < 50000; i++) {
		add_numbered_packet(b, i, NETSYNC_OUT, 1000000);
		add_numbered_packet(b, i, NETSYNC_IN, 1000000);
		advance_host(b, A, i * INT64_C(1000000));
		advance_host(b, B, i * INT64_C(1000000) + APART);
	}
	assert_int_equal(count_kept_records(&b->m), 100000);
	/* The host appears, on the path between two of the other hosts. */
	b->p.saddr[15] = 1;
	b->p.daddr[15] = 2;
	for (int i = 0; i < 50000; i += 2) {
		b->p.tcp.seq = (uint32_t)i * 100;
		b->p.ip_id = (uint16_t)i;
		add_packet_at_host(b, C, NETSYNC_IN, i);
	}
	expect_match_counts(b, 125000, 0, 0);
	assert_int_equal(b->num, 75000);
}

/* If a host has ended and returns, the library waits for its packets again. */
static void test_host_that_returns(void **state)
{
	struct bench *b = *state;
	const int half = 50000;

	advance_host(b, C, INT64_MAX);
	for (int i = 0; i < half; i++) {
		add_numbered_packet(b, i, NETSYNC_OUT, 1000000);
		add_numbered_packet(b, i, NETSYNC_IN, 1000000);
		advance_host(b, A, i * INT64_C(1000000));
		advance_host(b, B, i * INT64_C(1000000) + APART);
	}
	advance_host(b, B, INT64_MAX);
	advance_host(b, B, half * INT64_C(1000000) + APART);
	for (int i = half; i < 2 * half; i++) {
		add_numbered_packet(b, i, NETSYNC_OUT, 1000000);
		advance_host(b, A, i * INT64_C(1000000));
	}
	assert_true(count_kept_records(&b->m) >= (uint32_t)half);
	for (int i = half; i < 2 * half; i++)
		add_numbered_packet(b, i, NETSYNC_IN, 1000000);
	expect_match_counts(b, 4 * (uint64_t)half, 0, 0);
	assert_int_equal(b->num, 2 * half);
}

/* At the limit, the oldest records are dropped and counted as dropped. */
static void test_eviction_at_limit(void **state)
{
	struct bench *b = *state;

	b->m.limit = 1000;
	for (int i = 0; i < 3000; i++)
		add_numbered_packet(b, i, NETSYNC_OUT, 1000000);
	assert_true(count_kept_records(&b->m) <= 1000 + 1000 / 8);
	expect_match_counts(b, 0, 0, 3000);
	assert_int_equal(count_kept_records(&b->m), 1000);
	assert_int_equal(b->m.evicted, 2000);
	for (int i = 2500; i < 3000; i++)
		add_numbered_packet(b, i, NETSYNC_IN, 1000000);
	expect_match_counts(b, 1000, 0, 2500);
	assert_int_equal(b->m.evicted, 2500);
	assert_int_equal(b->num, 500);
}

/* If a key is used again, both uses are distinguished only as long as the first record is kept. */
static void test_reused_key(void **state)
{
	struct bench *b = *state;

	b->p.fields &= ~(uint32_t)NETSYNC_HAS_IP_ID;
	advance_host(b, C, INT64_MAX);
	for (int i = 0; i < 100000; i++) {
		int64_t t = i * INT64_C(1000000);

		b->p.tcp.seq = (uint32_t)(i % 20000) * 100;
		add_packet_at_host(b, A, NETSYNC_OUT, t);
		add_packet_at_host(b, B, NETSYNC_IN, t + 50 + APART);
		advance_host(b, A, t);
		advance_host(b, B, t + APART);
	}
	expect_match_counts(b, 200000, 0, 0);
	/* Within a second, these records are one packet that was sent twice. */
	b->p.tcp.ack++;
	for (int i = 0; i < 2; i++) {
		add_packet_at_host(b, A, NETSYNC_OUT, 100 * SEC + i * SEC);
		add_packet_at_host(b, B, NETSYNC_IN, 100 * SEC + i * SEC + 50 + APART);
	}
	expect_match_counts(b, 200000, 4, 0);
}

/* Each event of a pair is counted by its outcome. */
static void test_counts_of_pairs(void **state)
{
	struct bench *b = *state;
	struct peer_pair *p;

	for (int i = 0; i < 100; i++) {
		add_numbered_packet(b, i, NETSYNC_OUT, 1000);
		if (i < 60)
			add_numbered_packet(b, i, NETSYNC_IN, 1000);
	}
	b->p.tcp.seq++;
	for (int i = 0; i < 2; i++) {
		add_packet_at_host(b, B, NETSYNC_OUT, i + APART);
		add_packet_at_host(b, A, NETSYNC_IN, i);
	}
	b->p.saddr[15] = 3;
	b->p.daddr[15] = 4;
	add_packet_at_host(b, A, NETSYNC_IN, 0);
	expect_match_counts(b, 120, 4, 41);
	p = peers_find(&b->m.peers, A, B);
	assert_int_equal(p->past.matched + p->live.matched, 120);
	assert_int_equal(p->live.ambiguous, 4);
	assert_int_equal(p->live.unmatched, 40);
	assert_null(peers_find(&b->m.peers, A, C));
}

/* Check that the offsets of all clocks soon become known, whatever the number of hosts is. */
static void check_many_hosts(struct bench *b, int ids)
{
	enum { MANY = 1000 };

	for (int i = HOSTS; i < MANY; i++)
		assert_int_equal(matcher_add_host(&b->m), 0);
	/* Once a second, each host sends a packet to the next one. */
	for (int i = 0; i < 400000; i++) {
		uint32_t from = (uint32_t)i % MANY, to = (from + 1) % MANY;
		int64_t t = i * INT64_C(1000000);

		b->p.tcp.seq = (uint32_t)i * 100;
		b->p.ip_id = (uint16_t)(i % ids + 1);
		memcpy(b->p.saddr + 12, &from, sizeof(from));
		memcpy(b->p.daddr + 12, &to, sizeof(to));
		add_packet_at_host(b, from, NETSYNC_OUT, t + from * (APART / MANY));
		add_packet_at_host(b, to, NETSYNC_IN, t + 50 + to * (APART / MANY));
		for (uint32_t h = 0; h < MANY && i % 1000 == 999; h++)
			advance_host(b, h, t + h * (APART / MANY));
		assert_true(count_kept_records(&b->m) < 250000);
	}
	expect_match_counts(b, 800000, 0, 0);
}

static void test_many_hosts(void **state)
{
	check_many_hosts(*state, UINT16_MAX);
}

/*
 * All hosts use the same ports and only a few ids, so that packets of several hosts have equal
 * keys.
 */
static void test_many_hosts_udp(void **state)
{
	struct bench *b = *state;

	b->p.protocol = 17;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN;
	check_many_hosts(b, 4999);
}

/*
 * Datagrams differ only in their lengths, like beacons over IPv6, and lengths repeat after half a
 * minute. Although there are few datagrams, they are not kept for this long.
 */
static void test_rare_datagrams(void **state)
{
	struct bench *b = *state;

	b->p.protocol = 17;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_LEN;
	advance_host(b, C, INT64_MAX);
	for (int i = 0; i < 2400; i++) {
		b->p.len = 72 + (uint32_t)i % 600;
		add_packet_at_both(b, i * SEC / 20);
		advance_host(b, A, i * SEC / 20);
		advance_host(b, B, i * SEC / 20);
	}
	expect_match_counts(b, 4800, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_memory_of_stream),  TEST(test_packets_of_untraced_machines),
		TEST(test_late_host),	      TEST(test_one_after_the_other),
		TEST(test_silent_host),	      TEST(test_host_that_returns),
		TEST(test_eviction_at_limit), TEST(test_reused_key),
		TEST(test_counts_of_pairs),   TEST(test_many_hosts),
		TEST(test_many_hosts_udp),    TEST(test_rare_datagrams),
	};

	return cmocka_run_group_tests_name("match memory", tests, NULL, NULL);
}
