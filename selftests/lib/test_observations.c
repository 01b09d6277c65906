// SPDX-License-Identifier: GPL-2.0-only
/* Messages of a host as limits of its correction, and their delays. */
#include "curve/delays.h"
#include "sample.h"

/* The correction lies between: 0.25 ms more than the one that is assumed. */
static void test_limits(void **state)
{
	struct sample s;
	size_t seen = 0;

	(void)state;
	sample_gather(&s);
	assert_int_equal(s.p.messages[ABOVE], SECONDS);
	assert_int_equal(s.p.messages[BELOW], SECONDS);
	assert_true(s.p.span == (double)(SECONDS * SEC));
	for (int side = ABOVE; side <= BELOW; side++) {
		const struct obs_direction *dir = &s.p.direction[side];

		for (size_t i = 0; i < dir->bins; i++)
			for (uint32_t k = 0; k < dir->bin[i].num; k++, seen++) {
				const double y = s.p.obs[dir->bin[i].from + k].y;

				if (side == ABOVE)
					assert_true(y >= 350e3 && y <= 450e3);
				else
					assert_true(y >= 50e3 && y <= 150e3);
			}
	}
	assert_int_equal(seen, s.p.num);
	/* The offset that leads through a message of the link. */
	assert_true(llabs(observations_level(&s.link) + AHEAD) <= 2 * DELAY);
	sample_release(&s);
}

static double half(void *arg, double t)
{
	return *(double *)arg * t;
}

static void test_residuals(void **state)
{
	double slope = 0x1p-20;
	struct sample s;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	for (size_t i = 0; i < s.p.num; i++)
		assert_true(s.p.obs[i].residual == s.p.obs[i].y);
	observations_set_residuals(&s.p, half, &slope);
	for (size_t i = 0; i < s.p.num; i++)
		assert_true(fabs(s.p.obs[i].y - slope * s.p.obs[i].t -
				 s.p.obs[i].residual) < 1e-3);
	/* The same line, taken from the observations. */
	observations_detrend(&s.p, 0, slope);
	for (size_t i = 0; i < s.p.num; i++)
		assert_true(fabs(s.p.obs[i].y - s.p.obs[i].residual) < 1e-3);
	sample_release(&s);
}

/* Groups are in order, hold all bins once, and their lowest is the lowest. */
static void test_groups(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	for (int side = ABOVE; side <= BELOW; side++) {
		const struct obs_direction *dir = &s.p.direction[side];
		struct bin_group *group = calloc(dir->bins, sizeof(*group));
		size_t num, next = 0;

		assert_non_null(group);
		assert_true(observations_most_bins(&s.p) >= dir->bins);
		num = observations_group(&s.p, dir, side, GROUP_MESSAGES, group);
		assert_true(num > 1);
		for (size_t i = 0; i < num; i++) {
			double least = HUGE_VAL, messages = 0, t;

			assert_int_equal(group[i].from, next);
			next = group[i].to;
			for (size_t b = group[i].from; b < next; b++) {
				least = fmin(least, observations_innermost(
					&s.p, &dir->bin[b], side, &t));
				messages += dir->bin[b].messages;
			}
			assert_true(messages >= GROUP_MESSAGES);
			assert_true(group[i].messages == messages);
			assert_true(group[i].y == least);
		}
		assert_int_equal(next, dir->bins);
		free(group);
	}
	sample_release(&s);
}

/* Delays are from DELAY to twice that, of all directions and all the time. */
static void test_delays(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_int_equal(delays_set_means(&s.p), 0);
	for (int side = ABOVE; side <= BELOW; side++) {
		/* Half of the range; of what is kept, which are the quick ones, less. */
		assert_true(s.p.direction[side].mean > 0);
		assert_true(s.p.direction[side].mean < (double)DELAY);
	}
	assert_int_equal(delays_find_minima(&s.p, 1e-16), 0);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_residuals),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_delays),
	};

	return cmocka_run_group_tests_name("observations", tests, NULL, NULL);
}
