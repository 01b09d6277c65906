// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds of pairs whose corrections are wrong by half of the difference between unequal delays,
 * with wrong messages in between; and bounds of pairs whose corrections miss a clock event.
 */
#include <string.h>

#include "test.h"
#include "bound/pair-bound.h"
#include "util/number.h"

#define SPAN 240e9
#define RATE 140 /* messages per second, in each direction */
#define MEAN 100e3

/* Offset of host 1 from host 0 at a true time, ns. */
typedef double (*ahead_fn)(double t);

static double compute_no_offset(double t)
{
	(void)t;
	return 0;
}

/* The clock is slewed by 200 us within 2 s, and slewed back 4 s later. */
static double slew_and_slew_back(double t)
{
	return 100e-6 * (fmin(fmax(t - 100e9, 0), 2e9) - fmin(fmax(t - 106e9, 0), 2e9));
}

/* The clock is stepped at the end, by more than its rate can explain. */
static double set_clock_at_end(double t)
{
	return t < SPAN - 0.5e9 ? 0 : 5e6;
}

/* Return an offset that looks like a wrong curve: what a linear correction would leave. */
static double set_clock_far_off(double t)
{
	return 5e-6 * t;
}

struct world {
	ahead_fn ahead;
	double delay[2];
	double wrong; /* fraction of messages that are wrong by 200 us */
	double rate;  /* messages per second; 0 selects RATE */
	int probes;   /* requests before all messages, and their replies, which are quick */
};

#define PROBES_APART 100e6 /* ns */
#define PROBE_DELAY 20e3

/* Add requests of a client until the server is up, which the kernel of the other host rejects. */
static void add_probes(struct pairs *pairs, const struct world *w)
{
	for (int i = 0; i < w->probes; i++) {
		for (int way = 0; way < 2; way++) {
			double t = -PROBES_APART * (w->probes - i) + way * MEAN;
			double r = t + (way ? PROBE_DELAY : w->delay[way] + MEAN);
			struct endpoint from = { (uint32_t)way, 0, llround(t) };
			struct endpoint to = { (uint32_t)!way, 0, llround(r) };

			assert_int_equal(pairs_add(pairs, &from, &to), 0);
		}
	}
}

/* Make the bound for corrections of zero. Host 0's time is the true time. */
static void make_left_out_bound(struct pair_bound *b, const struct world *w, uint64_t seed)
{
	const struct limits limits = { .slope = 500e-6, .bend = 0.1e-6 / 1e9 };
	struct correction c[2] = {
		{ .known = true, .from = -(int64_t)1e9, .to = (int64_t)SPAN + (int64_t)1e9 },
	};
	const struct correction *both[2] = { &c[0], &c[1] };
	double rate = w->rate > 0 ? w->rate : RATE;
	struct pairs pairs = { 0 };

	c[1] = c[0];
	add_probes(&pairs, w);
	for (long i = 0; i < (long)(SPAN / 1e9 * rate); i++) {
		for (int way = 0; way < 2; way++) {
			double t = draw_between_0_and_1(&seed) * SPAN;
			double r = t + w->delay[way] + draw_from_exponential(&seed, MEAN);
			struct endpoint from = { (uint32_t)way, 0, llround(t) };
			struct endpoint to = { (uint32_t)!way, 0, llround(r) };

			if (draw_between_0_and_1(&seed) < w->wrong)
				to.t += draw_integer_below(&seed, 400000) - 200000;
			(way ? &from : &to)->t += llround(w->ahead(way ? t : r));
			assert_int_equal(pairs_add(&pairs, &from, &to), 0);
		}
	}
	assert_int_equal(pairs_settle(&pairs), 0);
	assert_int_equal(pair_bound_make(b, pairs.pair[0], both, &limits), 0);
	pairs_release(&pairs);
}

/* Check that the truth is within the bound at all times, and that the bound is usable. */
static void check_bound_holds(const struct world *w, uint64_t seed)
{
	struct pair_bound b;

	make_left_out_bound(&b, w, seed);
	assert_true(b.usable);
	for (double t = -PROBES_APART * w->probes; t < SPAN; t += 20e6) {
		struct range y = rate_bound_at(&b.bound, llround(t));

		assert_true(llround(w->ahead(t)) + 2 >= y.lo);
		assert_true(llround(w->ahead(t)) - 2 <= y.hi);
	}
	pair_bound_release(&b);
}

/*
 * With delays of 30 and 130 us, the corrections are wrong by 50 us. Messages that are 30 to 80 us
 * too early are inconsistent with the truth, but not with the corrections.
 */
static void test_messages_between_truth_and_curve(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++)
		check_bound_holds(&(struct world){ .ahead = compute_no_offset,
						   .delay = { 80e3, 80e3 },
						   .wrong = 0.005 },
				  seed);
}

/* If the number of wrong messages exceeds the limit, there is no bound. */
static void test_too_many(void **state)
{
	struct world w = { .ahead = compute_no_offset, .delay = { 80e3, 80e3 }, .wrong = 0.05 };
	struct pair_bound b;

	(void)state;
	make_left_out_bound(&b, &w, 1);
	assert_false(b.usable);
	pair_bound_release(&b);
	/* Inverted messages also reveal that messages are wrong. */
	w.delay[0] = w.delay[1] = 30e3;
	make_left_out_bound(&b, &w, 1);
	assert_false(b.usable);
	pair_bound_release(&b);
}

/* A slew that the corrections miss is inside the window of a change point. */
static void test_missed_slew(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++)
		check_bound_holds(&(struct world){ .ahead = slew_and_slew_back,
						   .delay = { 30e3, 30e3 } },
				  seed);
}

/* Nothing reveals that the last messages are wrong, because the clock may have been stepped. */
static void test_at_end(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++)
		check_bound_holds(&(struct world){ .ahead = set_clock_at_end,
						   .rate = 5,
						   .delay = { 30e3, 30e3 } },
				  seed);
}

/* A few quick messages at the beginning do not show a step, so the bound is known there. */
static void test_quick_at_beginning(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++) {
		const struct world w = {
			.ahead = compute_no_offset,
			.delay = { 200e3, 200e3 },
			.probes = (int)seed * 3,
		};
		struct pair_bound b;

		check_bound_holds(&w, seed);
		make_left_out_bound(&b, &w, seed);
		for (double t = -PROBES_APART * w.probes; t < 0; t += 20e6) {
			struct range y = rate_bound_at(&b.bound, llround(t));

			assert_true(y.lo > INT64_MIN && y.hi < INT64_MAX);
		}
		pair_bound_release(&b);
	}
}

/*
 * If there are few messages and all are consistent, none is rejected, whatever the error of the
 * curve is.
 */
static void test_few_consistent_messages(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct world w = { .ahead = set_clock_far_off,
				   .delay = { 30e3, 30e3 },
				   .rate = 0.2 };
		struct pair_bound b;

		check_bound_holds(&w, seed);
		make_left_out_bound(&b, &w, seed);
		assert_int_equal(b.quality, NETSYNC_ACCURATE);
		pair_bound_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_between_truth_and_curve),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_missed_slew),
		cmocka_unit_test(test_at_end),
		cmocka_unit_test(test_quick_at_beginning),
		cmocka_unit_test(test_few_consistent_messages),
	};

	return cmocka_run_group_tests_name("left out", tests, NULL, NULL);
}
