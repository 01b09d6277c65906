// SPDX-License-Identifier: GPL-2.0-only
/* Test the method "model", from messages to clocks. */
#include <stdio.h>
#include <string.h>

#include "test.h"

#define HOUR (3600 * SEC)

/* Amplitude (ppb) and period (s) of the second host's frequency. */
#define SWING 400.0
#define PERIOD 1200.0

struct world {
	int hosts;
	long messages;
	int64_t step; /* of the last host's clock, half-way, ns */
	double wrong; /* share of messages that are off by up to 0.2 s */
	double lost;  /* share of the messages to h0 that are lost */
	double drift; /* of each further host, ppb/s */
	double turn;  /* change of the last host's frequency, half-way, ppb */
	bool linear;  /* no frequency swings */
	uint64_t seed;
};

static int64_t read_simulated_clock(const struct world *w, int host, int64_t t)
{
	const double u = (double)t / 1e9, phase = 2 * M_PI * u / PERIOD;
	const double swing = w->linear ? 0 : SWING * PERIOD / (2 * M_PI) * sin(phase);
	double off = host * (3e6 + 15e3 * u + swing + w->drift * (u - 1800) * (u - 1800) / 2);

	if (host + 1 == w->hosts && t > HOUR / 2)
		off += (double)w->step + w->turn * (u - 1800);
	return EPOCH + t + llround(off);
}

static struct netsync *make_simulated_world(const struct world *w)
{
	struct netsync *ns = netsync_new();
	uint64_t s = w->seed;
	char name[16];

	for (int i = 0; i < w->hosts; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		assert_int_equal(netsync_add_host(ns, name), i);
	}
	for (long i = 0; i < w->messages; i++) {
		const int64_t t = draw_integer_below(&s, HOUR);
		const int64_t r = t + 30000 + (int64_t)draw_from_exponential(&s, 100e3);
		const int from = (int)draw_integer_below(&s, w->hosts);
		const int to = (from + 1 + (int)draw_integer_below(&s, w->hosts - 1)) % w->hosts;
		int64_t off = 0;

		if (!to && w->lost && draw_between_0_and_1(&s) < w->lost)
			continue;
		if (draw_between_0_and_1(&s) < w->wrong)
			off = draw_integer_below(&s, 400000000) - 200000000;
		assert_int_equal(netsync_push_message(ns, (uint32_t)from, (uint32_t)to,
						      read_simulated_clock(w, from, t),
						      read_simulated_clock(w, to, r) + off),
				 0);
	}
	return ns;
}

static void solve_simulated_world(struct netsync *ns, uint32_t threads)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = NETSYNC_METHOD_MODEL,
		.reference = "h0",
		.threads = threads,
	};

	assert_int_equal(netsync_solve(ns, &opt), 0);
}

/* Return the RMS error of a host, ns, and check that bounds hold. Ignore times near the step. */
static double compute_host_rms(const struct world *w, const struct netsync *ns, int host)
{
	const struct netsync_clock *c = netsync_host_clock(ns, (uint32_t)host);
	double sum = 0;
	int num = 0;

	for (int64_t t = SEC; t < HOUR; t += SEC) {
		int64_t got, bound;

		if (w->step && llabs(t - HOUR / 2) < SEC)
			continue;
		assert_int_equal(netsync_convert(c, read_simulated_clock(w, host, t), &got, &bound),
				 0);
		got -= read_simulated_clock(w, 0, t);
		assert_true(bound == NETSYNC_UNKNOWN || llabs(got) <= bound + 1);
		sum += (double)got * (double)got;
		num++;
	}
	return sqrt(sum / num);
}

static void check_world_errors(const struct world *w, double most)
{
	struct netsync *ns = make_simulated_world(w);

	solve_simulated_world(ns, 1);
	for (int i = 1; i < w->hosts; i++)
		assert_true(compute_host_rms(w, ns, i) < most);
	netsync_free(ns);
}

static void test_errors_of_smooth_clocks(void **state)
{
	(void)state;
	check_world_errors(&(struct world){ .hosts = 2, .messages = 20000, .seed = 1 }, 1000);
	check_world_errors(&(struct world){ .hosts = 4, .messages = 40000, .seed = 2 }, 1500);
}

/* If one message in a hundred is wrong, the result is as accurate as without wrong messages. */
static void test_few_wrong_messages(void **state)
{
	(void)state;
	check_world_errors(
		&(struct world){ .hosts = 2, .messages = 20000, .wrong = 0.01, .seed = 3 }, 1000);
}

/*
 * One direction has few messages. The other direction determines the shape of the curve, but only
 * the sum of the curve's phase and the minimum delay.
 */
static void test_few_messages_in_one_direction(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++)
		check_world_errors(&(struct world){ .hosts = 2,
						    .messages = 200000,
						    .lost = 0.99,
						    .seed = seed },
				   300);
}

/*
 * The frequency changes by 300 ppm. Relative to a line, phases within a cell would differ by more
 * than delays do.
 */
static void test_large_frequency_change(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++)
		check_world_errors(
			&(struct world){ .hosts = 2, .messages = 5000, .drift = 83, .seed = seed },
			2000);
}

/* The posterior of a linear clock has no freedom to bend. */
static void test_linear_clock(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 5; seed++)
		check_world_errors(&(struct world){ .hosts = 2,
						    .messages = 50000,
						    .linear = true,
						    .seed = seed },
				   20);
}

/* Is a sudden change of the frequency reported with its time and size? */
static bool is_rate_step_found(const struct world *w, const struct netsync *ns)
{
	struct netsync_step step = { .size = sizeof(step) };

	if (netsync_get_step(ns, 1, 0, &step))
		return false;
	assert_int_equal(step.offset_ns, 0);
	return llabs(step.time_ns - read_simulated_clock(w, 1, HOUR / 2)) <= step.within_ns &&
	       step.within_ns < 5 * SEC && fabs(step.skew_ppm - w->turn / 1e3) < 0.01;
}

/*
 * A sudden change of the frequency is found. In one of six worlds, inference converges to several
 * smaller changes.
 */
static void test_rate_step(void **state)
{
	int accurate = 0, found = 0;

	(void)state;
	for (uint64_t seed = 1; seed < 13; seed++) {
		const struct world w = { .hosts = 2,
					 .messages = 50000,
					 .turn = seed & 1 ? 5000 : -20000,
					 .linear = true,
					 .seed = seed };
		struct netsync *ns = make_simulated_world(&w);

		solve_simulated_world(ns, 1);
		accurate += compute_host_rms(&w, ns, 1) < 100;
		found += is_rate_step_found(&w, ns);
		netsync_free(ns);
	}
	assert_in_range(accurate, 10, 12);
	assert_in_range(found, 7, 12);
}

static void test_step_of_clock(void **state)
{
	(void)state;
	check_world_errors(
		&(struct world){ .hosts = 2, .messages = 20000, .step = 50000000, .seed = 4 },
		1500);
}

/* If one of many hosts is stepped by seconds, the other hosts are not affected. */
static void test_step_of_many(void **state)
{
	(void)state;
	check_world_errors(
		&(struct world){ .hosts = 6, .messages = 60000, .step = 3 * SEC, .seed = 7 }, 1500);
}

/* The method works with few messages, and even with one. */
static void test_inference_from_few_messages(void **state)
{
	(void)state;
	for (long n = 1; n < 12; n++) {
		const struct world w = { .hosts = 2, .messages = n, .seed = (uint64_t)n };
		struct netsync *ns = make_simulated_world(&w);

		solve_simulated_world(ns, 1);
		netsync_free(ns);
	}
	check_world_errors(&(struct world){ .hosts = 2, .messages = 200, .seed = 5 }, 100000);
}

/* The result has the same bits for any number of threads. */
static void test_number_of_threads(void **state)
{
	const struct world w = { .hosts = 4, .messages = 4000, .seed = 6 };
	struct netsync *ns = make_simulated_world(&w);
	int64_t by_one[64], by_four;
	size_t n = 0;

	(void)state;
	solve_simulated_world(ns, 1);
	for (int64_t t = 0; t < 60 * SEC; t += SEC)
		netsync_convert(netsync_host_clock(ns, 3), read_simulated_clock(&w, 3, t),
				&by_one[n++], NULL);
	solve_simulated_world(ns, 4);
	n = 0;
	for (int64_t t = 0; t < 60 * SEC; t += SEC) {
		netsync_convert(netsync_host_clock(ns, 3), read_simulated_clock(&w, 3, t), &by_four,
				NULL);
		assert_int_equal(by_one[n++], by_four);
	}
	netsync_free(ns);
}

static void push_one_message(struct netsync *ns, uint32_t from, int64_t sent, int64_t received)
{
	netsync_push_message(ns, from, !from, sent, received);
}

/* Impossible traffic is accepted and leads to a result. */
static void test_impossible_traffic(void **state)
{
	(void)state;
	for (int kind = 0; kind < 6; kind++) {
		struct netsync *ns = netsync_new();
		int64_t t = INT64_MIN;
		uint64_t seed = (uint64_t)kind;

		netsync_add_host(ns, "h0");
		netsync_add_host(ns, "h1");
		for (int i = 0; i < 300; i++) {
			const uint32_t from = i & 1;
			const int64_t far = draw_integer_below(&seed, NETSYNC_MAX_SPAN);

			switch (kind) {
			case 0: /* all messages at one time */
				push_one_message(ns, from, EPOCH, EPOCH);
				break;
			case 1: /* messages in one direction only */
				push_one_message(ns, 0, EPOCH + i * SEC, EPOCH + i * SEC + 5);
				break;
			case 2: /* messages decades apart */
				push_one_message(ns, from, far, far / 2);
				break;
			case 3: /* messages received long before they were sent */
				push_one_message(ns, from, EPOCH + i * SEC, EPOCH + (i - 90) * SEC);
				break;
			case 4: /* half of the messages are wrong by days */
				push_one_message(ns, from, EPOCH + i * SEC,
						 EPOCH + i * SEC + (i & 2 ? far >> 12 : 30000));
				break;
			default: /* a coarse clock that stands still */
				push_one_message(ns, from, EPOCH + i / 100 * SEC,
						 EPOCH + i / 50 * SEC);
			}
		}
		solve_simulated_world(ns, 2);
		netsync_convert(netsync_host_clock(ns, 1), EPOCH, &t, NULL);
		netsync_free(ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_of_smooth_clocks),
		cmocka_unit_test(test_few_wrong_messages),
		cmocka_unit_test(test_few_messages_in_one_direction),
		cmocka_unit_test(test_large_frequency_change),
		cmocka_unit_test(test_linear_clock),
		cmocka_unit_test(test_rate_step),
		cmocka_unit_test(test_step_of_clock),
		cmocka_unit_test(test_step_of_many),
		cmocka_unit_test(test_inference_from_few_messages),
		cmocka_unit_test(test_number_of_threads),
		cmocka_unit_test(test_impossible_traffic),
	};

	return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
