// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many hosts are traced for a short time, and most pairs have few messages. A few messages must not
 * outweigh many others, and linear clocks must be recognized as linear.
 */
#include <stdio.h>
#include <time.h>

#include "test.h"

#define HOSTS 64
#define SPAN (60 * SEC)
#define MOST 400  /* maximum number of messages of a pair */
#define LINKED 40 /* percentage of pairs that exchange messages */

struct machine {
	int64_t offset;
	double skew;
};

static int64_t read_machine_clock(const struct machine *m, int64_t t)
{
	return EPOCH + m->offset + t + llround(m->skew * (double)t);
}

static void talk_at_random(struct netsync *ns, const struct machine *m, uint64_t *s, uint32_t i,
			   uint32_t j)
{
	double part = draw_between_0_and_1(s);
	long messages = 4 + (long)(MOST * part * part);

	for (long k = 0; k < messages; k++) {
		int64_t t = draw_integer_below(s, SPAN);
		int64_t r = t + 30000 + (int64_t)draw_from_exponential(s, 100e3);
		uint32_t from = i, to = j;

		if (draw_random64(s) & 1) {
			from = j;
			to = i;
		}
		assert_int_equal(netsync_push_message(ns, from, to, read_machine_clock(&m[from], t),
						      read_machine_clock(&m[to], r)),
				 0);
	}
}

static void check_host(const struct netsync *ns, const struct machine *m, uint32_t host)
{
	const struct netsync_clock *clock = netsync_host_clock(ns, host);
	struct netsync_model model = { .size = sizeof(model) };
	struct netsync_host_info info = { .size = sizeof(info) };
	int reference = netsync_reference(ns);

	assert_int_equal(netsync_get_host(ns, host, &info), 0);
	assert_int_equal(info.quality, NETSYNC_ACCURATE);
	assert_int_equal(info.num_steps, 0);
	assert_int_equal(netsync_clock_model(clock, &model), 0);
	assert_int_equal(model.num_segments, 1);
	for (int64_t t = 0; t <= SPAN; t += SPAN / 10) {
		int64_t got, bound;
		int64_t truth = read_machine_clock(&m[reference], t);

		assert_int_equal(
			netsync_convert(clock, read_machine_clock(&m[host], t), &got, &bound), 0);
		assert_in_range(llabs(got - truth), 0, 15000);
		assert_in_range(llabs(got - truth), 0, bound + 1);
	}
}

static void check_many_by_method(enum netsync_method method)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = method,
	};
	struct netsync *ns = netsync_new();
	struct machine m[HOSTS];
	uint64_t s = 6;
	char name[16];

	for (uint32_t i = 0; i < HOSTS; i++) {
		m[i].offset = draw_integer_below(&s, 2 * SEC) - SEC;
		m[i].skew = 120e-6 * (draw_between_0_and_1(&s) - 0.5);
		snprintf(name, sizeof(name), "host%02u", i);
		assert_int_equal(netsync_add_host(ns, name), i);
	}
	for (uint32_t i = 0; i < HOSTS; i++)
		for (uint32_t j = i + 1; j < HOSTS; j++)
			if (j == i + 1 || draw_integer_below(&s, 100) < LINKED)
				talk_at_random(ns, m, &s, i, j);
	assert_int_equal(netsync_solve(ns, &opt), 0);
	for (uint32_t i = 0; i < HOSTS; i++)
		check_host(ns, m, i);
	for (uint32_t i = 0; i < netsync_num_pairs(ns); i++) {
		struct netsync_pair_info pair = { .size = sizeof(pair) };

		assert_int_equal(netsync_get_pair(ns, i, &pair), 0);
		assert_int_equal(pair.inversions_after, 0);
	}
	netsync_free(ns);
}

static void test_curves_of_many_hosts(void **state)
{
	(void)state;
	check_many_by_method(NETSYNC_METHOD_AUTO);
}

static void test_hulls_of_many_hosts(void **state)
{
	(void)state;
	check_many_by_method(NETSYNC_METHOD_HULL);
}

#define THIN_HOSTS 40
#define THIN_MESSAGES 20 /* number of messages of each pair */
#define THIN_SPAN (3600 * SEC)
#define RAMP 5e-18 /* drift of every other host, 1 / ns */

static int64_t read_bent_clock(const struct machine *m, uint32_t host, int64_t t)
{
	double d = (double)(t - THIN_SPAN / 2);

	return read_machine_clock(&m[host], t) + llround(host % 2 ? RAMP / 2 * d * d : 0);
}

/*
 * No pair has enough messages to reveal the curvature of its clocks, which deviate by 8 ms from a
 * line. However, the messages of each host with all other hosts reveal it.
 */
static void test_links_with_few_messages(void **state)
{
	struct netsync *ns = netsync_new();
	struct machine m[THIN_HOSTS];
	uint64_t s = 7;
	int reference;

	(void)state;
	for (uint32_t i = 0; i < THIN_HOSTS; i++) {
		char name[16];

		m[i].offset = draw_integer_below(&s, 2 * SEC) - SEC;
		m[i].skew = 120e-6 * (draw_between_0_and_1(&s) - 0.5);
		snprintf(name, sizeof(name), "host%02u", i);
		assert_int_equal(netsync_add_host(ns, name), i);
	}
	for (uint32_t i = 0; i < THIN_HOSTS; i++)
		for (uint32_t j = i + 1; j < THIN_HOSTS; j++)
			for (int k = 0; k < THIN_MESSAGES; k++) {
				int64_t t = draw_integer_below(&s, THIN_SPAN);
				int64_t r = t + 30000 + (int64_t)draw_from_exponential(&s, 100e3);
				uint32_t from = k % 2 ? i : j, to = k % 2 ? j : i;

				assert_int_equal(netsync_push_message(ns, from, to,
								      read_bent_clock(m, from, t),
								      read_bent_clock(m, to, r)),
						 0);
			}
	assert_int_equal(netsync_solve(ns, NULL), 0);
	reference = netsync_reference(ns);
	for (uint32_t i = 0; i < THIN_HOSTS; i++)
		for (int64_t t = THIN_SPAN / 50; t < THIN_SPAN; t += THIN_SPAN / 50) {
			const struct netsync_clock *clock = netsync_host_clock(ns, i);
			int64_t got, bound, truth = read_bent_clock(m, (uint32_t)reference, t);

			assert_int_equal(
				netsync_convert(clock, read_bent_clock(m, i, t), &got, &bound), 0);
			assert_in_range(llabs(got - truth), 0, 200000);
			assert_in_range(llabs(got - truth), 0, bound + 1);
		}
	netsync_free(ns);
}

/*
 * One host in ten reads its time alternately from the clocks of two processors. Such a host is
 * inconsistent with all others. Such a host must not become the reference or affect the others.
 */
static void test_false_clock(void **state)
{
	struct netsync *ns = netsync_new();
	char name[16];
	uint64_t s = 9;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "host%u", i);
		assert_int_equal(netsync_add_host(ns, name), i);
	}
	for (long i = 0; i < 40000; i++) {
		uint32_t from = (uint32_t)draw_integer_below(&s, 10);
		uint32_t to = (from + 1 + (uint32_t)draw_integer_below(&s, 9)) % 10;
		int64_t t = draw_integer_below(&s, SPAN);
		int64_t r = t + 30000 + (int64_t)draw_from_exponential(&s, 100e3);

		t += from == 0 && draw_random64(&s) & 1 ? 10000000 : 0;
		r += to == 0 && draw_random64(&s) & 1 ? 10000000 : 0;
		assert_int_equal(netsync_push_message(ns, from, to, EPOCH + t, EPOCH + r), 0);
	}
	assert_int_equal(netsync_solve(ns, NULL), 0);
	assert_int_not_equal(netsync_reference(ns), 0);
	for (uint32_t i = 1; i < 10; i++) {
		struct netsync_host_info info = { .size = sizeof(info) };

		assert_int_equal(netsync_get_host(ns, i, &info), 0);
		assert_int_equal(info.quality, NETSYNC_ACCURATE);
		for (int64_t t = 0; t <= SPAN; t += SPAN / 100) {
			int64_t got, bound;

			assert_int_equal(netsync_convert(netsync_host_clock(ns, i), EPOCH + t, &got,
							 &bound),
					 0);
			assert_in_range(llabs(got - EPOCH - t), 0, 15000);
			assert_in_range(llabs(got - EPOCH - t), 0, bound);
		}
	}
	netsync_free(ns);
}

/*
 * Return the processor time (s) for solving a star: clients exchange messages with one server,
 * which is added last.
 */
static double solve_star(uint32_t clients)
{
	struct netsync *ns = netsync_new();
	uint64_t s = 7;
	char name[16];
	clock_t begin;

	for (uint32_t i = 0; i <= clients; i++) {
		snprintf(name, sizeof(name), "host%05u", i);
		assert_int_equal(netsync_add_host(ns, name), i);
	}
	for (uint32_t i = 0; i < clients; i++)
		for (int k = 0; k < 4; k++) {
			const int64_t t = EPOCH + k * SEC + draw_integer_below(&s, SEC);

			assert_int_equal(netsync_push_message(ns, i, clients, t, t + 50000), 0);
			assert_int_equal(
				netsync_push_message(ns, clients, i, t + 90000, t + 140000), 0);
		}
	begin = clock();
	assert_int_equal(netsync_solve(ns, NULL), 0);
	assert_int_equal(netsync_reference(ns), clients);
	netsync_free(ns);
	return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* Four times as many hosts take four times as long, not sixteen times. */
static void test_cost_of_hosts(void **state)
{
	const double few = solve_star(1500), many = solve_star(6000);

	(void)state;
	print_message("%g s, %g s\n", few, many);
	assert_true(many < 9 * few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curves_of_many_hosts),
		cmocka_unit_test(test_hulls_of_many_hosts),
		cmocka_unit_test(test_links_with_few_messages),
		cmocka_unit_test(test_false_clock),
		cmocka_unit_test(test_cost_of_hosts),
	};

	return cmocka_run_group_tests_name("many", tests, NULL, NULL);
}
