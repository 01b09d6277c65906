// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check when a curve is untrusted: when messages are inconsistent with it, or when its curvature is
 * too large.
 */
#include <string.h>

#include "curve/doubt.h"
#include "sample.h"

/* Largest drift of an oscillator, 1 / ns. */
#define DRIFT 1e-16

/* The curve of a sample, as its value in the middle of each knot interval. */
struct fixture {
	struct sample s;
	struct host_fit k;
	double margin;
};

static void begin_doubt_fixture(struct fixture *f, size_t intervals)
{
	sample_gather(&f->s);
	/* Use the true offset. The minimum delay of add_talk_of_two() is DELAY. */
	f->s.c.offset = -AHEAD;
	f->margin = DELAY;
	f->k = (struct host_fit){
		.correction = &f->s.c,
		.obs = f->s.p,
		.drift = DRIFT,
		.margin = &f->margin,
		.intervals = intervals,
	};
	assert_int_equal(spline_new(&f->k.best, 0, f->k.obs.span, intervals, NULL, 0), 0);
	memset(f->k.best.coef, 0, f->k.best.coefs * sizeof(*f->k.best.coef));
	spline_set_cubics(&f->k.best);
}

static void end_doubt_fixture(struct fixture *f)
{
	spline_free(&f->k.best);
	correction_release(&f->s.c);
	f->s.p = f->k.obs;
	sample_release(&f->s);
}

static void test_correct_curve(void **state)
{
	struct fixture f;

	(void)state;
	begin_doubt_fixture(&f, 40);
	assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
	assert_int_equal(f.s.c.num_doubts, 0);
	assert_false(f.s.c.no_margin);
	end_doubt_fixture(&f);
}

/*
 * The curve is always closer to the messages of one direction. If the host has several links with
 * unequal delays, this does not mean that the curve drifts faster. If the host has one link, it
 * does.
 */
static void test_unequal_delays(void **state)
{
	(void)state;
	for (int links = 1; links <= 2; links++) {
		double margin[2] = { DELAY, DELAY };
		uint64_t seed = 7;
		struct link link[2];
		struct fixture f;

		begin_doubt_fixture(&f, 40);
		pairs_release(&f.s.ps);
		f.s.ps = (struct pairs){ 0 };
		for (int64_t i = 1; i < 4 * SECONDS; i++) {
			const int64_t t = i * SEC / 4, own = t + AHEAD;

			add_message(&f.s.ps, 0, 1, t,
				    own + DELAY + draw_integer_below(&seed, DELAY));
			add_message(&f.s.ps, 1, 0, own,
				    t + DELAY + draw_integer_below(&seed, DELAY));
		}
		assert_int_equal(pairs_settle(&f.s.ps), 0);
		f.s.link.pair = f.s.ps.pair[0];
		link[0] = link[1] = f.s.link;
		f.k.margin = margin;
		f.s.c.offset += DELAY / 2;
		assert_int_equal(doubts_find(&f.k, link, (size_t)links), 0);
		assert_int_equal(f.s.c.num_doubts, links == 1);
		assert_false(f.s.c.no_margin);
		end_doubt_fixture(&f);
	}
}

/*
 * For 40 s out of 400 s, the curve is wrong by almost the minimum delay. The error of the curve
 * changes as slowly as clocks drift.
 */
static void test_curve_wrong_for_a_while(void **state)
{
	struct fixture f;

	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		begin_doubt_fixture(&f, 10);
		f.k.drift = 1;
		for (size_t i = 5; i < 8; i++)
			f.k.best.coef[i] = sign * 0.9 * DELAY;
		spline_set_cubics(&f.k.best);
		assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
		assert_int_equal(f.s.c.num_doubts, 1);
		/* The untrusted interval extends by up to half of its length before and after. */
		assert_true(f.s.c.doubt[0].from < 130e9 && f.s.c.doubt[0].from > 0);
		assert_true(f.s.c.doubt[0].to > 270e9 && f.s.c.doubt[0].to < 400e9);
		end_doubt_fixture(&f);
	}
}

/*
 * For 40 s out of 400 s, messages of one or both directions are faster than all others by half of
 * the minimum delay. If only one direction is faster, the curve may be wrong. If both directions
 * are faster, the curve is not wrong.
 */
static void test_faster_messages(void **state)
{
	(void)state;
	for (int ways = 1; ways <= 3; ways++) {
		/* At this distance from the messages, the clock may have been slewed in between. */
		const int64_t late = ways == 3 ? SEC / 3 : 0;
		uint64_t seed = 7;
		struct fixture f;

		begin_doubt_fixture(&f, 10);
		pairs_release(&f.s.ps);
		f.s.ps = (struct pairs){ 0 };
		for (int64_t i = 0; i < SECONDS; i++) {
			const int64_t t = i * SEC + SEC / 2, own = t + AHEAD;
			const bool quick = i >= 180 && i < 220;
			const int64_t forth = DELAY + draw_integer_below(&seed, DELAY);
			const int64_t back = DELAY + draw_integer_below(&seed, DELAY);

			add_message(&f.s.ps, 0, 1, t, own + (quick ? DELAY / 2 : forth));
			add_message(&f.s.ps, 1, 0, own + late,
				    t + late + (quick && ways > 1 ? DELAY / 2 : back));
		}
		assert_int_equal(pairs_settle(&f.s.ps), 0);
		f.s.link.pair = f.s.ps.pair[0];
		assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
		assert_int_equal(f.s.c.num_doubts, ways != 2);
		end_doubt_fixture(&f);
	}
}

/*
 * Near a change point of either host, a bound makes no assumptions and needs no untrusted interval.
 */
static void test_at_change(void **state)
{
	struct change_point change = {
		.t = 200e9, .uncertainty = 60e9, .phase_step = true, .offset = DELAY
	};
	struct correction other = sample_reference;
	struct fixture f;

	(void)state;
	other.change = &change;
	other.num_changes = 1;
	for (int who = 0; who < 2; who++) {
		begin_doubt_fixture(&f, 10);
		f.k.drift = 1;
		for (size_t i = 5; i < 8; i++)
			f.k.best.coef[i] = 0.9 * DELAY;
		spline_set_cubics(&f.k.best);
		if (who)
			f.s.link.other = &other;
		else
			f.s.c.change = &change;
		f.s.c.num_changes = !who;
		assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
		assert_int_equal(f.s.c.num_doubts, 0);
		f.s.c.change = NULL;
		f.s.c.num_changes = 0;
		end_doubt_fixture(&f);
	}
}

/* Two messages of one direction, next to a phase step, belong to the other side of the step. */
static void test_beside_step(void **state)
{
	struct change_point change = { .t = 208e9, .uncertainty = 1e9, .phase_step = true };

	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		struct fixture f;

		begin_doubt_fixture(&f, 400);
		f.k.drift = 1;
		change.offset = sign * 3 * DELAY;
		f.s.c.change = &change;
		f.s.c.num_changes = 1;
		/*
		 * At 206 s. The curve fits the messages again one second before and after this
		 * time.
		 */
		f.k.best.coef[207] = sign * 3 * DELAY;
		spline_set_cubics(&f.k.best);
		assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
		assert_int_equal(f.s.c.num_doubts, 1);
		assert_true(f.s.c.doubt[0].phase_step);
		/* The untrusted interval extends by up to half of its length before and after. */
		assert_true(f.s.c.doubt[0].from < 205e9 && f.s.c.doubt[0].from > 200e9);
		assert_true(f.s.c.doubt[0].to > 209e9 && f.s.c.doubt[0].to < 214e9);
		f.s.c.change = NULL;
		f.s.c.num_changes = 0;
		end_doubt_fixture(&f);
	}
}

/* The curve leaves slack to all messages, but its rate changes by 20 ppm within 10 s. */
static void test_curve_with_fast_rate_change(void **state)
{
	struct fixture f;

	(void)state;
	begin_doubt_fixture(&f, 40);
	f.k.drift = 1e-17;
	for (size_t i = 20; i < f.k.best.coefs; i++)
		f.k.best.coef[i] = 10e-6 * 10e9 * (double)(i - 19);
	spline_set_cubics(&f.k.best);
	assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
	assert_true(f.s.c.num_doubts > 0);
	end_doubt_fixture(&f);
}

/* Size of the sudden rate change in the middle, as a slope. */
static double turn;

static double turn_in_middle(double t)
{
	return turn * fmax(t - SECONDS / 2 * 1e9, 0);
}

/*
 * Exchange messages like add_talk_of_two(), with a clock whose rate changes, and without messages
 * for @about seconds before and after the middle.
 */
static void talk_with_silence(struct pairs *ps, int about)
{
	uint64_t seed = 7;

	for (int64_t i = 0; i < SECONDS; i++) {
		const int64_t t = i * SEC + SEC / 2;
		const int64_t own = t + AHEAD - (int64_t)turn_in_middle((double)t);

		if (i >= SECONDS / 2 - about && i < SECONDS / 2 + about)
			continue;
		add_message(ps, 0, 1, t, own + DELAY + draw_integer_below(&seed, DELAY));
		add_message(ps, 1, 0, own, t + DELAY + draw_integer_below(&seed, DELAY));
	}
	assert_int_equal(pairs_settle(ps), 0);
}

/*
 * The rate of the clock's curve changes within 80 s, as fast as oscillators drift. If messages
 * cover this time, the oscillator may cause the change. Otherwise, the change may be sudden.
 */
static void check_silent_turn(double by)
{
	turn = by;
	for (int about = 0; about <= 40; about += 40) {
		struct fixture f;

		begin_doubt_fixture(&f, 10);
		pairs_release(&f.s.ps);
		f.s.ps = (struct pairs){ 0 };
		talk_with_silence(&f.s.ps, about);
		f.s.link.pair = f.s.ps.pair[0];
		for (size_t i = 0; i < f.k.best.coefs; i++)
			f.k.best.coef[i] = turn_in_middle(spline_abscissa(&f.k.best, i));
		spline_set_cubics(&f.k.best);
		assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
		assert_int_equal(f.s.c.num_doubts, about || by > 400e-6);
		if (f.s.c.num_doubts)
			assert_int_equal(f.s.c.doubt[0].phase_step, by > 400e-6);
		if (about && by < 400e-6) {
			assert_true(fabs(f.s.c.doubt[0].from - 159.5e9) < 1e6);
			assert_true(fabs(f.s.c.doubt[0].to - 240.5e9) < 1e6);
		}
		end_doubt_fixture(&f);
	}
}

/* A rate change larger than that of any slew is rather a step. */
static void test_step_without_messages(void **state)
{
	(void)state;
	check_silent_turn(6e-6);
	check_silent_turn(600e-6);
}

/*
 * If a link has few messages, its minimum delay comes from the fit or from its messages. If one
 * link of several has no minimum delay, its neighbour may be wrong. If two of four links have none,
 * this host is wrong.
 */
static void test_links_without_margin(void **state)
{
	static const struct {
		size_t links, without;
		bool wrong;
	} cases[] = { { 2, 1, false }, { 3, 1, false }, { 4, 1, false },
		      { 4, 2, true },  { 5, 2, false }, { 5, 3, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double margin[5];
		struct link link[5];
		struct pairs wrong = { 0 };
		struct fixture f;

		add_talk_of_two(&wrong, 40, AHEAD, DELAY);
		add_talk_of_two(&wrong, 40, AHEAD + 3 * DELAY, DELAY);
		begin_doubt_fixture(&f, 1);
		pairs_release(&f.s.ps);
		f.s.ps = (struct pairs){ 0 };
		add_talk_of_two(&f.s.ps, 40, AHEAD, DELAY);
		f.s.link.pair = f.s.ps.pair[0];
		for (size_t n = 0; n < cases[i].links; n++) {
			link[n] = f.s.link;
			if (n < cases[i].without)
				link[n].pair = wrong.pair[0];
			margin[n] = n < cases[i].without ? 0 : DELAY / 2;
		}
		observations_release(&f.k.obs);
		assert_int_equal(observations_gather(&f.k.obs, &f.s.c, link, cases[i].links), 0);
		f.k.margin = margin;
		assert_int_equal(doubts_find(&f.k, link, cases[i].links), 0);
		assert_int_equal(f.s.c.no_margin, cases[i].wrong);
		end_doubt_fixture(&f);
		pairs_release(&wrong);
	}
}

/* If a daemon steers the clock, no drift limit is assumed at any time. */
static void test_steered_clock_has_no_drift_limit(void **state)
{
	for (int n = 7; n <= 8; n++) {
		struct fixture f;

		(void)state;
		begin_doubt_fixture(&f, 1);
		f.s.c.change = calloc((size_t)n, sizeof(*f.s.c.change));
		f.s.c.num_changes = (size_t)n;
		for (int i = 0; i < n; i++)
			f.s.c.change[i].t = (i + 1) * 40e9;
		assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
		assert_int_equal(f.s.c.num_doubts, n == 8);
		assert_false(f.s.c.no_margin);
		f.s.c.change[3].skew = 500e-6;
		assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
		assert_true(f.s.c.no_margin);
		end_doubt_fixture(&f);
	}
}

/*
 * A clock that has the same rate before and after a change was stepped. A clock with a different
 * rate was slewed.
 */
static void test_slewed_clock(void **state)
{
	struct change_point change = { .t = 200e9, .phase_step = true, .skew = 480e-6 };
	struct fixture f;

	(void)state;
	begin_doubt_fixture(&f, 1);
	f.s.c.change = &change;
	f.s.c.num_changes = 1;
	assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
	assert_true(f.s.c.no_margin);
	assert_int_equal(f.s.c.num_doubts, 1);
	f.s.c.change = NULL;
	f.s.c.num_changes = 0;
	end_doubt_fixture(&f);
}

/* A curve that inverts messages is not trusted. */
static void test_inverting_curve_is_untrusted(void **state)
{
	struct fixture f;

	(void)state;
	/*
	 * A curve that is only slightly too high, and leaves slack to messages of both directions,
	 * is trusted.
	 */
	begin_doubt_fixture(&f, 1);
	f.margin = -5;
	assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
	assert_false(f.s.c.no_margin);
	assert_int_equal(f.s.c.num_doubts, 0);
	end_doubt_fixture(&f);

	begin_doubt_fixture(&f, 2);
	f.margin = -5;
	for (size_t i = 0; i < f.k.best.coefs; i++)
		f.k.best.coef[i] = (i < f.k.best.coefs / 2 ? 3 : -3) * DELAY;
	spline_set_cubics(&f.k.best);
	assert_int_equal(doubts_find(&f.k, &f.s.link, 1), 0);
	assert_true(f.s.c.no_margin);
	/*
	 * With this many messages, the link would have a minimum delay if the clock drifted as
	 * little as assumed.
	 */
	assert_int_equal(f.s.c.num_doubts, 1);
	assert_true(f.s.c.doubt[0].from <= 0);
	assert_true(f.s.c.doubt[0].to >= f.k.obs.span);
	end_doubt_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_correct_curve),
		cmocka_unit_test(test_unequal_delays),
		cmocka_unit_test(test_curve_wrong_for_a_while),
		cmocka_unit_test(test_faster_messages),
		cmocka_unit_test(test_at_change),
		cmocka_unit_test(test_beside_step),
		cmocka_unit_test(test_curve_with_fast_rate_change),
		cmocka_unit_test(test_step_without_messages),
		cmocka_unit_test(test_links_without_margin),
		cmocka_unit_test(test_steered_clock_has_no_drift_limit),
		cmocka_unit_test(test_slewed_clock),
		cmocka_unit_test(test_inverting_curve_is_untrusted),
	};

	return cmocka_run_group_tests_name("doubt", tests, NULL, NULL);
}
