// SPDX-License-Identifier: GPL-2.0-only
/* Check which records become messages, and which records are rejected. */
#include <errno.h>
#include <string.h>

#include "test.h"

enum { A, B, C, HOSTS };

struct net {
	struct netsync *ns;
	struct netsync_packet p; /* the next record; tests change its fields */
};

static int setup_match_net(void **state)
{
	struct net *n = calloc(1, sizeof(*n));

	n->ns = netsync_new();
	assert_int_equal(netsync_add_host(n->ns, "a"), A);
	assert_int_equal(netsync_add_host(n->ns, "b"), B);
	assert_int_equal(netsync_add_host(n->ns, "c"), C);
	n->p = make_tcp_segment();
	n->p.tcp.flags = 0x8018;
	*state = n;
	return 0;
}

static int teardown_match_net(void **state)
{
	struct net *n = *state;

	netsync_free(n->ns);
	free(n);
	return 0;
}

static void push_packet_at_host(struct net *n, uint32_t host, int dir, int64_t after)
{
	n->p.host = host;
	n->p.dir = (uint8_t)dir;
	n->p.time_ns = EPOCH + after;
	assert_int_equal(netsync_push_packet(n->ns, &n->p), 0);
}

static uint64_t count_messages(struct net *n, uint32_t from, uint32_t to)
{
	struct netsync_pair_info info = { .size = sizeof(info) };

	for (uint32_t i = 0; i < netsync_num_pairs(n->ns); i++) {
		assert_int_equal(netsync_get_pair(n->ns, i, &info), 0);
		if (info.host[0] == from && info.host[1] == to)
			return info.messages[0];
		if (info.host[1] == from && info.host[0] == to)
			return info.messages[1];
	}
	return 0;
}

static struct netsync_stats get_match_stats(struct net *n)
{
	struct netsync_stats s = { .size = sizeof(s) };

	assert_int_equal(netsync_get_stats(n->ns, &s), 0);
	return s;
}

static void expect_match_stats(struct net *n, uint64_t matched, uint64_t ambiguous,
			       uint64_t unmatched)
{
	struct netsync_stats s;

	assert_int_equal(netsync_solve(n->ns, NULL), 0);
	s = get_match_stats(n);
	assert_int_equal(s.matched, matched);
	assert_int_equal(s.ambiguous, ambiguous);
	assert_int_equal(s.unmatched, unmatched);
}

static void test_plain_packets(void **state)
{
	struct net *n = *state;

	push_packet_at_host(n, B, NETSYNC_IN, 50 * SEC);
	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	expect_match_stats(n, 2, 0, 0);
	assert_int_equal(count_messages(n, A, B), 1);
	assert_int_equal(count_messages(n, B, A), 0);
}

/*
 * If both records have a field, the field must be equal. Exceptions are fields that address
 * translation changes, and the length, which segmentation changes.
 */
static void test_different_fields(void **state)
{
	struct net *n = *state;
	const struct netsync_packet base = n->p;

	for (int i = 0; i < 9; i++) {
		n->p = base;
		n->p.tcp.seq += (uint32_t)i * 1000;
		push_packet_at_host(n, A, NETSYNC_OUT, 0);
		switch (i) {
		case 0:
			n->p.saddr[15]++;
			break;
		case 1:
			n->p.daddr[0]++;
			break;
		case 2:
			n->p.sport++;
			break;
		case 3:
			n->p.dport++;
			break;
		case 4:
			n->p.ip_id++;
			break;
		case 5:
			n->p.len++;
			break;
		case 6:
			n->p.tcp.window++;
			break;
		case 7:
			n->p.tcp.tsval++;
			break;
		case 8:
			n->p.fields ^= NETSYNC_HAS_TSTAMP | NETSYNC_HAS_NO_TSTAMP;
			break;
		}
		push_packet_at_host(n, B, NETSYNC_IN, 0);
	}
	expect_match_stats(n, 10, 0, 8);
	assert_int_equal(get_match_stats(n).nat, 8);
}

/* A source may report the header words only, as older probes did. */
static void test_source_that_knows_little(void **state)
{
	struct net *n = *state;

	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	n->p.fields = NETSYNC_HAS_WINDOW;
	memset(n->p.saddr, 0, 16);
	n->p.sport = n->p.ip_id = 0;
	n->p.len = 0;
	push_packet_at_host(n, B, NETSYNC_IN, 10);
	expect_match_stats(n, 2, 0, 0);
}

/* A retransmission has a different id. A source without ids cannot detect retransmissions. */
static void test_retransmission(void **state)
{
	struct net *n = *state;

	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	n->p.ip_id++;
	push_packet_at_host(n, A, NETSYNC_OUT, SEC);
	push_packet_at_host(n, B, NETSYNC_IN, SEC + 10);
	expect_match_stats(n, 2, 0, 1);
	n->p.fields &= ~(uint32_t)NETSYNC_HAS_IP_ID;
	n->p.tcp.seq++;
	push_packet_at_host(n, A, NETSYNC_OUT, 2 * SEC);
	push_packet_at_host(n, A, NETSYNC_OUT, 3 * SEC);
	push_packet_at_host(n, B, NETSYNC_IN, 3 * SEC + 10);
	expect_match_stats(n, 2, 3, 1);
}

/* A record without an id may belong to either of two packets that differ only in their ids. */
static void test_between_two_packets(void **state)
{
	struct net *n = *state;

	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	n->p.ip_id++;
	push_packet_at_host(n, A, NETSYNC_OUT, SEC);
	n->p.fields &= ~(uint32_t)NETSYNC_HAS_IP_ID;
	push_packet_at_host(n, B, NETSYNC_IN, SEC + 10);
	expect_match_stats(n, 0, 3, 0);
}

/* Without addresses, these two hosts may be one host. */
static void test_sent_by_two_hosts(void **state)
{
	struct net *n = *state;

	n->p.fields &= ~(uint32_t)NETSYNC_HAS_ADDRS;
	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	push_packet_at_host(n, B, NETSYNC_OUT, 1);
	push_packet_at_host(n, C, NETSYNC_IN, 10);
	expect_match_stats(n, 0, 3, 0);
}

/*
 * A packet is seen at a bridge and at the interface below it. The packet's message leads from the
 * last record at the sender to the first record at the receiver.
 */
static void test_several_devices(void **state)
{
	struct net *n = *state;
	struct netsync_pair_info info = { .size = sizeof(info) };

	n->p.fields |= NETSYNC_HAS_SKB;
	n->p.skb = 0xabc;
	for (uint32_t dev = 1; dev <= 3; dev++) {
		n->p.point = dev;
		push_packet_at_host(n, A, NETSYNC_OUT, dev * 1000);
	}
	n->p.skb = 0xdef;
	for (uint32_t dev = 1; dev <= 3; dev++) {
		n->p.point = dev;
		push_packet_at_host(n, B, NETSYNC_IN, 10000 + dev * 1000);
	}
	expect_match_stats(n, 6, 0, 0);
	assert_int_equal(count_messages(n, A, B), 1);
	/*
	 * The message is sent at 3000 and received at 11000. If it were received 1 ns
	 * earlier, this would be an inversion.
	 */
	assert_int_equal(netsync_push_message(n->ns, B, A, EPOCH + 11000, EPOCH + 3000), 0);
	expect_match_stats(n, 6, 0, 0);
	assert_int_equal(netsync_get_pair(n->ns, 0, &info), 0);
	assert_int_equal(info.min_delay_ns[0] + info.min_delay_ns[1], 0);
}

/*
 * The time in the stack is counted for packets that are seen at several places of a host and that
 * are not segmented.
 */
static void test_time_in_stack(void **state)
{
	struct net *n = *state;
	struct netsync_stack out = { .size = sizeof(out) }, in = out;

	assert_int_equal(netsync_get_stack(n->ns, A, NETSYNC_OUT, &out), -ENODATA);
	expect_match_stats(n, 0, 0, 0);
	assert_int_equal(netsync_get_stack(n->ns, HOSTS, NETSYNC_OUT, &out), -EINVAL);
	assert_int_equal(netsync_get_stack(n->ns, A, (enum netsync_dir)2, &out), -EINVAL);
	assert_int_equal(netsync_get_stack(n->ns, A, NETSYNC_OUT, &out), 0);
	assert_int_equal(out.packets, 0);
	assert_true(out.min_ns == NETSYNC_UNKNOWN);
	assert_true(out.p99_ns == NETSYNC_UNKNOWN);
	for (int i = 0; i < 1000; i++) {
		n->p.tcp.seq += 1000;
		n->p.ip_id++;
		for (n->p.point = 0; n->p.point < 3; n->p.point++)
			push_packet_at_host(n, A, NETSYNC_OUT,
					    i * SEC + (5000 + i) * (int64_t)n->p.point);
		/* No other host saw some of the packets. */
		for (n->p.point = 0; n->p.point < 2 && i % 4; n->p.point++)
			push_packet_at_host(n, B, NETSYNC_IN,
					    i * SEC + 100000 +
						    (i < 998 ? 700 : 70000) * (int64_t)n->p.point);
		/* The packet is forwarded, or is seen at only one place. */
		push_packet_at_host(n, C, NETSYNC_IN, i * SEC + 150000);
		if (i % 2)
			push_packet_at_host(n, C, NETSYNC_OUT, i * SEC + 160000);
		if (i % 100 == 99)
			assert_int_equal(netsync_solve(n->ns, NULL), 0);
	}
	assert_int_equal(netsync_get_stack(n->ns, A, NETSYNC_OUT, &out), 0);
	assert_int_equal(out.packets, 1000);
	assert_int_equal(out.min_ns, 10000);
	assert_int_equal(out.max_ns, 11998);
	assert_in_range(out.median_ns, 11000 - 350, 11000 + 350);
	assert_in_range(out.p99_ns, 11978 - 380, 11998);
	assert_int_equal(netsync_get_stack(n->ns, B, NETSYNC_IN, &in), 0);
	assert_int_equal(in.packets, 750);
	assert_int_equal(in.min_ns, 700);
	assert_in_range(in.median_ns, 700, 722);
	assert_in_range(in.p99_ns, 700, 722);
	assert_int_equal(in.max_ns, 70000);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(netsync_get_stack(n->ns, C, (enum netsync_dir)i, &in), 0);
		assert_int_equal(in.packets, 0);
	}
}

/*
 * Two namespaces have devices with the same name. If two records have the same buffer and id, they
 * belong to one packet. Otherwise, they are ambiguous.
 */
static void test_one_name_twice(void **state)
{
	struct net *n = *state;

	n->p.fields |= NETSYNC_HAS_SKB;
	n->p.skb = 0xabc;
	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	push_packet_at_host(n, A, NETSYNC_OUT, 1000);
	push_packet_at_host(n, B, NETSYNC_IN, 9000);
	expect_match_stats(n, 3, 0, 0);
	n->p.tcp.seq++;
	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	n->p.skb = 0xdef;
	push_packet_at_host(n, A, NETSYNC_OUT, 1000);
	push_packet_at_host(n, B, NETSYNC_IN, 9000);
	expect_match_stats(n, 3, 3, 0);
}

/* A packet passes through a router, and gives a message on each of the two links. */
static void test_forwarded_packet(void **state)
{
	struct net *n = *state;

	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	push_packet_at_host(n, B, NETSYNC_IN, 10);
	push_packet_at_host(n, B, NETSYNC_OUT, 20);
	push_packet_at_host(n, C, NETSYNC_IN, 30);
	expect_match_stats(n, 4, 0, 0);
	assert_int_equal(count_messages(n, A, B), 1);
	assert_int_equal(count_messages(n, B, C), 1);
	assert_int_equal(count_messages(n, A, C), 1);
	assert_int_equal(count_messages(n, B, A) + count_messages(n, C, B), 0);
}

/* A container's packet passes through the host's bridge before it leaves the host. */
static void test_sender_that_forwards(void **state)
{
	struct net *n = *state;

	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	n->p.point = 1;
	push_packet_at_host(n, A, NETSYNC_IN, 5);
	n->p.point = 2;
	push_packet_at_host(n, A, NETSYNC_OUT, 10);
	push_packet_at_host(n, B, NETSYNC_IN, 1000);
	expect_match_stats(n, 4, 0, 0);
	assert_int_equal(count_messages(n, A, B), 1);
	assert_int_equal(count_messages(n, B, A), 0);
}

static void test_stays_on_host(void **state)
{
	struct net *n = *state;
	struct netsync_stats s = { .size = sizeof(s) };

	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	push_packet_at_host(n, A, NETSYNC_IN, 10);
	n->p.saddr[12] = n->p.daddr[12] = 127;
	push_packet_at_host(n, A, NETSYNC_OUT, 20);
	push_packet_at_host(n, B, NETSYNC_IN, 30);
	memset(n->p.saddr, 0, 16);
	n->p.saddr[15] = 1;
	push_packet_at_host(n, B, NETSYNC_IN, 30);
	n->p.protocol = 33;
	push_packet_at_host(n, B, NETSYNC_IN, 30);
	expect_match_stats(n, 0, 0, 2);
	assert_int_equal(netsync_get_stats(n->ns, &s), 0);
	assert_int_equal(s.loopback, 3);
	assert_int_equal(s.unsupported, 1);
	assert_int_equal(s.packets, 6);
	assert_int_equal(netsync_num_pairs(n->ns), 0);
}

/* Solving while packets are pushed does not affect later results. */
static void test_solve_in_between(void **state)
{
	struct net *n = *state;

	push_packet_at_host(n, A, NETSYNC_OUT, 0);
	expect_match_stats(n, 0, 0, 1);
	push_packet_at_host(n, B, NETSYNC_IN, 10);
	expect_match_stats(n, 2, 0, 0);
	expect_match_stats(n, 2, 0, 0);
	assert_int_equal(count_messages(n, A, B), 1);
	/* If the packet is repeated later, the message is not withdrawn. */
	push_packet_at_host(n, B, NETSYNC_IN, 20);
	expect_match_stats(n, 2, 0, 1);
	assert_int_equal(count_messages(n, A, B), 1);
}

/* Very many packets with one key take little time and lead to no message. */
static void test_storm_of_one_key(void **state)
{
	struct net *n = *state;

	for (int i = 0; i < 100000; i++) {
		n->p.ip_id = (uint16_t)i;
		push_packet_at_host(n, i % 2 ? A : B, i % 2 ? NETSYNC_OUT : NETSYNC_IN, i);
	}
	expect_match_stats(n, 0, 100000, 0);
	expect_match_stats(n, 0, 100000, 0);
}

/* Realistic packets in random order, with repetitions, give the same messages. */
static void test_any_order(void **state)
{
	struct net *n = *state;
	enum { N = 3000 };
	struct netsync_packet *p = calloc(2 * N, sizeof(*p));
	uint64_t seed = 5, found[2];

	for (int i = 0; i < N; i++) {
		n->p.tcp.seq = (uint32_t)draw_integer_below(&seed, N);
		n->p.ip_id = (uint16_t)draw_integer_below(&seed, 3);
		n->p.host = A;
		n->p.dir = NETSYNC_OUT;
		n->p.time_ns = EPOCH + i * 1000;
		p[2 * i] = n->p;
		n->p.host = B;
		n->p.dir = NETSYNC_IN;
		n->p.time_ns += 500;
		if (i % 7 == 0)
			n->p.fields ^= NETSYNC_HAS_IP_ID;
		p[2 * i + 1] = n->p;
		n->p.fields |= NETSYNC_HAS_IP_ID;
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2 * N; i++)
			assert_int_equal(netsync_push_packet(n->ns, &p[i]), 0);
		assert_int_equal(netsync_solve(n->ns, NULL), 0);
		found[round] = count_messages(n, A, B);
		for (int i = 2 * N - 1; i; i--) {
			int j = (int)draw_integer_below(&seed, i + 1);
			struct netsync_packet t = p[i];

			p[i] = p[j];
			p[j] = t;
		}
		if (!round) {
			netsync_free(n->ns);
			n->ns = netsync_new();
			netsync_add_host(n->ns, "a");
			netsync_add_host(n->ns, "b");
		}
	}
	assert_int_equal(found[0], found[1]);
	assert_true(found[0] > N / 4);
	free(p);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_match_net, teardown_match_net)

/* If the number of records is limited, the oldest records are dropped first. */
static void test_limit_of_records(void **state)
{
	struct netsync_stats stats = { .size = sizeof(stats) };
	struct net *n = *state;

	netsync_limit_packets(n->ns, 2000);
	for (int dir = 0; dir < 2; dir++) {
		for (uint32_t i = 0; i < 3000; i++) {
			n->p.tcp.seq = i * 100;
			n->p.ip_id = (uint16_t)i;
			push_packet_at_host(n, dir == NETSYNC_OUT ? A : B, dir, i * 1000);
		}
	}
	assert_int_equal(netsync_solve(n->ns, NULL), 0);
	assert_int_equal(netsync_get_stats(n->ns, &stats), 0);
	assert_int_equal(stats.packets, 6000);
	assert_true(stats.evicted > 0);
	/* However low the limit is, some packets can be matched. */
	netsync_limit_packets(n->ns, 0);
	n->p.tcp.seq = 999999;
	push_packet_at_host(n, A, NETSYNC_OUT, 5000000);
	push_packet_at_host(n, B, NETSYNC_IN, 5000500);
	assert_int_equal(netsync_solve(n->ns, NULL), 0);
	assert_true(count_messages(n, A, B) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain_packets),
		TEST(test_different_fields),
		TEST(test_source_that_knows_little),
		TEST(test_retransmission),
		TEST(test_between_two_packets),
		TEST(test_sent_by_two_hosts),
		TEST(test_several_devices),
		TEST(test_time_in_stack),
		TEST(test_one_name_twice),
		TEST(test_forwarded_packet),
		TEST(test_sender_that_forwards),
		TEST(test_stays_on_host),
		TEST(test_solve_in_between),
		TEST(test_storm_of_one_key),
		TEST(test_any_order),
		TEST(test_limit_of_records),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
