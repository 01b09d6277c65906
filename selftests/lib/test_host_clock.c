// SPDX-License-Identifier: GPL-2.0-only
/* The clock that a host gets: segments, bound, quality. */
#include "reduced.h"

static struct netsync_model model_of(const struct host *h)
{
	struct netsync_model m = { .size = sizeof(m) };

	assert_int_equal(netsync_clock_model(h->clock, &m), 0);
	return m;
}

/* Straight clocks take one segment, over the host's span. */
static void test_straight(void **state)
{
	struct netsync_model m;
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_talk(&r, 0, 1, 100, 1000);
	reduced_run(&r);
	m = model_of(&r.host[1]);
	assert_int_equal(m.num_segments, 1);
	assert_int_equal(m.segments[0].from_ns, EPOCH + r.host[1].span.lo);
	assert_int_equal(m.segments[0].to_ns, EPOCH + r.host[1].span.hi);
	assert_true(llabs(m.segments[0].offset_ns + SEC) <= 1);
	assert_float_equal(m.segments[0].rate, 1, 1e-9);
	assert_int_equal(r.host[1].num_steps, 0);
	reduced_release(&r);
}

/*
 * The bound is half of the round trip at least, and what it can be at most is
 * what it is said to be.
 */
static void test_bound(void **state)
{
	struct netsync_model m;
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 0;
	reduced_talk(&r, 0, 1, 100, 1000);
	reduced_run(&r);
	m = model_of(&r.host[1]);
	assert_true(m.num_knots > 1);
	for (uint32_t i = 0; i < m.num_knots; i++) {
		const struct netsync_knot *k = netsync_model_knot(&m, i);

		assert_true(k->below_ns + k->above_ns >= 2000);
	}
	assert_true(r.host[1].bound_median >= 1000);
	assert_true(r.host[1].bound_median <= r.host[1].bound_max);
	for (int64_t t = r.host[1].span.lo; t <= r.host[1].span.hi; t += SEC / 7) {
		int64_t ref, bound;

		assert_int_equal(netsync_convert(r.host[1].clock, EPOCH + t, &ref,
						 &bound), 0);
		assert_true(bound <= r.host[1].bound_max);
	}
	reduced_release(&r);
}

/*
 * Before its first segment and behind the last the clock goes on as these do, and the bound
 * grows by what the truth may do otherwise. The clock's rate changes by 10 ppm.
 */
static void test_growth(void **state)
{
	struct netsync_model m;
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 0;
	for (int i = 0; i < 1000; i++) {
		const int64_t t = i * SEC / 10;
		const int64_t ahead = SEC + (int64_t)i * i / 2;

		add_message(&r.ps, 0, 1, t, t + ahead + 1000);
		add_message(&r.ps, 1, 0, t + ahead, t + 1000);
	}
	reduced_run(&r);
	m = model_of(&r.host[1]);
	assert_true(m.num_segments > 2);
	assert_true(fabs(m.segments[0].rate - m.segments[m.num_segments - 1].rate) > 8e-6);
	for (int i = 0; i < 2; i++) {
		const struct netsync_segment *s = &m.segments[i ? m.num_segments - 1 : 0];
		const double slope = r.task.limits.slope;

		assert_true(m.growth_ppm[i] >=
			    (slope / (1 - slope) + fabs(s->rate - 1)) * 1e6 - 1e-9);
	}
	reduced_release(&r);
}

/* One direction: an offset from one side, and no bound. */
static void test_one_direction(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 0;
	for (int i = 0; i < 100; i++)
		add_message(&r.ps, 0, 1, i * SEC, (i + 1) * SEC + 1000);
	reduced_run(&r);
	assert_int_equal(r.host[1].quality, NETSYNC_INCOMPLETE);
	assert_int_equal(r.host[1].bound_max, NETSYNC_UNKNOWN);
	assert_non_null(r.host[1].clock);
	reduced_release(&r);
}

/* Messages that no clocks of this skew can have made: no bound is claimed. */
static void test_contradiction(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 0;
	reduced_talk(&r, 0, 1, 100, -50000);
	reduced_run(&r);
	assert_int_equal(r.host[1].quality, NETSYNC_APPROXIMATE);
	assert_int_equal(r.host[1].bound_max, NETSYNC_UNKNOWN);
	reduced_release(&r);
}

/* Half of the round trip is the same, but messages to @b seem to take longer by @more. */
static void talk_unevenly(struct reduced *r, uint32_t a, uint32_t b, int64_t more)
{
	for (int i = 0; i < 100; i++) {
		add_message(&r->ps, a, b, (a + i) * SEC, (b + i) * SEC + 1000 + more);
		add_message(&r->ps, b, a, (b + i) * SEC, (a + i) * SEC + 1000 - more);
	}
}

static void check_claim(const struct host *h, bool claimed)
{
	assert_int_equal(h->quality,
			 claimed ? NETSYNC_ACCURATE : NETSYNC_APPROXIMATE);
	assert_int_equal(h->bound_max == NETSYNC_UNKNOWN, !claimed);
}

/* The ways over two neighbours contradict each other: one of them is wrong. */
static void test_ways_contradict(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_talk(&r, 0, 1, 100, 1000);
	reduced_talk(&r, 1, 2, 100, 1000);
	talk_unevenly(&r, 0, 2, 4000);
	reduced_run(&r);
	check_claim(&r.host[1], true);
	check_claim(&r.host[2], false);
	reduced_release(&r);
}

/* So many hosts contradict that what is assumed of all clocks must be wrong. */
static void test_many_contradict(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_talk(&r, 0, 1, 100, 1000);
	for (uint32_t h = 2; h < 4; h++) {
		reduced_talk(&r, 1, h, 100, 1000);
		talk_unevenly(&r, 0, h, 4000);
	}
	reduced_run(&r);
	for (int h = 1; h < 4; h++)
		check_claim(&r.host[h], false);
	check_claim(&r.host[0], true);
	reduced_release(&r);
}

/* Of a host whose bounds with most others cannot be claimed, the last is not, either. */
static void test_most_contradict(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_talk(&r, 0, 1, 100, 1000);
	reduced_talk(&r, 1, 2, 100, -50000);
	reduced_run(&r);
	check_claim(&r.host[1], true);
	reduced_release(&r);

	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_talk(&r, 0, 1, 100, 1000);
	reduced_talk(&r, 1, 2, 100, -50000);
	reduced_talk(&r, 1, 3, 100, -50000);
	reduced_run(&r);
	check_claim(&r.host[1], false);
	reduced_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_straight),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_one_direction),
		cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_ways_contradict),
		cmocka_unit_test(test_many_contradict),
		cmocka_unit_test(test_most_contradict),
	};

	return cmocka_run_group_tests_name("host_clock", tests, NULL, NULL);
}
