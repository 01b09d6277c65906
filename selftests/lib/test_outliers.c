// SPDX-License-Identifier: GPL-2.0-only
/* Check which groups of observations are outliers, and which observations are rejected. */
#include "curve/outliers.h"
#include "sample.h"

enum { GROUPS = 60 };

static void draw_bin_groups(struct bin_group *g, uint64_t *seed)
{
	for (size_t i = 0; i < GROUPS; i++)
		g[i] = (struct bin_group){
			.t = (double)i * 1e9,
			.y = 50000 + 2000 * (double)i + draw_between_0_and_1(seed) * 1000,
		};
}

/* If a group has very few neighbours, it is not an outlier. */
static void test_group_with_few_neighbours(void **state)
{
	double inward[GROUPS], buffer[GROUPS];
	struct bin_group g[GROUPS];
	uint64_t seed = 1;

	(void)state;
	draw_bin_groups(g, &seed);
	assert_true(isinf(outliers_judge(g, 0, 0, inward, buffer)));
	assert_true(isinf(outliers_judge(g, 1, 0, inward, buffer)));
	assert_true(isinf(outliers_judge(g, 8, 0, inward, buffer)));
	assert_false(isinf(outliers_judge(g, 9, 0, inward, buffer)));
}

/* On a slope, no group is an outlier. A group that is far inward is always an outlier. */
static void test_outliers_on_slope(void **state)
{
	double inward[GROUPS], buffer[GROUPS], most;
	struct bin_group g[GROUPS];
	uint64_t seed = 2;

	(void)state;
	for (size_t at = 0; at < GROUPS; at++) {
		draw_bin_groups(g, &seed);
		most = outliers_judge(g, GROUPS, 0, inward, buffer);
		for (size_t i = 0; i < GROUPS; i++)
			assert_true(inward[i] <= most);
		g[at].y -= 1e6;
		most = outliers_judge(g, GROUPS, 0, inward, buffer);
		for (size_t i = 0; i < GROUPS; i++)
			assert_int_equal(inward[i] > most, i == at);
	}
}

/*
 * A group next to a phase step agrees with the groups on one side of the step, and is not an
 * outlier.
 */
static void test_group_near_step(void **state)
{
	double inward[GROUPS], buffer[GROUPS], most;
	struct bin_group g[GROUPS];
	uint64_t seed = 3;

	(void)state;
	draw_bin_groups(g, &seed);
	for (size_t i = GROUPS / 2; i < GROUPS; i++)
		g[i].y -= 1e6;
	most = outliers_judge(g, GROUPS, 0, inward, buffer);
	for (size_t i = 0; i < GROUPS; i++)
		assert_true(inward[i] <= most);
}

/* Groups beyond a step near an end are no outliers, if three of them agree with each other. */
static void test_step_near_end(void **state)
{
	double inward[GROUPS], buffer[GROUPS], most;
	struct bin_group g[GROUPS];
	uint64_t seed = 4;

	(void)state;
	for (size_t num = 3; num <= 8; num++) {
		for (int last = 0; last < 2; last++) {
			size_t from = last ? GROUPS - num : 0;

			draw_bin_groups(g, &seed);
			for (size_t i = from; i < from + num; i++)
				g[i].y -= 1e6;
			most = outliers_judge(g, GROUPS, 0, inward, buffer);
			for (size_t i = 0; i < GROUPS; i++)
				assert_true(inward[i] <= most);
		}
	}
}

/* Move the observation in the middle so far above the line that it must be wrong. */
static void move_one_observation(struct sample *s)
{
	const struct obs_direction *above = &s->p.direction[ABOVE];

	s->p.obs[above->bin[above->bins / 2].from].y -= 1e8;
}

/* Only the wrong observation is rejected, and only once. */
static void test_rejected_observation(void **state)
{
	struct sample s;
	size_t rejected;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_int_equal(outliers_reject(&s.p, &s.c, 0, &rejected), 0);
	assert_int_equal(rejected, 0);
	move_one_observation(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_int_equal(outliers_reject(&s.p, &s.c, 0, &rejected), 0);
	assert_int_equal(rejected, 1);
	assert_int_equal(outliers_reject(&s.p, &s.c, 0, &rejected), 0);
	assert_int_equal(rejected, 0);
	sample_release(&s);
}

static double sum_bin_offsets(const struct observations *p, const struct obs_bin *h, uint32_t num)
{
	double sum = 0;

	for (uint32_t i = 0; i < num; i++)
		sum += p->obs[h->from + i].y;
	return sum;
}

/* If a round is undone, the observations that it rejected are restored. */
static void test_undone_round(void **state)
{
	struct sample s;
	struct obs_bin *h;
	size_t rejected;
	uint32_t num;
	double sum;

	(void)state;
	sample_gather(&s);
	/* Two bins are merged into one, which has the observations of both. */
	h = &s.p.direction[ABOVE].bin[s.p.direction[ABOVE].bins / 2];
	h->num += h[1].num;
	h[1].num = 0;
	s.p.obs[h->from].y -= 1e8;
	num = h->num;
	assert_true(num >= 2);
	sum = sum_bin_offsets(&s.p, h, num);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_int_equal(outliers_reject(&s.p, &s.c, 0, &rejected), 0);
	assert_int_equal(h->num, num - 1);
	assert_float_equal(sum_bin_offsets(&s.p, h, num), sum, 1);
	sample_release(&s);
}

/*
 * At the ends, a curve with too little curvature is farthest from correct messages. Nevertheless, a
 * single wrong message among a few others is detected.
 */
static void test_outliers_at_ends(void **state)
{
	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		const struct obs_direction *above;
		size_t rejected;
		struct sample s;

		sample_gather(&s);
		above = &s.p.direction[ABOVE];
		for (size_t i = above->bins - (wrong ? 3 : 30); i < above->bins; i++)
			if (!wrong || i + 3 == above->bins)
				s.p.obs[above->bin[i].from].y -= 1e6;
		observations_set_residuals(&s.p, NULL, NULL);
		assert_int_equal(outliers_reject(&s.p, &s.c, wrong ? 0 : 12, &rejected), 0);
		assert_int_equal(rejected, wrong);
		sample_release(&s);
	}
}

/* In the window of a change point, no curve is known, so no observation is rejected. */
static void test_near_change(void **state)
{
	struct change_point change = { .t = SECONDS / 2 * 1e9, .uncertainty = 20e9 };
	struct sample s;
	size_t rejected;

	(void)state;
	sample_gather(&s);
	move_one_observation(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	s.c.change = &change;
	s.c.num_changes = 1;
	assert_int_equal(outliers_reject(&s.p, &s.c, 0, &rejected), 0);
	assert_int_equal(rejected, 0);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_with_few_neighbours),
		cmocka_unit_test(test_outliers_on_slope),
		cmocka_unit_test(test_group_near_step),
		cmocka_unit_test(test_step_near_end),
		cmocka_unit_test(test_rejected_observation),
		cmocka_unit_test(test_undone_round),
		cmocka_unit_test(test_outliers_at_ends),
		cmocka_unit_test(test_near_change),
	};

	return cmocka_run_group_tests_name("outliers", tests, NULL, NULL);
}
