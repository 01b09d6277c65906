// SPDX-License-Identifier: GPL-2.0-only
/* SCTP packets are matched by the verification tag and the number of the first DATA chunk. */
#include "matcher.h"

enum { DATA = 0, INIT = 1, SACK = 3, HEARTBEAT = 4 };

/* Make a packet of a sender that does not count IP ids. */
static void sctp(struct bench *b)
{
	b->p.protocol = 132;
	b->p.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN |
		      NETSYNC_HAS_GSO | NETSYNC_HAS_SCTP | NETSYNC_HAS_TSN;
	b->p.ip_id = 0;
	b->p.sctp.vtag = 0xdeadbeef;
	b->p.sctp.tsn = UINT32_MAX - 50;
	b->p.sctp.chunk = DATA;
}

static void control(struct bench *b, uint8_t chunk, uint32_t len)
{
	sctp(b);
	b->p.fields &= ~(uint32_t)NETSYNC_HAS_TSN;
	b->p.sctp.tsn = 0;
	b->p.sctp.chunk = chunk;
	b->p.len = len;
}

static void test_data(void **state)
{
	struct bench *b = *state;

	sctp(b);
	/* The chunk numbers wrap. */
	for (int i = 0; i < 100; i++) {
		b->p.sctp.tsn++;
		pass(b, i * SEC);
	}
	expect(b, 200, 0, 0);
	assert_int_equal(b->num, 100);
	take(b, A, B, 99 * SEC, 99 * SEC + 50);
}

/* Each change makes another packet, so no sent packet is received. */
static void test_fields(void **state)
{
	struct bench *b = *state;
	struct netsync_packet base;

	sctp(b);
	base = b->p;
	for (int i = 0; i < 7; i++) {
		b->p = base;
		b->p.sctp.tsn += (uint32_t)i * 10;
		see(b, A, NETSYNC_OUT, i);
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
		see(b, B, NETSYNC_IN, 50 + i);
	}
	expect(b, 0, 0, 14);
}

/* If ids are counted, it is known which of two transmissions was received. */
static void test_sent_again(void **state)
{
	struct bench *b = *state;

	sctp(b);
	see(b, A, NETSYNC_OUT, 10);
	see(b, A, NETSYNC_OUT, 500);
	see(b, B, NETSYNC_IN, 600);
	expect(b, 0, 3, 0);
	b->p.sctp.tsn++;
	b->p.ip_id = 7;
	see(b, A, NETSYNC_OUT, 10);
	b->p.ip_id = 9;
	see(b, A, NETSYNC_OUT, 500);
	see(b, B, NETSYNC_IN, 600);
	expect(b, 2, 3, 1);
	take(b, A, B, 500, 600);
	/* The second transmission contains another chunk in addition. */
	b->p.sctp.tsn++;
	b->p.ip_id = 0;
	see(b, A, NETSYNC_OUT, 10);
	b->p.len += 500;
	see(b, A, NETSYNC_OUT, 500);
	see(b, B, NETSYNC_IN, 600);
	expect(b, 4, 3, 2);
	take(b, A, B, 500, 600);
	assert_int_equal(b->num, 0);
}

/* Several packets are sent at once with the number of the first one. */
static void test_segmentation(void **state)
{
	struct bench *b = *state;

	sctp(b);
	b->p.len = 5000;
	b->p.gso_size = UINT16_MAX;
	b->p.gso_segs = 4;
	see(b, A, NETSYNC_OUT, 10);
	/* The packets are seen again after segmentation. */
	b->p.point = 1;
	b->p.gso_size = b->p.gso_segs = 0;
	b->p.len = 1400;
	for (int i = 0; i < 4; i++) {
		see(b, A, NETSYNC_OUT, 20 + i);
		see(b, B, NETSYNC_IN, 100 + i);
		b->p.sctp.tsn += 3;
	}
	expect(b, 9, 0, 0);
	assert_int_equal(b->num, 4);
	take(b, A, B, 20, 100);
	/* The packet is retransmitted, one of both times together with others. */
	b->p.point = 0;
	see(b, A, NETSYNC_OUT, 200);
	b->p.len = 5000;
	b->p.gso_size = UINT16_MAX;
	see(b, A, NETSYNC_OUT, 300);
	b->p.len = 1400;
	b->p.gso_size = 0;
	see(b, B, NETSYNC_IN, 400);
	expect(b, 9, 3, 0);
}

/* Packets without DATA are matched by their ids, or if only one packet of a kind exists. */
static void test_without_data(void **state)
{
	struct bench *b = *state;

	for (uint8_t chunk = INIT; chunk < 10; chunk++) {
		control(b, chunk, 32);
		b->p.sctp.vtag = chunk == INIT ? 0 : b->p.sctp.vtag;
		pass(b, chunk);
	}
	expect(b, 18, 0, 0);
	assert_int_equal(b->num, 9);
	control(b, SACK, 16);
	for (int i = 0; i < 300; i++) {
		pass(b, i * SEC);
	}
	expect(b, 18, 600, 0);
	for (int i = 0; i < 300; i++) {
		b->p.ip_id++;
		pass(b, i * SEC);
	}
	expect(b, 618, 600, 0);
}

/* The tag does not change when addresses are translated. The first packet has no tag. */
static void test_nat(void **state)
{
	struct bench *b = *state;

	sctp(b);
	for (int i = 0; i < 10; i++) {
		b->p.sctp.tsn++;
		if (i == 9)
			control(b, HEARTBEAT, 60);
		b->p.saddr[13] = 0;
		see(b, A, NETSYNC_OUT, i * SEC);
		b->p.saddr[13] = 99;
		b->p.sport += i % 2;
		see(b, B, NETSYNC_IN, i * SEC + 50);
	}
	expect(b, 20, 0, 0);
	assert_int_equal(totals(&b->m).nat, 20);
	take(b, A, B, 9 * SEC, 9 * SEC + 50);
	control(b, INIT, 32);
	b->p.sctp.vtag = 0;
	b->p.saddr[13] = 0;
	see(b, A, NETSYNC_OUT, 10);
	b->p.saddr[13] = 99;
	see(b, B, NETSYNC_IN, 60);
	expect(b, 20, 0, 2);
}

/* A host between both ends forwards the packets. */
static void test_router(void **state)
{
	struct bench *b = *state;

	sctp(b);
	see(b, A, NETSYNC_OUT, 10);
	see(b, B, NETSYNC_IN, 20);
	b->p.point = 1;
	see(b, B, NETSYNC_OUT, 30);
	see(b, C, NETSYNC_IN, 40);
	expect(b, 4, 0, 0);
	take(b, A, B, 10, 20);
	take(b, A, C, 10, 40);
	take(b, B, C, 30, 40);
	assert_int_equal(b->num, 0);
}

static void test_supported(void **state)
{
	struct bench *b = *state;

	sctp(b);
	assert_true(matcher_supports(&b->p));
	b->p.fields &= ~(uint32_t)NETSYNC_HAS_TSN;
	assert_true(matcher_supports(&b->p));
	b->p.fields &= ~(uint32_t)NETSYNC_HAS_SCTP;
	assert_false(matcher_supports(&b->p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_data),	 TEST(test_fields),	  TEST(test_sent_again),
		TEST(test_segmentation), TEST(test_without_data), TEST(test_nat),
		TEST(test_router),	 TEST(test_supported),
	};

	return cmocka_run_group_tests_name("match SCTP", tests, NULL, NULL);
}
