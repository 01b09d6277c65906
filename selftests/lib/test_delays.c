// SPDX-License-Identifier: GPL-2.0-only
/* Mean excess delays, and whether the minimum delay is stationary. */
#include "curve/delays.h"
#include "sample.h"

/* Of a very good clock, 1 / ns: it bends by 50 ns in a window. */
#define DRIFT 1e-19

/* Delays are uniform, from DELAY to twice that. */
static void test_means(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_int_equal(delays_set_means(&s.p), 0);
	for (int side = ABOVE; side <= BELOW; side++)
		assert_true(s.p.direction[side].mean > 0.25 * DELAY &&
			    s.p.direction[side].mean < DELAY);
	sample_release(&s);
}

/* With the largest drift that the clock is thought to have, 1 / ns. */
static int find(struct sample *s, double drift)
{
	observations_set_residuals(&s->p, NULL, NULL);
	assert_int_equal(delays_set_means(&s->p), 0);
	return delays_find_minima(&s->p, drift);
}

static void test_stationary(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	assert_int_equal(find(&s, DRIFT), 0);
	for (int side = ABOVE; side <= BELOW; side++)
		for (size_t i = 0; i < s.p.direction[side].bins; i++)
			assert_true(s.p.direction[side].bin[i].excess == 0);
	sample_release(&s);
}

/*
 * But in the first of six windows, which is far enough from the last one, both
 * directions take 5 ms more.
 */
static void test_lifted(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	for (size_t i = 0; i < 2; i++) {
		const struct obs_direction *dir = &s.p.direction[i];

		for (size_t k = 0; k < dir->bins; k++)
			for (uint32_t j = 0; j < dir->bin[k].num; j++) {
				struct observation *o = &s.p.obs[dir->bin[k].from + j];

				if (o->t > SECONDS / 6 * 1e9)
					o->y += i == ABOVE ? 5e6 : -5e6;
			}
	}
	assert_int_equal(find(&s, DRIFT), 1);
	for (size_t i = 0; i < 2; i++) {
		const struct obs_direction *dir = &s.p.direction[i];

		assert_true(dir->bin[0].excess == 0);
		assert_true(dir->bin[dir->bins - 1].excess > 4e6 &&
			    dir->bin[dir->bins - 1].excess < 6e6);
	}
	/* A worse clock may have bent so much itself. */
	assert_int_equal(find(&s, 1e-15), 0);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_means),
		cmocka_unit_test(test_stationary),
		cmocka_unit_test(test_lifted),
	};

	return cmocka_run_group_tests_name("delays", tests, NULL, NULL);
}
