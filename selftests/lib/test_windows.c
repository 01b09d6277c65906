// SPDX-License-Identifier: GPL-2.0-only
/* Windows without a drift limit must be around change points and where curves fail. */
#include "bound/windows.h"
#include "test.h"

static struct change_point change[] = {
	{ .t = 2e9, .uncertainty = 3e8, .phase_step = true, .offset = -7e6, .skew = 1e-6 },
	{ .t = 5e9, .uncertainty = 1e8, .offset = 4, .skew = -2e-6 },
};
static struct doubt doubt[] = { { 6e9, 7e9, false } };
static const struct correction steps = {
	.known = true,
	.from = 10 * SEC,
	.to = 20 * SEC,
	.change = change,
	.num_changes = 2,
	.doubt = doubt,
	.num_doubts = 1,
};

static void test_steps_of_correction(void **state)
{
	const struct clock_step phase = correction_step(&steps, 0);
	const struct clock_step rate = correction_step(&steps, 1);

	(void)state;
	assert_int_equal(phase.t, 12 * SEC);
	assert_true(phase.offset == -7e6 && phase.skew == 1e-6);
	assert_int_equal(rate.t, 15 * SEC);
	assert_true(rate.offset == 0 && rate.skew == -2e-6);
}

static void test_windows_of_changes(void **state)
{
	struct windows w = { 0 };

	(void)state;
	assert_int_equal(windows_add(&w, &steps, &steps), 0);
	windows_join(&w);
	assert_int_equal(w.num, 3);
	assert_true(w.window[0].phase_step);
	assert_false(w.window[1].phase_step);
	assert_false(w.window[2].phase_step);
	/* The window is extended by its uncertainty and by the change of the clock. */
	assert_true(w.window[0].from <= 12 * SEC - 307000000);
	assert_true(w.window[0].to >= 12 * SEC + 307000000);
	assert_int_equal(w.window[2].from, 16 * SEC);
	assert_int_equal(w.window[2].to, 17 * SEC);
	windows_release(&w);
}

/* Convert the window to the time of another host, whose clock is 5 s ahead. */
static void test_window_of_other_host(void **state)
{
	const struct correction on = {
		.known = true,
		.to = 40 * SEC,
		.offset = -5 * SEC,
	};
	struct windows w = { 0 };

	(void)state;
	assert_int_equal(windows_add(&w, &steps, &on), 0);
	windows_join(&w);
	assert_int_equal(w.num, 3);
	assert_in_range(20 * SEC, w.window[1].from, w.window[1].to);
	assert_int_equal(w.window[2].from, 21 * SEC);
	windows_release(&w);
}

/* Two rate steps that may be one phase step have a common window. */
static void test_may_jump(void **state)
{
	struct change_point two[] = {
		{ .t = 2e9, .uncertainty = 1e8, .placed = true, .may_jump = true },
		{ .t = 3e9, .uncertainty = 1e8, .placed = true },
	};
	const struct correction c = { .to = 9 * SEC, .change = two, .num_changes = 2 };
	struct windows w = { 0 };

	(void)state;
	assert_int_equal(windows_add(&w, &c, &c), 0);
	windows_join(&w);
	assert_true(w.window[0].phase_step);
	assert_true(w.window[0].from < 2 * SEC - SEC / 10);
	assert_true(w.window[0].to > 3 * SEC + SEC / 10);
	/* The curve does not follow the step, so the step is smaller than the window is long. */
	assert_true(w.window[0].largest > 0 && w.window[0].largest < 9e9);
	windows_release(&w);
}

/*
 * Windows that overlap are merged, except those of phase steps, which belong to one host each, and
 * general windows with others.
 */
static void test_joined_windows(void **state)
{
	const struct change_window some[] = {
		{ 7 * SEC, 8 * SEC, false, 0, 0, 0, false },
		{ SEC, 3 * SEC, false, 0, 0, 0, false },
		{ 2 * SEC, 4 * SEC, true, 0, 0, 0, false },
		{ 3 * SEC, 5 * SEC, false, 0, 0, 0, false },
		{ 0, 9 * SEC, false, 0, 0, 0, true },
	};
	struct windows w = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		assert_int_equal(windows_add_one(&w, &some[i]), 0);
	windows_join(&w);
	assert_int_equal(w.num, 4);
	assert_true(w.window[0].is_general);
	assert_int_equal(w.window[0].to, 9 * SEC);
	assert_int_equal(w.window[1].from, SEC);
	assert_int_equal(w.window[1].to, 5 * SEC);
	assert_true(w.window[2].phase_step);
	assert_int_equal(w.window[2].to, 4 * SEC);
	assert_int_equal(w.window[3].from, 7 * SEC);
	windows_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_of_correction),
		cmocka_unit_test(test_windows_of_changes),
		cmocka_unit_test(test_window_of_other_host),
		cmocka_unit_test(test_may_jump),
		cmocka_unit_test(test_joined_windows),
	};

	return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
