// SPDX-License-Identifier: GPL-2.0-only
/* The robust initial fit starts near the truth, whatever the outliers are. */
#include "curve/initial-fit.h"
#include "sample.h"
#include "util/whole.h"

static void test_interpolation_of_fit(void **state)
{
	double t[] = { 10, 20, 40 }, y[] = { 1, 3, -1 };
	struct initial_fit r = { .t = t, .y = y };

	(void)state;
	/* A fit without data is 0, and a fit with one window has the same value at all times. */
	assert_true(initial_fit_at(&r, 15) == 0);
	r.num = 1;
	assert_true(initial_fit_at(&r, -1e18) == 1 && initial_fit_at(&r, 1e18) == 1);
	r.num = 3;
	/*
	 * Evaluate the fit forward and backward. The previous place is only an initial guess and
	 * must not change the result.
	 */
	for (int round = 0; round < 2; round++) {
		assert_true(initial_fit_at(&r, 10) == 1);
		assert_true(initial_fit_at(&r, 15) == 2);
		assert_true(initial_fit_at(&r, 20) == 3);
		assert_true(initial_fit_at(&r, 30) == 1);
		assert_true(initial_fit_at(&r, 40) == -1);
		assert_true(initial_fit_at(&r, 50) == -3);
		assert_true(initial_fit_at(&r, 0) == -1);
	}
}

/* Return the largest error of the sum of the correction and the fit, ns. */
static double find_worst_initial_error(struct sample *s, struct initial_fit *r)
{
	double most = 0;

	for (int64_t t = SEC; t < (SECONDS - 1) * SEC; t += SEC) {
		int64_t ref;
		double rest = correction_at(&s->c, AHEAD + t, &ref);

		rest += initial_fit_at(r, (double)t);
		most = fmax(most, fabs((double)(ref - t) + rest));
	}
	return most;
}

/* The missing part of the correction becomes part of its line. */
static void test_missing_constant(void **state)
{
	struct initial_fit r = { 0 };
	struct sample s;

	(void)state;
	sample_gather(&s);
	assert_int_equal(initial_fit_find(&r, &s.p, &s.c), 0);
	assert_true(r.num >= 2);
	assert_true(find_worst_initial_error(&s, &r) < 0.5 * DELAY);
	assert_true(fabs(s.c.skew) < 1e-6);
	assert_true(s.c.frac >= 0);
	initial_fit_release(&r);
	assert_null(r.t);
	sample_release(&s);
}

/* A tenth of all observations are outliers that are wrong by a second inward. */
static void test_tenth_of_outliers(void **state)
{
	struct initial_fit r = { 0 };
	struct sample s;

	(void)state;
	sample_gather(&s);
	for (size_t i = 0; i < s.p.num; i += 10)
		s.p.obs[i].y -= 1e9;
	assert_int_equal(initial_fit_find(&r, &s.p, &s.c), 0);
	assert_true(find_worst_initial_error(&s, &r) < 0.5 * DELAY);
	initial_fit_release(&r);
	sample_release(&s);
}

/* No clocks can cause these observations, which extend up to the limit for times. */
static void test_observations_at_time_limit(void **state)
{
	(void)state;
	for (int side = -1; side <= 1; side += 2) {
		struct initial_fit r = { 0 };
		struct sample s;

		sample_gather(&s);
		s.c.offset = side * FARTHEST / 2;
		for (size_t i = 0; i < s.p.num; i++)
			s.p.obs[i].y += side * 9e18;
		assert_int_equal(initial_fit_find(&r, &s.p, &s.c), 0);
		/* Numbers of this size have a resolution of 1024 ns. */
		assert_true(llabs(s.c.offset - side * FARTHEST) < SEC);
		initial_fit_release(&r);
		sample_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpolation_of_fit),
		cmocka_unit_test(test_missing_constant),
		cmocka_unit_test(test_tenth_of_outliers),
		cmocka_unit_test(test_observations_at_time_limit),
	};

	return cmocka_run_group_tests_name("initial_fit", tests, NULL, NULL);
}
