// SPDX-License-Identifier: GPL-2.0-only
/* Match datagrams and pings. */
#include "matcher.h"

static void make_udp_packet(struct bench *b)
{
	b->p.protocol = 17;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN;
}

static void test_plain_datagrams(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	for (int i = 0; i < 100; i++) {
		b->p.ip_id = (uint16_t)(65500 + i);
		add_packet_at_both(b, i * SEC);
	}
	/* One of the hundred datagrams had the id 0, which does not identify it. */
	expect_match_counts(b, 200, 0, 0);
	expect_found_message(b, A, B, 99 * SEC, 99 * SEC + 50);
}

/* A broadcast is received by all other hosts. */
static void test_broadcast_datagram(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	memset(b->p.daddr + 12, 255, 4);
	add_packet_at_host(b, C, NETSYNC_IN, 300);
	add_packet_at_host(b, A, NETSYNC_OUT, 100);
	add_packet_at_host(b, B, NETSYNC_IN, 200);
	add_packet_at_host(b, A, NETSYNC_IN, 101);
	expect_match_counts(b, 4, 0, 0);
	assert_int_equal(b->num, 2);
	expect_found_message(b, A, B, 100, 200);
	expect_found_message(b, A, C, 100, 300);
}

/*
 * If the sender does not count ids, a datagram is identified by its payload, or by its length if
 * the payload is unknown.
 */
static void test_without_ids(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	b->p.ip_id = 0;
	b->p.fields |= NETSYNC_HAS_DIGEST;
	for (int i = 0; i < 10; i++) {
		b->p.udp.digest = (uint64_t)(i / 2) << 32 | 7;
		if (i % 2 == 0)
			b->p.udp.digest += (uint64_t)(i + 1) << 40;
		add_packet_at_both(b, i * SEC);
	}
	expect_match_counts(b, 20, 0, 0);
	b->p.udp.digest = 3;
	for (int i = 0; i < 2; i++) {
		add_packet_at_both(b, i * SEC);
	}
	expect_match_counts(b, 20, 4, 0);
	b->p.fields &= ~(uint32_t)(NETSYNC_HAS_DIGEST | NETSYNC_HAS_IP_ID);
	for (int i = 0; i < 5; i++) {
		b->p.len = 100 + (uint32_t)i;
		add_packet_at_both(b, i * SEC);
	}
	expect_match_counts(b, 30, 4, 0);
}

/* Checksums are compared if they are final in both records. */
static void test_final_checksums(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	for (int i = 0; i < 3; i++) {
		b->p.ip_id++;
		b->p.fields &= ~(uint32_t)NETSYNC_HAS_CHECKSUM;
		b->p.udp.checksum = 1;
		if (i)
			b->p.fields |= NETSYNC_HAS_CHECKSUM;
		add_packet_at_host(b, A, NETSYNC_OUT, i * SEC);
		b->p.fields |= NETSYNC_HAS_CHECKSUM;
		b->p.udp.checksum = 2;
		if (i == 1)
			b->p.fields &= ~(uint32_t)NETSYNC_HAS_CHECKSUM;
		add_packet_at_host(b, B, NETSYNC_IN, i * SEC + 50);
	}
	expect_match_counts(b, 4, 0, 2);
}

/* Several datagrams with consecutive ids are sent as one. */
static void test_datagrams_sent_as_one(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	b->p.fields |= NETSYNC_HAS_GSO | NETSYNC_HAS_DIGEST | NETSYNC_HAS_CHECKSUM;
	b->p.len = 1500;
	b->p.gso_size = 500;
	b->p.gso_segs = 3;
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	b->p.len = 500;
	b->p.gso_size = b->p.gso_segs = 0;
	for (int i = 0; i < 3; i++) {
		add_packet_at_host(b, B, NETSYNC_IN, 100 + i);
		b->p.ip_id++;
		b->p.udp.digest++;
		b->p.udp.checksum++;
	}
	expect_match_counts(b, 4, 0, 0);
	assert_int_equal(b->num, 1);
	expect_found_message(b, A, B, 10, 100);
	b->p.fields &= ~(uint32_t)(NETSYNC_HAS_DIGEST | NETSYNC_HAS_CHECKSUM);
	/* In the opposite direction, the message is that of the last datagram that was sent. */
	b->p.ip_id = 300;
	for (int i = 0; i < 3; i++) {
		add_packet_at_host(b, A, NETSYNC_OUT, 10 + i);
		b->p.ip_id++;
	}
	b->p.ip_id = 300;
	b->p.len = 1500;
	b->p.gso_size = 500;
	b->p.gso_segs = 3;
	add_packet_at_host(b, B, NETSYNC_IN, 100);
	expect_match_counts(b, 8, 0, 0);
	assert_int_equal(b->num, 1);
	expect_found_message(b, A, B, 12, 100);
}

static void test_ping_and_reply(void **state)
{
	struct bench *b = *state;

	for (int v6 = 0; v6 < 2; v6++) {
		b->p.protocol = v6 ? 58 : 1;
		b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_LEN | NETSYNC_HAS_ECHO;
		b->p.icmp.id = 99;
		for (int i = 0; i < 10; i++) {
			b->p.icmp.seq = (uint16_t)i;
			b->p.icmp.type = v6 ? 128 : 8;
			add_packet_at_both(b, i * SEC);
			b->p.icmp.type = v6 ? 129 : 0;
			add_packet_at_host(b, B, NETSYNC_OUT, i * SEC + 60);
			add_packet_at_host(b, A, NETSYNC_IN, i * SEC + 99);
		}
	}
	expect_match_counts(b, 80, 0, 0);
	assert_int_equal(b->num, 40);
	expect_found_message(b, A, B, 5 * SEC, 5 * SEC + 50);
	expect_found_message(b, B, A, 5 * SEC + 60, 5 * SEC + 99);
}

/* Either the source address or the destination address is translated. */
static void test_translated_datagrams(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	for (int i = 0; i < 100; i++) {
		const struct netsync_packet before = b->p;

		b->p.ip_id = (uint16_t)(65500 + i);
		add_packet_at_host(b, A, NETSYNC_OUT, i * SEC);
		if (i % 2) {
			b->p.saddr[13] = 99;
			b->p.sport = 61000;
		} else {
			b->p.daddr[13] = 98;
			b->p.dport = 8080;
		}
		add_packet_at_host(b, B, NETSYNC_IN, i * SEC + 50);
		b->p = before;
	}
	/* All datagrams are matched except the one with the id 0. */
	expect_match_counts(b, 198, 0, 2);
	assert_int_equal(sum_match_counts(&b->m).nat, 198);
	assert_int_equal(b->num, 99);
	expect_found_message(b, A, B, 99 * SEC, 99 * SEC + 50);
}

/* Both addresses are translated, so that only the payload identifies a datagram. */
static void test_nat_of_both(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	for (int i = 0; i < 2; i++) {
		b->p.ip_id++;
		b->p.udp.digest = 5;
		if (i)
			b->p.fields |= NETSYNC_HAS_DIGEST;
		add_packet_at_host(b, A, NETSYNC_OUT, 10 + i);
		b->p.saddr[13]++;
		b->p.daddr[13]++;
		add_packet_at_host(b, B, NETSYNC_IN, 100 + i);
		/* A datagram with a different payload or length is a different datagram. */
		b->p.udp.digest++;
		b->p.len += i ? 0 : 1;
		add_packet_at_host(b, C, NETSYNC_IN, 100 + i);
	}
	expect_match_counts(b, 2, 0, 4);
	expect_found_message(b, A, B, 11, 101);
}

/*
 * Two clients behind one address use the same id, so that either of them may have sent the
 * datagram.
 */
static void test_nat_unclear(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	b->p.saddr[15] = 9;
	add_packet_at_host(b, C, NETSYNC_OUT, 20);
	b->p.saddr[13] = 99;
	add_packet_at_host(b, B, NETSYNC_IN, 100);
	expect_match_counts(b, 0, 3, 0);
	assert_int_equal(b->num, 0);
	/*
	 * A datagram that has matched with its own addresses is not compared with translated ones.
	 */
	b->p.ip_id++;
	add_packet_at_host(b, C, NETSYNC_OUT, 200);
	add_packet_at_host(b, B, NETSYNC_IN, 300);
	b->p.saddr[13] = 0;
	b->p.saddr[15] = 1;
	add_packet_at_host(b, A, NETSYNC_OUT, 210);
	expect_match_counts(b, 2, 3, 1);
	expect_found_message(b, C, B, 200, 300);
}

static void test_ping_nat(void **state)
{
	struct bench *b = *state;

	b->p.protocol = 1;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_LEN | NETSYNC_HAS_IP_ID | NETSYNC_HAS_ECHO;
	b->p.icmp.type = 8;
	for (int i = 0; i < 20; i++) {
		b->p.icmp.seq = (uint16_t)i;
		b->p.ip_id++;
		b->p.icmp.id = 99;
		b->p.saddr[13] = 0;
		add_packet_at_host(b, A, NETSYNC_OUT, i * SEC);
		/* Address translation may also change the identifier. */
		b->p.icmp.id = (uint16_t)(99 + i % 2);
		b->p.saddr[13] = 99;
		add_packet_at_host(b, B, NETSYNC_IN, i * SEC + 50);
	}
	expect_match_counts(b, 40, 0, 0);
	assert_int_equal(sum_match_counts(&b->m).nat, 40);
	expect_found_message(b, A, B, 5 * SEC, 5 * SEC + 50);
	/* A ping with a different sequence number is a different ping. */
	add_packet_at_host(b, A, NETSYNC_OUT, 0);
	b->p.saddr[13] = 1;
	b->p.icmp.seq++;
	add_packet_at_host(b, B, NETSYNC_IN, 50);
	b->p.icmp.type = 0;
	add_packet_at_host(b, C, NETSYNC_IN, 60);
	expect_match_counts(b, 40, 0, 3);
}

/* The sender does not count ids, and only one source reports digests of payloads. */
static void test_digest_of_one(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	b->p.ip_id = 0;
	b->p.udp.digest = 5;
	for (int i = 0; i < 100; i++) {
		b->p.len = 50 + (uint32_t)i;
		b->p.fields ^= NETSYNC_HAS_DIGEST;
		add_packet_at_host(b, A, NETSYNC_OUT, i * SEC);
		b->p.fields ^= NETSYNC_HAS_DIGEST;
		add_packet_at_host(b, B, NETSYNC_IN, i * SEC + 50);
		b->p.fields ^= i % 2 ? NETSYNC_HAS_DIGEST : 0;
		b->p.udp.digest++;
	}
	expect_match_counts(b, 200, 0, 0);
	assert_int_equal(sum_match_counts(&b->m).nat, 0);
	/* Two datagrams of equal length are ambiguous. */
	b->p.len = 20;
	for (int i = 0; i < 2; i++) {
		b->p.fields |= NETSYNC_HAS_DIGEST;
		add_packet_at_host(b, A, NETSYNC_OUT, 200 * SEC + i);
		b->p.fields ^= NETSYNC_HAS_DIGEST;
		add_packet_at_host(b, B, NETSYNC_IN, 200 * SEC + 50 + i);
		b->p.udp.digest++;
	}
	expect_match_counts(b, 200, 4, 0);
}

/* A lost datagram among many similar ones does not keep the others from being matched. */
static void test_lost_among_many(void **state)
{
	struct bench *b = *state;

	make_udp_packet(b);
	b->p.ip_id = 0;
	b->p.fields |= NETSYNC_HAS_DIGEST;
	for (int i = 0; i < 200000; i++) {
		b->p.udp.digest++;
		add_packet_at_host(b, A, NETSYNC_OUT, i * 1000);
		if (i % 2)
			add_packet_at_host(b, B, NETSYNC_IN, i * 1000 + 50);
	}
	expect_match_counts(b, 200000, 0, 100000);
}

static void test_supported_packets(void **state)
{
	struct bench *b = *state;

	assert_true(matcher_supports(&b->p));
	b->p.protocol = 1;
	assert_false(matcher_supports(&b->p));
	b->p.protocol = 33;
	assert_false(matcher_supports(&b->p));
	make_udp_packet(b);
	assert_true(matcher_supports(&b->p));
	b->p.fields = 0;
	assert_false(matcher_supports(&b->p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain_datagrams),	  TEST(test_broadcast_datagram),
		TEST(test_without_ids),		  TEST(test_final_checksums),
		TEST(test_datagrams_sent_as_one), TEST(test_ping_and_reply),
		TEST(test_translated_datagrams),  TEST(test_nat_of_both),
		TEST(test_nat_unclear),		  TEST(test_ping_nat),
		TEST(test_digest_of_one),	  TEST(test_lost_among_many),
		TEST(test_supported_packets),
	};

	return cmocka_run_group_tests_name("match UDP", tests, NULL, NULL);
}
