// SPDX-License-Identifier: GPL-2.0-only
/* How far the common time is from UTC, for clocks whose true difference from UTC is known. */
#include <errno.h>
#include <string.h>

#include "test.h"

/* Delay of messages and its variation, ns. */
#define DELAY 30000
#define JITTER 20000
#define MS INT64_C(1000000)
#define MESSAGES 600
#define PERIOD (SEC / 10)

/* A clock that differs from UTC by an offset, which grows. */
struct utc_truth {
	const char *name;
	int64_t offset;
	double skew;
};

static const struct utc_truth truths[] = {
	{ "web", 3 * MS, 20e-6 },
	{ "db", -90 * MS, -30e-6 },
	{ "mono", 5000 * SEC - EPOCH, 0 },
	{ "tai", 37 * SEC, 10e-6 },
};

#define HOSTS (sizeof(truths) / sizeof(truths[0]))

/* Return what a host's clock shows at a time after the beginning, which is at EPOCH UTC. */
static int64_t show_clock(uint32_t host, int64_t since)
{
	return EPOCH + since + truths[host].offset + (int64_t)((double)since * truths[host].skew);
}

static void push_between(struct netsync *ns, uint32_t from, uint32_t to, int64_t sent,
			 int64_t delay)
{
	assert_int_equal(netsync_push_message(ns, from, to, show_clock(from, sent),
					      show_clock(to, sent + delay)),
			 0);
}

/* Synchronize hosts that exchange messages for a minute. */
static struct netsync *solve_hosts(const char *reference)
{
	const struct netsync_options options = { .size = sizeof(options), .reference = reference };
	struct netsync *ns = netsync_new();

	for (uint32_t i = 0; i < HOSTS; i++)
		assert_int_equal(netsync_add_host(ns, truths[i].name), i);
	for (int64_t i = 0; i < MESSAGES; i++)
		for (uint32_t a = 0; a < HOSTS; a++)
			push_between(ns, a, (a + 1 + (uint32_t)(i % 2)) % HOSTS,
				     i * PERIOD + a * MS, DELAY + (i * 7919 + a) % JITTER);
	assert_int_equal(netsync_solve(ns, &options), 0);
	return ns;
}

static struct netsync_utc_bound make_utc_bound(uint32_t host, int64_t from, int64_t to,
					       int64_t within)
{
	return (struct netsync_utc_bound){
		.from_ns = show_clock(host, from),
		.to_ns = show_clock(host, to),
		.within_ns = within,
		.host = host,
	};
}

static int make_test_utc(struct netsync *ns, const struct netsync_utc_bound *bounds, size_t num,
			 struct netsync_clock **utc)
{
	*utc = NULL;
	return netsync_utc_clock_new(ns, bounds, num, sizeof(*bounds), utc);
}

/*
 * Check that UTC is in the interval of each host at each time. Return the widest interval of the
 * host @host between two times.
 */
static int64_t check_utc_truth(const struct netsync *ns, const struct netsync_clock *utc,
			       uint32_t host, int64_t from, int64_t to)
{
	int64_t widest = 0;

	for (uint32_t i = 0; i < HOSTS; i++)
		for (int64_t since = from; since <= to; since += SEC / 7) {
			int64_t lo, hi;

			assert_int_equal(netsync_utc_interval(netsync_host_clock(ns, i), utc,
							      show_clock(i, since), &lo, &hi),
					 0);
			assert_true(lo <= EPOCH + since && EPOCH + since <= hi);
			if (i != host || hi == INT64_MAX || lo == INT64_MIN)
				widest = i == host ? INT64_MAX : widest;
			else
				widest = hi - lo > widest ? hi - lo : widest;
		}
	return widest;
}

/* A bound of the reference, and a bound of another host, to which the host's error is added. */
static void test_utc_bound_added(void **state)
{
	const struct netsync_utc_bound bound = make_utc_bound(0, 0, 60 * SEC, 10 * MS);
	struct netsync_clock *utc;

	(void)state;
	for (uint32_t reference = 0; reference < HOSTS; reference++) {
		struct netsync *ns = solve_hosts(truths[reference].name);
		struct netsync_host_info web = { .size = sizeof(web) };
		int64_t at, error, middle = show_clock(reference, 30 * SEC);

		netsync_get_host(ns, 0, &web);
		assert_int_equal(make_test_utc(ns, &bound, 1, &utc), 0);
		assert_int_equal(netsync_convert(utc, middle, &at, &error), 0);
		/* The bound is what was given, and the error of the correction of web. */
		assert_in_range(error, 10 * MS, 10 * MS + 2 * web.bound_max_ns + 10);
		assert_in_range(EPOCH + 30 * SEC, at - error, at + error);
		assert_in_range(check_utc_truth(ns, utc, reference, SEC, 59 * SEC), 20 * MS,
				20 * MS + 4 * web.bound_max_ns + MS / 10);
		netsync_clock_free(utc);
		netsync_free(ns);
	}
}

/* The bounds of two hosts intersect; where there is none, nothing is known. */
static void test_utc_intersection(void **state)
{
	/* web is 3 ms ahead of UTC and db 90 ms behind. Both bounds are just large enough. */
	const struct netsync_utc_bound bounds[] = {
		make_utc_bound(1, 10 * SEC, 40 * SEC, 95 * MS),
		make_utc_bound(0, 20 * SEC, 30 * SEC, 6 * MS),
		make_utc_bound(0, 30 * SEC, 50 * SEC, 5 * MS),
	};
	struct netsync *ns = solve_hosts("mono");
	struct netsync_clock *utc;

	(void)state;
	assert_int_equal(make_test_utc(ns, bounds, 3, &utc), 0);
	assert_int_equal(check_utc_truth(ns, utc, 2, SEC, 9 * SEC), INT64_MAX);
	assert_in_range(check_utc_truth(ns, utc, 2, 11 * SEC, 19 * SEC), 190 * MS, 191 * MS);
	/* UTC is at most 95 ms ahead of db, so at most 2 ms ahead of web; at least 6 ms behind. */
	assert_in_range(check_utc_truth(ns, utc, 2, 21 * SEC, 29 * SEC), 7 * MS, 9 * MS);
	assert_in_range(check_utc_truth(ns, utc, 2, 31 * SEC, 39 * SEC), 5 * MS, 6 * MS);
	assert_in_range(check_utc_truth(ns, utc, 2, 41 * SEC, 49 * SEC), 10 * MS, 11 * MS);
	assert_int_equal(check_utc_truth(ns, utc, 2, 51 * SEC, 59 * SEC), INT64_MAX);
	netsync_clock_free(utc);
	netsync_free(ns);
}

/* Many short bounds, as a log has them, make knots in order, and are as good as one. */
static void test_utc_log(void **state)
{
	struct netsync_utc_bound bounds[590];
	struct netsync *ns = solve_hosts("db");
	struct netsync_clock *utc;

	(void)state;
	for (size_t i = 0; i < 590; i++)
		bounds[i] = make_utc_bound(0, (int64_t)i * PERIOD, (int64_t)(i + 1) * PERIOD,
					   5 * MS + (int64_t)(i % 10) * MS / 10);
	assert_int_equal(make_test_utc(ns, bounds, 590, &utc), 0);
	assert_in_range(check_utc_truth(ns, utc, 1, SEC, 58 * SEC), 11 * MS, 13 * MS);
	netsync_clock_free(utc);
	netsync_free(ns);
}

static void check_conflict(uint32_t host, int64_t within, bool has_tai)
{
	const struct netsync_utc_bound bounds[] = {
		make_utc_bound(host, 10 * SEC, 40 * SEC, within),
		make_utc_bound(0, 20 * SEC, 50 * SEC, 5 * MS),
	};
	struct netsync *ns = solve_hosts("mono");
	struct netsync_clock *utc;
	const char *why;

	assert_int_equal(make_test_utc(ns, bounds, 2, &utc), -EDOM);
	assert_null(utc);
	why = netsync_error(ns);
	assert_non_null(strstr(why, "web"));
	assert_non_null(strstr(why, truths[host].name));
	assert_int_equal(strstr(why, "TAI") != NULL, has_tai);
	netsync_free(ns);
}

/* A contradiction names both hosts; one by the difference of TAI and UTC is recognized. */
static void test_utc_conflict(void **state)
{
	(void)state;
	check_conflict(1, 50 * MS, false);
	check_conflict(3, MS, true);
}

/* Invalid bounds are refused, and hosts without a correction do not count. */
static void test_utc_invalid(void **state)
{
	const int64_t much = INT64_MAX;
	struct netsync_utc_bound bound = make_utc_bound(0, 0, SEC, MS);
	struct netsync *ns = netsync_new();
	struct netsync_clock *utc = NULL;

	(void)state;
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), -ENODATA);
	netsync_free(ns);
	ns = solve_hosts(NULL);
	assert_int_equal(make_test_utc(ns, &bound, 0, &utc), -ENODATA);
	assert_string_not_equal(netsync_error(ns), "");
	assert_int_equal(netsync_utc_clock_new(ns, &bound, 1, 8, &utc), -EINVAL);
	bound.host = HOSTS;
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), -EINVAL);
	bound = make_utc_bound(0, 0, SEC, -1);
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), -EINVAL);
	bound = make_utc_bound(0, 0, SEC, much);
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), -EINVAL);
	bound = make_utc_bound(0, SEC, 0, MS);
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), -EINVAL);
	bound = (struct netsync_utc_bound){ INT64_MIN, INT64_MAX, MS, 0, 0 };
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), -EINVAL);
	/* Everything that is allowed gives a valid clock or a sentence. */
	bound = (struct netsync_utc_bound){ -NETSYNC_MAX_TIME, NETSYNC_MAX_TIME, NETSYNC_MAX_TIME,
					    0, 0 };
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), -ENODATA);
	bound = (struct netsync_utc_bound){ EPOCH, EPOCH, 0, 0, 0 };
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), 0);
	netsync_clock_free(utc);
	bound.from_ns = -NETSYNC_MAX_TIME;
	bound.to_ns = NETSYNC_MAX_TIME;
	bound.within_ns = MS;
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), 0);
	netsync_clock_free(utc);
	netsync_free(ns);
}

/* A host that is stepped is not known to UTC around its step, and correct before and after it. */
static void test_utc_step(void **state)
{
	const struct netsync_options options = { .size = sizeof(options), .reference = "db" };
	const int64_t step = 5 * MS, at = 30 * SEC;
	const struct netsync_utc_bound bound = { show_clock(0, 0), show_clock(0, 60 * SEC) + step,
						 10 * MS, 0, 0 };
	struct netsync_host_info web = { .size = sizeof(web) };
	struct netsync *ns = netsync_new();
	struct netsync_clock *utc;
	int64_t ref, error;

	(void)state;
	netsync_add_host(ns, "web");
	netsync_add_host(ns, "db");
	for (int64_t t = 0; t < 60 * SEC; t += PERIOD / 10) {
		const int64_t by = t >= at ? step : 0;
		const struct netsync_clock_point point = {
			.size = sizeof(point),
			.host = 0,
			.time_ns = show_clock(0, t) + by,
			.raw_ns = t + SEC,
			.rate = 1 + truths[0].skew,
			.was_set = t == at,
		};

		assert_int_equal(netsync_push_clock(ns, &point), 0);

		netsync_push_message(ns, 0, 1, show_clock(0, t) + by, show_clock(1, t + DELAY));
		netsync_push_message(ns, 1, 0, show_clock(1, t + DELAY),
				     show_clock(0, t + 2 * DELAY) + by);
	}
	assert_int_equal(netsync_solve(ns, &options), 0);
	netsync_get_host(ns, 0, &web);
	assert_int_equal(web.num_steps, 1);
	assert_int_equal(make_test_utc(ns, &bound, 1, &utc), 0);
	for (int64_t t = SEC; t < 59 * SEC; t += SEC / 13) {
		int64_t lo, hi;

		assert_int_equal(netsync_utc_interval(netsync_host_clock(ns, 1), utc,
						      show_clock(1, t), &lo, &hi),
				 0);
		assert_true(lo <= EPOCH + t && EPOCH + t <= hi);
		if (t < at - SEC || t > at + SEC)
			assert_true(lo > EPOCH && hi < EPOCH + 61 * SEC);
	}
	/* web never showed the times over which it was stepped, so they say nothing about UTC. */
	assert_int_equal(netsync_convert(netsync_host_clock(ns, 0), show_clock(0, at) + step / 2,
					 &ref, NULL),
			 0);
	assert_int_equal(netsync_convert(utc, ref, &ref, &error), 0);
	assert_int_equal(error, NETSYNC_UNKNOWN);
	netsync_clock_free(utc);
	netsync_free(ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utc_bound_added), cmocka_unit_test(test_utc_intersection),
		cmocka_unit_test(test_utc_log),		cmocka_unit_test(test_utc_conflict),
		cmocka_unit_test(test_utc_invalid),	cmocka_unit_test(test_utc_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
