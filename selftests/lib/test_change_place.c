// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the time at which a clock was stepped: it lies between the messages that are inconsistent
 * with the curve before the step and those that are inconsistent with the curve after it.
 */
#include "curve/change-point.h"
#include "test.h"

enum { NUM = 101, STEP = 500 };

struct seen {
	struct observation obs[2 * NUM];
	struct obs_bin bin[2];
	struct obs_direction direction[2];
	struct observations all;
};

/* Make limits 100 ns above and below the curve, every 10 ns. At STEP, both limits rise by @by. */
static void make_seen_limits(struct seen *s, double by)
{
	*s = (struct seen){ 0 };
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < NUM; i++)
			s->obs[side * NUM + i] = (struct observation){
				.t = 10 * i,
				.y = (10 * i > STEP ? by : 0) + (side == ABOVE ? 100 : -100),
			};
		s->bin[side] = (struct obs_bin){ .from = (uint32_t)(side * NUM), .num = NUM };
		s->direction[side] = (struct obs_direction){ .bin = &s->bin[side], .bins = 1 };
	}
	s->all = (struct observations){
		.links = 1,
		.direction = s->direction,
		.obs = s->obs,
		.num = 2 * NUM,
	};
}

/*
 * A clock that is stepped forward skips some of its times, which belong to neither side of the
 * step.
 */
static void test_place_of_forward_step(void **state)
{
	struct change_point b = { .t = 460, .uncertainty = 200, .offset = 1000 };
	struct seen s;

	(void)state;
	make_seen_limits(&s, 1000);
	change_point_place_phase_step(&b, &s.all, 500, 0);
	assert_true(b.t == STEP + 5);
	assert_true(b.uncertainty == 5 + 500);
}

static void test_place_of_backward_step(void **state)
{
	struct change_point b = { .t = 560, .uncertainty = 200, .offset = -1000 };
	struct seen s;

	(void)state;
	make_seen_limits(&s, -1000);
	change_point_place_phase_step(&b, &s.all, -500, 0);
	assert_true(b.t == STEP + 5);
	assert_true(b.uncertainty == 5);
}

/*
 * A clock that stood still for a long time continues at the time at which it stopped, and shows no
 * time twice.
 */
static void test_suspended_clock(void **state)
{
	struct change_point b = { .t = 460, .uncertainty = 200, .offset = 10e9 };
	struct seen s;

	(void)state;
	make_seen_limits(&s, 10e9);
	change_point_place_phase_step(&b, &s.all, 5e9, 0);
	assert_true(b.stood_still);
	assert_true(b.t == STEP + 5);
	assert_true(b.uncertainty == 5);
	/* If a clock is stepped back by this much, it shows times twice. */
	make_seen_limits(&s, 10e9);
	for (size_t i = 0; i < s.all.num; i++)
		s.obs[i].t = s.obs[i].t * 1e8 - (s.obs[i].t > STEP ? 10e9 : 0);
	b = (struct change_point){ .t = 45e9, .uncertainty = 10e9, .offset = 10e9 };
	change_point_place_phase_step(&b, &s.all, 5e9, 0);
	assert_false(b.stood_still);
	assert_true(b.uncertainty >= 5e9);
}

/*
 * If messages are rare, the time of the step is unknown, because the clock may have been stepped
 * back while there were no messages.
 */
static void test_suspended_in_silence(void **state)
{
	struct change_point b = { .t = 460, .uncertainty = 200, .offset = 10e9 };
	struct seen s;

	(void)state;
	make_seen_limits(&s, 10e9);
	/* Messages of each direction are 0.2 s apart, but the clock stood still for 10 s. */
	for (size_t i = 0; i < s.all.num; i++)
		s.obs[i].t = STEP + (s.obs[i].t - STEP) * 2e7;
	b = (struct change_point){ .t = STEP, .uncertainty = 2e9, .offset = 10e9 };
	change_point_place_phase_step(&b, &s.all, 5e9, 0);
	assert_true(b.stood_still);
	for (size_t i = 0; i < s.all.num; i++)
		s.obs[i].t = STEP + (s.obs[i].t - STEP) * 10;
	b = (struct change_point){ .t = STEP, .uncertainty = 2e9, .offset = 10e9 };
	change_point_place_phase_step(&b, &s.all, 5e9, 0);
	assert_false(b.stood_still);
	assert_true(b.uncertainty >= 5e9);
}

/*
 * Messages reveal nothing about the time of the step if their distance is larger than the
 * uncertainty, or if they are consistent with both sides.
 */
static void test_unknown_place_of_step(void **state)
{
	struct change_point b = { .t = 455, .uncertainty = 4, .offset = -1000 };
	struct seen s;

	(void)state;
	make_seen_limits(&s, -1000);
	change_point_place_phase_step(&b, &s.all, -500, 0);
	assert_true(b.t == 455 && b.uncertainty == 4);
	b = (struct change_point){ .t = STEP, .uncertainty = 200, .offset = -50 };
	make_seen_limits(&s, -50);
	change_point_place_phase_step(&b, &s.all, -25, 0);
	assert_true(b.t == STEP && b.uncertainty == 200);
}

/* A change point without observations around it is not split. */
static void test_split_of_nothing(void **state)
{
	struct change_point b[2] = { { .t = 1e6, .uncertainty = 10 } };
	const struct ends e = { .slope = { 0, 1e-5 } };
	const double margin = 100;
	struct seen s;

	(void)state;
	make_seen_limits(&s, 0);
	assert_int_equal(change_point_split(b, &s.all, &margin, &e, 50), 0);
	assert_true(b[0].t == 1e6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place_of_forward_step),
		cmocka_unit_test(test_place_of_backward_step),
		cmocka_unit_test(test_suspended_clock),
		cmocka_unit_test(test_suspended_in_silence),
		cmocka_unit_test(test_unknown_place_of_step),
		cmocka_unit_test(test_split_of_nothing),
	};

	return cmocka_run_group_tests_name("change_place", tests, NULL, NULL);
}
