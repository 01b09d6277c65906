// SPDX-License-Identifier: GPL-2.0-only
/* Compute the clocks of all hosts from the estimates of pairs. */
#include "reduced.h"

/* Check that every clock gives the reference's time within the clock's bound. */
static void check_clocks(struct reduced *r, uint32_t hosts)
{
	for (uint32_t h = 0; h < hosts; h++)
		for (int64_t t = 0; t < 99 * SEC; t += SEC / 3) {
			const int64_t truth = EPOCH + t + r->task.reference * SEC;
			int64_t ref, bound;

			assert_int_equal(netsync_convert(r->host[h].clock, EPOCH + t + h * SEC,
							 &ref, &bound),
					 0);
			assert_true(llabs(ref - truth) <= bound);
			assert_true(llabs(ref - truth) < 5);
		}
}

static void test_chain_of_pairs(void **state)
{
	struct reduced r;

	(void)state;
	for (uint32_t method = 0; method_find(method); method++) {
		reduced_init(&r, method);
		for (uint32_t h = 0; h + 1 < REDUCED_HOSTS; h++)
			reduced_add_talk(&r, h, h + 1, 100, 1000);
		reduced_run(&r);
		/* Both hosts in the middle are equally good, so the reference is chosen by name. */
		assert_int_equal(r.task.reference, 2);
		check_clocks(&r, REDUCED_HOSTS);
		for (int h = 0; h < REDUCED_HOSTS; h++)
			assert_int_equal(r.host[h].quality, NETSYNC_ACCURATE);
		/* The uncertainties of links add up along a path. */
		assert_true(r.host[0].bound_median > 3 * r.host[3].bound_median / 2);
		assert_int_equal(r.host[2].bound_max, 0);
		reduced_release(&r);
	}
}

/* A direct path with long delays is not used in place of two hops with short delays. */
static void test_shorter_way(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 0;
	reduced_add_talk(&r, 0, 1, 100, 1000);
	reduced_add_talk(&r, 1, 2, 100, 1000);
	reduced_add_talk(&r, 0, 2, 100, 900000);
	reduced_run(&r);
	check_clocks(&r, 3);
	assert_true(r.host[2].bound_median < 10000);
	reduced_release(&r);
}

/* Hosts that are not connected with the reference have no clock. */
static void test_absent_hosts(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	reduced_add_talk(&r, 0, 1, 100, 1000);
	reduced_run(&r);
	check_clocks(&r, 2);
	for (int h = 2; h < REDUCED_HOSTS; h++) {
		assert_int_equal(r.host[h].quality, NETSYNC_ABSENT);
		assert_int_equal(r.host[h].bound_max, NETSYNC_UNKNOWN);
		assert_null(r.host[h].clock);
	}
	reduced_release(&r);
}

/* Without pairs, one host is the reference, and no other host has a clock. */
static void test_hosts_without_pairs(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	reduced_run(&r);
	assert_non_null(r.host[r.task.reference].clock);
	for (uint32_t h = 0; h < REDUCED_HOSTS; h++)
		assert_int_equal(!r.host[h].clock, h != r.task.reference);
	reduced_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain_of_pairs),
		cmocka_unit_test(test_shorter_way),
		cmocka_unit_test(test_absent_hosts),
		cmocka_unit_test(test_hosts_without_pairs),
	};

	return cmocka_run_group_tests_name("reduce", tests, NULL, NULL);
}
