// SPDX-License-Identifier: GPL-2.0-only
/* Compare the likelihood of a factor's lowest messages with numerical quadrature. */
#include "model/model.h"
#include "test.h"

#define MEAN 1e5 /* mean excess delay, ns */
/* Number of quadrature steps, and half of their range in standard deviations. */
#define STEPS 200000
#define WIDTH 12.0

/* Integrate the normal density N(0, v) times exp(rate z) up to a limit. */
static double integrate_cut_normal(double limit, double variance, double rate, struct moments *m)
{
	const double s = sqrt(variance), centre = rate * variance;
	double sum = 0, first = 0, second = 0;
	const double lo = fmin(centre, limit) - WIDTH * s;
	const double hi = fmin(limit, centre + WIDTH * s), step = (hi - lo) / STEPS;

	for (int i = 0; i < STEPS; i++) {
		const double z = lo + (i + 0.5) * step;
		const double density = exp(rate * z - z * z / (2 * variance) - rate * centre / 2);

		sum += density;
		first += density * z;
		second += density * z * z;
	}
	*m = (struct moments){ first / sum, second / sum - first / sum * first / sum };
	return log(sum * step / (s * sqrt(2 * M_PI))) + rate * centre / 2;
}

static void test_cut_normal(void **state)
{
	static const double limit[] = { -3, -0.5, 0, 0.7, 4, 20 };
	static const double rate[] = { 0, 0.3, 1, 5 };

	(void)state;
	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 4; j++) {
			struct moments got, want;
			const double log_got = cut_normal_moments(limit[i], 2, rate[j], &got);
			const double log_want = integrate_cut_normal(limit[i], 2, rate[j], &want);

			assert_float_equal(log_got, log_want, 1e-4);
			assert_float_equal(got.mean, want.mean, 1e-3);
			assert_float_equal(got.variance, want.variance, 1e-3 * want.variance);
		}
	}
}

/* Where erfc() is 0, far beyond the truncation, the asymptotic series is used. */
static void test_asymptotic_series(void **state)
{
	struct moments near, far;

	(void)state;
	cut_normal_moments(-11.999, 1, 0, &near);
	cut_normal_moments(-12.001, 1, 0, &far);
	assert_float_equal(near.mean, far.mean, 3e-3);
	assert_float_equal(near.variance, far.variance, 1e-3 * near.variance);
	assert_true(isfinite(cut_normal_moments(-1e9, 1, 0, &far)));
	assert_float_equal(far.mean, -1e9, 1);
	assert_true(far.variance > 0);
}

/*
 * If the normal is wider than any clock can be off, the result is the exponential below the
 * limit. The numbers would cancel all digits if they were relative to the shifted normal.
 */
static void test_wide_normal(void **state)
{
	const double limit = 3e13, variance = 1e27, rate = 1e-4;
	struct moments m;
	const double log_area = cut_normal_moments(limit, variance, rate, &m);

	(void)state;
	assert_float_equal((m.mean - limit), -1 / rate, 1);
	assert_float_equal(sqrt(m.variance), 1 / rate, 1);
	assert_float_equal(
		(log_area - rate * limit),
		(-limit * limit / (2 * variance) - log(rate * sqrt(2 * M_PI * variance))), 1e-3);
}

/* With few messages and without learning, the posterior is the textbook result. */
static void test_tilted_cavity(void **state)
{
	const struct lowest l = { .messages = 12, .num = 3, .delay = { 0, 7e3, 20e3 } };
	const struct moments wide = { 0, 1e12 };
	struct delay_law d;
	struct moments m;

	(void)state;
	delay_law_begin(&d, MEAN, 0);
	/* Assume that messages are neither lifted nor wrong. */
	for (int j = 1; j < DELAY_LIFTS; j++)
		d.lift[j] = 0;
	d.lift[0] = 1;
	d.wrong = 1e-12;
	m = delay_tilt_cavity(&l, &d, wide, false);
	/*
	 * The posterior of z is below the lowest delay by an exponentially distributed amount with
	 * mean MEAN / 12.
	 */
	assert_float_equal(m.mean, -MEAN / 12, 20);
	assert_float_equal(sqrt(m.variance), MEAN / 12, 20);
	/* If the cavity is far below the lowest delay, only the exponential's slope matters. */
	m = delay_tilt_cavity(&l, &d, (struct moments){ -1e6, 1e6 }, false);
	assert_float_equal(m.mean, -1e6 + 12 / MEAN * 1e6, 1);
	assert_float_equal(m.variance, 1e6, 1);
}

/*
 * A message that is much too early does not move a precise cavity, and neither does a lifted
 * factor.
 */
static void test_message_too_early(void **state)
{
	const struct lowest early = { .messages = 12, .num = 3, .delay = { -1e7, 3e3, 9e3 } };
	const struct lowest late = { .messages = 12,
				     .num = 3,
				     .delay = { 1e7, 1e7 + 7e3, 1e7 + 9e3 } };
	const struct moments sure = { 0, 1e6 };
	struct delay_law d;
	struct moments m;

	(void)state;
	delay_law_begin(&d, MEAN, 0);
	m = delay_tilt_cavity(&early, &d, sure, true);
	assert_float_equal(m.mean, 0, 1e3);
	assert_float_equal(d.num_wrong, 1, 0.01);
	m = delay_tilt_cavity(&late, &d, sure, true);
	assert_float_equal(m.mean, 0, 1e3);
	assert_true(d.num_lift[0] < 1.01);
}

static void test_learned_delays(void **state)
{
	struct delay_law d;
	uint64_t seed = 9;

	(void)state;
	delay_law_begin(&d, 3 * MEAN, 0);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 2000; i++) {
			struct lowest l = { .messages = 8, .num = 3 };
			double delay = 0;

			for (int k = 0; k < 3; k++)
				l.delay[k] = delay += draw_from_exponential(&seed, MEAN / (8 - k));
			delay_tilt_cavity(&l, &d, (struct moments){ 0, 1 }, true);
		}
		delay_law_learn(&d, 1);
	}
	assert_float_equal(d.mean, MEAN, MEAN / 50);
	assert_true(d.wrong < 1e-4);
	assert_true(d.lift[0] > 0.98);
}

static double weigh_cavity(const struct lowest *l, const struct delay_law *d, struct moments cavity)
{
	double evidence;

	delay_weigh_cavity(l, d, cavity, &evidence);
	return evidence;
}

/* The evidence of a cavity is the mean of the evidence at points drawn from it. */
static void test_evidence_of_cavity(void **state)
{
	const struct lowest l = { .messages = 12, .num = 3, .delay = { 0, 7e3, 20e3 } };
	static const double deviation[] = { 1e3, 1e4, 1e6 };
	const struct lowest none = { 0 };
	struct delay_law d;

	(void)state;
	delay_law_begin(&d, MEAN, 0);
	for (int i = 0; i < 3; i++) {
		const double s = deviation[i], step = fmin(s / 400, 100);
		double sum = 0;

		for (double x = -8 * s; x < 8 * s; x += step)
			sum += step / (s * sqrt(2 * M_PI)) * exp(-x * x / (2 * s * s)) *
			       exp(weigh_cavity(&l, &d, (struct moments){ x, 1e-4 }));
		assert_float_equal(weigh_cavity(&l, &d, (struct moments){ 0, s * s }), log(sum),
				   0.02);
	}
	assert_float_equal(weigh_cavity(&none, &d, (struct moments){ 0, 1 }), 0, 0);
}

/* Numbers that no clock can cause do not lead to NaN. */
static void test_extreme_numbers(void **state)
{
	const struct lowest l = { .messages = 1e18, .num = 3, .delay = { -1e18, 0, 1e18 } };
	static const double variance[] = { 1e-9, 1, 1e30 };
	struct delay_law d;

	(void)state;
	delay_law_begin(&d, 1, 1e20);
	for (int i = 0; i < 3; i++) {
		const struct moments m = delay_tilt_cavity(&l, &d,
							   (struct moments){ 1e17, variance[i] },
							   true);

		assert_true(isfinite(m.mean));
		assert_true(m.variance >= 0);
	}
	delay_law_learn(&d, 1);
	assert_true(d.mean >= 1 && isfinite(d.mean));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_normal),	   cmocka_unit_test(test_asymptotic_series),
		cmocka_unit_test(test_wide_normal),	   cmocka_unit_test(test_tilted_cavity),
		cmocka_unit_test(test_message_too_early),  cmocka_unit_test(test_learned_delays),
		cmocka_unit_test(test_evidence_of_cavity), cmocka_unit_test(test_extreme_numbers),
	};

	return cmocka_run_group_tests_name("delay law", tests, NULL, NULL);
}
