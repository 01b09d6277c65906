// SPDX-License-Identifier: GPL-2.0-only
/* Match SCTP packets by the verification tag and the number of the first DATA chunk. */
#include "matcher.h"

enum { DATA = 0, INIT = 1, SACK = 3, HEARTBEAT = 4 };

/* Make a packet from a sender that does not count IP ids. */
static void make_sctp_packet(struct bench *b)
{
	b->p.protocol = 132;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN |
		      NETSYNC_HAS_GSO | NETSYNC_HAS_SCTP | NETSYNC_HAS_TSN;
	b->p.ip_id = 0;
	b->p.sctp.vtag = 0xdeadbeef;
	b->p.sctp.tsn = UINT32_MAX - 50;
	b->p.sctp.chunk = DATA;
}

static void make_sctp_control(struct bench *b, uint8_t chunk, uint32_t len)
{
	make_sctp_packet(b);
	b->p.fields &= ~(uint32_t)NETSYNC_HAS_TSN;
	b->p.sctp.tsn = 0;
	b->p.sctp.chunk = chunk;
	b->p.len = len;
}

static void test_data_chunks(void **state)
{
	struct bench *b = *state;

	make_sctp_packet(b);
	/* The chunk numbers wrap around. */
	for (int i = 0; i < 100; i++) {
		b->p.sctp.tsn++;
		add_packet_at_both(b, i * SEC);
	}
	expect_match_counts(b, 200, 0, 0);
	assert_int_equal(b->num, 100);
	expect_found_message(b, A, B, 99 * SEC, 99 * SEC + 50);
}

/* Each change makes a different packet, so that no sent packet is received. */
static void test_changed_fields(void **state)
{
	struct bench *b = *state;
	struct netsync_packet base;

	make_sctp_packet(b);
	base = b->p;
	for (int i = 0; i < 7; i++) {
		b->p = base;
		b->p.sctp.tsn += (uint32_t)i * 10;
		add_packet_at_host(b, A, NETSYNC_OUT, i);
		switch (i) {
		case 0:
			b->p.sctp.vtag++;
			break;
		case 1:
			b->p.sctp.tsn++;
			break;
		case 2:
			b->p.sctp.chunk = SACK;
			break;
		case 3:
			b->p.len++;
			break;
		case 4:
			b->p.ip_id++;
			break;
		case 5:
			b->p.fields ^= NETSYNC_HAS_TSN;
			break;
		case 6:
			b->p.protocol = 17;
			break;
		}
		add_packet_at_host(b, B, NETSYNC_IN, 50 + i);
	}
	expect_match_counts(b, 0, 0, 14);
}

/* If the sender counts ids, they tell which of two transmissions was received. */
static void test_sent_again(void **state)
{
	struct bench *b = *state;

	make_sctp_packet(b);
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	add_packet_at_host(b, A, NETSYNC_OUT, 500);
	add_packet_at_host(b, B, NETSYNC_IN, 600);
	expect_match_counts(b, 0, 3, 0);
	b->p.sctp.tsn++;
	b->p.ip_id = 7;
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	b->p.ip_id = 9;
	add_packet_at_host(b, A, NETSYNC_OUT, 500);
	add_packet_at_host(b, B, NETSYNC_IN, 600);
	expect_match_counts(b, 2, 3, 1);
	expect_found_message(b, A, B, 500, 600);
	/* The second transmission also contains another chunk. */
	b->p.sctp.tsn++;
	b->p.ip_id = 0;
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	b->p.len += 500;
	add_packet_at_host(b, A, NETSYNC_OUT, 500);
	add_packet_at_host(b, B, NETSYNC_IN, 600);
	expect_match_counts(b, 4, 3, 2);
	expect_found_message(b, A, B, 500, 600);
	assert_int_equal(b->num, 0);
}

/* Several packets are sent as one, with the number of the first one. */
static void test_packets_sent_as_one(void **state)
{
	struct bench *b = *state;

	make_sctp_packet(b);
	b->p.len = 5000;
	b->p.gso_size = UINT16_MAX;
	b->p.gso_segs = 4;
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	/* The packets are seen again after segmentation. */
	b->p.point = 1;
	b->p.gso_size = b->p.gso_segs = 0;
	b->p.len = 1400;
	for (int i = 0; i < 4; i++) {
		add_packet_at_host(b, A, NETSYNC_OUT, 20 + i);
		add_packet_at_host(b, B, NETSYNC_IN, 100 + i);
		b->p.sctp.tsn += 3;
	}
	expect_match_counts(b, 9, 0, 0);
	assert_int_equal(b->num, 4);
	expect_found_message(b, A, B, 20, 100);
	/* The packet is retransmitted. One of the two transmissions also contains other packets. */
	b->p.point = 0;
	add_packet_at_host(b, A, NETSYNC_OUT, 200);
	b->p.len = 5000;
	b->p.gso_size = UINT16_MAX;
	add_packet_at_host(b, A, NETSYNC_OUT, 300);
	b->p.len = 1400;
	b->p.gso_size = 0;
	add_packet_at_host(b, B, NETSYNC_IN, 400);
	expect_match_counts(b, 9, 3, 0);
}

/* Packets without DATA are matched by their ids, or if only one such packet exists. */
static void test_without_data(void **state)
{
	struct bench *b = *state;

	for (uint8_t chunk = INIT; chunk < 10; chunk++) {
		make_sctp_control(b, chunk, 32);
		b->p.sctp.vtag = chunk == INIT ? 0 : b->p.sctp.vtag;
		add_packet_at_both(b, chunk);
	}
	expect_match_counts(b, 18, 0, 0);
	assert_int_equal(b->num, 9);
	make_sctp_control(b, SACK, 16);
	for (int i = 0; i < 300; i++) {
		add_packet_at_both(b, i * SEC);
	}
	expect_match_counts(b, 18, 600, 0);
	for (int i = 0; i < 300; i++) {
		b->p.ip_id++;
		add_packet_at_both(b, i * SEC);
	}
	expect_match_counts(b, 618, 600, 0);
}

/* Address translation does not change the tag. The first packet has no tag. */
static void test_tags_across_nat(void **state)
{
	struct bench *b = *state;

	make_sctp_packet(b);
	for (int i = 0; i < 10; i++) {
		b->p.sctp.tsn++;
		if (i == 9)
			make_sctp_control(b, HEARTBEAT, 60);
		b->p.saddr[13] = 0;
		add_packet_at_host(b, A, NETSYNC_OUT, i * SEC);
		b->p.saddr[13] = 99;
		b->p.sport += i % 2;
		add_packet_at_host(b, B, NETSYNC_IN, i * SEC + 50);
	}
	expect_match_counts(b, 20, 0, 0);
	assert_int_equal(sum_match_counts(&b->m).nat, 20);
	expect_found_message(b, A, B, 9 * SEC, 9 * SEC + 50);
	make_sctp_control(b, INIT, 32);
	b->p.sctp.vtag = 0;
	b->p.saddr[13] = 0;
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	b->p.saddr[13] = 99;
	add_packet_at_host(b, B, NETSYNC_IN, 60);
	expect_match_counts(b, 20, 0, 2);
}

/* A host between both ends forwards the packets. */
static void test_forwarded_sctp(void **state)
{
	struct bench *b = *state;

	make_sctp_packet(b);
	add_packet_at_host(b, A, NETSYNC_OUT, 10);
	add_packet_at_host(b, B, NETSYNC_IN, 20);
	b->p.point = 1;
	add_packet_at_host(b, B, NETSYNC_OUT, 30);
	add_packet_at_host(b, C, NETSYNC_IN, 40);
	expect_match_counts(b, 4, 0, 0);
	expect_found_message(b, A, B, 10, 20);
	expect_found_message(b, A, C, 10, 40);
	expect_found_message(b, B, C, 30, 40);
	assert_int_equal(b->num, 0);
}

static void test_supported_chunks(void **state)
{
	struct bench *b = *state;

	make_sctp_packet(b);
	assert_true(matcher_supports(&b->p));
	b->p.fields &= ~(uint32_t)NETSYNC_HAS_TSN;
	assert_true(matcher_supports(&b->p));
	b->p.fields &= ~(uint32_t)NETSYNC_HAS_SCTP;
	assert_false(matcher_supports(&b->p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_data_chunks),	   TEST(test_changed_fields),
		TEST(test_sent_again),	   TEST(test_packets_sent_as_one),
		TEST(test_without_data),   TEST(test_tags_across_nat),
		TEST(test_forwarded_sctp), TEST(test_supported_chunks),
	};

	return cmocka_run_group_tests_name("match SCTP", tests, NULL, NULL);
}
