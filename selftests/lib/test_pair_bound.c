// SPDX-License-Identifier: GPL-2.0-only
/* Test the bound that a pair's messages guarantee, and when the bound can be reported. */
#include "bound/pair-bound.h"
#include "curve/wander.h"
#include "messages.h"

#define AHEAD (3 * SEC)
#define DELAY (100 * US)

static const struct limits limits = { .slope = 500e-6, .bend = 1e-16 };
static const struct correction reference = { .known = true, .to = 1000 * SEC };
static const struct correction ahead = {
	.known = true,
	.to = 1000 * SEC,
	.offset = -AHEAD,
};
static const struct correction *const both[2] = { &reference, &ahead };

static void make_checked_pair_bound(struct pair_bound *r, const struct pairs *ps)
{
	const struct correction *correction[2] = { both[0], both[1] };

	assert_int_equal(pair_bound_make(r, ps->pair[0], correction, &limits), 0);
}

static void test_accurate_pair(void **state)
{
	struct pairs ps = { 0 };
	struct pair_bound r;

	(void)state;
	add_talk_of_two(&ps, 100, AHEAD, DELAY);
	make_checked_pair_bound(&r, &ps);
	assert_true(r.usable);
	assert_int_equal(r.quality, NETSYNC_ACCURATE);
	for (int64_t x = SEC; x < 99 * SEC; x += SEC / 7) {
		const struct range f = rate_bound_at(&r.bound, x);

		/* The bound is wider by 1 ns, because times are rounded to ns. */
		assert_in_range(AHEAD, f.lo, f.hi);
		/*
		 * The nearest message is at most 0.75 s away, and each clock may deviate by
		 * 500 ppm.
		 */
		assert_true(f.hi - f.lo <= 4 * DELAY + 750 * US);
	}
	/* The width is at least the minimum delay of each direction. */
	assert_true(pair_bound_width(&r, SEC, 99 * SEC) >= (double)DELAY);
	assert_true(pair_bound_width(&r, SEC, 99 * SEC) < 5e5);
	pair_bound_release(&r);
	pairs_release(&ps);
}

static void test_incomplete_pair(void **state)
{
	struct pairs ps = { 0 };
	struct pair_bound r;

	(void)state;
	for (int i = 0; i < 50; i++)
		add_message(&ps, 0, 1, i * SEC, i * SEC + AHEAD + DELAY);
	assert_int_equal(pairs_settle(&ps), 0);
	make_checked_pair_bound(&r, &ps);
	assert_int_equal(r.quality, NETSYNC_INCOMPLETE);
	assert_true(pair_bound_width(&r, 0, 49 * SEC) == HUGE_VAL);
	assert_true(rate_bound_at(&r.bound, 10 * SEC).lo == INT64_MIN);
	pair_bound_release(&r);
	pairs_release(&ps);
}

/* A message that is received before it is sent is rejected, and the bound is not called exact. */
static void test_wrong_message(void **state)
{
	struct pairs ps = { 0 };
	struct pair_bound r;

	(void)state;
	add_message(&ps, 0, 1, 50 * SEC, 50 * SEC + AHEAD - 10 * DELAY);
	add_talk_of_two(&ps, 100, AHEAD, DELAY);
	make_checked_pair_bound(&r, &ps);
	assert_int_equal(r.quality, NETSYNC_APPROXIMATE);
	assert_true(r.usable);
	assert_in_range(AHEAD, rate_bound_at(&r.bound, 50 * SEC).lo,
			rate_bound_at(&r.bound, 50 * SEC).hi);
	pair_bound_release(&r);
	pairs_release(&ps);
}

/* If a host's curve inverts messages, the curve does not reveal which messages are wrong. */
static void test_curve_that_inverts_messages(void **state)
{
	struct correction blind = reference;
	const struct correction *correction[2] = { &blind, &ahead };
	struct pairs ps = { 0 };
	struct pair_bound r;

	(void)state;
	blind.no_margin = true;
	add_message(&ps, 0, 1, 50 * SEC, 50 * SEC + AHEAD - 10 * DELAY);
	add_talk_of_two(&ps, 100, AHEAD, DELAY);
	assert_int_equal(pair_bound_make(&r, ps.pair[0], correction, &limits), 0);
	assert_false(r.usable);
	assert_int_equal(r.quality, NETSYNC_APPROXIMATE);
	pair_bound_release(&r);
	pairs_release(&ps);
}

/* Limits that allow for daemons that steer clocks. */
static const struct limits steered = { .slope = 500e-6, .bend = 2e-16, .slew = 1e-3 };

#define LENGTH (60 * SEC)
#define FAR_DELAY (3500 * US)

/* Return the additional offset of host 1, which is slewed by 300 ppm for 20 s, and slewed back. */
static int64_t slew_host_1(int64_t t)
{
	const int64_t there = t < 10 * SEC ? 0 : t < 30 * SEC ? t - 10 * SEC : 20 * SEC;
	const int64_t back = t < 30 * SEC ? 0 : t < 50 * SEC ? t - 30 * SEC : 20 * SEC;

	return 3 * (there - back) / 10000 - 3000 * US;
}

/*
 * Step the clock of host 1 by less than the sum of both directions' delays, and step it back later.
 */
static int64_t step_host_1(int64_t t)
{
	return (t > 20 * SEC && t < 40 * SEC ? 3000 : -3000) * US;
}

static int64_t keep_host_1_even(int64_t t)
{
	(void)t;
	return 0;
}

/* Add three exchanges per second. The mean excess delay of a message is about 300 us. */
static void talk_with_clock(struct pairs *ps, int64_t (*clock)(int64_t t), uint64_t seed)
{
	for (int64_t i = 0; i < 180; i++) {
		const int64_t t = i * LENGTH / 180;
		const int64_t there = t + FAR_DELAY + (int64_t)draw_from_exponential(&seed, 300e3);
		const int64_t sent = there + 300 * US;
		const int64_t back = sent + FAR_DELAY +
				     (int64_t)draw_from_exponential(&seed, 300e3);

		add_message(ps, 0, 1, t, there + AHEAD + clock(there));
		add_message(ps, 1, 0, sent + AHEAD + clock(sent), back);
	}
	assert_int_equal(pairs_settle(ps), 0);
}

/* Check whether the truth is within the bound if the corrections contain no clock event. */
static void check_inside(const struct pair_bound *r, int64_t (*clock)(int64_t t))
{
	for (int64_t t = SEC; t < LENGTH; t += SEC / 7) {
		const struct range f = rate_bound_at(&r->bound, t);

		if (llabs(t - 20 * SEC) > SEC / 2 && llabs(t - 40 * SEC) > SEC / 2)
			assert_true(f.lo <= AHEAD + clock(t) && AHEAD + clock(t) <= f.hi);
	}
}

static void check_poor_curve(int64_t (*clock)(int64_t t))
{
	static const struct wander seen = { .left_alone = true };
	struct correction first = reference, second = ahead;
	const struct correction *correction[2] = { &first, &second };

	first.wander = second.wander = &seen;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct pairs ps = { 0 };
		struct pair_bound r;

		talk_with_clock(&ps, clock, seed);
		assert_int_equal(pair_bound_make(&r, ps.pair[0], correction, &steered), 0);
		assert_true(r.usable);
		assert_int_equal(r.quality, NETSYNC_ACCURATE);
		check_inside(&r, clock);
		/* Without a clock event, there is no window. */
		if (clock == keep_host_1_even)
			assert_int_equal(r.bound.part[0].num_segments, 1);
		pair_bound_release(&r);
		pairs_release(&ps);
	}
}

/*
 * A curve that misses a slew inverts no message, and neither does the curve of a clock that drifts
 * as assumed. However, such a bound leaves less slack than the messages do.
 */
static void test_poor_curve(void **state)
{
	(void)state;
	check_poor_curve(slew_host_1);
	check_poor_curve(keep_host_1_even);
}

/* For a stepped clock, too, a curve that inverts no message is too steep. */
static void test_hidden_step(void **state)
{
	(void)state;
	check_poor_curve(step_host_1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accurate_pair),
		cmocka_unit_test(test_incomplete_pair),
		cmocka_unit_test(test_wrong_message),
		cmocka_unit_test(test_curve_that_inverts_messages),
		cmocka_unit_test(test_poor_curve),
		cmocka_unit_test(test_hidden_step),
	};

	return cmocka_run_group_tests_name("pair-bound", tests, NULL, NULL);
}
