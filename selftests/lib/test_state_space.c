// SPDX-License-Identifier: GPL-2.0-only
/* Test the state space of a clock: transitions, their transposes, and increments. */
#include <string.h>

#include "model/model.h"
#include "test.h"

#define LENGTH 1.7 /* length of a step, s */

static void random_vector(uint64_t *seed, double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = 2 * draw_between_0_and_1(seed) - 1;
}

/*
 * A cubic continues by its Taylor series. Two steps give the same result as one step of their total
 * length.
 */
static void test_shift_of_state(void **state)
{
	/* 1 + 2 t + 3 t^2 / 2 + 4 t^3 / 6 */
	double a[STATES] = { 1, 2, 3, 4 }, b[STATES];
	const double t = LENGTH;

	(void)state;
	memcpy(b, a, sizeof(b));
	state_shift(a, t);
	assert_float_equal(a[0], 1 + 2 * t + 3 * t * t / 2 + 4 * t * t * t / 6, 1e-12);
	assert_float_equal(a[1], 2 + 3 * t + 4 * t * t / 2, 1e-12);
	assert_float_equal(a[2], 3 + 4 * t, 1e-12);
	assert_float_equal(a[3], 4, 0);
	state_shift(b, t / 3);
	state_shift(b, 2 * t / 3);
	for (int i = 0; i < STATES; i++)
		assert_float_equal(a[i], b[i], 1e-12);
}

/* g' (F x) = (F' g)' x */
static void test_transposed_transition(void **state)
{
	uint64_t seed = 3;
	double x[STATES], g[STATES], later[STATES], earlier[STATES], after = 0, before = 0;

	(void)state;
	random_vector(&seed, x, STATES);
	random_vector(&seed, g, STATES);
	memcpy(later, x, sizeof(later));
	memcpy(earlier, g, sizeof(earlier));
	state_shift(later, LENGTH);
	state_shift_back(earlier, LENGTH);
	for (int i = 0; i < STATES; i++) {
		after += g[i] * later[i];
		before += earlier[i] * x[i];
	}
	assert_float_equal(after, before, 1e-12);
}

/* The covariance of x x' becomes F x (F x)', and the information changes accordingly. */
static void test_outer_products(void **state)
{
	uint64_t seed = 4;
	double x[STATES], p[STATES][STATES], n[STATES][STATES], g[STATES];

	(void)state;
	random_vector(&seed, x, STATES);
	memcpy(g, x, sizeof(g));
	for (int i = 0; i < STATES; i++)
		for (int j = 0; j < STATES; j++)
			p[i][j] = n[i][j] = x[i] * x[j];
	state_shift(x, LENGTH);
	covariance_shift(p, LENGTH);
	state_shift_back(g, LENGTH);
	information_shift_back(n, LENGTH);
	for (int i = 0; i < STATES; i++) {
		for (int j = 0; j < STATES; j++) {
			assert_float_equal(p[i][j], x[i] * x[j], 1e-12);
			assert_float_equal(n[i][j], g[i] * g[j], 1e-12);
		}
	}
}

/* An increment in the middle of a step is its component, shifted by half of the step's length. */
static void test_loading_of_increment(void **state)
{
	(void)state;
	for (int s = 0; s < STATES; s++) {
		double unit[STATES] = { 0 }, loading[STATES];

		unit[s] = 1;
		state_shift(unit, LENGTH / 2);
		increment_set_loading(loading, s, LENGTH);
		for (int i = 0; i < STATES; i++)
			assert_float_equal(loading[i], unit[i], 1e-15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shift_of_state),
		cmocka_unit_test(test_transposed_transition),
		cmocka_unit_test(test_outer_products),
		cmocka_unit_test(test_loading_of_increment),
	};

	return cmocka_run_group_tests_name("state space", tests, NULL, NULL);
}
