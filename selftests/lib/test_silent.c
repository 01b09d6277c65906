// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where there are no messages, bounds assume no drift limit, unless the clocks are known not to be
 * steered.
 */
#include "bound/pair-bound.h"
#include "bound/silent.h"
#include "curve/wander.h"
#include "messages.h"

#define DELAY (100 * US)

static const struct limits limits = {
	.slope = 500e-6,
	.slew = 1000e-6,
	.bend = 0.2e-6 / 1e9,
};
static const struct wander left_alone = { .left_alone = true };

/*
 * Make the bound for an hour that has a minute of messages at each end. The clocks differ by @ahead
 * at the beginning and by @later at the end.
 */
static void make_silent_bound(struct pair_bound *b, int64_t ahead, int64_t later,
			      const struct wander *wander, bool is_one_way)
{
	const struct correction c[2] = {
		{ .known = true, .to = 3600 * SEC, .wander = wander },
		{ .known = true, .to = 3601 * SEC, .offset = -ahead, .wander = wander },
	};
	const struct correction *both[2] = { &c[0], &c[1] };
	struct pairs ps = { 0 };

	for (int i = 0; i < 120; i++) {
		int64_t t = (i < 60 ? i : 3480 + i) * SEC;
		int64_t now = i < 60 ? ahead : later;

		add_message(&ps, 0, 1, t, t + now + DELAY);
		if (!is_one_way)
			add_message(&ps, 1, 0, t + now + SEC / 2, t + SEC / 2 + DELAY);
	}
	assert_int_equal(pairs_settle(&ps), 0);
	assert_int_equal(pair_bound_make(b, ps.pair[0], both, &limits), 0);
	pairs_release(&ps);
}

static int64_t get_half_width(const struct pair_bound *b, int64_t x)
{
	struct range y = rate_bound_at(&b->bound, x);

	return (y.hi - y.lo) / 2;
}

static void test_bound_in_silence(void **state)
{
	struct pair_bound b;

	(void)state;
	make_silent_bound(&b, SEC, SEC, &left_alone, false);
	assert_true(b.usable);
	/* A drift of 0.2 ppm/s adds the drift times the hour squared, divided by 8. */
	assert_in_range(get_half_width(&b, 1800 * SEC), 100 * 1000 * US, 330 * 1000 * US);
	pair_bound_release(&b);

	make_silent_bound(&b, SEC, SEC, NULL, false);
	assert_true(b.usable);
	/* A rate of 1500 ppm is possible for half an hour. */
	assert_in_range(get_half_width(&b, 1800 * SEC), 2500 * 1000 * US, 2700 * 1000 * US);
	pair_bound_release(&b);
}

/* The limit that messages of one direction set allows for steering in silences, too. */
static void test_one_way(void **state)
{
	struct pair_bound b;
	struct range y;

	(void)state;
	make_silent_bound(&b, SEC, SEC, &left_alone, true);
	y = rate_bound_at(&b.bound, 1800 * SEC);
	assert_int_equal(y.lo, INT64_MIN);
	assert_in_range(y.hi - SEC, 100 * 1000 * US, 400 * 1000 * US);
	assert_int_equal(b.silent[0], 0);
	pair_bound_release(&b);

	make_silent_bound(&b, SEC, SEC, NULL, true);
	y = rate_bound_at(&b.bound, 1800 * SEC);
	assert_int_equal(y.lo, INT64_MIN);
	assert_in_range(y.hi - SEC, 2500 * 1000 * US, 2800 * 1000 * US);
	assert_in_range(b.silent[0], 3300 * SEC, 3600 * SEC);
	pair_bound_release(&b);
}

/* If messages are close together, the missing drift limit does not matter. */
static void test_bound_between_close_messages(void **state)
{
	struct pair_bound b;

	(void)state;
	make_silent_bound(&b, SEC, SEC, NULL, false);
	assert_in_range(get_half_width(&b, 30 * SEC), DELAY / 2, 10 * DELAY);
	pair_bound_release(&b);
}

/*
 * Intervals without messages also count from the hosts' first message and to their last one, in
 * either direction.
 */
static void test_silence_at_ends(void **state)
{
	const struct correction c = { .known = true, .from = 0, .to = 100 * SEC };
	const struct correction *both[2] = { &c, &c };
	struct point to[] = { { 0, 0 }, { 30 * SEC, 0 }, { 99 * SEC, 0 } };
	struct point back[] = { { 20 * SEC, 0 }, { 25 * SEC, 0 } };
	struct point *const point[2] = { to, back };

	(void)state;
	assert_int_equal(silent_longest(point, (size_t[]){ 3, 2 }, both), 75 * SEC);
	assert_int_equal(silent_longest(point, (size_t[]){ 3, 0 }, both), 100 * SEC);
	assert_int_equal(silent_longest(point, (size_t[]){ 2, 2 }, both), 75 * SEC);
}

/* A difference that exceeds the maximum skew is a step at an unknown time. */
static void test_step_in_silence(void **state)
{
	struct pair_bound b;

	(void)state;
	make_silent_bound(&b, SEC, SEC + 3 * SEC, NULL, false);
	assert_false(b.usable);
	pair_bound_release(&b);
	make_silent_bound(&b, SEC, SEC + SEC / 2, NULL, false);
	assert_true(b.usable);
	assert_false(silent_was_set(&b.bound));
	pair_bound_release(&b);
}

/* In a short interval without messages, a difference too large for a slew is also a step. */
static void test_set_soon(void **state)
{
	struct doubt doubt = { .from = 29e9, .to = 33e9 };
	struct correction c[2] = {
		{ .known = true, .to = 60 * SEC },
		{ .known = true, .to = 60 * SEC, .offset = -SEC, .doubt = &doubt, .num_doubts = 1 },
	};
	const struct correction *both[2] = { &c[0], &c[1] };
	const int64_t by[] = { 500 * US, 2000 * US };

	(void)state;
	for (int n = 0; n < 2; n++) {
		struct pairs ps = { 0 };
		struct pair_bound b;

		assert_int_equal(spline_new(&c[1].curve, 0, 60e9, 240, NULL, 0), 0);
		/* The middle is at 31 s of the second host's clock. */
		for (size_t i = 0; i < c[1].curve.coefs; i++)
			c[1].curve.coef[i] = (double)-by[n] * (i < 125 ? 0 : i > 125 ? 1 : 0.5);
		spline_set_cubics(&c[1].curve);
		for (int i = 0; i < 600; i++) {
			int64_t t = i * (SEC / 10), now = SEC + (i > 300) * by[n];

			if (i > 290 && i < 310)
				continue;
			add_message(&ps, 0, 1, t, t + now + DELAY);
			add_message(&ps, 1, 0, t + now, t + DELAY);
		}
		assert_int_equal(pairs_settle(&ps), 0);
		assert_int_equal(pair_bound_make(&b, ps.pair[0], both, &limits), 0);
		/* At the maximum skew, a clock changes by 1 ms in 2 s. */
		assert_int_equal(b.usable, !n);
		pair_bound_release(&b);
		spline_free(&c[1].curve);
		pairs_release(&ps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound_in_silence),
		cmocka_unit_test(test_bound_between_close_messages),
		cmocka_unit_test(test_silence_at_ends),
		cmocka_unit_test(test_step_in_silence),
		cmocka_unit_test(test_set_soon),
		cmocka_unit_test(test_one_way),
	};

	return cmocka_run_group_tests_name("silent", tests, NULL, NULL);
}
