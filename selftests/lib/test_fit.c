// SPDX-License-Identifier: GPL-2.0-only
/* Test the likelihood fit of a host with one neighbour. The clocks differ by a constant. */
#include "curve/constraints.h"
#include "curve/delays.h"
#include "curve/fit.h"
#include "sample.h"

/* Error of the correction (see sample.h), ns. */
#define MISSING (250e3)

static double find_worst_fit_error(const struct fit *f)
{
	double most = 0;

	for (double t = 0; t < (double)(SECONDS * SEC); t += (double)SEC)
		most = fmax(most, fabs(spline_at(&f->curve, t) - MISSING));
	return most;
}

static void fit_constant_sample(struct sample *s, size_t intervals)
{
	struct host_fit k = { .correction = &s->c, .obs = s->p, .drift = 1e-16 };
	double residual, cost;
	struct fit f;

	assert_int_equal(constraints_fit_new(&f, &k, intervals), 0);
	assert_int_equal(constraints_spans(&k, intervals), intervals);
	constraints_set_scores(&f, &k, intervals);
	host_fit_set_residuals(&k, &f.curve);
	constraints_set(&f, &k);
	assert_true(f.num_constraints > 0 && f.num_constraints <= f.constraint_room);
	assert_int_equal(fit_start(&f, &residual), 0);
	/* The curve is half-way between the messages of both directions. */
	assert_true(find_worst_fit_error(&f) < 0.2 * DELAY);
	assert_true(residual > 0 && residual < 2.0 * DELAY);
	assert_int_equal(fit_solve(&f, 1, 30, &cost), 0);
	/*
	 * The error is far below the scatter of delays, because the fastest of many messages
	 * determine the curve.
	 */
	assert_true(find_worst_fit_error(&f) < 0.05 * DELAY);
	assert_true(fabs(f.margin[0] - DELAY) < 0.05 * DELAY);
	constraints_fit_free(&f);
}

static void test_fit_of_constant(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_int_equal(delays_set_means(&s.p), 0);
	fit_constant_sample(&s, 1);
	fit_constant_sample(&s, 4);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fit_of_constant),
	};

	return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
