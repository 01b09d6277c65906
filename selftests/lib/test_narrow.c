// SPDX-License-Identifier: GPL-2.0-only
/*
 * If curves miss a rate step that only few messages reveal, the bound assumes no drift limit around
 * the step.
 */
#include "bound/narrow.h"
#include "bound/pair-bound.h"
#include "curve/wander.h"
#include "test.h"

#define SPAN 600e9
#define RATE 5 /* messages per second, in each direction */
#define DELAY 30e3
#define MEAN 100e3
#define SEEDS 40

static const struct limits limits = { .slope = 500e-6, .bend = 0.2e-6 / 1e9 };

/* The clock is slewed by 5 ppm for 10 s, and slewed back. */
static double slew_for_seconds(double t)
{
	return 5e-6 * (fmin(fmax(t - 290e9, 0), 10e9) - fmin(fmax(t - 300e9, 0), 10e9));
}

static double compute_no_slew(double t)
{
	(void)t;
	return 0;
}

static void talk_at_random_times(struct pairs *ps, double (*clock)(double t), uint64_t seed)
{
	for (long i = 0; i < (long)(SPAN / 1e9 * RATE); i++) {
		for (int way = 0; way < 2; way++) {
			double t = draw_between_0_and_1(&seed) * SPAN;
			double r = t + DELAY + draw_from_exponential(&seed, MEAN);
			struct endpoint from = { (uint32_t)way, 0, llround(t) };
			struct endpoint to = { (uint32_t)!way, 0, llround(r) };

			(way ? &from : &to)->t += llround(clock(way ? t : r));
			assert_int_equal(pairs_add(ps, &from, &to), 0);
		}
	}
	assert_int_equal(pairs_settle(ps), 0);
}

static const struct wander left_alone = { .left_alone = true };
static const struct correction flat = {
	.known = true,
	.from = -(int64_t)1e9,
	.to = (int64_t)SPAN + (int64_t)1e9,
	.wander = &left_alone,
};

/*
 * The second host's correction follows half of the slew. The correction's error is below the
 * minimum delay, so that the correction inverts no message.
 */
static void follow_half_of_slew(struct correction *c)
{
	size_t intervals = 120;
	double length = (double)(flat.to - flat.from) / (double)intervals;

	assert_int_equal(
		spline_new(&c->curve, 0, (double)(flat.to - flat.from), intervals, NULL, 0), 0);
	for (size_t i = 0; i < c->curve.coefs; i++) {
		/* Compute the middle of the i-th B-spline. */
		double t = ((double)i - 1) * length + (double)flat.from;

		c->curve.coef[i] = -slew_for_seconds(t) / 2;
	}
	spline_set_cubics(&c->curve);
}

static void make_narrow_bound(struct pair_bound *b, double (*clock)(double t), uint64_t seed)
{
	struct correction second = flat;
	const struct correction *both[2] = { &flat, &second };
	struct pairs ps = { 0 };

	talk_at_random_times(&ps, clock, seed);
	if (clock == slew_for_seconds)
		follow_half_of_slew(&second);
	assert_int_equal(pair_bound_make(b, ps.pair[0], both, &limits), 0);
	spline_free(&second.curve);
	pairs_release(&ps);
}

static void test_missed_rate_step(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct pair_bound b;

		make_narrow_bound(&b, slew_for_seconds, seed);
		for (double t = 0; b.usable && t < SPAN; t += 100e6) {
			struct range y = rate_bound_at(&b.bound, llround(t));

			assert_in_range(llround(slew_for_seconds(t)) - y.lo + 2, 0,
					y.hi - y.lo + 4);
		}
		pair_bound_release(&b);
	}
}

/* Without an error, no window is made, and the drift limit is assumed at all times. */
static void test_steady_clock(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct pair_bound b;

		make_narrow_bound(&b, compute_no_slew, seed);
		assert_true(b.usable);
		assert_int_equal(b.bound.parts, 1);
		assert_int_equal(b.bound.part[0].num_segments, 1);
		pair_bound_release(&b);
	}
}

/*
 * If messages are faster for a while, no window is made either. The bound then has less slack, but
 * equally little in both directions.
 */
static void test_messages_faster_for_minutes(void **state)
{
	(void)state;
	for (int ways = 1; ways <= 2; ways++) {
		const struct correction *both[2] = { &flat, &flat };
		struct pairs ps = { 0 };
		struct pair_bound b;

		talk_at_random_times(&ps, compute_no_slew, 3);
		for (int64_t t = 300; t < 310; t++) {
			for (uint32_t way = 0; way < (uint32_t)ways; way++) {
				struct endpoint from = { way, 0, t * (int64_t)1e9 };
				struct endpoint to = from;

				to.host = !way;
				to.t += llround(DELAY / 3);
				assert_int_equal(pairs_add(&ps, &from, &to), 0);
			}
		}
		assert_int_equal(pairs_settle(&ps), 0);
		assert_int_equal(pair_bound_make(&b, ps.pair[0], both, &limits), 0);
		assert_true(b.usable);
		assert_int_equal(b.bound.part[0].num_segments > 1, ways == 1);
		pair_bound_release(&b);
		pairs_release(&ps);
	}
}

static void test_margin_of_pair(void **state)
{
	const struct correction *both[2] = { &flat, &flat };
	struct limits_of_way l[2];
	struct pairs ps = { 0 };
	double margin;

	(void)state;
	talk_at_random_times(&ps, compute_no_slew, 1);
	for (int way = 0; way < 2; way++)
		assert_int_equal(
			left_out_find(&l[way], &ps.pair[0]->direction[way], way, both, false), 0);
	assert_int_equal(narrow_margin(l, ps.pair[0], &margin), 0);
	assert_float_equal(margin, DELAY, DELAY / 4);
	for (int way = 0; way < 2; way++)
		free(l[way].limit);
	pairs_release(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missed_rate_step),
		cmocka_unit_test(test_steady_clock),
		cmocka_unit_test(test_messages_faster_for_minutes),
		cmocka_unit_test(test_margin_of_pair),
	};

	return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}
