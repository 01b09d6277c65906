// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test whether a clock's observations show that the clock was not steered while there were no
 * messages.
 */
#include "curve/observations.h"
#include "curve/wander.h"
#include "messages.h"

#define DRIFT (0.1e-6 / 1e9)
#define DELAY (30 * US)

/* Offset of host 1 at a time, ns. */
typedef int64_t (*ahead_fn)(int64_t t);

static int64_t run_undisturbed(int64_t t)
{
	return 3 * SEC + t / 50000;
}

/* Return the offset of a clock that moves forward and back once in 20 s. */
static int64_t move_to_and_fro(int64_t t, int64_t by)
{
	return run_undisturbed(t) + (t / SEC / 20 * 7919 % 3 - 1) * by;
}

static int64_t move_little(int64_t t)
{
	return move_to_and_fro(t, 20 * US);
}

static int64_t move_far(int64_t t)
{
	return move_to_and_fro(t, 200 * US);
}

static const struct correction reference = { .known = true, .to = 10000 * SEC };

/*
 * Measure the stability of host 1's clock. Host 1 exchanges bursts of 50 messages in each direction
 * with host 0. Bursts are @apart from each other.
 */
static void measure_wander_of_host(struct wander *w, ahead_fn ahead, int64_t apart, int bursts)
{
	const int64_t span = apart * bursts;
	struct correction c = {
		.known = true,
		.from = 3 * SEC,
		.to = 3 * SEC + span + span / 50000,
		.offset = -3 * SEC,
		.skew = -1.0 / 50001,
	};
	struct link link = { .other = &reference, .straight = true };
	struct pairs ps = { 0 };
	uint64_t seed = 11;

	for (int i = 0; i < bursts * 50; i++) {
		int64_t t = i / 50 * apart + apart / 2 + i % 50 * (SEC / 200);
		int64_t delay = DELAY + llround(draw_from_exponential(&seed, 100e3));

		add_message(&ps, 0, 1, t, t + delay + ahead(t + delay));
		delay = DELAY + llround(draw_from_exponential(&seed, 100e3));
		add_message(&ps, 1, 0, t + ahead(t), t + delay);
	}
	assert_int_equal(pairs_settle(&ps), 0);
	link.pair = ps.pair[0];
	assert_int_equal(wander_measure(w, &c, &link, 1, DRIFT), 0);
	pairs_release(&ps);
}

static void test_left_alone(void **state)
{
	struct wander w;

	(void)state;
	measure_wander_of_host(&w, run_undisturbed, 20 * SEC, 100);
	/* This interval is half-way between two bursts. */
	assert_true(wander_is_small(&w, 1010 * SEC, 1030 * SEC, 20e3));
	assert_float_equal(wander_silence(&w, 1005 * SEC, 1035 * SEC), 18e9, 3e9);
	/* No observations exist outside of the clock's span. */
	assert_true(wander_silence(&w, 1500 * SEC, 5000 * SEC) >= 3000e9);
	assert_true(wander_silence(&w, -3000 * SEC, 500 * SEC) >= 3000e9);
	assert_false(wander_is_small(&w, 1500 * SEC, 5000 * SEC, 20e3));
	/* Delays are not as constant as this. */
	assert_false(wander_is_small(&w, 1010 * SEC, 1030 * SEC, 100));
	wander_release(&w);
}

static void test_wander_of_steered_clock(void **state)
{
	struct wander w;

	(void)state;
	measure_wander_of_host(&w, move_little, 20 * SEC, 100);
	assert_false(wander_is_small(&w, 1010 * SEC, 1030 * SEC, 10e3));
	assert_true(wander_is_small(&w, 1010 * SEC, 1030 * SEC, 100e3));
	wander_release(&w);
	/* The curve inverts messages and so reveals nothing. */
	measure_wander_of_host(&w, move_far, 20 * SEC, 100);
	assert_false(wander_is_small(&w, 1010 * SEC, 1030 * SEC, 1e9));
	wander_release(&w);
}

/*
 * If an interval without messages is a large part of the trace, the rest of the trace reveals
 * little.
 */
static void test_few_looks(void **state)
{
	struct wander w;

	(void)state;
	measure_wander_of_host(&w, run_undisturbed, 150 * SEC, 4);
	assert_false(wander_is_small(&w, 225 * SEC, 375 * SEC, 20e3));
	wander_release(&w);
	/* Many intervals without messages have this length. */
	measure_wander_of_host(&w, run_undisturbed, 150 * SEC, 40);
	assert_true(wander_is_small(&w, 225 * SEC, 375 * SEC, 20e3));
	wander_release(&w);
}

static void test_known_wander(void **state)
{
	const struct wander never = { 0 }, left_alone = { .left_alone = true };

	(void)state;
	assert_false(wander_is_small(&never, 0, SEC, 1e9));
	assert_true(wander_silence(&never, 0, SEC) == 1e9);
	assert_true(wander_is_small(&left_alone, 0, 1000 * SEC, 0));
	assert_true(wander_silence(&left_alone, 0, SEC) == 0);
}

/* If a curve has more curvature than an oscillator can have, its clock is steered. */
static void test_wander_of_bent_curve(void **state)
{
	struct wander w = { .longest = 100e9, .looks = { 14, 30, 60 } };

	(void)state;
	w.looks[3] = 120;
	assert_true(wander_is_small(&w, 0, 30 * SEC, 10e3));
	/* The curve changes by this much within 25 s. */
	w.bend[2] = 20e3;
	assert_false(wander_is_small(&w, 0, 30 * SEC, 10e3));
	assert_true(wander_is_small(&w, 0, 20 * SEC, 10e3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_wander_of_steered_clock),
		cmocka_unit_test(test_few_looks),
		cmocka_unit_test(test_known_wander),
		cmocka_unit_test(test_wander_of_bent_curve),
	};

	return cmocka_run_group_tests_name("wander", tests, NULL, NULL);
}
