// SPDX-License-Identifier: GPL-2.0-only
/* Compare the line of a pair with numbers computed by hand, and test the table of methods. */
#include "pair/estimate.h"
#include "test.h"

/* At x = 1000 s, host[1] is ahead by 7.5 ns and gains 2 ppm. */
static const struct line line = {
	.x = 1000 * SEC,
	.y = 7,
	.frac = 0.5,
	.slope = 2e-6,
};

static void test_value_above_line(void **state)
{
	(void)state;
	assert_true(line_value_above(&line, 1000 * SEC, 0) == 7.5);
	assert_true(line_value_above(&line, 1000 * SEC, 10) == -2.5);
	assert_true(fabs(line_value_above(&line, 1001 * SEC, 0) - 2007.5) < 1e-9);
}

static void test_to_second(void **state)
{
	int64_t t = 1000 * SEC;

	(void)state;
	assert_true(line_convert_to_second(&line, &t) == 0.5);
	assert_int_equal(t, 1000 * SEC + 7);
	t = 999 * SEC;
	assert_true(fabs(line_convert_to_second(&line, &t) - 0.5) < 1e-9);
	assert_int_equal(t, 999 * SEC + 7 - 2000);
}

/* Converting in both directions changes a time by fractions of 1 ns. */
static void test_convert_and_convert_back(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		const int64_t x = draw_integer_below(&seed, 1000000 * SEC);
		int64_t t = x;
		const double rest = line_convert_to_second(&line, &t);
		const double back = line_convert_to_first(&line, &t);

		assert_true(rest >= 0 && rest < 1 && back >= 0 && back < 1);
		assert_true(fabs((double)(t - x) + rest + back) < 0.01);
	}
}

static void test_table_of_methods(void **state)
{
	const struct method *automatic = method_find(NETSYNC_METHOD_AUTO);
	const struct method *hull = method_find(NETSYNC_METHOD_HULL);
	const struct method *regression = method_find(NETSYNC_METHOD_REGRESSION);

	(void)state;
	assert_true(automatic->curves && !automatic->straight);
	assert_true(!hull->curves && hull->straight);
	assert_false(regression->curves);
	assert_ptr_equal(hull->estimate, estimate_max_margin);
	assert_ptr_equal(regression->estimate, estimate_regression);
	assert_null(method_find(NETSYNC_METHOD_MODEL + 1));
	assert_null(method_find(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_above_line),
		cmocka_unit_test(test_to_second),
		cmocka_unit_test(test_convert_and_convert_back),
		cmocka_unit_test(test_table_of_methods),
	};

	return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
