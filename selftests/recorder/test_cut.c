// SPDX-License-Identifier: GPL-2.0-only
/* Check how many bytes of each frame netsync-recorder captures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/if_ether.h>

#include "recorder/cut.h"

#define LINK 14

/* Tests place their headers at the end of this buffer. Bytes that a test does not set are zero. */
static uint8_t frame[LINK + 512];

static uint8_t *begin_ipv4(uint8_t words, uint8_t protocol)
{
	memset(frame, 0, sizeof(frame));
	frame[LINK] = (uint8_t)(4 << 4 | words);
	frame[LINK + 9] = protocol;
	return frame + LINK + words * 4;
}

static uint8_t *begin_ipv6(uint8_t next)
{
	memset(frame, 0, sizeof(frame));
	frame[LINK] = 6 << 4;
	frame[LINK + 6] = next;
	return frame + LINK + 40;
}

static size_t count_kept_payload(uint16_t protocol, size_t payload)
{
	return count_kept_bytes(frame, sizeof(frame), LINK, protocol, payload) - LINK;
}

static void test_cut_of_ipv4(void **state)
{
	(void)state;
	begin_ipv4(5, 6)[12] = 5 << 4;
	assert_int_equal(count_kept_payload(ETH_P_IP, 0), 20 + 20);
	begin_ipv4(15, 6)[12] = 15 << 4;
	assert_int_equal(count_kept_payload(ETH_P_IP, 0), 60 + 60);
	assert_int_equal(count_kept_payload(ETH_P_IP, 10), 60 + 60 + 10);
	/* The header length is invalid. */
	begin_ipv4(5, 6)[12] = 1 << 4;
	assert_int_equal(count_kept_payload(ETH_P_IP, 0), 20 + 20);
	begin_ipv4(1, 17);
	assert_int_equal(count_kept_payload(ETH_P_IP, 0), 20 + 8);
	begin_ipv4(5, 17);
	assert_int_equal(count_kept_payload(ETH_P_IP, 64), 20 + 8 + 64);
	begin_ipv4(5, 1);
	assert_int_equal(count_kept_payload(ETH_P_IP, 0), 20 + 8);
	begin_ipv4(5, 132);
	assert_int_equal(count_kept_payload(ETH_P_IP, 0), 20 + 28);
	begin_ipv4(5, 33);
	assert_int_equal(count_kept_payload(ETH_P_IP, 0), 20 + 24);
	/*
	 * Only the network header is captured if the protocol is unknown or if the packet is a
	 * non-first fragment.
	 */
	begin_ipv4(5, 47);
	assert_int_equal(count_kept_payload(ETH_P_IP, 64), 20);
	begin_ipv4(5, 17);
	frame[LINK + 7] = 1;
	assert_int_equal(count_kept_payload(ETH_P_IP, 64), 20);
	frame[LINK + 6] = 0x20;
	frame[LINK + 7] = 0;
	assert_int_equal(count_kept_payload(ETH_P_IP, 64), 20 + 8 + 64);
}

static void test_cut_of_ipv6(void **state)
{
	uint8_t *at;

	(void)state;
	begin_ipv6(6)[12] = 8 << 4;
	assert_int_equal(count_kept_payload(ETH_P_IPV6, 0), 40 + 32);
	/*
	 * The extension headers are hop-by-hop options (16 bytes), a routing header (8) and an
	 * authentication header (24).
	 */
	at = begin_ipv6(0);
	at[0] = 43;
	at[1] = 1;
	at[16] = 51;
	at[24] = 17;
	at[25] = 4;
	assert_int_equal(count_kept_payload(ETH_P_IPV6, 0), 40 + 16 + 8 + 24 + 8);
	/* The packets are a first fragment and a later fragment. */
	at = begin_ipv6(44);
	at[0] = 17;
	at[3] = 1;
	assert_int_equal(count_kept_payload(ETH_P_IPV6, 0), 40 + 8 + 8);
	at[3] = 8 | 1;
	assert_int_equal(count_kept_payload(ETH_P_IPV6, 64), 40 + 8);
	/* The parser gives up on an endless chain of extension headers. */
	at = begin_ipv6(0);
	assert_int_equal(count_kept_payload(ETH_P_IPV6, 0), 40 + 8 * 8);
	at[1] = 255;
	assert_int_equal(count_kept_payload(ETH_P_IPV6, 0), sizeof(frame) - LINK);
}

static void test_other_protocols(void **state)
{
	(void)state;
	memset(frame, 0, sizeof(frame));
	assert_int_equal(count_kept_payload(ETH_P_ARP, 0), sizeof(frame) - LINK);
	assert_int_equal(count_kept_payload(ETH_P_PAE, 64), 0);
	assert_int_equal(count_kept_bytes(frame, 10, LINK, ETH_P_IP, 0), 10);
	assert_int_equal(count_kept_bytes(frame, LINK, LINK, ETH_P_IP, 0), LINK);
	begin_ipv4(5, 6)[12] = 5 << 4;
	assert_int_equal(count_kept_bytes(frame + LINK, 100, 0, ETH_P_IP, 0), 40);
}

/*
 * Parse random frames. Each frame is in a buffer of exactly its size, so that a sanitizer detects
 * reads beyond the end.
 */
static void test_hostile_frames(void **state)
{
	static const uint16_t types[] = { ETH_P_IP, ETH_P_IPV6, ETH_P_ARP, ETH_P_8021Q };

	(void)state;
	srandom(1);
	for (int i = 0; i < 200000; i++) {
		const size_t captured = (size_t)random() % 160, link = (size_t)random() % 20;
		uint8_t *bytes = malloc(captured + 1);
		size_t len;

		for (size_t j = 0; j < captured; j++)
			bytes[j] = (uint8_t)(random() % 4 ? random() % 64 : random());
		bytes = realloc(bytes, captured ? captured : 1);
		len = count_kept_bytes(bytes, captured, link, types[random() % 4],
				       (size_t)random() % 100);
		assert_true(len <= captured);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_of_ipv4),
		cmocka_unit_test(test_cut_of_ipv6),
		cmocka_unit_test(test_other_protocols),
		cmocka_unit_test(test_hostile_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
