// SPDX-License-Identifier: GPL-2.0-only
/* Test simulated clusters with known clocks, for which errors can be computed. */
#include <errno.h>
#include <string.h>

#include "test.h"

#define MAX_HOSTS 10

/* A cluster of linear clocks, each with a skew and an offset relative to true time. */
struct cluster {
	struct netsync *ns;
	uint64_t seed;
	int hosts;
	int64_t span;
	int64_t offset[MAX_HOSTS];
	double skew[MAX_HOSTS];
	/*
	 * Delays are 30 us plus an exponential excess with mean 100 us. Some delays are even
	 * longer.
	 */
	double late_share;
	double late_by;
};

static void start_test_cluster(struct cluster *c, uint64_t seed, int hosts, int64_t span)
{
	*c = (struct cluster){
		.ns = netsync_new(), .seed = seed * 1000 + 7, .hosts = hosts, .span = span
	};
	for (int h = 0; h < hosts; h++) {
		char name[8] = { 'h', (char)('0' + h) };

		assert_int_equal(netsync_add_host(c->ns, name), h);
		c->offset[h] = (int64_t)((draw_between_0_and_1(&c->seed) - 0.5) * 20e9);
		c->skew[h] = (draw_between_0_and_1(&c->seed) - 0.5) * 100e-6;
	}
}

/* Return the reading of a host's clock at a true time. True time counts from EPOCH. */
static int64_t read_cluster_clock(const struct cluster *c, int host, int64_t t)
{
	return EPOCH + t + c->offset[host] + llround(c->skew[host] * (double)t);
}

struct event {
	int from;
	int to;
	int64_t send;
	int64_t recv;
};

static struct event draw_cluster_event(struct cluster *c, int a, int b)
{
	int back = (int)(draw_random64(&c->seed) & 1);
	int64_t t = draw_integer_below(&c->seed, c->span);
	double d = 30e3 + draw_from_exponential(&c->seed, 100e3);
	struct event e = { back ? b : a, back ? a : b, 0, 0 };

	if (draw_between_0_and_1(&c->seed) < c->late_share)
		d += c->late_by;
	e.send = read_cluster_clock(c, e.from, t);
	e.recv = read_cluster_clock(c, e.to, t + (int64_t)d);
	return e;
}

static void push_cluster_event(struct cluster *c, const struct event *e)
{
	assert_int_equal(netsync_push_message(c->ns, (uint32_t)e->from, (uint32_t)e->to, e->send,
					      e->recv),
			 0);
}

static void talk_in_cluster(struct cluster *c, int a, int b, long messages)
{
	for (long i = 0; i < messages; i++) {
		struct event e = draw_cluster_event(c, a, b);

		push_cluster_event(c, &e);
	}
}

static void solve_test_cluster_by(struct cluster *c, const char *reference,
				  enum netsync_method method)
{
	const struct netsync_options opt = { .size = sizeof(opt),
					     .method = method,
					     .reference = reference };

	assert_int_equal(netsync_solve(c->ns, &opt), 0);
}

static void solve_test_cluster(struct cluster *c, const char *reference)
{
	solve_test_cluster_by(c, reference, NETSYNC_METHOD_AUTO);
}

/* Return the largest error of a host within the span. Check that the bound always holds. */
static int64_t find_worst_cluster_error(const struct cluster *c, int host)
{
	int ref = netsync_reference(c->ns);
	int64_t worst = 0;

	for (int i = 0; i <= 1000; i++) {
		int64_t t = (int64_t)((__int128)c->span * i / 1000);
		int64_t corrected, bound, error;
		const struct netsync_clock *clock = netsync_host_clock(c->ns, (uint32_t)host);

		assert_non_null(clock);
		assert_int_equal(netsync_convert(clock, read_cluster_clock(c, host, t), &corrected,
						 &bound),
				 0);
		error = llabs(corrected - read_cluster_clock(c, ref, t));
		assert_true(error <= bound);
		if (error > worst)
			worst = error;
	}
	return worst;
}

static void end_test_cluster(struct cluster *c)
{
	netsync_free(c->ns);
}

/*
 * The first cluster has a million messages. Later ones have fewer messages and larger errors:
 * errors decrease as the number of messages grows.
 */
static void check_two_hosts(int seeds, int64_t span, double late)
{
	for (int seed = 1; seed <= seeds; seed++) {
		const long messages = seed == 1 ? 1000000 : 100000;
		const int64_t error = 10000000 / messages;
		struct cluster c;
		struct netsync_pair_info p = { .size = sizeof(p) };

		start_test_cluster(&c, (uint64_t)seed, 2, span);
		c.late_share = late;
		c.late_by = 5e6;
		talk_in_cluster(&c, 0, 1, messages);
		solve_test_cluster(&c, NULL);
		assert_true(find_worst_cluster_error(&c, 0) < error);
		assert_true(find_worst_cluster_error(&c, 1) < error);
		assert_int_equal(netsync_get_pair(c.ns, 0, &p), 0);
		assert_int_equal(p.quality, NETSYNC_ACCURATE);
		assert_int_equal(p.inversions_after, 0);
		assert_true(p.inversions_before > 0);
		end_test_cluster(&c);
	}
}

static void test_one_hour(void **state)
{
	(void)state;
	check_two_hosts(5, 3600 * SEC, 0);
}

/* In this case, products overflow 64 bits. */
static void test_one_day_with_late_messages(void **state)
{
	(void)state;
	check_two_hosts(5, 86400 * SEC, 0.02);
}

/*
 * Push events in order of time, in reverse order, and in the order in which they were drawn. All
 * results must be equal bit by bit.
 */
static int compare_events_by_send_time(const void *a, const void *b)
{
	const struct event *p = a, *q = b;

	return p->send < q->send ? -1 : p->send > q->send;
}

static void test_any_order(void **state)
{
	enum { N = 100000 };
	struct event *e = calloc(N, sizeof(*e));

	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct netsync_segment first = { 0 };

		for (int round = 0; round < 3; round++) {
			struct netsync_model m = { .size = sizeof(m) };
			struct cluster c;

			start_test_cluster(&c, seed, 2, 3600 * SEC);
			for (int i = 0; i < N; i++)
				e[i] = draw_cluster_event(&c, 0, 1);
			if (round)
				qsort(e, N, sizeof(*e), compare_events_by_send_time);
			for (int i = 0; i < N; i++)
				push_cluster_event(&c, &e[round == 2 ? N - 1 - i : i]);
			solve_test_cluster(&c, "h0");
			assert_int_equal(netsync_clock_model(netsync_host_clock(c.ns, 1), &m), 0);
			assert_int_equal(m.num_segments, 1);
			if (!round)
				first = m.segments[0];
			assert_memory_equal(m.segments, &first, sizeof(first));
			assert_true(find_worst_cluster_error(&c, 1) < 100);
			end_test_cluster(&c);
		}
	}
	free(e);
}

static void make_cluster_chain(struct cluster *c, uint64_t seed)
{
	start_test_cluster(c, seed, 10, 3600 * SEC);
	for (int h = 0; h < 9; h++)
		talk_in_cluster(c, h, h + 1, 100000);
}

static void add_host_past_chain(struct cluster *c)
{
	talk_in_cluster(c, 0, 9, 10);
	talk_in_cluster(c, 0, 5, 6);
	talk_in_cluster(c, 2, 8, 4);
	talk_in_cluster(c, 1, 4, 1);
}

static void test_chain_of_hosts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		const enum netsync_method method[] = { NETSYNC_METHOD_HULL, NETSYNC_METHOD_AUTO };
		/*
		 * A few messages that bypass the chain do not increase the sum of all errors. One
		 * host may become worse if another host becomes better by as much.
		 */
		const int64_t more[] = { 0, 3 };
		int64_t alone[2][10];
		struct cluster c;

		make_cluster_chain(&c, seed);
		for (int m = 0; m < 2; m++) {
			solve_test_cluster_by(&c, "h0", method[m]);
			for (int h = 0; h < 10; h++) {
				alone[m][h] = find_worst_cluster_error(&c, h);
				assert_true(alone[m][h] < 100);
			}
		}
		add_host_past_chain(&c);
		for (int m = 0; m < 2; m++) {
			solve_test_cluster_by(&c, "h0", method[m]);
			for (int h = 0; h < 10; h++)
				assert_true(find_worst_cluster_error(&c, h) <=
					    alone[m][h] + more[m]);
		}
		end_test_cluster(&c);
	}
}

/*
 * Poor links improve the guarantee, because the path adds fewer minimum delays. If clocks may
 * drift, single messages limit a clock only near their own times, and help little.
 */
static void test_bound_takes_the_short_way(void **state)
{
	struct netsync_host_info before[2], after[2];
	struct cluster c;

	(void)state;
	for (int m = 0; m < 2; m++)
		before[m].size = after[m].size = sizeof(*before);
	make_cluster_chain(&c, 1);
	solve_test_cluster_by(&c, "h0", NETSYNC_METHOD_HULL);
	assert_int_equal(netsync_get_host(c.ns, 9, &before[0]), 0);
	solve_test_cluster(&c, "h0");
	assert_int_equal(netsync_get_host(c.ns, 9, &before[1]), 0);
	talk_in_cluster(&c, 0, 9, 200);
	solve_test_cluster_by(&c, "h0", NETSYNC_METHOD_HULL);
	assert_int_equal(netsync_get_host(c.ns, 9, &after[0]), 0);
	assert_true(after[0].bound_max_ns < before[0].bound_max_ns / 2);
	solve_test_cluster(&c, "h0");
	assert_int_equal(netsync_get_host(c.ns, 9, &after[1]), 0);
	assert_true(after[1].bound_median_ns <= before[1].bound_median_ns);
	assert_true(find_worst_cluster_error(&c, 9) < 100);
	end_test_cluster(&c);
}

static void test_chosen_reference(void **state)
{
	struct cluster c;

	(void)state;
	start_test_cluster(&c, 1, 4, 60 * SEC);
	/* The messages form a star, whose centre has the smallest total bound. */
	talk_in_cluster(&c, 2, 0, 1000);
	talk_in_cluster(&c, 2, 1, 1000);
	talk_in_cluster(&c, 2, 3, 1000);
	solve_test_cluster(&c, NULL);
	assert_int_equal(netsync_reference(c.ns), 2);
	solve_test_cluster(&c, "h3");
	assert_int_equal(netsync_reference(c.ns), 3);
	for (int h = 0; h < 4; h++)
		find_worst_cluster_error(&c, h);
	end_test_cluster(&c);
	/* Two hosts are equally good. The reference is chosen by name, not by order. */
	c.ns = netsync_new();
	netsync_add_host(c.ns, "web");
	netsync_add_host(c.ns, "db");
	netsync_push_message(c.ns, 0, 1, EPOCH, EPOCH + 10);
	netsync_push_message(c.ns, 1, 0, EPOCH + 20, EPOCH + 30);
	assert_int_equal(netsync_solve(c.ns, NULL), 0);
	assert_int_equal(netsync_reference(c.ns), 1);
	end_test_cluster(&c);
}

static void test_islands_of_hosts(void **state)
{
	struct netsync_host_info h = { .size = sizeof(h) };
	struct cluster c;
	const uint32_t island[] = { 0, 0, 0, 3, 3, 5 };

	(void)state;
	start_test_cluster(&c, 1, 6, 60 * SEC);
	talk_in_cluster(&c, 0, 1, 1000);
	talk_in_cluster(&c, 1, 2, 1000);
	talk_in_cluster(&c, 3, 4, 1000);
	solve_test_cluster(&c, NULL);
	assert_int_equal(netsync_reference(c.ns), 1);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(netsync_get_host(c.ns, i, &h), 0);
		assert_int_equal(h.island, island[i]);
		assert_int_equal(h.quality, i < 3 ? NETSYNC_ACCURATE : NETSYNC_ABSENT);
		assert_int_equal(!netsync_host_clock(c.ns, i), i >= 3);
	}
	end_test_cluster(&c);
}

static void test_one_direction(void **state)
{
	struct netsync_host_info h = { .size = sizeof(h) };
	struct cluster c;
	int64_t r, b;

	(void)state;
	start_test_cluster(&c, 1, 2, 60 * SEC);
	for (int i = 0; i < 10000; i++) {
		struct event e = draw_cluster_event(&c, 0, 1);

		if (e.from == 0)
			push_cluster_event(&c, &e);
	}
	solve_test_cluster(&c, "h0");
	assert_int_equal(netsync_get_host(c.ns, 1, &h), 0);
	assert_int_equal(h.quality, NETSYNC_INCOMPLETE);
	assert_int_equal(h.bound_max_ns, NETSYNC_UNKNOWN);
	assert_int_equal(netsync_convert(netsync_host_clock(c.ns, 1),
					 read_cluster_clock(&c, 1, 30 * SEC), &r, &b),
			 0);
	assert_int_equal(b, NETSYNC_UNKNOWN);
	/* The minimum delay is assumed to be zero, so that the result is 30 us too early. */
	assert_true(llabs(r + 30000 - read_cluster_clock(&c, 0, 30 * SEC)) < 1000);
	end_test_cluster(&c);
}

/*
 * In a ring, each pair has messages in one direction only. The host whose bound is computed last is
 * limited by both neighbours.
 */
static void test_ring_of_directions(void **state)
{
	struct cluster c;
	int accurate = 0;

	(void)state;
	start_test_cluster(&c, 1, 3, 60 * SEC);
	for (int i = 0; i < 30000; i++) {
		struct event e = draw_cluster_event(&c, i % 3, (i + 1) % 3);

		if (e.from == i % 3)
			push_cluster_event(&c, &e);
	}
	solve_test_cluster(&c, "h0");
	for (uint32_t i = 1; i < 3; i++) {
		struct netsync_host_info h = { .size = sizeof(h) };

		assert_int_equal(netsync_get_host(c.ns, i, &h), 0);
		accurate += h.quality == NETSYNC_ACCURATE;
		assert_int_equal(h.quality == NETSYNC_INCOMPLETE,
				 h.bound_median_ns == NETSYNC_UNKNOWN);
		for (int64_t t = SEC; t < 60 * SEC; t += SEC) {
			int64_t r, b;

			assert_int_equal(netsync_convert(netsync_host_clock(c.ns, i),
							 read_cluster_clock(&c, (int)i, t), &r, &b),
					 0);
			assert_true(llabs(r - read_cluster_clock(&c, 0, t)) <= b);
		}
	}
	assert_int_equal(accurate, 1);
	end_test_cluster(&c);
}

/* The mean delays of both directions are equal, so that the middle is close to the truth. */
static void test_regression_of_cluster(void **state)
{
	struct netsync_options opt = { .size = sizeof(opt),
				       .reference = "h0",
				       .method = NETSYNC_METHOD_REGRESSION };
	struct netsync_host_info h = { .size = sizeof(h) };
	struct netsync_pair_info p = { .size = sizeof(p) };
	struct cluster c;

	(void)state;
	start_test_cluster(&c, 1, 3, 3600 * SEC);
	talk_in_cluster(&c, 0, 1, 100000);
	talk_in_cluster(&c, 1, 2, 100000);
	assert_int_equal(netsync_solve(c.ns, &opt), 0);
	for (uint32_t i = 1; i < 3; i++) {
		assert_int_equal(netsync_get_host(c.ns, i, &h), 0);
		assert_int_equal(h.quality, NETSYNC_ACCURATE);
		/* The bound does not depend on the line. */
		assert_true(h.bound_max_ns < i * 60000);
		assert_in_range(find_worst_cluster_error(&c, (int)i), 100, 3000);
	}
	assert_int_equal(netsync_get_pair(c.ns, 0, &p), 0);
	assert_int_equal(p.quality, NETSYNC_ACCURATE);
	assert_true(llabs(p.min_delay_ns[0] - 30000) < 3000);
	end_test_cluster(&c);
	/* Messages in only one direction exist, so the mean delay is assumed to be zero. */
	start_test_cluster(&c, 1, 2, 60 * SEC);
	for (int i = 0; i < 10000; i++) {
		struct event e = draw_cluster_event(&c, 0, 1);

		if (e.from == 0)
			push_cluster_event(&c, &e);
	}
	assert_int_equal(netsync_solve(c.ns, &opt), 0);
	assert_int_equal(netsync_get_host(c.ns, 1, &h), 0);
	assert_int_equal(h.quality, NETSYNC_INCOMPLETE);
	assert_in_range(find_worst_cluster_error(&c, 1), 120000, 140000);
	end_test_cluster(&c);
	opt.method = NETSYNC_METHOD_MODEL + 1;
	c.ns = netsync_new();
	assert_int_equal(netsync_solve(c.ns, &opt), -EINVAL);
	end_test_cluster(&c);
}

/* All messages are within 0.1 s of a trace of 20 s, and the bound is as wide as this requires. */
static void test_short_talk_in_long_trace(void **state)
{
	struct netsync_host_info h = { .size = sizeof(h) };
	struct cluster c;

	(void)state;
	start_test_cluster(&c, 1, 2, SEC / 10);
	talk_in_cluster(&c, 0, 1, 1000);
	c.span = 20 * SEC;
	netsync_extend_span(c.ns, 0, read_cluster_clock(&c, 0, 20 * SEC));
	netsync_extend_span(c.ns, 1, read_cluster_clock(&c, 1, 20 * SEC));
	solve_test_cluster(&c, "h0");
	assert_int_equal(netsync_get_host(c.ns, 1, &h), 0);
	assert_int_equal(h.quality, NETSYNC_ACCURATE);
	assert_true(h.bound_max_ns > 5000000);
	find_worst_cluster_error(&c, 1);
	end_test_cluster(&c);
}

/* One host is a board whose clock starts in 1970 whenever the board boots. */
static void test_clocks_decades_apart(void **state)
{
	struct netsync_pair_info p = { .size = sizeof(p) };
	struct cluster c;

	(void)state;
	start_test_cluster(&c, 1, 2, 3600 * SEC);
	c.offset[1] = -EPOCH;
	talk_in_cluster(&c, 0, 1, 100000);
	solve_test_cluster(&c, "h0");
	assert_true(find_worst_cluster_error(&c, 1) < 50);
	assert_int_equal(netsync_get_pair(c.ns, 0, &p), 0);
	/*
	 * Judging by the clocks, all messages in one direction arrive before they are sent, and
	 * none in the other direction do.
	 */
	assert_int_equal(p.inversions_before, p.messages[0]);
	assert_int_equal(p.inversions_after, 0);
	end_test_cluster(&c);
}

static void test_invalid_calls(void **state)
{
	struct netsync *ns = netsync_new();
	struct netsync_packet p = { .size = sizeof(p), .protocol = 6 };
	struct netsync_options o = { .size = sizeof(o) };
	struct netsync_host_info h = { .size = sizeof(h) };
	struct netsync_pair_info pi = { .size = sizeof(pi) };
	struct netsync_stats s = { .size = sizeof(s) };

	(void)state;
	assert_int_equal(netsync_solve(ns, NULL), -ENOENT);
	assert_int_equal(netsync_add_host(ns, ""), -EINVAL);
	assert_string_not_equal(netsync_error(ns), "");
	assert_int_equal(netsync_add_host(ns, "db"), 0);
	assert_string_equal(netsync_error(ns), "");
	assert_int_equal(netsync_add_host(ns, "db"), 1);
	assert_int_equal(netsync_add_host(ns, "db"), 2);
	p.host = 3;
	assert_int_equal(netsync_push_packet(ns, &p), -EINVAL);
	assert_true(strlen(netsync_error(ns)) > 10);
	p.host = 0;
	p.dir = 2;
	assert_int_equal(netsync_push_packet(ns, &p), -EINVAL);
	p.dir = 0;
	p.size = 8;
	assert_int_equal(netsync_push_packet(ns, &p), -EINVAL);
	assert_string_not_equal(netsync_error(ns), "");
	p.size = sizeof(p);
	p.time_ns = EPOCH;
	assert_int_equal(netsync_push_packet(ns, &p), 0);
	assert_string_equal(netsync_error(ns), "");
	assert_string_equal(netsync_version(), NETSYNC_VERSION);
	p.time_ns = EPOCH - NETSYNC_MAX_SPAN - 1;
	assert_int_equal(netsync_push_packet(ns, &p), -ERANGE);
	assert_int_equal(netsync_push_message(ns, 0, 0, 1, 2), -EINVAL);
	assert_int_equal(netsync_push_message(ns, 0, 9, EPOCH, 2), -EINVAL);
	assert_int_equal(netsync_push_message(ns, 0, 1, EPOCH, INT64_MIN), -ERANGE);
	assert_int_equal(netsync_push_message(ns, 0, 1, NETSYNC_MAX_TIME, EPOCH), -ERANGE);
	assert_int_equal(netsync_extend_span(ns, 7, EPOCH), -EINVAL);
	assert_int_equal(netsync_get_host(ns, 0, &h), -ENODATA);
	assert_int_equal(netsync_get_pair(ns, 0, &pi), -ENODATA);
	assert_int_equal(netsync_get_stats(ns, &s), -ENODATA);
	assert_int_equal(netsync_reference(ns), -ENODATA);
	assert_null(netsync_host_clock(ns, 0));
	o.reference = "nobody";
	assert_int_equal(netsync_solve(ns, &o), -ENOENT);
	o.reference = "db#3";
	o.max_skew_ppm = -1;
	assert_int_equal(netsync_solve(ns, &o), -EINVAL);
	o.max_skew_ppm = 0;
	assert_int_equal(netsync_solve(ns, &o), 0);
	assert_int_equal(netsync_reference(ns), 2);
	assert_int_equal(netsync_get_host(ns, 3, &h), -EINVAL);
	assert_int_equal(netsync_get_pair(ns, 0, &pi), -EINVAL);
	h.size = 4;
	assert_int_equal(netsync_get_host(ns, 0, &h), -EINVAL);
	h.size = sizeof(h);
	assert_int_equal(netsync_get_host(ns, 2, &h), 0);
	assert_string_equal(h.name, "db#3");
	assert_true(h.last_ns < h.first_ns);
	netsync_free(ns);
	netsync_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_hour),
		cmocka_unit_test(test_one_day_with_late_messages),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_chain_of_hosts),
		cmocka_unit_test(test_bound_takes_the_short_way),
		cmocka_unit_test(test_chosen_reference),
		cmocka_unit_test(test_islands_of_hosts),
		cmocka_unit_test(test_one_direction),
		cmocka_unit_test(test_ring_of_directions),
		cmocka_unit_test(test_regression_of_cluster),
		cmocka_unit_test(test_short_talk_in_long_trace),
		cmocka_unit_test(test_clocks_decades_apart),
		cmocka_unit_test(test_invalid_calls),
	};

	return cmocka_run_group_tests_name("sync", tests, NULL, NULL);
}
