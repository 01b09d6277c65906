// SPDX-License-Identifier: GPL-2.0-only
/* Test functions of a host's fit that its stages share. */
#include "curve/state.h"
#include "sample.h"

/* Before a curve exists, the initial fit is used. */
static void test_curve_of_state(void **state)
{
	double t[] = { 0, SECONDS * 1e9 }, y[] = { 0, 1000 };
	struct host_fit k = { .initial = { .t = t, .y = y, .num = 2 } };

	(void)state;
	assert_float_equal(host_fit_at(&k, SECONDS * 1e9 / 4), 250, 1e-9);
	assert_int_equal(spline_new(&k.best, 0, SECONDS * 1e9, 3, NULL, 0), 0);
	for (size_t i = 0; i < k.best.coefs; i++)
		k.best.coef[i] = 7;
	spline_set_cubics(&k.best);
	assert_float_equal(host_fit_at(&k, SECONDS * 1e9 / 4), 7, 1e-9);
	spline_free(&k.best);
}

/* Residuals are relative to the given curve. */
static void test_residuals_of_state(void **state)
{
	struct spline s = { 0 };
	struct host_fit k = { 0 };
	struct sample sample;

	(void)state;
	sample_gather(&sample);
	k.obs = sample.p;
	host_fit_set_residuals(&k, &s);
	for (size_t i = 0; i < k.obs.num; i++)
		assert_true(k.obs.obs[i].residual == k.obs.obs[i].y);
	assert_int_equal(spline_new(&s, 0, k.obs.span, 3, NULL, 0), 0);
	for (size_t i = 0; i < s.coefs; i++)
		s.coef[i] = 1000;
	spline_set_cubics(&s);
	host_fit_set_residuals(&k, &s);
	for (size_t i = 0; i < k.obs.num; i++)
		assert_float_equal(k.obs.obs[i].residual, k.obs.obs[i].y - 1000, 1e-3);
	spline_free(&s);
	sample_release(&sample);
}

/* The links of a direction are counted together. Without links, one bin is used. */
static void test_fewest_bins(void **state)
{
	struct obs_direction dir[] = {
		{ .bins = 5 }, { .bins = 90 }, { .bins = 20 }, { .bins = 3 }
	};
	struct host_fit k = { .obs = { .direction = dir } };

	(void)state;
	assert_int_equal(host_fit_fewest_bins(&k), 1);
	k.obs.links = 1;
	assert_int_equal(host_fit_fewest_bins(&k), 6);
	k.obs.links = 2;
	assert_int_equal(host_fit_fewest_bins(&k), 26);
}

/*
 * With 64 groups of messages of a link, a curve with 32 degrees of freedom explains half of
 * the scatter by chance.
 */
static void test_mean_delay(void **state)
{
	struct obs_direction dir[] = {
		{ .mean = 100 }, { .mean = 300 }, { .mean = 200 }, { .mean = 200 }
	};
	struct host_fit k = { .obs = { .direction = dir, .links = 2, .messages = { 512, 512 } } };

	(void)state;
	assert_true(host_fit_mean_delay(&k) == 800);
	assert_true(host_fit_mean_delay_beyond(&k, 0) == 400);
	assert_true(host_fit_mean_delay_beyond(&k, 32) == 800);
	/* With more degrees of freedom, the mean delay cannot be determined. */
	assert_true(host_fit_mean_delay_beyond(&k, 60) <= 1600);
	assert_true(host_fit_mean_delay_beyond(&k, 600) <= 1600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curve_of_state),
		cmocka_unit_test(test_residuals_of_state),
		cmocka_unit_test(test_fewest_bins),
		cmocka_unit_test(test_mean_delay),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
