// SPDX-License-Identifier: GPL-2.0-only
/*
 * Match increments of phase and frequency to their mixtures, and learn the rates of the mixtures.
 */
#include "model/model.h"
#include "test.h"

#define SPAN 3600.0

/* Compute the posterior mean of a mixture by numerical integration over the increment. */
static double integrate_mixture_mean(const struct scale_mixture *m,
				     const struct increment_cavity *c)
{
	const double s = sqrt(c->variance);
	double sum = 0, first = 0, none = 1;

	for (size_t j = 0; j < m->scales; j++)
		none -= m->rate[j] * c->length;
	for (int i = -4000; i <= 4000; i++) {
		const double b = c->mean + s * i / 400;
		double prior = none * exp(-b * b / (2 * c->base)) / sqrt(c->base);
		double density;

		for (size_t j = 0; j < m->scales; j++) {
			const double v = c->base + m->variance[j];

			prior += m->rate[j] * c->length * exp(-b * b / (2 * v)) / sqrt(v);
		}
		density = prior * exp(-(b - c->mean) * (b - c->mean) / (2 * c->variance));
		sum += density;
		first += density * b;
	}
	return first / sum;
}

/* A normal increment with the matched variance has the same posterior mean as the mixture. */
static void test_matched_variance(void **state)
{
	static const double mean[] = { 0, 3, 30, 300, 5000 };

	(void)state;
	for (size_t i = 0; i < sizeof(mean) / sizeof(*mean); i++) {
		struct increment_cavity c = {
			.length = 1, .base = 0.5, .mean = mean[i], .variance = 25
		};
		struct scale_mixture m;
		double quiet, v, want;

		mixture_init_for_frequency(&m, 1);
		v = mixture_match_moments(&m, &c, &quiet);
		want = integrate_mixture_mean(&m, &c);
		assert_float_equal(c.mean * v / (v + c.variance), want, 1e-3 * fabs(want) + 1e-3);
		assert_true(quiet >= 0 && quiet <= 1);
		/*
		 * An increment far outside of the base distribution belongs to one of the scales.
		 */
		assert_true(mean[i] > 100 ? quiet < 1e-3 : 1);
	}
}

/* The scales of phase cover the range of the phase. */
static void test_range_of_scales(void **state)
{
	struct scale_mixture m;

	(void)state;
	mixture_init_for_phase(&m, SPAN, 0);
	assert_int_equal(m.scales, 3);
	mixture_init_for_phase(&m, SPAN, 1e9);
	assert_true(m.variance[m.scales - 1] > 1e8 * 1e8);
	/* A clock may stand still for a month. */
	mixture_init_for_phase(&m, SPAN, 2.6e15);
	assert_true(m.variance[m.scales - 1] > 1e15 * 1e15);
	mixture_init_for_phase(&m, SPAN, HUGE_VAL);
	assert_true(m.scales <= MOST_SCALES);
}

/*
 * The rates of scales that the drawn increments have are learned. The rates of all other scales
 * vanish.
 */
static void test_learned_rates(void **state)
{
	struct scale_mixture m;
	uint64_t seed = 5;
	double rate = 0, others = 0;

	(void)state;
	mixture_init_for_frequency(&m, 1);
	for (int round = 0; round < 20; round++) {
		seed = 5;
		for (int i = 0; i < SPAN; i++) {
			const double sign = draw_random64(&seed) & 1 ? 1 : -1;
			const bool steered = draw_between_0_and_1(&seed) < 0.05;
			double quiet;

			/*
			 * Every twentieth second, the frequency changes by 640 ppb, which is
			 * the third scale.
			 */
			mixture_match_moments(&m,
					      &(struct increment_cavity){
						      .length = 1,
						      .base = 1,
						      .mean = steered ? sign * 640 : sign,
						      .variance = 1 },
					      &quiet);
		}
		mixture_learn(&m, SPAN);
	}
	for (size_t j = 0; j < m.scales; j++) {
		const double scale = sqrt(m.variance[j]);

		if (scale > 200 && scale < 2000)
			rate += m.rate[j];
		else
			others += m.rate[j];
	}
	assert_float_equal(rate, 0.05, 0.01);
	assert_true(others < 0.005);
}

/*
 * A variance counts as the fraction that belongs to its scale. A variance below all scales belongs
 * to none.
 */
static void test_share_of_scale(void **state)
{
	struct scale_mixture m;
	double all;

	(void)state;
	mixture_init_for_frequency(&m, 1);
	all = exp(mixture_compute_log_share(&m, 1, 0));
	for (size_t j = 0; j < m.scales; j++) {
		assert_float_equal(exp(mixture_compute_log_share(&m, 1, m.variance[j])), m.rate[j],
				   1e-12);
		all += exp(mixture_compute_log_share(&m, 1, 1.5 * m.variance[j]));
	}
	assert_float_equal(all, 1, 1e-12);
	assert_float_equal(mixture_compute_log_share(&m, 1, 1e30), log(m.rate[m.scales - 1]),
			   1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matched_variance),
		cmocka_unit_test(test_range_of_scales),
		cmocka_unit_test(test_learned_rates),
		cmocka_unit_test(test_share_of_scale),
	};

	return cmocka_run_group_tests_name("mixture", tests, NULL, NULL);
}
