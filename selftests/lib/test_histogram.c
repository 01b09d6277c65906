// SPDX-License-Identifier: GPL-2.0-only
/* Compare quantiles of a histogram with quantiles of the sorted values. */
#include <stdlib.h>
#include <string.h>

#include "util/histogram.h"
#include "test.h"

static int compare_integers(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static void check_quantiles(int64_t *v, int n)
{
	static const double shares[] = { 1e-9, 0.01, 0.25, 0.5, 0.9, 0.99, 1 };
	struct histogram h;

	memset(&h, 0, sizeof(h));
	for (int i = 0; i < n; i++)
		histogram_add(&h, v[i]);
	qsort(v, (size_t)n, sizeof(*v), compare_integers);
	assert_int_equal(h.num, n);
	assert_int_equal(h.min, v[0]);
	assert_int_equal(h.max, v[n - 1]);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		int rank = (int)ceil(shares[i] * n);
		int64_t truth = v[rank ? rank - 1 : 0];

		assert_true(llabs(histogram_quantile(&h, shares[i]) - truth) <= truth / 32);
	}
}

static void test_quantiles_of_all_scales(void **state)
{
	enum { N = 1000 };
	int64_t v[N];
	uint64_t seed = 1;

	(void)state;
	for (double mean = 1; mean < 1e10; mean *= 7) {
		for (int n = 1; n <= N; n = n * 3 + 1) {
			for (int i = 0; i < n; i++)
				v[i] = (int64_t)draw_from_exponential(&seed, mean);
			check_quantiles(v, n);
		}
	}
}

static void test_extreme_durations(void **state)
{
	int64_t v[] = { 0, 0, INT64_MAX, 1, INT64_MAX - 1 };
	struct histogram h;

	(void)state;
	memset(&h, 0, sizeof(h));
	for (int i = 0; i < 5; i++)
		histogram_add(&h, v[i]);
	assert_int_equal(histogram_quantile(&h, 0.4), 0);
	assert_int_equal(histogram_quantile(&h, 0.5), 1);
	assert_true(histogram_quantile(&h, 0.8) == INT64_MAX);
	assert_true(histogram_quantile(&h, 1) == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles_of_all_scales),
		cmocka_unit_test(test_extreme_durations),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
