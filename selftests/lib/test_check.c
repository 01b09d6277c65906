// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare the results of all estimators with the messages and with the truth. The clocks are
 * steered, or are stepped away and back.
 */
#include <string.h>

#include "test.h"

enum { MESSAGES = 4000 };

#define DELAY (50 * US)

/*
 * The clock of host b is ahead by @by between @from and @until. The trace has the length @length.
 * All members are in ns.
 */
struct stepped {
	struct netsync *ns;
	int64_t length;
	int64_t from;
	int64_t to;
	int64_t by;
	int64_t silent_from; /* start of an interval without messages */
	int64_t silent_to;
	int64_t slew_ns; /* size of a daemon's slews; 0 without a daemon */
	int64_t least;	 /* minimum delay; 0 selects DELAY */
	double more;	 /* mean excess delay; 0 selects DELAY */
};

static int64_t compute_stepped_offset(const struct stepped *w, int64_t t)
{
	const int64_t swing = 10 * SEC, at = t % (4 * swing);
	const int64_t slewed = at < 2 * swing ? at : 4 * swing - at;

	return (t >= w->from && t < w->to ? w->by : 0) +
	       (int64_t)((double)w->slew_ns * (double)slewed / (2.0 * swing));
}

static int64_t read_clock_b(const struct stepped *w, int64_t t)
{
	return EPOCH + 5 * SEC + t + compute_stepped_offset(w, t);
}

/* Push requests and their responses. With @apart, each message is pushed at a separate time. */
static void exchange_stepped_messages(struct stepped *w, uint64_t seed, int num)
{
	const int64_t least = w->least ? w->least : DELAY;
	const double more = w->more > 0 ? w->more : (double)DELAY;

	w->ns = netsync_new();
	assert_int_equal(netsync_add_host(w->ns, "a"), 0);
	assert_int_equal(netsync_add_host(w->ns, "b"), 1);
	for (int i = 0; i < num; i++) {
		const int64_t t = w->length / num * i;
		const int64_t there = t + least + (int64_t)draw_from_exponential(&seed, more);
		const int64_t back = there + 300 * US;
		const int64_t end = back + least + (int64_t)draw_from_exponential(&seed, more);

		if (t >= w->silent_from && t < w->silent_to)
			continue;
		assert_int_equal(
			netsync_push_message(w->ns, 0, 1, EPOCH + t, read_clock_b(w, there)), 0);
		assert_int_equal(
			netsync_push_message(w->ns, 1, 0, read_clock_b(w, back), EPOCH + end), 0);
	}
}

static struct netsync_host_info solve_stepped(struct stepped *w)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	struct netsync_host_info info = { .size = sizeof(info) };

	assert_int_equal(netsync_solve(w->ns, &opt), 0);
	assert_int_equal(netsync_get_host(w->ns, 1, &info), 0);
	return info;
}

/* Count the instants at which the truth is outside the bound, except those next to a step. */
static int count_outside(const struct stepped *w)
{
	const struct netsync_clock *c = netsync_host_clock(w->ns, 1);
	int outside = 0;

	for (int i = 1; i < 20000; i++) {
		const int64_t t = w->length / 20000 * i;
		int64_t at, bound;

		if (llabs(t - w->from) < 2 * llabs(w->by) || llabs(t - w->to) < 2 * llabs(w->by))
			continue;
		assert_int_equal(netsync_convert(c, read_clock_b(w, t), &at, &bound), 0);
		outside += llabs(at - EPOCH - t) > bound;
	}
	return outside;
}

/*
 * A machine is paused, and its clock is corrected later. Messages between both steps reveal the
 * pause.
 */
static void test_paused_machine(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 25; seed++) {
		struct stepped w = {
			.length = 400 * SEC,
			.from = 150 * SEC + 77777777,
			.by = -(int64_t)(seed % 4 + 1) * 100000 * US,
		};

		w.to = w.from + (int64_t)(seed % 8) * SEC + SEC;
		exchange_stepped_messages(&w, seed, (int)(seed % 3) * 700 + 1200);
		solve_stepped(&w);
		assert_int_equal(count_outside(&w), 0);
		netsync_free(w.ns);
	}
}

/*
 * If one step is found while there are no messages, two steps may have occurred in this interval.
 */
static void test_silent_steps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 10; seed++) {
		struct stepped w = {
			.length = 400 * SEC,
			.silent_from = 150 * SEC,
			.silent_to = 200 * SEC,
			.from = 170 * SEC,
			.by = SEC / 4,
			.to = 400 * SEC,
		};
		struct netsync_host_info info;
		int64_t at, bound;

		exchange_stepped_messages(&w, seed, MESSAGES);
		info = solve_stepped(&w);
		assert_true(info.bound_median_ns < 500 * US);
		assert_int_equal(info.bound_max_ns, NETSYNC_UNKNOWN);
		assert_int_equal(info.contradicted, 1);
		assert_int_equal(count_outside(&w), 0);
		assert_int_equal(netsync_convert(netsync_host_clock(w.ns, 1),
						 read_clock_b(&w, 180 * SEC), &at, &bound),
				 0);
		assert_int_equal(bound, NETSYNC_UNKNOWN);
		netsync_free(w.ns);
	}
}

/*
 * A step smaller than the sum of both directions' minimum delays is consistent with all messages,
 * even for a linear clock. However, the step changes the delays of both directions at the same time
 * by its size.
 */
static void test_hidden_step(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 13; seed++) {
		struct stepped w = {
			.length = 300 * SEC,
			.from = (int64_t)seed * 23 * SEC + SEC / 3,
			.to = 301 * SEC,
			.by = (seed % 2 ? 80000 : -40000) * US,
			.least = 45000 * US,
			.more = 3e6,
		};
		struct netsync_step step = { .size = sizeof(step) };

		exchange_stepped_messages(&w, seed, 8000);
		assert_int_equal(solve_stepped(&w).num_steps, 1);
		assert_int_equal(netsync_get_step(w.ns, 1, 0, &step), 0);
		assert_in_range(llabs(step.offset_ns - w.by), 0, 1000 * US);
		assert_int_equal(count_outside(&w), 0);
		netsync_free(w.ns);
	}
}

/*
 * If there are few messages, nothing reveals the time of such a step. The bound nevertheless holds
 * before and after the step.
 */
static void test_about_hidden_step(void **state)
{
	int known = 0;

	(void)state;
	for (uint64_t seed = 1; seed < 25; seed++) {
		struct stepped w = {
			.length = 60 * SEC,
			.from = (int64_t)seed * 2 * SEC + SEC / 3,
			.to = 61 * SEC,
			.by = 20000 * US,
			.least = 12000 * US,
			.more = 3e5,
		};
		const struct netsync_clock *c;

		exchange_stepped_messages(&w, seed, seed % 2 ? 170 : 300);
		solve_stepped(&w);
		c = netsync_host_clock(w.ns, 1);
		for (int64_t t = w.from - SEC; t < w.from + SEC; t += SEC / 1000) {
			int64_t at, bound;

			assert_int_equal(netsync_convert(c, read_clock_b(&w, t), &at, &bound), 0);
			assert_true(llabs(at - EPOCH - t) <= bound);
			known += bound < NETSYNC_UNKNOWN;
		}
		assert_int_equal(count_outside(&w), 0);
		netsync_free(w.ns);
	}
	assert_true(known > 20000);
}

/*
 * There are so few messages that they surround a single step. Without a step, the bound is claimed
 * as well.
 */
static void test_hidden_from_few(void **state)
{
	static const int num[] = { 64, 96, 150, 240 };

	(void)state;
	for (uint64_t seed = 0; seed < 48; seed++) {
		struct stepped w = {
			.length = 120 * SEC,
			.from = 40 * SEC + (int64_t)seed * SEC * 5 / 6,
			.to = 121 * SEC,
			.by = (seed & 1 ? 1 : -1) * (int64_t)(seed / 2 % 3) * 10800 * US,
			.least = 12000 * US,
			.more = seed & 1 ? 3e5 : 1e6,
		};
		struct netsync_host_info info;

		exchange_stepped_messages(&w, seed, num[seed / 6 % 4]);
		info = solve_stepped(&w);
		assert_int_equal(count_outside(&w), 0);
		assert_in_range(info.bound_median_ns, 12000 * US, 40000 * US);
		if (!w.by)
			assert_int_equal(info.quality, NETSYNC_ACCURATE);
		netsync_free(w.ns);
	}
}

/*
 * If the bound of a host is due to one pair, but a message of another pair is inconsistent with it,
 * the host is not accurate: its clock may have been stepped away and back in between.
 */
static void test_other_pair(void **state)
{
	struct netsync_host_info info = { .size = sizeof(info) };
	uint64_t seed = 3;
	struct stepped w = { .length = 60 * SEC };

	(void)state;
	exchange_stepped_messages(&w, 3, 600);
	/* The third host is farther away from both others. */
	assert_int_equal(netsync_add_host(w.ns, "c"), 2);
	for (int i = 0; i < 1200; i++) {
		const int64_t t = EPOCH + 60 * SEC / 1200 * i;
		const int64_t there = t + 500 * US + (int64_t)draw_from_exponential(&seed, 50e3);
		const int64_t back = there + 800 * US + (int64_t)draw_from_exponential(&seed, 50e3);
		const bool wrong = i == 701, b = i & 1;

		assert_int_equal(netsync_push_message(w.ns, b, 2,
						      b ? t + 5 * SEC + (wrong ? SEC / 2 : 0) : t,
						      there),
				 0);
		assert_int_equal(netsync_push_message(w.ns, 2, b, there + 300 * US,
						      back + (b ? 5 * SEC : 0)),
				 0);
	}
	solve_stepped(&w);
	for (uint32_t h = 1; h < 3; h++) {
		assert_int_equal(netsync_get_host(w.ns, h, &info), 0);
		assert_int_equal(info.quality, NETSYNC_APPROXIMATE);
		assert_in_range(info.bound_max_ns, 1, 2000 * US);
	}
	assert_int_equal(netsync_get_host(w.ns, 0, &info), 0);
	assert_int_equal(info.quality, NETSYNC_ACCURATE);
	netsync_free(w.ns);
}

/*
 * A host is stepped by less than the minimum delays of its pair with the reference. A few messages
 * of this pair do not reveal the step. Messages with a third host reveal it, because no clock
 * satisfies them.
 */
static void test_impossible_pair(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 25; seed++) {
		struct stepped w = {
			.length = 8 * SEC,
			.from = 3 * SEC + (int64_t)seed * SEC / 12,
			.to = 9 * SEC,
			.by = (seed % 2 ? 40000 : -40000) * US,
			.least = 25000 * US,
			.more = 2e6,
		};
		uint64_t s = seed;

		exchange_stepped_messages(&w, seed, 16);
		assert_int_equal(netsync_add_host(w.ns, "c"), 2);
		for (int i = 0; i < 32; i++) {
			const int64_t t = w.length / 32 * i + SEC / 100, b = i & 1;
			const int64_t there = t + DELAY + (int64_t)draw_from_exponential(&s, 50e3);
			const int64_t back = there + 100 * US;
			const int64_t end = back + DELAY + (int64_t)draw_from_exponential(&s, 50e3);

			assert_int_equal(netsync_push_message(w.ns, b, 2,
							      b ? read_clock_b(&w, t) : EPOCH + t,
							      EPOCH + there),
					 0);
			assert_int_equal(netsync_push_message(w.ns, 2, b, EPOCH + back,
							      b ? read_clock_b(&w, end) :
								  EPOCH + end),
					 0);
		}
		assert_int_equal(solve_stepped(&w).contradicted, 1);
		assert_int_equal(count_outside(&w), 0);
		netsync_free(w.ns);
	}
}

/* Check that the rates of all segments are possible for two steered clocks. */
static void check_segment_rates(const struct netsync *ns, uint32_t host)
{
	struct netsync_model m = { .size = sizeof(m) };

	netsync_clock_model(netsync_host_clock(ns, host), &m);
	for (uint32_t i = 0; i < m.num_segments; i++) {
		const struct netsync_segment *s = netsync_model_segment(&m, i);

		/* The slope of a short segment is mostly a rounding error. */
		if (s->to_ns - s->from_ns > SEC / 1000)
			assert_true(fabs(s->rate - 1) < 1600e-6);
	}
}

/* An estimate is within its bound, also for steered clocks, and inverts no message. */
static void test_estimate_within_bound(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct stepped w = { .length = 300 * SEC,
				     .slew_ns = (int64_t)(seed % 4) * 2400 * US };
		struct netsync_pair_info pair = { .size = sizeof(pair) };
		struct netsync_host_info info;

		exchange_stepped_messages(&w, seed, seed % 2 ? 60 : 600);
		info = solve_stepped(&w);
		assert_int_equal(count_outside(&w), 0);
		assert_int_equal(netsync_get_pair(w.ns, 0, &pair), 0);
		if (info.quality == NETSYNC_ACCURATE)
			assert_int_equal(pair.inversions_after, 0);
		check_segment_rates(w.ns, 1);
		netsync_free(w.ns);
	}
}

/* If messages take seconds and traces last minutes, messages determine slopes poorly. */
static void test_slow_messages(void **state)
{
	uint64_t s = 5;

	(void)state;
	for (int i = 0; i < 150; i++) {
		struct stepped w = { .length = (100 + draw_integer_below(&s, 900)) * SEC };
		const double mean = exp(draw_between_0_and_1(&s) * 3) * 4e8;
		const int num = 60 + (int)draw_integer_below(&s, 300);

		w.ns = netsync_new();
		assert_int_equal(netsync_add_host(w.ns, "a"), 0);
		assert_int_equal(netsync_add_host(w.ns, "b"), 1);
		for (int k = 0; k < num; k++) {
			const int64_t t = draw_integer_below(&s, w.length);
			const int64_t late = t + 100 * US +
					     (int64_t)draw_from_exponential(&s, mean);
			const bool back = draw_random64(&s) & 1;

			assert_int_equal(
				netsync_push_message(w.ns, back, !back,
						     back ? read_clock_b(&w, t) : EPOCH + t,
						     back ? EPOCH + late : read_clock_b(&w, late)),
				0);
		}
		/* For any quality, no two messages are inconsistent. */
		assert_int_equal(solve_stepped(&w).contradicted, 0);
		check_segment_rates(w.ns, 1);
		assert_int_equal(count_outside(&w), 0);
		netsync_free(w.ns);
	}
}

/*
 * The assumption about any two clocks limits the rate of a host several hops away from the
 * reference, not the sum over the hops.
 */
static void test_slow_chain(void **state)
{
	uint64_t s = 7;

	(void)state;
	for (int i = 0; i < 60; i++) {
		const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
		const int64_t length = (60 + draw_integer_below(&s, 540)) * SEC;
		const double mean = exp(draw_between_0_and_1(&s) * 3) * 4e8;
		const int num = 60 + (int)draw_integer_below(&s, 240);
		struct stepped w = { .ns = netsync_new() };

		for (int h = 0; h < 5; h++)
			assert_int_equal(netsync_add_host(w.ns, (char[]){ 'a' + (char)h, 0 }), h);
		for (int k = 0; k < 4 * num; k++) {
			const uint32_t host = (uint32_t)k % 4, back = draw_random64(&s) & 1;
			const int64_t t = EPOCH + draw_integer_below(&s, length);

			assert_int_equal(netsync_push_message(
						 w.ns, host + back, host + !back, t,
						 t + 100 * US +
							 (int64_t)draw_from_exponential(&s, mean)),
					 0);
		}
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		for (uint32_t h = 1; h < 5; h++)
			check_segment_rates(w.ns, h);
		netsync_free(w.ns);
	}
}

/* A reference that shares no messages with other hosts is not accurate. */
static void test_reference_without_messages(void **state)
{
	struct netsync_host_info info = { .size = sizeof(info) };
	struct netsync *ns = netsync_new();

	(void)state;
	assert_int_equal(netsync_add_host(ns, "a"), 0);
	assert_int_equal(netsync_solve(ns, NULL), 0);
	assert_int_equal(netsync_get_host(ns, 0, &info), 0);
	assert_int_equal(info.quality, NETSYNC_ABSENT);
	assert_non_null(netsync_host_clock(ns, 0));
	netsync_free(ns);
}

/* If there are many messages per second, no interval without messages is reported. */
static void test_dense_messages_have_no_silence(void **state)
{
	struct stepped w = { .length = 100 * SEC, .slew_ns = 1500 * US };

	(void)state;
	exchange_stepped_messages(&w, 1, MESSAGES);
	assert_int_equal(solve_stepped(&w).silent_ns, 0);
	netsync_free(w.ns);
}

/*
 * Few messages touch a bound, but other messages pass at the same time. Only a host's own span
 * determines where it has no messages, not the end of its neighbour's span.
 */
static void test_silence_of_one(void **state)
{
	struct stepped w = { .length = 15 * SEC, .least = 3 * US, .more = 3e3 };

	(void)state;
	exchange_stepped_messages(&w, 1, 100);
	assert_int_equal(netsync_extend_span(w.ns, 0, EPOCH + 40 * SEC), 0);
	assert_int_equal(solve_stepped(&w).silent_ns, 0);
	assert_int_equal(netsync_extend_span(w.ns, 1, read_clock_b(&w, 25 * SEC)), 0);
	assert_in_range(solve_stepped(&w).silent_ns, 9 * SEC, 11 * SEC);
	netsync_free(w.ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paused_machine),
		cmocka_unit_test(test_silent_steps),
		cmocka_unit_test(test_hidden_step),
		cmocka_unit_test(test_about_hidden_step),
		cmocka_unit_test(test_hidden_from_few),
		cmocka_unit_test(test_other_pair),
		cmocka_unit_test(test_impossible_pair),
		cmocka_unit_test(test_estimate_within_bound),
		cmocka_unit_test(test_slow_messages),
		cmocka_unit_test(test_slow_chain),
		cmocka_unit_test(test_reference_without_messages),
		cmocka_unit_test(test_dense_messages_have_no_silence),
		cmocka_unit_test(test_silence_of_one),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
