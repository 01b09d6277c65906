// SPDX-License-Identifier: GPL-2.0-only
/* Find the places of change points that were detected, and remove false ones. */
#include <string.h>

#include "curve/placement.h"
#include "staged.h"

/* The time at which the clock is stepped or its rate changes, ns. */
#define AT 200.2e9

static double place_no_change(double t)
{
	(void)t;
	return 0;
}

static double place_phase_step(double t)
{
	return t > AT ? 5e6 : 0;
}

static double place_rate_step(double t)
{
	return t > AT ? 50e-6 * (t - AT) : 0;
}

static void settle_change_point(struct host_fit *k, struct sample *s, truth_fn truth,
				const struct change_point *found)
{
	staged_init(k, s, truth);
	s->c.change = malloc(sizeof(*s->c.change));
	memcpy(s->c.change, found, sizeof(*found));
	s->c.num_changes = 1;
	assert_int_equal(placement_settle(k), 0);
	assert_false(k->one_sided);
}

static void test_phase_step(void **state)
{
	const struct change_point found = {
		.t = AT + 1e9,
		.uncertainty = 4e9,
		.window = 20e9,
		.phase_step = true,
		.offset = 5e6,
	};
	struct sample s;
	struct host_fit k;

	(void)state;
	settle_change_point(&k, &s, place_phase_step, &found);
	assert_int_equal(s.c.num_changes, 1);
	assert_true(s.c.change[0].phase_step);
	assert_true(fabs(s.c.change[0].t - AT) <= s.c.change[0].uncertainty);
	assert_true(s.c.change[0].uncertainty < 2e9);
	assert_true(fabs(s.c.change[0].offset - 5e6) < DELAY);
	assert_true(staged_find_worst_error(&k, place_phase_step, AT) < DELAY);
	staged_end(&k, &s);
}

static void test_rate_step(void **state)
{
	const struct change_point found = {
		.t = AT - 2e9,
		.uncertainty = 5e9,
		.window = 20e9,
		.skew = 40e-6,
	};
	struct sample s;
	struct host_fit k;

	(void)state;
	settle_change_point(&k, &s, place_rate_step, &found);
	assert_int_equal(s.c.num_changes, 1);
	assert_false(s.c.change[0].phase_step);
	assert_true(fabs(s.c.change[0].t - AT) < 2e9);
	assert_float_equal(s.c.change[0].skew, 50e-6, 5e-6);
	assert_true(staged_find_worst_error(&k, place_rate_step, AT) < DELAY);
	staged_end(&k, &s);
}

/* The clock does not change at this place, or the place is too close to an end to decide. */
static void test_false_change_point(void **state)
{
	const struct change_point found[] = {
		{ .t = AT, .uncertainty = 4e9, .window = 20e9, .skew = 40e-6 },
		{ .t = AT, .uncertainty = 4e9, .window = 20e9, .phase_step = true, .offset = 5e6 },
		{ .t = 2e9, .uncertainty = 1e9, .window = 5e9, .skew = 40e-6 },
		{ .t = (SECONDS - 2) * 1e9, .uncertainty = 1e9, .window = 5e9, .skew = 40e-6 },
	};
	struct sample s;
	struct host_fit k;

	(void)state;
	for (int i = 0; i < 4; i++) {
		settle_change_point(&k, &s, place_no_change, &found[i]);
		assert_int_equal(s.c.num_changes, 0);
		staged_end(&k, &s);
	}
}

/* The expected error decreases with the number of messages per coefficient. */
static void test_expected_error(void **state)
{
	const struct spline few = { .coefs = 5 }, many = { .coefs = 50 };
	struct sample s;
	struct host_fit k;
	double error;

	(void)state;
	staged_init(&k, &s, place_no_change);
	error = placement_expected_error(&k, &few);
	assert_float_equal(error, k.obs.direction[0].mean * 5 / (2 * SECONDS), 1e-6);
	assert_float_equal(placement_expected_error(&k, &many), 10 * error, 1e-6);
	staged_end(&k, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phase_step),
		cmocka_unit_test(test_rate_step),
		cmocka_unit_test(test_false_change_point),
		cmocka_unit_test(test_expected_error),
	};

	return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
