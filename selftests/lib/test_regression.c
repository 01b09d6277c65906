// SPDX-License-Identifier: GPL-2.0-only
/* Test least squares of both directions for messages whose sums are known. */
#include "messages.h"
#include "pair/estimate.h"

/* Return the offset of host 1 at a time of host 0. */
static int64_t get_offset_at(int64_t t)
{
	return 7 * SEC + t / 10000;
}

/* Add a message in each direction every second, with constant delays. */
static void talk_every_second(struct pairs *ps, int64_t from, int messages, int64_t there,
			      int64_t back)
{
	for (int i = 0; i < messages; i++) {
		const int64_t t = from + i * SEC;

		add_message(ps, 0, 1, t, t + get_offset_at(t) + there);
		add_message(ps, 1, 0, t + get_offset_at(t), t + back);
	}
	assert_int_equal(pairs_settle(ps), 0);
}

static void expect_regression(const struct pairs *ps, int64_t at, double offset, double slope)
{
	struct estimate e;

	estimate_regression(&e, ps->pair[0], 500e-6);
	assert_float_equal(line_value_above(&e.line, at, get_offset_at(at)), offset, 1);
	assert_float_equal(e.line.slope, slope, 1e-9);
}

/* No method can detect half of the difference between the two delays. */
static void test_exact_sums(void **state)
{
	const int64_t from[] = { 0, -3600 * SEC, NETSYNC_MAX_SPAN / 2 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct pairs ps = { 0 };

		talk_every_second(&ps, from[i], 500, 30000, 10000);
		expect_regression(&ps, from[i] + 200 * SEC, 10000, 1e-4);
		pairs_release(&ps);
	}
}

/* A slope needs messages at two or more times. */
static void test_messages_at_two_times(void **state)
{
	struct pairs ps = { 0 };

	(void)state;
	talk_every_second(&ps, 0, 2, 1000, 1000);
	expect_regression(&ps, 0, 0, 1e-4);
	pairs_release(&ps);
}

/* Messages at a single time have no slope. */
static void test_messages_at_one_time(void **state)
{
	struct pairs ps = { 0 };

	(void)state;
	talk_every_second(&ps, 5 * SEC, 1, 1000, 1000);
	expect_regression(&ps, 5 * SEC, 0, 0);
	pairs_release(&ps);
}

/* If only one direction has a slope, both directions use this slope. */
static void test_one_slope(void **state)
{
	struct pairs ps = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++)
		add_message(&ps, 0, 1, i * SEC, i * SEC + get_offset_at(i * SEC) + 1000);
	add_message(&ps, 1, 0, 50 * SEC + get_offset_at(50 * SEC), 50 * SEC + 1000);
	assert_int_equal(pairs_settle(&ps), 0);
	expect_regression(&ps, 50 * SEC, 0, 1e-4);
	pairs_release(&ps);
}

/* With messages in one direction only, the mean delay is assumed to be zero. */
static void test_one_direction(void **state)
{
	struct pairs ps = { 0 };
	struct estimate e;

	(void)state;
	for (int i = 0; i < 100; i++)
		add_message(&ps, 0, 1, i * SEC,
			    i * SEC + get_offset_at(i * SEC) + 1000 * (1 + i % 2));
	assert_int_equal(pairs_settle(&ps), 0);
	estimate_regression(&e, ps.pair[0], 500e-6);
	assert_int_equal(e.quality, NETSYNC_INCOMPLETE);
	assert_float_equal(line_value_above(&e.line, 50 * SEC, get_offset_at(50 * SEC)), 1500, 20);
	pairs_release(&ps);
}

/* Delays decrease as fast as time passes. Even then, no clock stands still or runs backward. */
static void test_falling_delays(void **state)
{
	struct pairs ps = { 0 };
	struct estimate e;

	(void)state;
	for (int i = 0; i < 20; i++)
		add_message(&ps, 0, 1, i * SEC, 100 * SEC);
	assert_int_equal(pairs_settle(&ps), 0);
	estimate_regression(&e, ps.pair[0], 500e-6);
	assert_true(e.line.slope >= -0.5);
	assert_float_equal(line_value_above(&e.line, 0, 90 * SEC), 5.25e9, 1e9);
	pairs_release(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_sums),
		cmocka_unit_test(test_messages_at_two_times),
		cmocka_unit_test(test_messages_at_one_time),
		cmocka_unit_test(test_one_slope),
		cmocka_unit_test(test_one_direction),
		cmocka_unit_test(test_falling_delays),
	};

	return cmocka_run_group_tests_name("regression", tests, NULL, NULL);
}
