// SPDX-License-Identifier: GPL-2.0-only
/* Test how a host's messages limit its correction, and the delays of these messages. */
#include "curve/delays.h"
#include "sample.h"

/* The limits enclose the correction, which is 0.25 ms above the assumed one. */
static void test_limits_of_correction(void **state)
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
	/* The level is the offset of a line through one of the link's messages. */
	assert_true(llabs(observations_level(&s.link) + AHEAD) <= 2 * DELAY);
	sample_release(&s);
}

/*
 * Links with few messages are merged. The bins of merged links are in order of time, and each bin
 * is one observation.
 */
static void test_merged_links(void **state)
{
	struct observations p;
	struct link link[3];
	struct sample s;

	(void)state;
	sample_gather(&s);
	link[0] = link[1] = link[2] = s.link;
	link[1].thin = link[2].thin = true;
	assert_int_equal(observations_gather(&p, &s.c, link, 3), 0);
	assert_int_equal(p.links, 2);
	assert_true(p.pooled);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(observations_link(&p, link, i), i ? 1 : 0);
	assert_int_equal(p.num, 3 * s.p.num);
	assert_int_equal(p.messages[ABOVE], 3 * SECONDS);
	for (int side = ABOVE; side <= BELOW; side++) {
		const struct obs_direction *one = &p.direction[side];
		const struct obs_direction *both = &p.direction[2 + side];
		uint64_t messages = 0;
		size_t seen = 0;

		for (size_t i = 0; i < one->bins; i++)
			seen += 2 * one->bin[i].num;
		assert_int_equal(both->bins, seen);
		for (size_t i = 0; i < both->bins; i++) {
			const struct obs_bin *h = &both->bin[i];

			assert_int_equal(h->num, 1);
			assert_true(p.obs[h->from].t == h->t);
			assert_true(!i || h->t >= h[-1].t);
			messages += h->messages;
		}
		assert_int_equal(messages, 2 * one->messages);
		assert_int_equal(both->messages, messages);
	}
	observations_release(&p);
	sample_release(&s);
}

/* A link whose host has few bins is not merged. */
static void test_few_bins(void **state)
{
	struct observations p;
	struct link link[2];
	struct sample s;

	(void)state;
	sample_gather(&s);
	link[0] = link[1] = s.link;
	link[0].few_bins = link[1].few_bins = true;
	assert_int_equal(observations_gather(&p, &s.c, link, 2), 0);
	assert_int_equal(p.links, 2);
	assert_false(p.pooled);
	for (int i = 0; i < 4; i++) {
		const struct obs_direction *dir = &p.direction[i];
		uint64_t messages = 0;

		for (size_t j = 0; j < dir->bins; j++) {
			const struct obs_bin *h = &dir->bin[j];

			assert_int_equal(h->num, 1);
			assert_true(p.obs[h->from].t == h->t);
			assert_true(!j || h->t >= h[-1].t);
			messages += h->messages;
		}
		assert_int_equal(messages, SECONDS);
		assert_int_equal(dir->messages, SECONDS);
	}
	observations_release(&p);
	sample_release(&s);
}

static double evaluate_half(void *arg, double t)
{
	return *(double *)arg * t;
}

static void test_residuals_of_curve(void **state)
{
	double slope = 0x1p-20;
	struct sample s;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	for (size_t i = 0; i < s.p.num; i++)
		assert_true(s.p.obs[i].residual == s.p.obs[i].y);
	observations_set_residuals(&s.p, evaluate_half, &slope);
	for (size_t i = 0; i < s.p.num; i++)
		assert_true(fabs(s.p.obs[i].y - slope * s.p.obs[i].t - s.p.obs[i].residual) < 1e-3);
	/* Subtract the same line from the observations. */
	observations_detrend(&s.p, 0, slope);
	for (size_t i = 0; i < s.p.num; i++)
		assert_true(fabs(s.p.obs[i].y - s.p.obs[i].residual) < 1e-3);
	sample_release(&s);
}

/* Groups are in order of time, and contain each bin once. Each bin has its lowest observation. */
static void test_groups_of_bins(void **state)
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
				least = fmin(least,
					     observations_innermost(&s.p, &dir->bin[b], side, &t));
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

/* Delays are between DELAY and 2 DELAY, in both directions and at all times. */
static void test_delays_of_observations(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_int_equal(delays_set_means(&s.p), 0);
	for (int side = ABOVE; side <= BELOW; side++) {
		/*
		 * The mean is half of the range. The mean is less for the stored messages, because
		 * these are fast messages.
		 */
		assert_true(s.p.direction[side].mean > 0);
		assert_true(s.p.direction[side].mean < (double)DELAY);
	}
	assert_int_equal(delays_find_minima(&s.p, 1e-16), 0);
	sample_release(&s);
}

/* A curve that deviates by *@factor from the line, in either direction. */
static double evaluate_wide(void *factor, double t)
{
	return *(double *)factor * (fmod(t, 2 * SEC) < SEC ? 1 : -1);
}

static void test_strayed_curve(void **state)
{
	struct sample s;
	double line = 0, amplitude;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_false(observations_strayed(&s.p));
	for (size_t i = 0; i < s.p.num; i++)
		line += fabs(s.p.obs[i].y) / (double)s.p.num;
	amplitude = line / 2;
	observations_set_residuals(&s.p, evaluate_wide, &amplitude);
	assert_false(observations_strayed(&s.p));
	amplitude = 4 * line;
	observations_set_residuals(&s.p, evaluate_wide, &amplitude);
	assert_true(observations_strayed(&s.p));
	amplitude = NAN;
	observations_set_residuals(&s.p, evaluate_wide, &amplitude);
	assert_true(observations_strayed(&s.p));
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_of_correction),
		cmocka_unit_test(test_merged_links),
		cmocka_unit_test(test_few_bins),
		cmocka_unit_test(test_residuals_of_curve),
		cmocka_unit_test(test_strayed_curve),
		cmocka_unit_test(test_groups_of_bins),
		cmocka_unit_test(test_delays_of_observations),
	};

	return cmocka_run_group_tests_name("observations", tests, NULL, NULL);
}
