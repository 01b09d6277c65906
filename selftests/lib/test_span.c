// SPDX-License-Identifier: GPL-2.0-only
/* Find the spans of hosts despite wrong timestamps. */
#include "messages.h"
#include "reduce/span.h"

#define AHEAD (3 * SEC)
#define YEAR (INT64_C(365) * 24 * 3600 * SEC)

static const struct range unsaid = { INT64_MAX, INT64_MIN };

static void set_spans(struct pairs *ps, struct host host[2])
{
	for (int h = 0; h < 2; h++)
		host[h].said = unsaid;
	assert_int_equal(spans_set(host, 2, ps->pair, ps->num, 500e-6), 0);
}

static void test_all_seen(void **state)
{
	struct host host[2] = {
		{ .first = 0, .last = 100 * SEC },
		{ .first = AHEAD, .last = AHEAD + 100 * SEC },
	};
	struct pairs ps = { 0 };

	(void)state;
	add_talk_of_two(&ps, 100, AHEAD, 100 * US);
	set_spans(&ps, host);
	for (int h = 0; h < 2; h++) {
		assert_int_equal(host[h].span.lo, host[h].first);
		assert_int_equal(host[h].span.hi, host[h].last);
	}
	pairs_release(&ps);
}

static void test_false_time(void **state)
{
	/* One packet of host 0 has a timestamp that is a year too late. */
	struct host host[2] = {
		{ .first = 0, .last = YEAR },
		{ .first = AHEAD, .last = AHEAD + 100 * SEC },
	};
	struct pairs ps = { 0 };

	(void)state;
	add_message(&ps, 0, 1, YEAR, AHEAD + 40 * SEC);
	add_talk_of_two(&ps, 2000, AHEAD, 100 * US);
	set_spans(&ps, host);
	assert_true(host[0].span.lo <= SEC / 2);
	assert_true(host[0].span.hi >= 1999 * SEC && host[0].span.hi < YEAR / 100);
	pairs_release(&ps);
}

/* A span that the caller reports is added to that of the messages, or used without messages. */
static void test_reported_span(void **state)
{
	struct host host[2] = {
		{ .first = 0, .last = 100 * SEC, .said = { -50 * SEC, 300 * SEC } },
		{ .first = AHEAD, .last = AHEAD + 100 * SEC, .said = unsaid },
	};
	struct pairs ps = { 0 };

	(void)state;
	add_talk_of_two(&ps, 100, AHEAD, 100 * US);
	assert_int_equal(spans_set(host, 2, ps.pair, ps.num, 500e-6), 0);
	assert_int_equal(host[0].span.lo, -50 * SEC);
	assert_int_equal(host[0].span.hi, 300 * SEC);
	assert_int_equal(host[1].span.hi, AHEAD + 100 * SEC);
	pairs_release(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_seen),
		cmocka_unit_test(test_false_time),
		cmocka_unit_test(test_reported_span),
	};

	return cmocka_run_group_tests_name("span", tests, NULL, NULL);
}
