// SPDX-License-Identifier: GPL-2.0-only
/* The standard deviations of clocks: known values, and the errors in simulated worlds. */
#include <stdio.h>

#include "reduction.h"
#include "steered.h"

#define HOUR (3600 * SEC)

/* ---- known values -------------------------------------------------------- */

/* Two hosts, whose corrections are 0 for 100 s. The reference is certain. */
struct two_hosts {
	struct reduction r;
	struct host host[2];
	struct correction correction[2];
	struct deviation_knot known_to[2];
	struct netsync_segment segment;
	struct netsync_clock *clock;
};

static void init_two_hosts(struct two_hosts *w)
{
	*w = (struct two_hosts){
		.r = { .host = w->host, .correction = w->correction, .num_hosts = 2 },
		.host = { { .origin = EPOCH }, { .origin = EPOCH } },
		.correction = { { .known = true, .to = 100 * SEC },
				{ .known = true,
				  .to = 100 * SEC,
				  .known_to = w->known_to,
				  .num_known_to = 2 } },
		.known_to = { { 10e9, 40, 0 }, { 30e9, 20, 0 } },
		.segment = { EPOCH, EPOCH + 100 * SEC, 0, 1, NETSYNC_UNKNOWN },
	};
}

static void make_clock_of_two(struct two_hosts *w)
{
	struct netsync_deviation_knot *knot = NULL;
	struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = 1,
		.segment_size = sizeof(w->segment),
		.segments = &w->segment,
	};

	netsync_clock_free(w->clock);
	assert_int_equal(reduction_set_deviations(&w->r, 1, &m, &knot), 0);
	assert_int_equal(netsync_clock_new(&m, &w->clock), 0);
	free(knot);
}

/* Check a deviation, which may be an eighth and 2 ns too large. */
static void check_deviation(const struct two_hosts *w, double at, double expected)
{
	const int64_t found = netsync_deviation(w->clock, EPOCH + (int64_t)(at * 1e9));

	if (isinf(expected)) {
		assert_int_equal(found, NETSYNC_UNKNOWN);
		return;
	}
	assert_in_range(found, (int64_t)(expected * (1 - 1e-9)), (int64_t)(expected * 9 / 8) + 2);
}

static void test_deviation_of_line(void **state)
{
	struct two_hosts w;

	(void)state;
	init_two_hosts(&w);
	make_clock_of_two(&w);
	check_deviation(&w, 10, 40);
	check_deviation(&w, 15, 35);
	check_deviation(&w, 30, 20);
	/* The line through both knots continues; both deviations count. */
	check_deviation(&w, 0, 40 * 1.5 + 20 * 0.5);
	check_deviation(&w, 100, 20 * 4.5 + 40 * 3.5);
	check_deviation(&w, -1e-9, INFINITY);
	check_deviation(&w, 100.000000001, INFINITY);
	netsync_clock_free(w.clock);
}

static void test_deviation_between_knots(void **state)
{
	struct two_hosts w;

	(void)state;
	init_two_hosts(&w);
	w.known_to[1].between = 300;
	make_clock_of_two(&w);
	check_deviation(&w, 10, 40);
	check_deviation(&w, 30, 20);
	check_deviation(&w, 20, hypot(30, 300));
	check_deviation(&w, 12.5, hypot(37.5, 300 * sqrt(0.4375)));
	netsync_clock_free(w.clock);
}

/* The errors of two clocks are independent, and so is the error of what is not the posterior. */
static void test_sum_of_deviations(void **state)
{
	struct deviation_knot reference[] = { { 0, 70, 0 }, { 100e9, 70, 0 } };
	struct two_hosts w;

	(void)state;
	init_two_hosts(&w);
	w.correction[0].known_to = reference;
	w.correction[0].num_known_to = 2;
	make_clock_of_two(&w);
	check_deviation(&w, 20, hypot(30, 70));
	w.segment.offset_ns = -500;
	make_clock_of_two(&w);
	check_deviation(&w, 20, hypot(hypot(30, 70), 500));
	netsync_clock_free(w.clock);
}

/* A step between two messages may have been at any time between them. */
static void test_step_time(void **state)
{
	struct change_point step = {
		.t = 20e9, .uncertainty = 1e9, .phase_step = true, .offset = -1000
	};
	struct two_hosts w;

	(void)state;
	init_two_hosts(&w);
	w.correction[1].change = &step;
	w.correction[1].num_changes = 1;
	make_clock_of_two(&w);
	check_deviation(&w, 18.99, 31);
	check_deviation(&w, 20, hypot(30, 1000 / sqrt(2)));
	check_deviation(&w, 20.99, hypot(29, 1000 / sqrt(2)));
	check_deviation(&w, 21.01, 29);
	step.phase_step = false;
	make_clock_of_two(&w);
	check_deviation(&w, 20, 30);
	netsync_clock_free(w.clock);
}

static void test_unknown_deviation(void **state)
{
	struct two_hosts w;

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		init_two_hosts(&w);
		if (kind == 0)
			w.correction[1].num_known_to = 1;
		else if (kind == 1)
			w.correction[1].no_margin = true;
		else if (kind == 2)
			w.correction[0].no_margin = true;
		else
			w.host[1].quality = NETSYNC_INCOMPLETE;
		make_clock_of_two(&w);
		check_deviation(&w, 20, INFINITY);
		netsync_clock_free(w.clock);
	}
}

/* ---- simulated worlds ---------------------------------------------------- */

/* Hosts with a random walk of the frequency. */
struct walkers {
	int hosts;
	double walk;   /* standard deviation of the frequency increment of a second, ppb */
	int64_t quiet; /* half of the time without messages half-way, ns */
	bool one_way;  /* no message reaches the first host */
	uint64_t seed;
	double *offset[8]; /* at each second, ns */
};

static void walk_randomly(struct walkers *w)
{
	for (int h = 0; h < w->hosts; h++) {
		double frequency = 10e3 * h;

		w->offset[h] = calloc(3602, sizeof(double));
		assert_non_null(w->offset[h]);
		for (int i = 0; i < 3601; i++) {
			const double normal = sqrt(-2 * log(draw_between_0_and_1(&w->seed))) *
					      cos(2 * M_PI * draw_between_0_and_1(&w->seed));

			frequency += w->walk * normal;
			w->offset[h][i + 1] = w->offset[h][i] + frequency;
		}
	}
}

static int64_t read_walker(const struct walkers *w, int host, int64_t t)
{
	const double *o = &w->offset[host][t / SEC];
	const double part = (double)(t % SEC) / 1e9;

	return EPOCH + t + llround(o[0] + part * (o[1] - o[0]));
}

static struct netsync *make_walkers(struct walkers *w, long messages)
{
	struct netsync *ns = netsync_new();
	char name[16];

	walk_randomly(w);
	for (int i = 0; i < w->hosts; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		assert_int_equal(netsync_add_host(ns, name), i);
	}
	for (long i = 0; i < messages; i++) {
		const int64_t t = draw_integer_below(&w->seed, HOUR - SEC);
		const int64_t r = t + 30000 + (int64_t)draw_from_exponential(&w->seed, 100e3);
		const int from = (int)draw_integer_below(&w->seed, w->hosts);
		const int to = (from + 1 + (int)draw_integer_below(&w->seed, w->hosts - 1)) %
			       w->hosts;

		if (llabs(t - HOUR / 2) < w->quiet || (w->one_way && !to))
			continue;
		assert_int_equal(netsync_push_message(ns, (uint32_t)from, (uint32_t)to,
						      read_walker(w, from, t),
						      read_walker(w, to, r)),
				 0);
	}
	return ns;
}

static void solve_with(struct netsync *ns, enum netsync_method method)
{
	const struct netsync_options opt = { .size = sizeof(opt),
					     .method = method,
					     .reference = "h0" };

	assert_int_equal(netsync_solve(ns, &opt), 0);
}

static void free_walkers(struct walkers *w, struct netsync *ns)
{
	for (int h = 0; h < w->hosts; h++)
		free(w->offset[h]);
	netsync_free(ns);
}

/* Sums of squared errors and deviations. */
struct calibration {
	double errors;
	double deviations;
	int num;
	int beyond; /* number of errors of more than 3 deviations */
	int unknown;
};

static void compare_error(struct calibration *c, int64_t error, int64_t deviation)
{
	if (deviation == NETSYNC_UNKNOWN) {
		c->unknown++;
		return;
	}
	c->errors += (double)error * (double)error;
	c->deviations += (double)deviation * (double)deviation;
	c->beyond += llabs(error) > 3 * deviation;
	c->num++;
}

/* Compare the errors of a host with its deviations, from one time to another. */
static void compare_walker(struct calibration *c, const struct walkers *w, const struct netsync *ns,
			   int host, int64_t from, int64_t to)
{
	const struct netsync_clock *clock = netsync_host_clock(ns, (uint32_t)host);

	for (int64_t t = from; t < to; t += SEC / 4) {
		const int64_t own = read_walker(w, host, t);
		int64_t got;

		assert_int_equal(netsync_convert(clock, own, &got, NULL), 0);
		compare_error(c, got - read_walker(w, 0, t), netsync_deviation(clock, own));
	}
}

/*
 * Deviations treat the learned noise as exact, so errors may be up to twice as large. At most
 * @share of the errors are larger than three deviations. @least is a lower limit of the ratio.
 */
static void check_calibration(const char *what, const struct calibration *c, double least,
			      double share)
{
	const double ratio = sqrt(c->errors / c->deviations);

	print_message("%s: error %.0f ns, deviation %.0f ns, %.2f %% beyond 3, %d unknown\n", what,
		      sqrt(c->errors / c->num), sqrt(c->deviations / c->num),
		      100.0 * c->beyond / c->num, c->unknown);
	assert_true(ratio > least && ratio < 2);
	assert_true(c->beyond <= share * c->num);
}

static void test_calibration_of_deviations(void **state)
{
	(void)state;
	for (int hosts = 2; hosts <= 5; hosts += 3) {
		struct calibration all = { 0 };

		for (uint64_t seed = 1; seed < 4; seed++) {
			struct walkers w = { .hosts = hosts, .walk = 1, .seed = seed };
			struct netsync *ns = make_walkers(&w, 4000L * hosts * hosts);

			solve_with(ns, NETSYNC_METHOD_MODEL);
			for (int h = 1; h < hosts; h++)
				compare_walker(&all, &w, ns, h, 5 * SEC, HOUR - 5 * SEC);
			free_walkers(&w, ns);
		}
		assert_int_equal(all.unknown, 0);
		check_calibration(hosts == 2 ? "two hosts" : "five hosts", &all, 0.4, 0.03);
	}
}

/* While no messages pass, deviations grow with the errors. */
static void test_deviation_without_messages(void **state)
{
	struct calibration in = { 0 }, out = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed < 7; seed++) {
		struct walkers w = { .hosts = 2, .walk = 1, .quiet = 100 * SEC, .seed = seed };
		struct netsync *ns = make_walkers(&w, 20000);

		solve_with(ns, NETSYNC_METHOD_MODEL);
		compare_walker(&in, &w, ns, 1, HOUR / 2 - 100 * SEC, HOUR / 2 + 100 * SEC);
		compare_walker(&out, &w, ns, 1, 5 * SEC, HOUR / 3);
		free_walkers(&w, ns);
	}
	check_calibration("quiet", &in, 0.4, 0.2);
	check_calibration("talking", &out, 0.4, 0.1);
	assert_true(in.deviations / in.num > 4 * out.deviations / out.num);
}

/* The deviation covers the span, and its median and maximum are those of all instants. */
static void test_summary_of_deviations(void **state)
{
	struct walkers w = { .hosts = 3, .walk = 1, .seed = 3 };
	struct netsync *ns = make_walkers(&w, 20000);

	(void)state;
	solve_with(ns, NETSYNC_METHOD_MODEL);
	for (uint32_t h = 0; h < 3; h++) {
		const struct netsync_clock *c = netsync_host_clock(ns, h);
		struct netsync_host_info info = { .size = sizeof(info) };
		int64_t most = 0;
		int below = 0;

		assert_int_equal(netsync_get_host(ns, h, &info), 0);
		for (int i = 0; i <= 10000; i++) {
			const int64_t t = info.first_ns +
					  (info.last_ns - info.first_ns) / 10000 * i;
			const int64_t deviation = netsync_deviation(c, t);

			most = deviation > most ? deviation : most;
			below += deviation < info.deviation_median_ns;
		}
		assert_int_equal(netsync_deviation(c, info.first_ns - 1), NETSYNC_UNKNOWN);
		assert_int_equal(netsync_deviation(c, info.last_ns + 1), NETSYNC_UNKNOWN);
		assert_true(info.deviation_max_ns >= most);
		assert_true(info.deviation_max_ns <= info.bound_max_ns);
		if (h) {
			assert_true(info.deviation_median_ns > 0);
			assert_in_range(below, 4000, 6000);
		} else {
			assert_int_equal(info.deviation_max_ns, 0);
		}
	}
	free_walkers(&w, ns);
}

/* Messages of one direction do not determine the offset, and other methods give no deviation. */
static void test_messages_in_one_direction(void **state)
{
	(void)state;
	for (int method = NETSYNC_METHOD_AUTO; method <= NETSYNC_METHOD_MODEL; method++) {
		const bool one_way = method == NETSYNC_METHOD_MODEL;
		struct walkers w = { .hosts = 2, .walk = 1, .one_way = one_way, .seed = 5 };
		struct netsync *ns = make_walkers(&w, 5000);

		solve_with(ns, (enum netsync_method)method);
		for (uint32_t h = one_way; h < 2; h++) {
			struct netsync_host_info info = { .size = sizeof(info) };
			struct netsync_model m = { .size = sizeof(m) };

			assert_int_equal(netsync_get_host(ns, h, &info), 0);
			assert_int_equal(netsync_clock_model(netsync_host_clock(ns, h), &m), 0);
			assert_int_equal(m.num_deviations, 0);
			assert_int_equal(info.deviation_median_ns, NETSYNC_UNKNOWN);
			assert_int_equal(info.deviation_max_ns, NETSYNC_UNKNOWN);
			assert_int_equal(netsync_deviation(netsync_host_clock(ns, h), EPOCH),
					 NETSYNC_UNKNOWN);
		}
		free_walkers(&w, ns);
	}
}

/* ---- steered clocks ------------------------------------------------------- */

/* Compare the errors of the other host in a steered world. */
static void compare_steered(struct calibration *c, const struct world *w)
{
	const uint32_t reference = (uint32_t)netsync_reference(w->ns);
	const struct netsync_clock *clock = netsync_host_clock(w->ns, !reference);

	for (int64_t t = SEC; t <= SPAN - 2 * SEC; t += SEC / 10) {
		const int64_t own = read_clock_at_time(&w->m[!reference], t);
		int64_t got;

		assert_int_equal(netsync_convert(clock, own, &got, NULL), 0);
		compare_error(c, got - read_clock_at_time(&w->m[reference], t),
			      netsync_deviation(clock, own));
	}
}

/* Both clocks are steered. Some of host b's readings are lost. Either host is the reference. */
static void solve_steered_world(struct world *w, int k, int64_t lost)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = NETSYNC_METHOD_MODEL,
		.reference = k & 1 ? "b" : "a",
	};
	uint64_t seed = (uint64_t)k;

	make_steered_world(w, seed);
	for (uint32_t i = 0; i < 2; i++) {
		steer_like_chrony(&w->m[i], &seed);
		if (i && lost)
			push_changes_with_losses(w, i, SPAN / 2, SPAN / 2 + lost);
		else
			push_all_changes(w, i, 0, SPAN);
	}
	exchange_messages(w, 0, SPAN);
	assert_int_equal(netsync_solve(w->ns, &opt), 0);
}

/*
 * Messages replace lost readings. Oscillators without noise are estimated more accurately than the
 * model expects.
 */
static void test_deviation_of_steered_clock(void **state)
{
	(void)state;
	for (int64_t lost = 0; lost <= 60 * SEC; lost += 60 * SEC) {
		struct calibration all = { 0 };

		for (int k = 0; k < 4; k++) {
			struct world w;

			solve_steered_world(&w, k, lost);
			compare_steered(&all, &w);
			netsync_free(w.ns);
		}
		check_calibration(lost ? "lost readings" : "steered", &all, 0, 0.03);
		assert_int_equal(all.unknown, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deviation_of_line),
		cmocka_unit_test(test_deviation_between_knots),
		cmocka_unit_test(test_sum_of_deviations),
		cmocka_unit_test(test_step_time),
		cmocka_unit_test(test_unknown_deviation),
		cmocka_unit_test(test_deviation_without_messages),
		cmocka_unit_test(test_calibration_of_deviations),
		cmocka_unit_test(test_summary_of_deviations),
		cmocka_unit_test(test_messages_in_one_direction),
		cmocka_unit_test(test_deviation_of_steered_clock),
	};

	return cmocka_run_group_tests_name("deviations", tests, NULL, NULL);
}
