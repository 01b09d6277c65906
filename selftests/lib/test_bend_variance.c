// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learn the variance of each bend (a change of a curve's slope): bends that messages reveal keep
 * their size, and all others vanish.
 */
#include <math.h>

#include "curve/bend-variance.h"
#include "test.h"

#define INTERVALS 8
#define BENDS (INTERVALS + 1)
#define ROUNDS 200

/* Slope change by a daemon, and its standard deviation. */
#define SLEW 50e-6
#define KNOWN 1e-6

static double square_value(double v)
{
	return v * v;
}

/* Initially, the variance of a bend grows with the time that the bend represents. */
static void test_initial_variance(void **state)
{
	const struct spline_knot change = { .t = 6e9, .times = 3 };
	double variance[BENDS + 8];
	struct spline s;

	(void)state;
	assert_int_equal(spline_new(&s, 0, 8e9, INTERVALS, &change, 1), 0);
	assert_true(s.coefs - 2 <= BENDS + 8);
	bend_variances_begin(variance, &s);
	for (size_t i = 0; i + 2 < s.coefs; i++) {
		double length = bend_at(&s, i).length;

		/*
		 * The initial deviation is 20 ppm for a bend of one second, and grows with
		 * the root of time.
		 */
		assert_true(fabs(variance[i] - square_value(20e-6) * length / 1e9) <
			    1e-6 * square_value(20e-6));
	}
	spline_free(&s);
}

/* Return the variance of a bend with this observation after learning has converged. */
static double learn_until_settled(double slope, double deviation, double begin)
{
	const struct slope_change change = { slope, square_value(deviation), 1e9 };
	double variance = begin;

	for (int i = 0; i < ROUNDS; i++) {
		struct slope_change c = change;

		/* A fit pulls the bend towards 0; how much depends on the assumed variance. */
		c.variance = 1 / (1 / change.variance + 1 / variance);
		c.slope = slope * c.variance / change.variance;
		bend_variances_learn(&variance, &c, 1);
	}
	return variance;
}

static void test_learned_variance(void **state)
{
	(void)state;
	/*
	 * The most likely variance of a known bend is its square minus the variance of its error.
	 */
	assert_true(fabs(sqrt(learn_until_settled(SLEW, KNOWN, 1e-8)) / SLEW - 1) < 0.1);
	assert_true(fabs(sqrt(learn_until_settled(SLEW, KNOWN, 1e-11)) / SLEW - 1) < 0.1);
	/* A bend that is not larger than its error vanishes. */
	assert_true(sqrt(learn_until_settled(KNOWN, KNOWN, 1e-10)) < KNOWN);
	assert_true(sqrt(learn_until_settled(0, KNOWN, 1e-10)) < KNOWN / 2);
	/* The variance never falls below that of the oscillator's own noise. */
	assert_true(sqrt(learn_until_settled(0, KNOWN, 1e-10)) > 1e-11);
}

/*
 * Without messages, the variance decreases to that of the oscillator's noise, except at a change
 * point.
 */
static void test_variance_without_messages(void **state)
{
	const struct slope_change change[] = {
		{ .slope = 0, .variance = 4e-10, .length = 1e9 },
		{ .slope = 0, .variance = 0, .length = 0 },
	};
	double variance[] = { 4e-10, 3 };

	(void)state;
	bend_variances_learn(variance, change, 2);
	assert_true(variance[0] < 4e-10);
	for (int i = 0; i < ROUNDS; i++)
		bend_variances_learn(variance, &(struct slope_change){ 0, variance[0], 1e9 }, 1);
	assert_true(fabs(sqrt(variance[0]) / 5e-10 - 1) < 0.1);
	assert_true(variance[1] == 3);
}

static void test_degrees_of_freedom(void **state)
{
	const struct slope_change change[] = {
		{ .slope = SLEW, .variance = 0, .length = 1e9 },    /* known: counts as 1 */
		{ .slope = 0, .variance = 1e-10, .length = 1e9 },   /* unknown: counts as 0 */
		{ .slope = 0, .variance = 0.5e-10, .length = 1e9 }, /* half known: counts as 0.5 */
		{ .slope = 1, .variance = 0, .length = 0 },	    /* change point: counts as 1 */
	};
	const double variance[] = { 1e-10, 1e-10, 1e-10, 0 };

	(void)state;
	assert_true(fabs(bend_variances_freedom(variance, change, 4) - 4.5) < 1e-9);
}

/*
 * Constraints become softer with the uncertainty of the curve, and are never more precise than
 * stamps.
 */
static void test_scale_of_constraints(void **state)
{
	(void)state;
	assert_true(bend_variances_scale(0) == 1);
	assert_true(bend_variances_scale(2000) > bend_variances_scale(1000));
	assert_true(bend_variances_scale(1000) > 100);
	assert_true(bend_variances_scale(1000) < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initial_variance),
		cmocka_unit_test(test_learned_variance),
		cmocka_unit_test(test_variance_without_messages),
		cmocka_unit_test(test_degrees_of_freedom),
		cmocka_unit_test(test_scale_of_constraints),
	};

	return cmocka_run_group_tests_name("bend variance", tests, NULL, NULL);
}
