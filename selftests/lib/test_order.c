// SPDX-License-Identifier: GPL-2.0-only
/* The clock's curvature determines how many knot intervals a spline gets. */
#include "curve/constraints.h"
#include "curve/order.h"
#include "staged.h"

static double compute_zero_offset(double t)
{
	(void)t;
	return 0;
}

/* A clock whose curvature is at the limit of this drift, 1 / ns. */
#define DRIFT 2e-15

static double compute_bending_offset(double t)
{
	return 2e6 * sin(2 * M_PI * t / 200e9);
}

static void test_knots_of_straight_clock(void **state)
{
	struct sample s;
	struct host_fit k;

	(void)state;
	staged_init(&k, &s, compute_zero_offset);
	assert_int_equal(order_choose(&k), 0);
	assert_int_equal(k.intervals, 0);
	assert_true(staged_find_worst_error(&k, compute_zero_offset, -1e18) < 0.1 * DELAY);
	staged_end(&k, &s);
}

static void test_knots_of_bending_clock(void **state)
{
	struct sample s;
	struct host_fit k;

	(void)state;
	staged_init(&k, &s, compute_bending_offset);
	k.drift = DRIFT;
	assert_int_equal(order_choose(&k), 0);
	/* A line has an error of 2 ms, and two knot intervals for each period are not enough. */
	assert_true(k.intervals > 4 && k.intervals < 100);
	assert_true(staged_find_worst_error(&k, compute_bending_offset, -1e18) < 0.5 * DELAY);
	staged_end(&k, &s);
}

/*
 * The search starts with the number of knot intervals that other hosts have, and reduces it to the
 * necessary number.
 */
static void test_start_from_other_hosts(void **state)
{
	struct sample s;
	struct host_fit k;

	(void)state;
	for (int i = 0; i < 2; i++) {
		staged_init(&k, &s, i ? compute_bending_offset : compute_zero_offset);
		k.drift = DRIFT;
		k.correction->others = 64;
		assert_int_equal(order_choose(&k), 0);
		assert_true(i ? k.intervals > 4 && k.intervals < 100 : k.intervals == 0);
		assert_true(k.correction->tried > 4);
		assert_true(staged_find_worst_error(
				    &k, i ? compute_bending_offset : compute_zero_offset, -1e18) <
			    0.5 * DELAY);
		staged_end(&k, &s);
	}
}

/* Even if all fits are farther from the messages than a line is, one of the fits is used. */
static void test_strayed_fits(void **state)
{
	struct sample s;
	struct host_fit k;

	(void)state;
	staged_init(&k, &s, compute_zero_offset);
	for (size_t i = 0; i < k.obs.num; i++)
		k.obs.obs[i].y = 0;
	assert_int_equal(order_choose(&k), 0);
	assert_true(k.best.coefs > 0);
	staged_end(&k, &s);
}

/*
 * If the number of knot intervals is settled, it does not change. Wrong messages are still
 * rejected.
 */
static void test_settled_number_of_knots(void **state)
{
	struct sample s;
	struct host_fit k;
	size_t intervals;

	(void)state;
	staged_init(&k, &s, compute_bending_offset);
	k.drift = DRIFT;
	assert_int_equal(order_choose(&k), 0);
	intervals = k.intervals;
	k.correction->settled = true;
	k.obs.obs[k.obs.direction[0].bin[77].from].y -= 1e6;
	assert_int_equal(order_choose(&k), 0);
	assert_int_equal(k.intervals, intervals);
	assert_true(staged_find_worst_error(&k, compute_bending_offset, -1e18) < 0.5 * DELAY);
	staged_end(&k, &s);
}

/* A settled number without a curve is not an error. */
static void test_settled_first(void **state)
{
	struct sample s;
	struct host_fit k;

	(void)state;
	staged_init(&k, &s, compute_bending_offset);
	k.drift = DRIFT;
	k.intervals = 8;
	k.correction->settled = true;
	assert_int_equal(order_choose(&k), 0);
	assert_int_equal(k.intervals, 8);
	assert_true(k.best.coefs);
	staged_end(&k, &s);
}

/* The right one of two numbers of knot intervals has the lower cost. The best number is used. */
static void test_cost_of_knots(void **state)
{
	struct sample s;
	struct host_fit k;
	double cost[2];
	struct fit f;

	(void)state;
	staged_init(&k, &s, compute_bending_offset);
	k.drift = DRIFT;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(order_fit(&k, &f, i ? 16 : 0, &cost[i]), 0);
		if (i)
			order_keep(&k, &f, 16, cost[i]);
		constraints_fit_free(&f);
	}
	assert_true(cost[1] < cost[0]);
	assert_int_equal(k.intervals, 16);
	assert_true(k.cost == cost[1] && k.best.coefs);
	staged_end(&k, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_knots_of_straight_clock),
		cmocka_unit_test(test_knots_of_bending_clock),
		cmocka_unit_test(test_start_from_other_hosts),
		cmocka_unit_test(test_strayed_fits),
		cmocka_unit_test(test_settled_number_of_knots),
		cmocka_unit_test(test_settled_first),
		cmocka_unit_test(test_cost_of_knots),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
