// SPDX-License-Identifier: GPL-2.0-only
/*
 * If some correction inverts no message, the result inverts no message either. Some hosts exchange
 * messages in one direction only. For each estimator, the resulting clocks convert every message
 * that was pushed.
 */
#include <string.h>

#include "test.h"

enum { MOST_HOSTS = 5, MOST_MESSAGES = 4000 };

struct sent {
	uint32_t from;
	uint32_t to;
	int64_t send_ns;
	int64_t recv_ns;
};

struct oneway {
	struct netsync *ns;
	uint32_t hosts;
	int64_t offset[MOST_HOSTS];
	double skew[MOST_HOSTS];
	int64_t resolution;
	struct sent sent[MOST_MESSAGES];
	size_t num;
	uint64_t seed;
};

static void make_oneway_hosts(struct oneway *w, uint32_t hosts, int64_t resolution, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->ns = netsync_new();
	w->hosts = hosts;
	w->resolution = resolution;
	w->seed = seed;
	for (uint32_t h = 0; h < hosts; h++) {
		const char name[] = { (char)('a' + h), '\0' };

		assert_int_equal(netsync_add_host(w->ns, name), (int)h);
		w->offset[h] = (int64_t)draw_integer_below(&w->seed, 20 * SEC) - 10 * SEC;
		w->skew[h] = (draw_between_0_and_1(&w->seed) - 0.5) * 200e-6;
	}
}

/* Return the reading of a host's clock at a true time, rounded down to its resolution. */
static int64_t read_rounded_clock(const struct oneway *w, uint32_t host, int64_t t)
{
	const int64_t own = EPOCH + t + w->offset[host] + llround(w->skew[host] * (double)t);

	return own - own % w->resolution;
}

static void send_oneway_message(struct oneway *w, uint32_t from, uint32_t to, int64_t t,
				int64_t delay)
{
	const struct sent s = { from, to, read_rounded_clock(w, from, t),
				read_rounded_clock(w, to, t + delay) };

	assert_true(w->num < MOST_MESSAGES);
	w->sent[w->num++] = s;
	assert_int_equal(netsync_push_message(w->ns, from, to, s.send_ns, s.recv_ns), 0);
}

/* 200 packets pass through all hosts in order, and each host sees each packet. */
static void pass_messages_along(struct oneway *w)
{
	for (int i = 0; i < 200; i++) {
		const int64_t t = i * SEC / 2;
		int64_t passed[MOST_HOSTS] = { 0 };

		for (uint32_t h = 1; h < w->hosts; h++)
			passed[h] = passed[h - 1] + 20 * US +
				    (int64_t)draw_from_exponential(&w->seed, 50e3);
		for (uint32_t a = 0; a < w->hosts; a++)
			for (uint32_t b = a + 1; b < w->hosts; b++)
				send_oneway_message(w, a, b, t + passed[a], passed[b] - passed[a]);
	}
}

static void check_send_order(struct oneway *w, const char *reference, enum netsync_method method)
{
	const struct netsync_options opt = { .size = sizeof(opt),
					     .reference = reference,
					     .method = method };

	assert_int_equal(netsync_solve(w->ns, &opt), 0);
	for (size_t i = 0; i < w->num; i++) {
		const struct sent *s = &w->sent[i];
		int64_t send, recv;

		assert_int_equal(netsync_convert(netsync_host_clock(w->ns, s->from), s->send_ns,
						 &send, NULL),
				 0);
		assert_int_equal(netsync_convert(netsync_host_clock(w->ns, s->to), s->recv_ns,
						 &recv, NULL),
				 0);
		assert_true(recv >= send);
	}
	for (uint32_t i = 0; i < netsync_num_pairs(w->ns); i++) {
		struct netsync_pair_info info = { .size = sizeof(info) };

		assert_int_equal(netsync_get_pair(w->ns, i, &info), 0);
		assert_int_equal(info.inversions_after, 0);
	}
}

/*
 * Datagrams pass through a router and are captured in three places. Any host can be the reference.
 */
static void test_packets_through_router(void **state)
{
	static const char *const reference[] = { NULL, "a", "b", "c" };
	static const int64_t resolution[] = { 1, 1000 };

	(void)state;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < 4; i++) {
			struct oneway w;

			make_oneway_hosts(&w, 3, resolution[k], i + 1);
			pass_messages_along(&w);
			check_send_order(&w, reference[i], NETSYNC_METHOD_AUTO);
			check_send_order(&w, reference[i], NETSYNC_METHOD_HULL);
			netsync_free(w.ns);
		}
}

/*
 * Two captures have stamps in microseconds or milliseconds. Judging by these stamps, no message is
 * received before it is sent.
 */
static void test_coarse_stamps(void **state)
{
	static const int64_t resolution[] = { 1000, 1000000 };

	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct oneway w;

		make_oneway_hosts(&w, 2, resolution[seed % 2], seed);
		for (int i = 0; i < 500; i++)
			send_oneway_message(&w, 0, 1, i * SEC / 10,
					    3 * US + (int64_t)draw_from_exponential(&w.seed, 20e3));
		check_send_order(&w, NULL, NETSYNC_METHOD_AUTO);
		netsync_free(w.ns);
	}
}

/*
 * Hosts that exchange messages in both directions stay close to each other, while the other hosts
 * move relative to them.
 */
static void test_links_of_both_kinds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 30; seed++) {
		struct netsync_host_info info = { .size = sizeof(info) };
		struct oneway w;
		int64_t t, bound;

		make_oneway_hosts(&w, 5, 1, seed);
		for (int i = 0; i < 300; i++) {
			const int64_t at = i * SEC / 5;
			const int64_t late = 30 * US +
					     (int64_t)draw_from_exponential(&w.seed, 50e3);

			/*
			 * a and b exchange messages, and both send messages to the other
			 * hosts along all paths.
			 */
			send_oneway_message(&w, 0, 1, at,
					    30 * US +
						    (int64_t)draw_from_exponential(&w.seed, 50e3));
			send_oneway_message(&w, 1, 0, at + SEC / 10, late);
			send_oneway_message(&w, seed % 2, 2, at, late);
			send_oneway_message(&w, 1, 3, at + SEC / 7, late);
			send_oneway_message(&w, 2, 4, at + SEC / 8, late);
			send_oneway_message(&w, 0, 4, at + SEC / 9, late);
			if (seed % 3)
				send_oneway_message(&w, 3, 4, at + SEC / 6, late);
		}
		check_send_order(&w, seed % 2 ? NULL : "a", NETSYNC_METHOD_AUTO);
		assert_int_equal(netsync_get_host(w.ns, 1, &info), 0);
		assert_int_equal(info.quality, NETSYNC_ACCURATE);
		assert_int_equal(netsync_convert(netsync_host_clock(w.ns, 1),
						 read_rounded_clock(&w, 1, 30 * SEC), &t, &bound),
				 0);
		assert_in_range(bound, 0, 100 * US);
		netsync_free(w.ns);
	}
}

/* If wrong messages make corrections without inversions impossible, the estimate is not changed. */
static void test_unavoidable_inversions(void **state)
{
	struct oneway w;

	(void)state;
	make_oneway_hosts(&w, 3, 1, 3);
	for (int i = 0; i < 100; i++) {
		send_oneway_message(&w, 0, 1, i * SEC, 50 * US);
		send_oneway_message(&w, 1, 2, i * SEC + SEC / 3, 50 * US);
		send_oneway_message(&w, 2, 0, i * SEC + SEC / 2, -SEC);
	}
	assert_int_equal(netsync_solve(w.ns, NULL), 0);
	for (uint32_t h = 0; h < 3; h++)
		assert_non_null(netsync_host_clock(w.ns, h));
	netsync_free(w.ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_through_router),
		cmocka_unit_test(test_coarse_stamps),
		cmocka_unit_test(test_links_of_both_kinds),
		cmocka_unit_test(test_unavoidable_inversions),
	};

	return cmocka_run_group_tests_name("feasible", tests, NULL, NULL);
}
