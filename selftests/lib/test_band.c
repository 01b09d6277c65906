// SPDX-License-Identifier: GPL-2.0-only
/* Compare operations on symmetric band matrices with explicit products. */
#include <string.h>

#include "curve/band.h"
#include "test.h"

#define ROWS 9

/* Return an element of a symmetric matrix. Only the lower band is stored. */
static double get_band_element(double (*a)[BAND], size_t i, size_t k)
{
	const size_t row = i > k ? i : k, left = i > k ? i - k : k - i;

	return left < BAND ? a[row][left] : 0;
}

/* The solver finds the vector whose product with the matrix is known. */
static void test_solved_vector(void **state)
{
	double a[ROWS][BAND], factor[ROWS][BAND], x[ROWS], y[ROWS] = { 0 };
	uint64_t seed = 5;

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		x[i] = (double)draw_integer_below(&seed, 1000);
		for (size_t k = 0; k < BAND; k++)
			a[i][k] = k > i ? 0 : (double)draw_integer_below(&seed, 100);
		/* Make the diagonal element larger than the sum of all others in its row. */
		a[i][0] += 600;
	}
	memcpy(factor, a, sizeof(a));
	band_factor(*factor, ROWS);
	band_multiply(*a, x, y, ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		double all = 0;

		for (size_t k = 0; k < ROWS; k++)
			all += get_band_element(a, i, k) * x[k];
		assert_true(fabs(y[i] - all) < 1e-9 * 1e6);
	}
	band_forward(*factor, y, ROWS, 1);
	band_backward(*factor, y, ROWS);
	for (size_t i = 0; i < ROWS; i++)
		assert_true(fabs(y[i] - x[i]) < 1e-9 * 1000);
}

/* Solving for several columns at once gives the same result as solving for each column. */
static void test_several_columns(void **state)
{
	double a[ROWS][BAND] = { { 0 } }, one[ROWS], two[ROWS][2];

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		a[i][0] = 4;
		a[i][1] = i ? -1 : 0;
		one[i] = two[i][0] = (double)i;
		two[i][1] = 2 * (double)i;
	}
	band_factor(*a, ROWS);
	band_forward(*a, one, ROWS, 1);
	band_forward(*a, *two, ROWS, 2);
	for (size_t i = 0; i < ROWS; i++) {
		assert_true(two[i][0] == one[i]);
		assert_true(fabs(two[i][1] - 2 * one[i]) < 1e-12);
	}
}

/* An unknown that the matrix does not determine must not become infinite. */
static void test_singular_matrix(void **state)
{
	double a[ROWS][BAND] = { { 0 } }, x[ROWS];

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		a[i][0] = i == 3 ? 0 : 1;
		a[i][1] = i == 5 ? 1 : 0;
		x[i] = 1;
	}
	band_factor(*a, ROWS);
	band_forward(*a, x, ROWS, 1);
	band_backward(*a, x, ROWS);
	for (size_t i = 0; i < ROWS; i++)
		assert_true(isfinite(x[i]));
	assert_true(band_pivot(4, 5) == 2);
	assert_true(band_pivot(-1e-3, 9) == 3);
	assert_true(band_pivot(0, 0) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_solved_vector),
		cmocka_unit_test(test_several_columns),
		cmocka_unit_test(test_singular_matrix),
	};

	return cmocka_run_group_tests_name("band", tests, NULL, NULL);
}
