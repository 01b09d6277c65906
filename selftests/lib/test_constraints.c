// SPDX-License-Identifier: GPL-2.0-only
/*
 * If delays are lifted, constraints are soft. The sum of the messages' scores must nevertheless
 * never push the curve through the constraints, because the fit would have no minimum.
 */
#include <string.h>

#include "test.h"
#include "curve/constraints.h"

#define SPAN 240e9
#define MESSAGES 60000
#define DELAY 30e3
#define MEAN 100e3
#define LIFTED 1e6

static void make_linked_fit(struct host_fit *k, struct pairs *pairs, struct link *link,
			    struct correction *other)
{
	uint64_t seed = 3;

	*other = (struct correction){ .known = true, .to = (int64_t)SPAN };
	for (long i = 0; i < MESSAGES; i++) {
		int64_t t = draw_integer_below(&seed, (int64_t)SPAN);
		int64_t r = t + (int64_t)(DELAY + LIFTED + draw_from_exponential(&seed, MEAN));
		struct endpoint from = { i & 1, 0, t }, to = { !(i & 1), 0, r };

		assert_int_equal(pairs_add(pairs, &from, &to), 0);
	}
	assert_int_equal(pairs_settle(pairs), 0);
	*link = (struct link){ .pair = pairs->pair[0], .other = other };
	assert_int_equal(observations_gather(&k->obs, k->correction, link, 1), 0);
	for (int d = 0; d < 2; d++) {
		struct obs_direction *dir = &k->obs.direction[d];

		dir->mean = MEAN;
		for (size_t i = 0; i < dir->bins; i++) {
			dir->bin[i].excess = LIFTED;
			dir->bin[i].excess_error = LIFTED * 64;
		}
	}
}

static void test_minimum_of_scores(void **state)
{
	struct correction c = { .known = true, .to = (int64_t)SPAN }, other;
	struct host_fit k = { .correction = &c, .drift = 0.1e-6 / 1e9 };
	struct pairs pairs = { 0 };
	struct link link;

	(void)state;
	make_linked_fit(&k, &pairs, &link, &other);
	for (size_t intervals = 1; intervals < 100; intervals *= 2) {
		struct fit f;
		double cost;

		assert_int_equal(constraints_fit_new(&f, &k, intervals), 0);
		constraints_set_scores(&f, &k, intervals);
		constraints_set(&f, &k);
		assert_int_equal(fit_start(&f, &cost), 0);
		for (int i = 0; i < 10; i++)
			assert_int_equal(fit_solve(&f, 1, 40, &cost), 0);
		assert_true(isfinite(cost));
		assert_true(fabs(f.margin[0]) < 3 * LIFTED);
		for (size_t i = 0; i < f.curve.coefs; i++)
			assert_true(fabs(f.curve.coef[i]) < 3 * LIFTED);
		constraints_fit_free(&f);
	}
	observations_release(&k.obs);
	pairs_release(&pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minimum_of_scores),
	};

	return cmocka_run_group_tests_name("constraints", tests, NULL, NULL);
}
