// SPDX-License-Identifier: GPL-2.0-only
/* Estimate clocks whose rates change. */
#include <errno.h>
#include <string.h>

#include "test.h"

#define SPAN (600 * SEC)

/* Offset of the second clock from the first, ns. */
typedef double (*ahead_fn)(double t);

static double drift_linearly(double t)
{
	return 30e-6 * t;
}

static double bend_sinusoidally(double t)
{
	return 5e-6 * t + 50e3 * sin(2 * M_PI * t / 300e9);
}

static double break_in_rate(double t)
{
	const double at[] = { 110e9, 290e9, 431e9 };
	const double jump[] = { 20e-6, -20e-6, -20e-6 };
	double v = 0;

	for (int i = 0; i < 3; i++)
		if (t > at[i])
			v += jump[i] * (t - at[i]);
	return v;
}

/*
 * Time at which the clock is stepped, ns. All compared instants are at least 0.15 s away from this
 * time.
 */
#define SET 199.95e9
#define BY 50e6

static double bend_and_step_forward(double t)
{
	return bend_sinusoidally(t) + (t > SET ? BY : 0);
}

static double bend_and_step_backward(double t)
{
	return bend_sinusoidally(t) - (t > SET ? BY : 0);
}

static int64_t read_second_clock(ahead_fn ahead, int64_t t)
{
	return EPOCH + 5 * SEC + t + llround(ahead((double)t));
}

/* The minimum delay of a direction, ns. */
typedef int64_t (*delay_fn)(int up, int64_t t);

static int64_t get_constant_delay(int up, int64_t t)
{
	(void)up;
	(void)t;
	return 30000;
}

/*
 * Idle machines respond slowly. Bulk traffic occurs for a second in every ten: during this second,
 * some messages are faster than all others, and the remaining ones wait, many consecutive ones for
 * the same time.
 */
static int64_t get_bulk_delay(int up, int64_t t)
{
	int64_t turn = t / (SEC / 20);
	uint64_t s = (uint64_t)(2 * turn + up);

	draw_random64(&s);
	return turn % 200 < 20 ? 12000 + (int64_t)draw_from_exponential(&s, 700e3) : 30000;
}

/* Start and end of the interval in which no message is sent. */
static int64_t silent_from, silent_to;

/* Exchange messages. A fraction @wrong of them has errors of up to @most ns. */
static struct netsync *talk_with_errors(ahead_fn ahead, delay_fn delay, long messages,
					uint64_t seed, int reverse, double wrong, int64_t most)
{
	struct netsync *ns = netsync_new();

	assert_int_equal(netsync_add_host(ns, "a"), 0);
	assert_int_equal(netsync_add_host(ns, "b"), 1);
	for (long i = 0; i < messages; i++) {
		/* Both orders have the same messages. */
		uint64_t s = seed * 100000000 + (uint64_t)(reverse ? messages - 1 - i : i);
		int64_t t = draw_integer_below(&s, SPAN);
		int up = draw_random64(&s) & 1;
		int64_t r = t + delay(up, t) + (int64_t)draw_from_exponential(&s, 100e3);
		int64_t by = 0;

		if (t >= silent_from && t < silent_to)
			continue;
		if (draw_between_0_and_1(&s) < wrong)
			by = draw_integer_below(&s, 2 * most) - most;
		if (up)
			assert_int_equal(netsync_push_message(ns, 0, 1, EPOCH + t,
							      read_second_clock(ahead, r) + by),
					 0);
		else
			assert_int_equal(netsync_push_message(ns, 1, 0, read_second_clock(ahead, t),
							      EPOCH + r + by),
					 0);
	}
	return ns;
}

static struct netsync *talk_without_errors(ahead_fn ahead, long messages, uint64_t seed,
					   int reverse)
{
	return talk_with_errors(ahead, get_constant_delay, messages, seed, reverse, 0, 0);
}

static void solve_by_method(struct netsync *ns, enum netsync_method method)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = method,
		.reference = "a",
	};

	assert_int_equal(netsync_solve(ns, &opt), 0);
}

/*
 * Return the largest error of the second clock. If curves are used, check that the truth is always
 * within the bound.
 */
static int64_t find_worst_error(struct netsync *ns, ahead_fn ahead)
{
	int64_t worst = 0;

	for (int i = 0; i <= 2000; i++) {
		int64_t t = SPAN / 2000 * i, r, bound;

		assert_int_equal(netsync_convert(netsync_host_clock(ns, 1),
						 read_second_clock(ahead, t), &r, &bound),
				 0);
		assert_true(llabs(r - EPOCH - t) <= bound);
		if (llabs(r - EPOCH - t) > worst)
			worst = llabs(r - EPOCH - t);
	}
	return worst;
}

/* Limits for 200,000 messages, ns. */
static const struct {
	ahead_fn ahead;
	int64_t error;
} clocks[] = { { drift_linearly, 20 }, { bend_sinusoidally, 500 }, { break_in_rate, 3000 } };

static void test_curve_follows_clock(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct netsync *ns = talk_without_errors(clocks[i].ahead, 200000, 1, 0);

		solve_by_method(ns, NETSYNC_METHOD_AUTO);
		assert_true(find_worst_error(ns, clocks[i].ahead) < clocks[i].error);
		/* A linear clock cannot follow this clock. */
		solve_by_method(ns, NETSYNC_METHOD_HULL);
		if (i)
			assert_true(find_worst_error(ns, clocks[i].ahead) > 40000);
		netsync_free(ns);
	}
}

/* Segments are contiguous, and none of them runs backward. */
static void test_contiguous_segments(void **state)
{
	struct netsync *ns = talk_without_errors(bend_sinusoidally, 100000, 2, 0);
	struct netsync_model m = { .size = sizeof(m) };
	struct netsync_pair_info p = { .size = sizeof(p) };

	(void)state;
	solve_by_method(ns, NETSYNC_METHOD_AUTO);
	assert_int_equal(netsync_clock_model(netsync_host_clock(ns, 1), &m), 0);
	assert_true(m.num_segments > 10);
	for (uint32_t i = 1; i < m.num_segments; i++) {
		const struct netsync_segment *s = &m.segments[i - 1];
		double end = (double)s->offset_ns + (s->rate - 1) * (double)(s->to_ns - s->from_ns);

		assert_int_equal(s->to_ns, s[1].from_ns);
		assert_true(s->rate > 0);
		assert_float_equal(end, (double)s[1].offset_ns, 1);
	}
	assert_int_equal(netsync_get_pair(ns, 0, &p), 0);
	assert_int_equal(p.inversions_after, 0);
	assert_true(p.min_delay_ns[0] > 25000 && p.min_delay_ns[1] > 25000);
	netsync_free(ns);
}

static void check_any_order(ahead_fn ahead, double wrong)
{
	struct netsync *a = talk_with_errors(ahead, get_constant_delay, 50000, 3, 0, wrong,
					     SEC / 10);
	struct netsync *b = talk_with_errors(ahead, get_constant_delay, 50000, 3, 1, wrong,
					     SEC / 10);
	struct netsync_host_info ha = { .size = sizeof(ha) }, hb = ha;

	solve_by_method(a, NETSYNC_METHOD_AUTO);
	solve_by_method(b, NETSYNC_METHOD_AUTO);
	for (int64_t t = 0; t < SPAN; t += SEC / 10) {
		int64_t ra, rb, ba, bb;

		netsync_convert(netsync_host_clock(a, 1), EPOCH + t, &ra, &ba);
		netsync_convert(netsync_host_clock(b, 1), EPOCH + t, &rb, &bb);
		assert_int_equal(ra, rb);
		assert_int_equal(ba, bb);
	}
	assert_int_equal(netsync_get_host(a, 1, &ha), 0);
	assert_int_equal(netsync_get_host(b, 1, &hb), 0);
	assert_int_equal(ha.num_steps, hb.num_steps);
	for (uint32_t i = 0; i < ha.num_steps; i++) {
		struct netsync_step sa = { .size = sizeof(sa) }, sb = sa;

		assert_int_equal(netsync_get_step(a, 1, i, &sa), 0);
		assert_int_equal(netsync_get_step(b, 1, i, &sb), 0);
		assert_int_equal(sa.time_ns, sb.time_ns);
		assert_int_equal(sa.within_ns, sb.within_ns);
		assert_int_equal(sa.offset_ns, sb.offset_ns);
		/* Only the last digits may differ. */
		assert_float_equal(sa.skew_ppm, sb.skew_ppm, 1e-9);
	}
	netsync_free(a);
	netsync_free(b);
}

static void test_any_order(void **state)
{
	(void)state;
	check_any_order(bend_sinusoidally, 0);
	check_any_order(break_in_rate, 0);
	check_any_order(bend_and_step_forward, 1e-3);
	check_any_order(bend_and_step_backward, 1e-3);
}

static void check_step_found(ahead_fn ahead, double by, uint64_t seed)
{
	struct netsync *ns = talk_without_errors(ahead, 200000, seed, 0);
	struct netsync_host_info h = { .size = sizeof(h) };
	struct netsync_step s = { .size = sizeof(s) };
	int64_t before = read_second_clock(bend_sinusoidally, (int64_t)SET);

	solve_by_method(ns, NETSYNC_METHOD_AUTO);
	assert_int_equal(netsync_get_host(ns, 1, &h), 0);
	assert_int_equal(h.num_steps, 1);
	assert_int_equal(netsync_get_step(ns, 1, 0, &s), 0);
	assert_true(llabs(s.time_ns - before) < 20000000);
	assert_true(llabs(s.time_ns - before) <= s.within_ns);
	assert_true(fabs((double)s.offset_ns - by) < 1000);
	assert_true(find_worst_error(ns, ahead) < 1000);
	assert_int_equal(netsync_get_step(ns, 1, 1, &s), -EINVAL);
	netsync_free(ns);
}

static void test_stepped_clock(void **state)
{
	(void)state;
	for (uint64_t seed = 5; seed < 7; seed++) {
		check_step_found(bend_and_step_forward, BY, seed);
		check_step_found(bend_and_step_backward, -BY, seed);
	}
}

static int64_t measure_largest_move(struct netsync *clean, struct netsync *wrong, ahead_fn ahead)
{
	int64_t most = 0;

	for (int64_t t = 0; t <= SPAN; t += SPAN / 2000) {
		int64_t at = read_second_clock(ahead, t), r[2];

		netsync_convert(netsync_host_clock(clean, 1), at, &r[0], NULL);
		netsync_convert(netsync_host_clock(wrong, 1), at, &r[1], NULL);
		if (llabs(r[0] - r[1]) > most)
			most = llabs(r[0] - r[1]);
	}
	return most;
}

/*
 * One wrong message in a thousand has no effect, whether errors are small or large. This test uses
 * a quarter of the messages for which the limits in clocks[] are meant, so that errors are twice as
 * large.
 */
static void test_wrong_messages(void **state)
{
	enum { MESSAGES = 50000 };
	const int64_t most[] = { SEC / 10, 60 * SEC, 86400 * SEC, 10 * 365 * 86400 * SEC };

	(void)state;
	for (int i = 0; i < 3; i++) {
		ahead_fn ahead = clocks[i].ahead;
		struct netsync *clean = talk_without_errors(ahead, MESSAGES, 8, 0);
		int64_t error;

		solve_by_method(clean, NETSYNC_METHOD_AUTO);
		error = find_worst_error(clean, ahead);
		for (int k = 0; k < 4; k++) {
			struct netsync *wrong = talk_with_errors(ahead, get_constant_delay,
								 MESSAGES, 8, 0, 1e-3, most[k]);

			solve_by_method(wrong, NETSYNC_METHOD_AUTO);
			assert_true(find_worst_error(wrong, ahead) < 2 * clocks[i].error);
			/* Errors are rounded to whole ns. */
			if (!k)
				assert_true(measure_largest_move(clean, wrong, ahead) <=
					    error / 2 + 1);
			netsync_free(wrong);
		}
		netsync_free(clean);
	}
}

/*
 * If there are too few messages for a curve, a line is used, and the bound is wide enough for the
 * line.
 */
static void test_bulk_transfer(void **state)
{
	const ahead_fn aheads[] = { drift_linearly, bend_sinusoidally };

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct netsync_host_info info = { .size = sizeof(info) };
		struct netsync *ns = talk_with_errors(aheads[seed % 2], get_bulk_delay, 60000, seed,
						      0, 0, 0);

		solve_by_method(ns, NETSYNC_METHOD_AUTO);
		assert_int_equal(netsync_get_host(ns, 1, &info), 0);
		assert_int_equal(info.num_steps, 0);
		assert_true(find_worst_error(ns, aheads[seed % 2]) < 3000);
		netsync_free(ns);
	}
}

/*
 * One message in 100 is wrong by up to 50 ms, so that every sixth group of 16 messages contains a
 * wrong one.
 */
static void test_many_wrong(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct netsync *ns = talk_with_errors(bend_sinusoidally, get_constant_delay, 100000,
						      seed, 0, 0.01, 50000000);

		solve_by_method(ns, NETSYNC_METHOD_AUTO);
		assert_true(find_worst_error(ns, bend_sinusoidally) < 10000);
		netsync_free(ns);
	}
}

/* The rate changes while there are no messages, and changes back. */
static double change_rate_in_silence(double t)
{
	return 50e-6 * (fmin(fmax(t - 291e9, 0), 3e9));
}

static void test_time_without_messages(void **state)
{
	struct netsync *ns;

	(void)state;
	silent_from = 290 * SEC;
	silent_to = 310 * SEC;
	ns = talk_without_errors(change_rate_in_silence, 100000, 1, 0);
	solve_by_method(ns, NETSYNC_METHOD_AUTO);
	find_worst_error(ns, change_rate_in_silence);
	netsync_free(ns);
	silent_from = silent_to = 0;
}

static void test_few_messages(void **state)
{
	struct netsync *ns = talk_without_errors(drift_linearly, 20, 4, 0);
	struct netsync_host_info h = { .size = sizeof(h) };
	int64_t hull;

	(void)state;
	solve_by_method(ns, NETSYNC_METHOD_HULL);
	hull = find_worst_error(ns, drift_linearly);
	solve_by_method(ns, NETSYNC_METHOD_AUTO);
	assert_int_equal(find_worst_error(ns, drift_linearly), hull);
	assert_int_equal(netsync_get_host(ns, 1, &h), 0);
	assert_int_equal(h.quality, NETSYNC_ACCURATE);
	assert_true(h.bound_median_ns > 100000);
	netsync_free(ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curve_follows_clock),
		cmocka_unit_test(test_contiguous_segments),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_stepped_clock),
		cmocka_unit_test(test_wrong_messages),
		cmocka_unit_test(test_bulk_transfer),
		cmocka_unit_test(test_few_messages),
		cmocka_unit_test(test_many_wrong),
		cmocka_unit_test(test_time_without_messages),
	};

	return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}
