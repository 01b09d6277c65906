// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the shape of a curve is settled, the curve is fitted again with the noise and uncertainty of
 * its own oscillator.
 */
#include "curve/constraints.h"
#include "curve/order.h"
#include "curve/refine.h"
#include "staged.h"

/* Largest drift of an oscillator, 1 / ns. */
#define DRIFT 2e-15

static double refine_constant(double t)
{
	(void)t;
	return 0;
}

/* A clock whose curvature is at the limit of DRIFT. */
static double refine_bending(double t)
{
	return 2e6 * sin(2 * M_PI * t / 200e9);
}

/* A clock with a fortieth of this curvature. */
static double refine_calm(double t)
{
	return 200e3 * sin(2 * M_PI * t / 400e9);
}

static void refine_by_truth(struct host_fit *k, struct sample *s, truth_fn truth)
{
	staged_init(k, s, truth);
	k->drift = DRIFT;
	assert_int_equal(order_choose(k), 0);
}

/* Return the prior random walk of clocks with the assumed curvature. */
static double measure_usual_walk(const struct host_fit *k)
{
	double walk;
	struct fit f;

	assert_int_equal(constraints_fit_new(&f, k, 4), 0);
	walk = f.skew_walk;
	constraints_fit_free(&f);
	return walk;
}

static void test_refined_line(void **state)
{
	struct sample s;
	struct host_fit k;

	(void)state;
	refine_by_truth(&k, &s, refine_constant);
	assert_int_equal(k.intervals, 0);
	assert_int_equal(refine(&k), 0);
	assert_true(s.c.skew_walk == 0);
	staged_end(&k, &s);
}

static void test_refined_curve(void **state)
{
	struct sample s;
	struct host_fit k;

	(void)state;
	refine_by_truth(&k, &s, refine_bending);
	assert_int_equal(refine(&k), 0);
	assert_true(s.c.skew_walk == measure_usual_walk(&k));
	assert_true(staged_find_worst_error(&k, refine_bending, -1e18) < 0.5 * DELAY);
	staged_end(&k, &s);
}

/* Messages reveal that the oscillator has little noise, and then give more information. */
static void test_calm_oscillator(void **state)
{
	struct sample s;
	struct host_fit k;
	double before;

	(void)state;
	refine_by_truth(&k, &s, refine_calm);
	before = staged_find_worst_error(&k, refine_calm, -1e18);
	assert_int_equal(refine(&k), 0);
	assert_true(s.c.skew_walk > 0 && s.c.skew_walk <= measure_usual_walk(&k) / 4);
	assert_true(staged_find_worst_error(&k, refine_calm, -1e18) < before);
	staged_end(&k, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refined_line),
		cmocka_unit_test(test_refined_curve),
		cmocka_unit_test(test_calm_oscillator),
	};

	return cmocka_run_group_tests_name("refine", tests, NULL, NULL);
}
