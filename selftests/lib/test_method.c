// SPDX-License-Identifier: GPL-2.0-only
/* The table of methods. */
#include "messages.h"
#include "pair/estimate.h"

static void test_rows_of_methods(void **state)
{
	(void)state;
	assert_true(method_find(NETSYNC_METHOD_AUTO)->curves);
	assert_false(method_find(NETSYNC_METHOD_AUTO)->straight);
	assert_false(method_find(NETSYNC_METHOD_HULL)->curves);
	assert_true(method_find(NETSYNC_METHOD_HULL)->straight);
	assert_false(method_find(NETSYNC_METHOD_REGRESSION)->curves);
	assert_false(method_find(NETSYNC_METHOD_REGRESSION)->straight);
	assert_true(method_find(NETSYNC_METHOD_MODEL)->model);
	assert_true(method_find(NETSYNC_METHOD_MODEL)->curves);
	assert_false(method_find(NETSYNC_METHOD_AUTO)->model);
}

static void test_unknown_methods(void **state)
{
	(void)state;
	assert_null(method_find(NETSYNC_METHOD_MODEL + 1));
	assert_null(method_find(UINT32_MAX));
}

/* Each method computes an estimate, even from two messages, and reports its own name. */
static void test_estimate_of_each_method(void **state)
{
	struct pairs ps = { 0 };

	(void)state;
	add_message(&ps, 0, 1, 0, 5 * SEC + 300);
	add_message(&ps, 1, 0, 5 * SEC + 500, 700);
	assert_int_equal(pairs_settle(&ps), 0);
	for (uint32_t i = 0; method_find(i); i++) {
		struct estimate e;

		method_find(i)->estimate(&e, ps.pair[0], 1e-3);
		assert_ptr_equal(e.pair, ps.pair[0]);
		assert_int_equal(e.quality, NETSYNC_ACCURATE);
		/* Half-way between the messages, the delays are 300 ns and 200 ns. */
		assert_float_equal(line_value_above(&e.line, 350, 5 * SEC + 50), 0, 1);
		assert_true(e.slope_min <= 0 && e.slope_max >= 0);
	}
	pairs_release(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_of_methods),
		cmocka_unit_test(test_unknown_methods),
		cmocka_unit_test(test_estimate_of_each_method),
	};

	return cmocka_run_group_tests_name("method", tests, NULL, NULL);
}
