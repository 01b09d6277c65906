// SPDX-License-Identifier: GPL-2.0-only
/* Test the clock of a host: its segments, its bound and its quality. */
#include "reduction.h"

static struct netsync_model get_host_clock_model(const struct host *h)
{
	struct netsync_model m = { .size = sizeof(m) };

	assert_int_equal(netsync_clock_model(h->clock, &m), 0);
	return m;
}

/* A linear clock has one segment, over the host's span. */
static void test_segment_of_linear_clock(void **state)
{
	struct netsync_model m;
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_add_talk(&r, 0, 1, 100, 1000);
	reduced_run(&r);
	m = get_host_clock_model(&r.host[1]);
	assert_int_equal(m.num_segments, 1);
	assert_int_equal(m.segments[0].from_ns, EPOCH + r.host[1].span.lo);
	assert_int_equal(m.segments[0].to_ns, EPOCH + r.host[1].span.hi);
	assert_true(llabs(m.segments[0].offset_ns + SEC) <= 1);
	assert_float_equal(m.segments[0].rate, 1, 1e-9);
	assert_int_equal(r.host[1].num_steps, 0);
	reduced_release(&r);
}

/*
 * The bound is at least half of the round-trip time, and its maximum equals the declared maximum.
 */
static void test_bound_of_host(void **state)
{
	struct netsync_model m;
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 0;
	reduced_add_talk(&r, 0, 1, 100, 1000);
	reduced_run(&r);
	m = get_host_clock_model(&r.host[1]);
	assert_true(m.num_knots > 1);
	for (uint32_t i = 0; i < m.num_knots; i++) {
		const struct netsync_knot *k = netsync_model_knot(&m, i);

		assert_true(k->below_ns + k->above_ns >= 2000);
	}
	assert_true(r.host[1].bound_median >= 1000);
	assert_true(r.host[1].bound_median <= r.host[1].bound_max);
	for (int64_t t = r.host[1].span.lo; t <= r.host[1].span.hi; t += SEC / 7) {
		int64_t ref, bound;

		assert_int_equal(netsync_convert(r.host[1].clock, EPOCH + t, &ref, &bound), 0);
		assert_true(bound <= r.host[1].bound_max);
	}
	reduced_release(&r);
}

/*
 * Before its first segment and after its last one, the clock is linear, and its bound grows by the
 * possible deviation. The clock's rate changes by 10 ppm.
 */
static void test_growth_of_bound(void **state)
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
	m = get_host_clock_model(&r.host[1]);
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

/* If clocks may be steered at the end, they may be steered beyond it. */
static void test_growth_of_steered(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 0;
	r.task.limits.slew = 1000e-6;
	/* Compared with the delay, the interval between messages is short. */
	reduced_add_talk(&r, 0, 1, 100, 100000 * US);
	reduced_run(&r);
	reduced_check_claim(&r.host[1], true);
	for (int i = 0; i < 2; i++)
		assert_true(get_host_clock_model(&r.host[1]).growth_ppm[i] >=
			    (r.task.limits.slope + r.task.limits.slew) * 1e6);
	reduced_release(&r);
}

/* With messages in only one direction, the offset has a bound on only one side. */
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

/* If clocks within the skew limit cannot cause the messages, there is no bound. */
static void test_messages_beyond_skew_limit(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_AUTO);
	r.task.reference = 0;
	reduced_add_talk(&r, 0, 1, 100, -50000);
	reduced_run(&r);
	assert_int_equal(r.host[1].quality, NETSYNC_APPROXIMATE);
	assert_int_equal(r.host[1].bound_max, NETSYNC_UNKNOWN);
	reduced_release(&r);
}

/* The round-trip time is constant, but messages to @b seem to take longer by @more. */
static void talk_with_uneven_delays(struct reduced *r, uint32_t a, uint32_t b, int64_t more)
{
	for (int i = 0; i < 100; i++) {
		add_message(&r->ps, a, b, (a + i) * SEC, (b + i) * SEC + 1000 + more);
		add_message(&r->ps, b, a, (b + i) * SEC, (a + i) * SEC + 1000 - more);
	}
}

/* If the paths through two neighbours are inconsistent, one of the paths is wrong. */
static void test_ways_contradict(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_add_talk(&r, 0, 1, 100, 1000);
	reduced_add_talk(&r, 1, 2, 100, 1000);
	talk_with_uneven_delays(&r, 0, 2, 4000);
	reduced_run(&r);
	reduced_check_claim(&r.host[1], true);
	reduced_check_claim(&r.host[2], false);
	reduced_release(&r);
}

/* If many hosts are inconsistent, the assumptions about all clocks must be wrong. */
static void test_many_contradict(void **state)
{
	struct reduced r;

	(void)state;
	reduced_init(&r, NETSYNC_METHOD_HULL);
	r.task.reference = 0;
	reduced_add_talk(&r, 0, 1, 100, 1000);
	for (uint32_t h = 2; h < 4; h++) {
		reduced_add_talk(&r, 1, h, 100, 1000);
		talk_with_uneven_delays(&r, 0, h, 4000);
	}
	reduced_run(&r);
	for (int h = 1; h < 4; h++)
		reduced_check_claim(&r.host[h], false);
	reduced_check_claim(&r.host[0], true);
	reduced_release(&r);
}

/* Return whether a knot exists at this time of the host's clock. */
static bool has_knot_at(const struct netsync_model *m, int64_t t)
{
	for (uint32_t i = 0; i < m->num_knots; i++)
		if (netsync_model_knot(m, i)->time_ns == t)
			return true;
	return false;
}

/*
 * In some windows, no correction may be within a pair's bound. The pair's bound steps at the ends
 * of such a window. The host's bound must have these steps, too. The host's bound must not be
 * interpolated to the next instant.
 */
static void test_leap_of_bound(void **state)
{
	const struct wander left_alone = { .left_alone = true };
	struct change_point step = {
		.t = 50e9,
		.uncertainty = 4e9,
		.phase_step = true,
		.offset = 1e6,
	};
	const struct correction *known[2];
	struct correction set;
	struct pair_bound bound;
	struct netsync_model m;
	struct reduced hosts;
	struct reduction r;

	(void)state;
	reduced_init(&hosts, NETSYNC_METHOD_HULL);
	hosts.task.reference = 0;
	reduced_add_talk(&hosts, 0, 1, 100, 1000);
	reduced_run(&hosts);
	reduction_init(&r, &hosts);
	tree_grow(&r.by_bound, &r.graph, r.bound_cost, 0);
	tree_grow(&r.by_noise, &r.graph, r.bound_cost, 0);
	reduction_find_ways(&r);
	assert_int_equal(reduction_fit_hosts(&r), 0);
	r.correction[0].wander = r.correction[1].wander = &left_alone;
	set = r.correction[1];
	set.change = &step;
	set.num_changes = 1;
	known[0] = &r.correction[0];
	known[1] = &set;
	assert_int_equal(pair_bound_make(&bound, hosts.est[0].pair, known, &hosts.task.limits), 0);
	assert_true(bound.usable);
	assert_true(bound.bound.parts > 1);
	r.pair_bound = &bound;
	host_clear(&hosts.host[1]);
	reduction_set_qualities(&r);
	assert_int_equal(reduction_make_clock(&r, 1), 0);
	m = get_host_clock_model(&hosts.host[1]);
	for (size_t i = 1; i < bound.bound.parts; i++) {
		const struct bound_part *after = &bound.bound.part[i];
		bool first = hosts.est[0].pair->host[0] == 1;

		assert_true(has_knot_at(&m, EPOCH + (first ? after->x.lo : after->other.lo)));
		assert_true(has_knot_at(&m, EPOCH + (first ? after[-1].x.hi : after[-1].other.hi)));
	}
	pair_bound_release(&bound);
	reduction_end(&r);
	reduced_release(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segment_of_linear_clock),
		cmocka_unit_test(test_bound_of_host),
		cmocka_unit_test(test_growth_of_bound),
		cmocka_unit_test(test_growth_of_steered),
		cmocka_unit_test(test_one_direction),
		cmocka_unit_test(test_messages_beyond_skew_limit),
		cmocka_unit_test(test_ways_contradict),
		cmocka_unit_test(test_many_contradict),
		cmocka_unit_test(test_leap_of_bound),
	};

	return cmocka_run_group_tests_name("host_clock", tests, NULL, NULL);
}
