// SPDX-License-Identifier: GPL-2.0-only
/* Intervals contain the truth for all clocks that fulfil the assumptions. */
#include <errno.h>

#include "test.h"

#define SPAN (600 * SEC)
#define MAX_HOSTS 4

/* Offset of a host's clock, ns. */
typedef double (*ahead_fn)(int host, double t);

static double run_steadily(int host, double t)
{
	return host * (1e9 + 20e-6 * t);
}

/* A clock with a drift of at most 0.02 ppm/s. */
static double bend_slowly(int host, double t)
{
	return host * 7e9 - 30e-6 * t + 50e3 * sin(t * 2e-11 + host);
}

static double break_twice(int host, double t)
{
	const double at[] = { 150e9, 420e9 }, by[] = { 20e-6, -30e-6 };
	double v = 3e9 * host;

	for (int i = 0; i < 2 && host == 1; i++)
		if (t > at[i])
			v += by[i] * (t - at[i]);
	return v;
}

static int64_t read_chain_clock(ahead_fn ahead, int host, int64_t t)
{
	return EPOCH + t + llround(ahead(host, (double)t));
}

/*
 * Make a chain of hosts. @ways gives the directions of the messages of each pair: 1 forward, 2
 * backward, 3 both.
 */
static struct netsync *talk_along_chain(ahead_fn ahead, int hosts, long messages, int ways)
{
	struct netsync *ns = netsync_new();
	uint64_t seed = 1;

	for (int h = 0; h < hosts; h++) {
		assert_int_equal(netsync_add_host(ns, h ? "b" : "a"), h);
		netsync_extend_span(ns, (uint32_t)h, read_chain_clock(ahead, h, 0));
		netsync_extend_span(ns, (uint32_t)h, read_chain_clock(ahead, h, SPAN));
	}
	for (long i = 0; i < messages; i++) {
		int a = (int)draw_integer_below(&seed, hosts - 1), b = a + 1;
		int64_t t = draw_integer_below(&seed, SPAN);
		int64_t r = t + 30000 + (int64_t)draw_from_exponential(&seed, 100e3);
		bool back = ways == 3 ? draw_random64(&seed) & 1 : ways == 2;
		int from = back ? b : a, to = back ? a : b;

		assert_int_equal(netsync_push_message(ns, (uint32_t)from, (uint32_t)to,
						      read_chain_clock(ahead, from, t),
						      read_chain_clock(ahead, to, r)),
				 0);
	}
	return ns;
}

static void solve_chain_by_method(struct netsync *ns, enum netsync_method method, double drift)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = method,
		.reference = "a",
		.max_drift_ppm_s = drift,
	};

	assert_int_equal(netsync_solve(ns, &opt), 0);
}

static struct netsync_host_info get_chain_host_info(const struct netsync *ns, uint32_t host)
{
	struct netsync_host_info h = { .size = sizeof(h) };

	assert_int_equal(netsync_get_host(ns, host, &h), 0);
	return h;
}

/* Check that each interval contains the truth. Return the mean width of the intervals. */
static double measure_mean_width(const struct netsync *ns, ahead_fn ahead, int host)
{
	const struct netsync_clock *c = netsync_host_clock(ns, (uint32_t)host);
	double sum = 0;

	for (int i = -200; i <= 5200; i++) {
		int64_t t = SPAN / 5000 * i, lo, hi, mid, bound;
		int64_t r = read_chain_clock(ahead, host, t), truth = read_chain_clock(ahead, 0, t);

		assert_int_equal(netsync_interval(c, r, &lo, &hi), 0);
		/* Clock readings are rounded to ns. */
		assert_true(lo <= truth + 1 && hi >= truth - 1);
		assert_int_equal(netsync_convert(c, r, &mid, &bound), 0);
		assert_true(lo <= mid && mid <= hi);
		if (bound < NETSYNC_UNKNOWN)
			assert_int_equal(bound, mid - lo > hi - mid ? mid - lo : hi - mid);
		if (i >= 0 && i < 5000)
			sum += (double)hi - (double)lo;
	}
	return sum / 5000;
}

static void test_intervals_of_bending_clocks(void **state)
{
	struct netsync *ns = talk_along_chain(bend_slowly, MAX_HOSTS, 300000, 3);

	(void)state;
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 0);
	for (int h = 1; h < MAX_HOSTS; h++) {
		double width = measure_mean_width(ns, bend_slowly, h);

		/* The width is twice the minimum delay of each hop, plus a little. */
		assert_true(width > h * 60e3 && width < h * 63e3);
		assert_int_equal(get_chain_host_info(ns, (uint32_t)h).quality, NETSYNC_ACCURATE);
	}
	netsync_free(ns);
}

/* The assumptions determine which bounds are possible. */
static void test_assumptions(void **state)
{
	struct netsync *ns = talk_along_chain(bend_slowly, 2, 20000, 3);
	const struct netsync_options bad = {
		.size = sizeof(bad),
		.max_drift_ppm_s = -1,
	};
	double narrow, wide;

	(void)state;
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 0.02);
	narrow = measure_mean_width(ns, bend_slowly, 1);
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 2);
	wide = measure_mean_width(ns, bend_slowly, 1);
	assert_true(narrow < wide - 2000);
	/* These clocks are not linear. The method "hull" detects this and reports no bound. */
	solve_chain_by_method(ns, NETSYNC_METHOD_HULL, 0);
	assert_int_equal(get_chain_host_info(ns, 1).quality, NETSYNC_APPROXIMATE);
	assert_int_equal(get_chain_host_info(ns, 1).bound_max_ns, NETSYNC_UNKNOWN);
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 1e-7);
	assert_int_equal(get_chain_host_info(ns, 1).quality, NETSYNC_APPROXIMATE);
	assert_int_equal(get_chain_host_info(ns, 1).bound_max_ns, NETSYNC_UNKNOWN);
	assert_int_equal(netsync_solve(ns, &bad), -EINVAL);
	netsync_free(ns);
}

static void test_intervals_of_stepped_clocks(void **state)
{
	struct netsync *ns = talk_along_chain(break_twice, 2, 300000, 3);
	struct netsync_step s = { .size = sizeof(s) };

	(void)state;
	assert_int_equal(netsync_get_step(ns, 1, 0, &s), -ENODATA);
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 0);
	measure_mean_width(ns, break_twice, 1);
	assert_int_equal(get_chain_host_info(ns, 0).num_steps, 0);
	assert_int_equal(get_chain_host_info(ns, 1).num_steps, 2);
	for (uint32_t i = 0; i < 2; i++) {
		int64_t t = read_chain_clock(break_twice, 1, (i ? 420 : 150) * SEC);

		assert_int_equal(netsync_get_step(ns, 1, i, &s), 0);
		assert_true(llabs(s.time_ns - t) <= s.within_ns);
		assert_int_equal(s.offset_ns, 0);
		assert_true(fabs(s.skew_ppm - (i ? -30 : 20)) < 2);
	}
	assert_int_equal(netsync_get_step(ns, 1, 2, &s), -EINVAL);
	assert_int_equal(netsync_get_step(ns, 2, 0, &s), -EINVAL);
	s.size = 4;
	assert_int_equal(netsync_get_step(ns, 1, 0, &s), -EINVAL);
	netsync_free(ns);
}

/*
 * Messages in one direction only reveal on which side of them the truth is. They reveal no rate
 * step, so limits hold for steered clocks, too, unless the caller declares that none is steered.
 */
static void check_one_direction(int ways, double drift, int64_t most)
{
	struct netsync *ns = talk_along_chain(run_steadily, 2, 10000, ways);
	int64_t lo, hi, t = read_chain_clock(run_steadily, 1, SPAN / 2);

	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, drift);
	measure_mean_width(ns, run_steadily, 1);
	assert_int_equal(get_chain_host_info(ns, 1).quality, NETSYNC_INCOMPLETE);
	assert_int_equal(get_chain_host_info(ns, 1).bound_median_ns, NETSYNC_UNKNOWN);
	assert_int_equal(netsync_interval(netsync_host_clock(ns, 1), t, &lo, &hi), 0);
	/* Messages are received later than they are sent: the receiver's time is not before. */
	if (ways == 1) {
		assert_int_equal(hi, INT64_MAX);
		assert_true(llabs(lo - EPOCH - SPAN / 2) < most);
	} else {
		assert_int_equal(lo, INT64_MIN);
		assert_true(llabs(hi - EPOCH - SPAN / 2) < most);
	}
	netsync_free(ns);
}

static void test_one_direction(void **state)
{
	(void)state;
	for (int ways = 1; ways <= 2; ways++) {
		check_one_direction(ways, 0.1, 45000);
		/* Messages are 60 ms apart on average, in which 1500 ppm are 90 us. */
		check_one_direction(ways, 0, 300000);
	}
}

/* There are few messages, and whether daemons steer the clocks is unknown. */
static void test_intervals_without_messages(void **state)
{
	struct netsync *ns = talk_along_chain(run_steadily, 2, 40, 3);

	(void)state;
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 0);
	assert_true(get_chain_host_info(ns, 1).silent_ns > SPAN / 2);
	assert_true(get_chain_host_info(ns, 1).silent_ns <= SPAN + SPAN / 1000);
	assert_int_equal(get_chain_host_info(ns, 0).silent_ns, 0);
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 0.1);
	assert_int_equal(get_chain_host_info(ns, 1).silent_ns, 0);
	netsync_free(ns);

	ns = talk_along_chain(run_steadily, 2, 100000, 3);
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 0);
	assert_int_equal(get_chain_host_info(ns, 1).silent_ns, 0);
	netsync_free(ns);
}

static void test_order_by_intervals(void **state)
{
	struct netsync *ns = talk_along_chain(bend_slowly, 3, 100000, 3);
	const struct netsync_clock *c[3];
	uint64_t seed = 5;
	int certain = 0;

	(void)state;
	solve_chain_by_method(ns, NETSYNC_METHOD_AUTO, 0);
	for (uint32_t h = 0; h < 3; h++)
		c[h] = netsync_host_clock(ns, h);
	for (int i = 0; i < 20000; i++) {
		int a = (int)draw_integer_below(&seed, 3), b = (int)draw_integer_below(&seed, 3);
		int64_t t = draw_integer_below(&seed, SPAN),
			d = draw_integer_below(&seed, 800000) - 400000;
		enum netsync_sequence s = netsync_order(c[a], read_chain_clock(bend_slowly, a, t),
							c[b],
							read_chain_clock(bend_slowly, b, t + d));

		assert_true(s != (d > 0 ? NETSYNC_AFTER : NETSYNC_BEFORE) || llabs(d) <= 1);
		certain += s != NETSYNC_UNCERTAIN;
		/* Each of two hops adds 31 us. */
		assert_true(s != NETSYNC_UNCERTAIN || llabs(d) < 140000);
	}
	assert_true(certain > 10000);
	netsync_free(ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals_of_bending_clocks),
		cmocka_unit_test(test_assumptions),
		cmocka_unit_test(test_intervals_of_stepped_clocks),
		cmocka_unit_test(test_one_direction),
		cmocka_unit_test(test_intervals_without_messages),
		cmocka_unit_test(test_order_by_intervals),
	};

	return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
