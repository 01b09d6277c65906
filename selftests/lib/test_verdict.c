// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test which hosts are untrusted as a whole, because the bounds of their pairs cannot be claimed.
 */
#include "reduced.h"

/* If a host has no bound with most other hosts, it has no bound with the last one either. */
static void test_most_contradict(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_add_talk(&r, 0, 1, 100, 1000);
	reduced_add_talk(&r, 1, 2, 100, -50000);
	reduced_run(&r);
	reduced_check_claim(&r.host[1], true);
	reduced_release(&r);

	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_add_talk(&r, 0, 1, 100, 1000);
	reduced_add_talk(&r, 1, 2, 100, -50000);
	reduced_add_talk(&r, 1, 3, 100, -50000);
	reduced_run(&r);
	reduced_check_claim(&r.host[1], false);
	reduced_release(&r);
}

/*
 * Three hosts exchange messages, and those of one pair are inconsistent: one of its hosts was
 * stepped. The third host exchanges messages with one of the two all the time, and would have seen
 * a step of this host, but not of the other one.
 */
static void test_set_in_silence(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 1;
	for (int i = 0; i < 1000; i++) {
		const int64_t t = i * SEC / 10;

		add_message(&r.ps, 0, 1, t, t + SEC + 1000);
		add_message(&r.ps, 1, 0, t + SEC, t + 1000);
	}
	reduced_add_talk(&r, 0, 2, 100, -1000000);
	reduced_add_talk(&r, 1, 2, 50, 1000);
	reduced_run(&r);
	reduced_check_claim(&r.host[0], true);
	reduced_check_claim(&r.host[2], false);
	reduced_release(&r);
}

/* All pairs of a bad host are inconsistent. The host does not affect other pairs. */
static void test_bad_one(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 1;
	reduced_add_talk(&r, 0, 1, 100, 1000);
	reduced_add_talk(&r, 0, 2, 100, -1000000);
	reduced_add_talk(&r, 1, 2, 100, -1000000);
	reduced_run(&r);
	reduced_check_claim(&r.host[0], true);
	assert_int_equal(r.host[2].bound_max, NETSYNC_UNKNOWN);
	reduced_release(&r);
}

/*
 * The messages of two pairs of hosts indicate a step of 500 us. Hosts 0 and 1 exchange messages
 * all the time. If their delays are longer than the step, their messages do not reveal it, so the
 * bound is not claimed.
 */
static void test_set_by_less_than_delays(void **state)
{
	(void)state;
	for (int64_t delay = 10 * US; delay <= 1000 * US; delay *= 10) {
		struct reduced r;

		reduced_init(&r, NETSYNC_METHOD_AUTO);
		r.task.reference = 1;
		for (int i = 0; i < 1000; i++) {
			const int64_t t = i * SEC / 10;

			add_message(&r.ps, 0, 1, t, t + SEC + delay);
			add_message(&r.ps, 1, 0, t + SEC, t + delay);
		}
		reduced_add_talk(&r, 0, 2, 100, -500 * US);
		reduced_add_talk(&r, 1, 2, 50, US);
		reduced_run(&r);
		reduced_check_claim(&r.host[0], delay < 500 * US);
		reduced_check_claim(&r.host[2], false);
		reduced_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_contradict),
		cmocka_unit_test(test_set_in_silence),
		cmocka_unit_test(test_bad_one),
		cmocka_unit_test(test_set_by_less_than_delays),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
