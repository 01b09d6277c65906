// SPDX-License-Identifier: GPL-2.0-only
/* Test the information about a pair: rates, delays, inversions by the clocks, and counts. */
#include "reduce/pair-info.h"
#include "reduced.h"

static const struct peers nobody;

/* Both delays are known. Host 1 is ahead, so that all messages to host 0 are inverted. */
static void test_rates_and_delays(void **state)
{
	struct netsync_pair_info info = { .size = sizeof(info) };
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	reduced_add_talk(&r, 0, 1, 100, 7000);
	reduced_run(&r);
	pair_info_fill(&info, &r.est[0], r.host, &nobody);
	assert_int_equal(info.host[0], 0);
	assert_int_equal(info.host[1], 1);
	assert_int_equal(info.quality, NETSYNC_ACCURATE);
	assert_true(info.rate_min <= 1 && info.rate_max >= 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(info.messages[i], 100);
		assert_true(info.hull[i] >= 2 && info.hull[i] <= 100);
		assert_true(llabs(info.min_delay_ns[i] - 7000) < 5);
	}
	assert_int_equal(info.inversions_before, 100);
	assert_int_equal(info.inversions_after, 0);
	assert_int_equal(info.matched + info.nat + info.ambiguous + info.unmatched, 0);
	reduced_release(&r);
}

/* Without clocks, no delay is known, and the inversions stay unchanged. */
static void test_without_clocks(void **state)
{
	struct netsync_pair_info info = { .size = sizeof(info) };
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	reduced_add_talk(&r, 2, 3, 50, 7000);
	reduced_estimate(&r);
	pair_info_fill(&info, &r.est[0], r.host, &nobody);
	assert_int_equal(info.min_delay_ns[0], NETSYNC_UNKNOWN);
	assert_int_equal(info.min_delay_ns[1], NETSYNC_UNKNOWN);
	assert_int_equal(info.inversions_before, 50);
	assert_int_equal(info.inversions_after, 50);
	reduced_release(&r);
}

/* Records that were dropped and records that are still stored are counted together. */
static void test_counts_of_records(void **state)
{
	struct netsync_pair_info info = { .size = sizeof(info) };
	struct peers peers = { 0 };
	struct peer_pair *p;
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	reduced_add_talk(&r, 0, 1, 10, 7000);
	reduced_estimate(&r);
	assert_int_equal(peers_add_host(&peers), 0);
	assert_int_equal(peers_add_host(&peers), 0);
	assert_non_null(peers_add_message(&peers, 1, 0, 5, 6));
	p = peers_find(&peers, 0, 1);
	assert_non_null(p);
	p->past = (struct match_counts){ 1000, 100, 10, 1 };
	p->live = (struct match_counts){ 2000, 200, 20, 2 };
	pair_info_fill(&info, &r.est[0], r.host, &peers);
	assert_int_equal(info.matched, 3000);
	assert_int_equal(info.nat, 300);
	assert_int_equal(info.ambiguous, 30);
	assert_int_equal(info.unmatched, 3);
	peers_release(&peers);
	reduced_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates_and_delays),
		cmocka_unit_test(test_without_clocks),
		cmocka_unit_test(test_counts_of_records),
	};

	return cmocka_run_group_tests_name("pair_info", tests, NULL, NULL);
}
