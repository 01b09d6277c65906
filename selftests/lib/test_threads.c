// SPDX-License-Identifier: GPL-2.0-only
/* However many threads estimate, the result is the same to the last bit. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "util/parallel.h"

#define HOSTS 24		/* enough for some to be fitted side by side */
#define LINKS 9		/* that each begins */
#define SPAN (600 * SEC)
#define MESSAGES 21600
#define CALLS 1000
#define FAILING 700

/* Bends by up to 20 us, and is apart from the others by seconds. */
static int64_t reading(uint32_t host, int64_t t)
{
	double angle = (double)t / (double)(100 * SEC) + host;

	return EPOCH + host * SEC + t + llround(20e3 * sin(angle));
}

static struct netsync *pushed(void)
{
	struct netsync *ns = netsync_new();
	uint64_t s = 3;
	char name[16];

	for (uint32_t i = 0; i < HOSTS; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		assert_int_equal(netsync_add_host(ns, name), i);
	}
	for (long i = 0; i < MESSAGES; i++) {
		int64_t t = below(&s, SPAN);
		uint32_t from = (uint32_t)below(&s, HOSTS);
		uint32_t to = (from + 1 + (uint32_t)below(&s, LINKS)) % HOSTS;
		int64_t r = t + 30000 + (int64_t)exponential(&s, 100e3);

		if (random64(&s) & 1) {
			uint32_t other = from;

			from = to;
			to = other;
		}
		assert_int_equal(netsync_push_message(ns, from, to, reading(from, t),
						      reading(to, r)), 0);
	}
	return ns;
}

static struct netsync_model model_of(const struct netsync *ns, uint32_t host)
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
		struct netsync_model m = model_of(a, h), n = model_of(b, h);

		assert_int_equal(m.num_segments, n.num_segments);
		assert_int_equal(m.num_knots, n.num_knots);
		assert_memory_equal(m.segments, n.segments,
				    m.num_segments * sizeof(*m.segments));
		assert_memory_equal(m.knots, n.knots,
				    m.num_knots * sizeof(*m.knots));
		segments += m.num_segments;
	}
	/* They do bend. */
	assert_true(segments > 2 * HOSTS);
}

static void test_same_bits(void **state)
{
	static const uint32_t threads[] = { 2, 3, 8 };
	struct netsync *one = pushed();

	(void)state;
	assert_int_equal(netsync_solve(one, NULL), 0);
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		const struct netsync_options opt = {
			.size = sizeof(opt), .threads = threads[i],
		};
		struct netsync *ns = pushed();

		assert_int_equal(netsync_solve(ns, &opt), 0);
		assert_same(one, ns);
		netsync_free(ns);
	}
	netsync_free(one);
}

static int count(void *arg, size_t i)
{
	atomic_int *calls = arg;

	return atomic_fetch_add(&calls[i], 1) ? -1 : 0;
}

static void test_each_once(void **state)
{
	static atomic_int calls[CALLS];

	(void)state;
	for (uint32_t threads = 0; threads < 10; threads++) {
		for (size_t i = 0; i < CALLS; i++)
			atomic_store(&calls[i], 0);
		assert_int_equal(parallel_run(threads, CALLS, count, calls), 0);
		for (size_t i = 0; i < CALLS; i++)
			assert_int_equal(atomic_load(&calls[i]), 1);
	}
	assert_int_equal(parallel_run(4, 0, count, NULL), 0);
}

static int fail_one(void *arg, size_t i)
{
	(void)arg;
	return i == FAILING ? -ENOMEM : 0;
}

static void test_failure(void **state)
{
	(void)state;
	for (uint32_t threads = 1; threads < 5; threads++)
		assert_int_equal(parallel_run(threads, CALLS, fail_one, NULL),
				 -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bits),
		cmocka_unit_test(test_each_once),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
