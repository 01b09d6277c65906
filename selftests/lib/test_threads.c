// SPDX-License-Identifier: GPL-2.0-only
/* The result must be the same bit by bit for any number of threads that match and estimate. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traffic.h"
#include "util/parallel.h"

#define HOSTS 24 /* enough hosts that several threads have work at the same time */
#define LINKS 9	 /* number of links that each host initiates */
#define SPAN (600 * SEC)
#define MESSAGES 21600
#define CALLS 1000
#define FAILING 700

/* Return the reading of a clock that deviates by up to 20 us. Clocks differ by seconds. */
static int64_t read_threads_clock(uint32_t host, int64_t t)
{
	double angle = (double)t / (double)(100 * SEC) + host;

	return EPOCH + host * SEC + t + llround(20e3 * sin(angle));
}

static struct netsync *push_many_messages(void)
{
	struct netsync *ns = netsync_new();
	uint64_t s = 3;
	char name[16];

	for (uint32_t i = 0; i < HOSTS; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		assert_int_equal(netsync_add_host(ns, name), i);
	}
	for (long i = 0; i < MESSAGES; i++) {
		int64_t t = draw_integer_below(&s, SPAN);
		uint32_t from = (uint32_t)draw_integer_below(&s, HOSTS);
		uint32_t to = (from + 1 + (uint32_t)draw_integer_below(&s, LINKS)) % HOSTS;
		int64_t r = t + 30000 + (int64_t)draw_from_exponential(&s, 100e3);

		if (draw_random64(&s) & 1) {
			uint32_t other = from;

			from = to;
			to = other;
		}
		assert_int_equal(netsync_push_message(ns, from, to, read_threads_clock(from, t),
						      read_threads_clock(to, r)),
				 0);
	}
	return ns;
}

static struct netsync_model get_threads_host_model(const struct netsync *ns, uint32_t host)
{
	struct netsync_model m = { .size = sizeof(m) };

	assert_int_equal(netsync_clock_model(netsync_host_clock(ns, host), &m), 0);
	return m;
}

static void assert_same(const struct netsync *a, const struct netsync *b)
{
	size_t segments = 0;

	assert_int_equal(netsync_reference(a), netsync_reference(b));
	for (uint32_t h = 0; h < HOSTS; h++) {
		struct netsync_model m = get_threads_host_model(a, h),
				     n = get_threads_host_model(b, h);

		assert_int_equal(m.num_segments, n.num_segments);
		assert_int_equal(m.num_knots, n.num_knots);
		assert_memory_equal(m.segments, n.segments, m.num_segments * sizeof(*m.segments));
		assert_memory_equal(m.knots, n.knots, m.num_knots * sizeof(*m.knots));
		segments += m.num_segments;
	}
	/* Check that the clocks have curvature. */
	assert_true(segments > 2 * HOSTS);
}

static void test_same_bits(void **state)
{
	static const uint32_t threads[] = { 2, 3, 8 };
	struct netsync *one = push_many_messages();

	(void)state;
	assert_int_equal(netsync_solve(one, NULL), 0);
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		const struct netsync_options opt = {
			.size = sizeof(opt),
			.threads = threads[i],
		};
		struct netsync *ns = push_many_messages();

		assert_int_equal(netsync_solve(ns, &opt), 0);
		assert_same(one, ns);
		netsync_free(ns);
	}
	netsync_free(one);
}

/* The result of pushing and matching packets. */
struct matched {
	struct netsync *ns;
	struct netsync_message *message;
	size_t num;
	size_t room;
	size_t in_between; /* number of messages that were found before netsync_solve() */
};

static void keep_watched_message(void *data, const struct netsync_message *msg)
{
	struct matched *m = data;

	if (m->num == m->room) {
		m->room = m->room * 2 + 1024;
		m->message = realloc(m->message, m->room * sizeof(*m->message));
		assert_non_null(m->message);
	}
	m->message[m->num++] = *msg;
}

/* How a test pushes packets. */
struct way {
	uint32_t limit; /* limit for the number of stored packets; 0 selects the default */
	bool is_watched;
	bool is_steered; /* the first host is steered, and its readings are pushed */
	bool has_promises;
	bool has_messages; /* the test also pushes matched messages */
};

static void push_way_between(struct netsync *ns, const struct way *way, size_t i, int64_t t)
{
	for (uint32_t h = 0; h < TRAFFIC_HOSTS && way->has_promises; h++)
		assert_int_equal(netsync_advance(ns, h, traffic_read_clock(h, t - SEC)), 0);
	if (way->has_messages)
		assert_int_equal(netsync_push_message(ns, i % 3, 4, traffic_read_clock(i % 3, t),
						      traffic_read_clock(4, t + 40 * US)),
				 0);
	if (way->is_steered) {
		const struct netsync_clock_point p = {
			.size = sizeof(p),
			.host = 0,
			.rate = 1 + 1e-5,
			.time_ns = traffic_read_clock(0, t),
			.raw_ns = t - t / 100000,
		};

		assert_int_equal(netsync_push_clock(ns, &p), 0);
	}
}

static struct matched match_by_threads(const struct traffic *traffic, const struct way *way,
				       uint32_t threads)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = NETSYNC_METHOD_HULL,
		.threads = threads,
	};
	struct matched m = { .ns = netsync_new() };

	netsync_use_threads(m.ns, threads);
	if (way->limit)
		netsync_limit_packets(m.ns, way->limit);
	for (uint32_t h = 0; h < TRAFFIC_HOSTS; h++)
		assert_int_equal(netsync_add_host(m.ns, "h"), h);
	push_way_between(m.ns, &(struct way){ .is_steered = way->is_steered }, 0, 0);
	if (way->is_watched)
		netsync_watch_messages(m.ns, keep_watched_message, &m);
	for (size_t i = 0; i < traffic->num; i++) {
		const struct netsync_packet *p = &traffic->event[i];

		assert_int_equal(netsync_push_packet(m.ns, p), 0);
		if (i % 500 == 499)
			push_way_between(m.ns, way, i, p->time_ns - traffic_read_clock(p->host, 0));
	}
	m.in_between = m.num;
	assert_int_equal(netsync_solve(m.ns, &opt), 0);
	return m;
}

static void release_matched(struct matched *m)
{
	netsync_free(m->ns);
	free(m->message);
}

static void assert_same_numbers(const struct netsync *a, const struct netsync *b)
{
	struct netsync_stats s = { .size = sizeof(s) }, t = s;

	assert_int_equal(netsync_get_stats(a, &s), 0);
	assert_int_equal(netsync_get_stats(b, &t), 0);
	assert_memory_equal(&s, &t, sizeof(s));
	assert_int_equal(netsync_num_pairs(a), netsync_num_pairs(b));
	for (uint32_t i = 0; i < netsync_num_pairs(a); i++) {
		struct netsync_pair_info p = { .size = sizeof(p) }, q = p;

		assert_int_equal(netsync_get_pair(a, i, &p), 0);
		assert_int_equal(netsync_get_pair(b, i, &q), 0);
		assert_memory_equal(&p, &q, sizeof(p));
	}
	for (uint32_t h = 0; h < TRAFFIC_HOSTS; h++) {
		struct netsync_stack u = { .size = sizeof(u) }, v = u;
		struct netsync_model m = get_threads_host_model(a, h),
				     n = get_threads_host_model(b, h);

		assert_int_equal(netsync_get_stack(a, h, NETSYNC_OUT, &u), 0);
		assert_int_equal(netsync_get_stack(b, h, NETSYNC_OUT, &v), 0);
		assert_memory_equal(&u, &v, sizeof(u));
		assert_int_equal(m.num_segments, n.num_segments);
		assert_memory_equal(m.segments, n.segments, m.num_segments * sizeof(*m.segments));
		assert_int_equal(m.num_knots, n.num_knots);
		assert_memory_equal(m.knots, n.knots, m.num_knots * sizeof(*m.knots));
	}
}

static void test_matching_with_threads(void **state)
{
	static const struct way ways[] = {
		{ .is_watched = true, .has_promises = true },
		{ .has_promises = true, .has_messages = true },
		{ .is_watched = true, .limit = 2000 },
		{ .is_watched = true, .has_promises = true, .is_steered = true },
	};
	static const uint32_t threads[] = { 2, 3, 5, 16 };
	struct traffic traffic = traffic_make(11, 15000);

	(void)state;
	/* Packets are ten times slower, so that some are given up before they match. */
	for (size_t i = 0; i < traffic.num; i++) {
		struct netsync_packet *p = &traffic.event[i];
		const int64_t base = traffic_read_clock(p->host, 0);

		p->time_ns = base + (p->time_ns - base) * 10;
	}
	for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
		struct matched one = match_by_threads(&traffic, &ways[k], 1);

		for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
			struct matched m = match_by_threads(&traffic, &ways[k], threads[i]);

			assert_int_equal(one.num, m.num);
			if (m.num)
				assert_memory_equal(one.message, m.message,
						    m.num * sizeof(*m.message));
			assert_same_numbers(one.ns, m.ns);
			release_matched(&m);
		}
		assert_true(!ways[k].is_watched || one.in_between > one.num / 4);
		release_matched(&one);
	}
	free(traffic.event);
}

static struct netsync *make_netsync_with_threads(void)
{
	struct netsync *ns = netsync_new();

	netsync_use_threads(ns, 4);
	for (uint32_t h = 0; h < TRAFFIC_HOSTS; h++)
		assert_int_equal(netsync_add_host(ns, "h"), h);
	return ns;
}

/* The object is released, or a host is added, while threads are working. */
static void test_release_while_matching(void **state)
{
	struct traffic traffic = traffic_make(12, 4000);

	(void)state;
	for (size_t end = 9000; end < traffic.num; end += 1777) {
		struct netsync *ns = make_netsync_with_threads();

		for (size_t i = 0; i < end; i++) {
			assert_int_equal(netsync_push_packet(ns, &traffic.event[i]), 0);
			if (i % 5000 == 4200)
				assert_true(netsync_add_host(ns, "late") > 0);
		}
		netsync_free(ns);
	}
	free(traffic.event);
}

/*
 * While threads match packets that were pushed after netsync_solve(), results are still those of
 * its last call.
 */
static void test_results_while_busy(void **state)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = NETSYNC_METHOD_HULL,
	};
	struct traffic traffic = traffic_make(12, 4000);
	struct netsync *ns = make_netsync_with_threads();
	struct netsync_stack s = { .size = sizeof(s) }, t = s;
	struct netsync_stats u = { .size = sizeof(u) }, v = u;

	(void)state;
	for (size_t i = 0; i < traffic.num; i++) {
		struct netsync_packet p = traffic.event[i];

		/* The packet is seen at two places of one host. */
		assert_int_equal(netsync_push_packet(ns, &p), 0);
		p.point++;
		p.time_ns += 2000;
		assert_int_equal(netsync_push_packet(ns, &p), 0);
		if (i == 4000) {
			assert_int_equal(netsync_solve(ns, &opt), 0);
			assert_int_equal(netsync_get_stack(ns, 0, NETSYNC_OUT, &s), 0);
			assert_int_equal(netsync_get_stats(ns, &u), 0);
			assert_true(s.packets && u.matched);
		} else if (i > 4000 && i % 100 == 0) {
			assert_int_equal(netsync_get_stack(ns, 0, NETSYNC_OUT, &t), 0);
			assert_int_equal(netsync_get_stats(ns, &v), 0);
			assert_memory_equal(&s, &t, sizeof(s));
			assert_int_equal(u.matched, v.matched);
		}
	}
	netsync_free(ns);
	free(traffic.event);
}

/* ThreadSanitizer takes the threads of a child process for those of its parent. */
#ifndef __SANITIZE_THREAD__
/* Push @num events from number @first on. Return the number of matched packets or an error. */
static int push_some_traffic(struct netsync *ns, const struct traffic *traffic, size_t first,
			     size_t num)
{
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = NETSYNC_METHOD_HULL,
		.threads = 4,
	};
	struct netsync_stats s = { .size = sizeof(s) };
	int ret = 0;

	for (size_t i = first; !ret && i < first + num; i++)
		ret = netsync_push_packet(ns, &traffic->event[i]);
	if (!ret)
		ret = netsync_solve(ns, &opt);
	if (!ret)
		ret = netsync_get_stats(ns, &s);
	return ret ? ret : (int)s.matched;
}

/*
 * A child process of fork() has no threads. Return whether the calls in the child returned
 * @expected.
 */
static bool does_child_return(struct netsync *ns, const struct traffic *traffic, size_t first,
			      size_t num, int expected)
{
	const pid_t child = fork();
	int status;

	if (!child) {
		int matched = push_some_traffic(ns, traffic, first, num);
		bool has_error = *netsync_error(ns);

		/* Threads may have been working or not. */
		bool ok = matched == -EOWNERDEAD ? has_error && first % 1000 : matched == expected;
		netsync_free(ns);
		_exit(!ok);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

static void test_fork_of_process(void **state)
{
	struct traffic traffic = traffic_make(12, 4000);
	struct netsync *ns = make_netsync_with_threads();
	int all;

	(void)state;
	assert_true(push_some_traffic(ns, &traffic, 0, 10000) > 1000);
	all = push_some_traffic(ns, &traffic, 10000, 10000);
	netsync_free(ns);
	ns = make_netsync_with_threads();
	assert_true(push_some_traffic(ns, &traffic, 0, 10000) > 1000);
	assert_true(does_child_return(ns, &traffic, 10000, 10000, all));
	for (size_t i = 10000; i < 15001; i++)
		assert_int_equal(netsync_push_packet(ns, &traffic.event[i]), 0);
	assert_true(does_child_return(ns, &traffic, 15001, 4999, all));
	assert_int_equal(push_some_traffic(ns, &traffic, 15001, 4999), all);
	netsync_free(ns);
	free(traffic.event);
}
#endif

/* This call continues until the test permits it to end. */
static int wait_until_ended(void *arg, size_t i)
{
	int *fd = arg;
	char c = 0;

	return i || (write(fd[1], &c, 1) == 1 && read(fd[2], &c, 1) == 1) ? 0 : -EIO;
}

static void test_lost_threads(void **state)
{
	struct parallel p;
	int begun[2], end[2], status, fd[3];
	pid_t child;
	char c;

	(void)state;
	assert_int_equal(pipe(begun) | pipe(end), 0);
	memcpy(fd, (int[]){ begun[0], begun[1], end[0] }, sizeof(fd));
	parallel_init(&p);
	/* The other thread takes over calls from the caller's share. */
	parallel_begin(&p, 2, 0, 2, wait_until_ended, fd);
	assert_int_equal(read(fd[0], &c, 1), 1);
	child = fork();
	if (!child) {
		bool lost = parallel_is_lost(&p);

		parallel_release(&p);
		_exit(!lost);
	}
	assert_false(parallel_is_lost(&p));
	assert_int_equal(write(end[1], &c, 1), 1);
	assert_int_equal(parallel_end(&p), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	parallel_release(&p);
	for (int i = 0; i < 2; i++)
		assert_int_equal(close(begun[i]) | close(end[i]), 0);
}

static int count_one_call(void *arg, size_t i)
{
	atomic_int *calls = arg;

	return atomic_fetch_add(&calls[i], 1) ? -1 : 0;
}

static void test_each_once(void **state)
{
	static atomic_int calls[CALLS];
	struct parallel p;

	(void)state;
	parallel_init(&p);
	for (uint32_t threads = 0; threads < 10; threads++) {
		for (size_t i = 0; i < CALLS; i++)
			atomic_store(&calls[i], 0);
		assert_int_equal(parallel_run(&p, threads, CALLS, count_one_call, calls), 0);
		for (size_t i = 0; i < CALLS; i++)
			assert_int_equal(atomic_load(&calls[i]), 1);
	}
	assert_int_equal(parallel_run(&p, 4, 0, count_one_call, NULL), 0);
	parallel_release(&p);
}

static int fail_one_call(void *arg, size_t i)
{
	(void)arg;
	return i == FAILING ? -ENOMEM : 0;
}

static void test_failed_call(void **state)
{
	struct parallel p;

	(void)state;
	parallel_init(&p);
	for (uint32_t threads = 1; threads < 5; threads++)
		assert_int_equal(parallel_run(&p, threads, CALLS, fail_one_call, NULL), -ENOMEM);
	parallel_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bits),
		cmocka_unit_test(test_matching_with_threads),
		cmocka_unit_test(test_release_while_matching),
		cmocka_unit_test(test_results_while_busy),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(test_fork_of_process),
#endif
		cmocka_unit_test(test_lost_threads),
		cmocka_unit_test(test_each_once),
		cmocka_unit_test(test_failed_call),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
