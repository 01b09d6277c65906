// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test netsync_push_clock(), which reports how a daemon steers a clock. Such clocks must be
 * estimated as accurately as clocks that are not steered. Wrong or lost readings may only affect
 * the times next to them.
 */
#include <errno.h>
#include <stdio.h>

#include "steer/steering.h"
#include "steered.h"

#define FAR (NETSYNC_MAX_SPAN + SEC)

/* ---- polylines ------------------------------------------------------------ */

static void test_lines_go_both_ways(void **state)
{
	struct polyline l = { .slope_before = 2, .slope_after = 0.5 };

	(void)state;
	assert_int_equal(polyline_evaluate(&l, 5), 5);
	assert_int_equal(polyline_invert(&l, 5), 5);
	assert_int_equal(polyline_add(&l, EPOCH, 100), 0);
	assert_int_equal(polyline_add(&l, EPOCH + 10, 200), 0);
	assert_int_equal(polyline_add(&l, EPOCH + 10, 300), 0);
	assert_int_equal(polyline_add(&l, EPOCH + 20, 210), 0);
	assert_int_equal(l.num, 3);
	assert_int_equal(polyline_evaluate(&l, EPOCH - 3), 94);
	assert_int_equal(polyline_evaluate(&l, EPOCH + 4), 140);
	assert_int_equal(polyline_evaluate(&l, EPOCH + 15), 205);
	assert_int_equal(polyline_evaluate(&l, EPOCH + 30), 215);
	for (int64_t y = 90; y < 220; y += 5)
		assert_in_range(llabs(polyline_evaluate(&l, polyline_invert(&l, y)) - y), 0, 5);
	polyline_release(&l);
}

static void test_lines_are_thinned(void **state)
{
	struct polyline l = { 0 }, all = { 0 };
	uint64_t s = 1;

	(void)state;
	for (int64_t x = 0; x < 2000; x++) {
		int64_t y = x * 1000000 + (x > 700 ? (x - 700) * 100 : 0) +
			    (int64_t)(draw_random64(&s) % 3);

		assert_int_equal(polyline_add(&l, x * 1000000, y), 0);
		assert_int_equal(polyline_add(&all, x * 1000000, y), 0);
	}
	polyline_drop_corners(&l, 2);
	assert_in_range(l.num, 3, 40);
	for (size_t i = 0; i < all.num; i++)
		assert_in_range(llabs(polyline_evaluate(&l, all.corner[i].x) - all.corner[i].y), 0,
				3);
	polyline_release(&l);
	polyline_release(&all);
}

/* ---- estimates ---------------------------------------------------------------- */

/* Measure the errors for the same oscillators and messages without steering. */
static struct errors measure_unsteered_errors(uint64_t seed)
{
	struct world w;
	struct errors e;

	make_steered_world(&w, seed);
	exchange_messages(&w, 0, SPAN);
	e = solve_and_measure(&w);
	netsync_free(w.ns);
	return e;
}

static void test_as_if_nobody_steered(void **state)
{
	uint64_t seeds = 11;

	(void)state;
	for (int k = 0; k < 6; k++) {
		uint64_t s = draw_random64(&seeds);
		struct errors free_running = measure_unsteered_errors(s), e;
		struct world w;

		make_steered_world(&w, s);
		/* Both clocks are steered, or only the first, or only the second one. */
		for (int i = 0; i < 2; i++)
			if (k % 3 != 1 + i)
				steer_like_chrony(&w.m[i], &seeds);
		for (uint32_t i = 0; i < 2; i++)
			if (w.m[i].num > 1)
				push_all_changes(&w, i, 0, SPAN);
		exchange_messages(&w, 0, SPAN);
		e = solve_and_measure(&w);
		print_message("alone %lld / %.0f, steered %lld / %.0f ns\n",
			      (long long)free_running.max, free_running.rms, (long long)e.max,
			      e.rms);
		check_accurate(&w);
		for (uint32_t i = 0; i < 2; i++)
			if (w.m[i].num > 1)
				check_steering(&w, i, 0);
		assert_int_equal(e.outside, 0);
		assert_int_equal(e.unknown, 0);
		assert_true(e.rms <= 1.5 * free_running.rms + 3);
		assert_true((double)e.max <= 1.5 * (double)free_running.max + 5);
		netsync_free(w.ns);
	}
}

static void test_readings_in_parts(void **state)
{
	struct errors at_once, e;
	struct world w[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		uint64_t s = 5;

		make_steered_world(&w[k], 3);
		steer_like_chrony(&w[k].m[0], &s);
		steer_like_chrony(&w[k].m[1], &s);
		for (int64_t t = 0; t < SPAN; t += k ? 10 * SEC : SPAN) {
			push_all_changes(&w[k], 0, t, t + (k ? 10 * SEC : SPAN));
			push_all_changes(&w[k], 1, t, t + (k ? 10 * SEC : SPAN));
			exchange_messages(&w[k], t, t + (k ? 10 * SEC : SPAN));
		}
	}
	at_once = solve_and_measure(&w[0]);
	e = solve_and_measure(&w[1]);
	assert_true(fabs(e.rms - at_once.rms) < 3);
	assert_int_equal(e.outside, 0);
	/* Solving a second time does not change the result. */
	at_once = solve_and_measure(&w[1]);
	assert_true(at_once.rms == e.rms);
	netsync_free(w[0].ns);
	netsync_free(w[1].ns);
}

/* ---- wrong and lost readings ---------------------------------------------------- */

static void test_lost_ones_cost_their_time(void **state)
{
	uint64_t seeds = 21;

	(void)state;
	for (int k = 0; k < 4; k++) {
		const int64_t lost = k & 1 ? 20 * SEC : 5 * SEC;
		uint64_t s = draw_random64(&seeds);
		struct errors free_running = measure_unsteered_errors(s), e;
		struct world w;

		make_steered_world(&w, s);
		steer_like_chrony(&w.m[0], &seeds);
		steer_like_chrony(&w.m[1], &seeds);
		push_all_changes(&w, 0, 0, SPAN);
		push_changes_with_losses(&w, 1, SPAN / 2, SPAN / 2 + lost);
		exchange_messages(&w, 0, SPAN);
		e = solve_and_measure(&w);
		assert_int_equal(e.outside, 0);
		check_accurate(&w);
		e = measure_errors(&w, SEC / 10, SPAN / 2 + lost / 2, lost);
		assert_true(e.rms <= 1.5 * free_running.rms + 3);
		netsync_free(w.ns);
	}
}

static void test_wrong_ones_are_left_out(void **state)
{
	const int64_t off[] = { 10 * US, -SEC, 3600 * SEC, 90 * US };
	struct errors free_running = measure_unsteered_errors(31), e;
	uint64_t s = 7;
	struct world w;

	(void)state;
	make_steered_world(&w, 31);
	steer_like_chrony(&w.m[1], &s);
	push_all_changes(&w, 1, 0, SPAN);
	for (int i = 0; i < 4; i++) {
		struct netsync_clock_point p = make_clock_point(
			&w.m[1], 1, compute_raw_time(&w.m[1], SPAN / 5 * (i + 1) + SEC / 3));

		p.raw_ns += off[i];
		assert_int_equal(netsync_push_clock(w.ns, &p), 0);
	}
	exchange_messages(&w, 0, SPAN);
	e = solve_and_measure(&w);
	assert_int_equal(e.outside, 0);
	check_accurate(&w);
	assert_true(e.rms <= 1.5 * free_running.rms + 3);
	netsync_free(w.ns);
}

/*
 * Readings cover a much longer time than messages. The result covers the time of the messages and a
 * little more.
 */
static void test_results_reach_so_far(void **state)
{
	struct netsync_model all = { .size = sizeof(all) }, some = { .size = sizeof(some) };
	int64_t ref, bound, middle = SPAN / 2;
	uint64_t s = 29;
	struct world w;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct netsync_model *m = i ? &some : &all;

		make_steered_world(&w, 61);
		push_sampled_readings(&w, 0, SPAN, &s);
		exchange_messages(&w, i ? middle : 0, i ? middle + 10 * SEC : SPAN);
		solve_and_measure(&w);
		assert_int_equal(netsync_clock_model(netsync_host_clock(w.ns, 1), m), 0);
		if (!i) {
			netsync_free(w.ns);
			continue;
		}
		assert_in_range(m->num_segments, 1, all.num_segments / 2);
		for (int k = 0; k < 2; k++) {
			const int64_t t = k ? m->segments[m->num_segments - 1].to_ns :
					      m->segments[0].from_ns;

			netsync_convert(netsync_host_clock(w.ns, 1), t + (k ? -SEC : SEC), &ref,
					&bound);
			assert_int_not_equal(bound, NETSYNC_UNKNOWN);
			netsync_convert(netsync_host_clock(w.ns, 1), t + (k ? SEC : -SEC), &ref,
					&bound);
			assert_int_equal(bound, NETSYNC_UNKNOWN);
		}
		netsync_free(w.ns);
	}
}

/*
 * Readings begin some seconds after the messages or end before them, and the clock is slewed while
 * there are no readings. The bound is wide only at this time.
 */
static void test_readings_are_fewer(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		const int64_t less = (2 + (int64_t)(i >> 1)) * SEC;
		const int64_t begin = i & 1 ? less : 0;
		const int64_t end = i & 1 ? SPAN : SPAN - less;
		const int64_t slew = i & 1 ? -SEC : end + SEC / 2;
		uint64_t s = 37 + i;
		struct world w;
		struct machine *m;
		struct errors e;

		make_steered_world(&w, 81 + i);
		m = &w.m[i >> 1 & 1];
		steer_clock(m, compute_raw_time(m, slew), 1 + 500e-6, 0);
		if (i & 1)
			steer_clock(m, compute_raw_time(m, begin - SEC / 2), 1, 0);
		push_sampled_readings(&w, begin, end, &s);
		exchange_messages(&w, 0, SPAN);
		e = solve_and_measure(&w);
		assert_int_equal(e.outside + e.unknown, 0);
		check_accurate(&w);
		e = i & 1 ? measure_errors(&w, SEC / 10, 0, begin + SEC) :
			    measure_errors(&w, SEC / 10, SPAN, less + SEC);
		assert_true(e.rms < 100);
		netsync_free(w.ns);
	}
}

static void test_sampled_ones_do(void **state)
{
	struct errors free_running = measure_unsteered_errors(41), e;
	uint64_t s = 8;
	struct world w;

	(void)state;
	make_steered_world(&w, 41);
	steer_like_chrony(&w.m[0], &s);
	steer_like_chrony(&w.m[1], &s);
	push_sampled_readings(&w, 0, SPAN, &s);
	exchange_messages(&w, 0, SPAN);
	e = solve_and_measure(&w);
	print_message("alone %lld / %.0f, sampled %lld / %.0f ns\n", (long long)free_running.max,
		      free_running.rms, (long long)e.max, e.rms);
	assert_int_equal(e.outside, 0);
	check_accurate(&w);
	assert_true(e.rms <= 2 * free_running.rms + 100);
	netsync_free(w.ns);
}

/*
 * A program takes readings every second, with errors of up to half a microsecond. Every third
 * reading is followed by another one after 0.2 ms, so that the rate between both appears to be
 * wrong by up to 0.5 %. All messages are used.
 */
static void test_readings_close_together(void **state)
{
	struct netsync_steering steering = { .size = sizeof(steering) };
	struct netsync_pair_info pair = { .size = sizeof(pair) };
	uint64_t s = 23;
	struct world w;
	struct errors e;

	(void)state;
	make_steered_world(&w, 43);
	for (uint32_t host = 0; host < 2; host++)
		for (int k = 0; k <= 4 * (SPAN / SEC + 2) / 3; k++) {
			const int64_t t = (k / 4 * 3 + max64(k % 4 - 1, 0) - 1) * SEC +
					  (k % 4 == 1 ? SEC / 5000 : 0);

			push_sampled_reading(&w, host, t, 1000, 500, &s);
		}
	exchange_messages(&w, 0, SPAN);
	e = solve_and_measure(&w);
	check_accurate(&w);
	assert_int_equal(e.outside + e.unknown, 0);
	assert_int_equal(netsync_get_pair(w.ns, 0, &pair), 0);
	assert_int_equal(pair.messages[0] + pair.messages[1], 2 * RATE * (SPAN / SEC));
	for (uint32_t host = 0; host < 2; host++) {
		assert_int_equal(netsync_get_steering(w.ns, host, &steering), 0);
		assert_int_equal(steering.unknown_ns, 0);
	}
	netsync_free(w.ns);
}

/*
 * The rate changes by 500 ppm between two readings, so that the messages in this second are
 * rejected. The next messages pass after ten minutes. The result covers all of them, because
 * readings cover the time.
 */
static void test_rejected_messages_extend_span(void **state)
{
	uint64_t s = 3;
	struct world w;

	(void)state;
	make_steered_world(&w, 47);
	for (int i = 0; i < 2; i++)
		steer_clock(&w.m[i], compute_raw_time(&w.m[i], 10 * SEC + SEC / 2), 1 + 500 * PPM,
			    0);
	for (uint32_t host = 0; host < 2; host++)
		for (int64_t t = 0; t < SPAN; t += SEC)
			push_sampled_reading(&w, host, t, 30, 30, &s);
	exchange_messages(&w, 10 * SEC, 11 * SEC);
	exchange_messages(&w, 610 * SEC, 650 * SEC);
	solve_and_measure(&w);
	for (uint32_t host = 0; host < 2; host++) {
		struct netsync_host_info info = { .size = sizeof(info) };

		assert_int_equal(netsync_get_host(w.ns, host, &info), 0);
		assert_true(info.first_ns < read_clock_at_time(&w.m[host], 10 * SEC + SEC / 10));
		assert_true(info.last_ns > read_clock_at_time(&w.m[host], 649 * SEC));
	}
	netsync_free(w.ns);
}

/*
 * Readings arrive later than packets, and results are requested in between, as in "netsync
 * live".
 */
static void test_late_ones_are_waited_for(void **state)
{
	const int64_t apart = 30 * SEC, lag = 3 * SEC;
	struct netsync_steering steering = { .size = sizeof(steering) };
	struct netsync_pair_info pair = { .size = sizeof(pair) };
	struct errors e = { 0 }, last;
	uint64_t s = 8, noise = 9;
	struct world w;

	(void)state;
	make_steered_world(&w, 41);
	steer_like_chrony(&w.m[0], &s);
	steer_like_chrony(&w.m[1], &s);
	for (int64_t t = 0; t < SPAN; t += apart) {
		/* Readings begin before the first packet. */
		push_sampled_readings(&w, t ? t - lag : -SEC, t + apart - lag, &noise);
		exchange_messages(&w, t, t + apart);
		for (uint32_t host = 0; host < 2; host++)
			assert_int_equal(netsync_advance(w.ns, host,
							 read_clock_at_time(&w.m[host],
									    t + apart - lag)),
					 0);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		for (int64_t at = 0; at < t + apart; at += SEC) {
			uint32_t ref = (uint32_t)netsync_reference(w.ns);
			int64_t got, bound, truth = read_clock_at_time(&w.m[ref], at);

			assert_int_equal(netsync_convert(netsync_host_clock(w.ns, !ref),
							 read_clock_at_time(&w.m[!ref], at), &got,
							 &bound),
					 0);
			e.outside += llabs(got - truth) > bound;
			if (at < t + apart - lag && llabs(got - truth) > e.max)
				e.max = llabs(got - truth);
		}
	}
	push_sampled_readings(&w, SPAN - lag, SPAN, &noise);
	for (uint32_t host = 0; host < 2; host++)
		assert_int_equal(netsync_advance(w.ns, host, INT64_MAX), 0);
	last = solve_and_measure(&w);
	print_message("on the way %lld ns, at the end %lld / %.0f ns\n", (long long)e.max,
		      (long long)last.max, last.rms);
	assert_int_equal(e.outside, 0);
	assert_int_equal(last.outside, 0);
	assert_in_range(last.max, 0, 400);
	/* No message is used too early, and none is lost. */
	assert_int_equal(netsync_get_pair(w.ns, 0, &pair), 0);
	assert_true((double)(pair.messages[0] + pair.messages[1]) >
		    0.97 * (double)(2 * RATE * (SPAN / SEC)));
	assert_int_equal(netsync_get_steering(w.ns, 0, &steering), 0);
	assert_int_equal(steering.until_ns, read_clock_at_time(&w.m[0], SPAN - SEC / 10));
	netsync_free(w.ns);
}

static void test_a_gap_falls_back(void **state)
{
	uint64_t s = 13;
	struct world w;
	struct errors e;

	(void)state;
	make_steered_world(&w, 51);
	steer_like_chrony(&w.m[1], &s);
	push_changes_with_losses(&w, 1, SPAN / 3, SPAN / 2);
	exchange_messages(&w, 0, SPAN);
	assert_int_equal(netsync_solve(w.ns, NULL), 0);
	check_steering(&w, 1, SPAN / 6);
	/* Where readings report the steering, the accuracy is the same as without a gap. */
	e = measure_errors(&w, SEC / 10, SPAN / 12 * 5, SPAN / 6);
	print_message("beside the gap %lld / %.0f ns\n", (long long)e.max, e.rms);
	assert_in_range(e.max, 0, 20000);
	netsync_free(w.ns);
}

/* If a recording has no packets, hosts have no spans, but there is a reference. */
static void test_nothing_to_correct(void **state)
{
	for (int spans = 0; spans < 3; spans++) {
		int64_t at = EPOCH, got, bound;
		uint64_t s = 5;
		struct world w;

		(void)state;
		make_steered_world(&w, 61);
		push_sampled_readings(&w, 0, 9 * SEC, &s);
		for (int i = 0; i < spans; i++)
			assert_int_equal(netsync_extend_span(w.ns, 0,
							     read_clock_at_time(&w.m[0],
										(2 + 3 * i) * SEC)),
					 0);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(
			netsync_convert(netsync_host_clock(w.ns, (uint32_t)netsync_reference(w.ns)),
					at, &got, &bound),
			0);
		assert_int_equal(got, at);
		netsync_free(w.ns);
	}
}

static void test_senseless_ones_are_refused(void **state)
{
	struct netsync_clock_point p = {
		.size = sizeof(p), .time_ns = EPOCH, .raw_ns = SEC, .rate = 1,
	}, q = p;
	struct netsync *ns = netsync_new();

	(void)state;
	assert_int_equal(netsync_push_clock(ns, &p), -EINVAL);
	netsync_add_host(ns, "a");
	netsync_add_host(ns, "b");
	q.size = 8;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q = p;
	q.rate = -1;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q.rate = NAN;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q = p;
	q.within_ns = -1;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q.within_ns = NETSYNC_MAX_SPAN;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q = p;
	q.time_ns = INT64_MIN;
	assert_int_equal(netsync_push_clock(ns, &q), -ERANGE);
	q = p;
	q.raw_ns = NETSYNC_MAX_TIME;
	assert_int_equal(netsync_push_clock(ns, &q), -ERANGE);
	assert_int_equal(netsync_push_clock(ns, &p), 0);
	q = p;
	q.raw_ns -= NETSYNC_MAX_SPAN + SEC;
	assert_int_equal(netsync_push_clock(ns, &q), -ERANGE);
	/* The times of readings and messages are in one time base. */
	assert_int_equal(netsync_push_message(ns, 0, 1, EPOCH - FAR, EPOCH), -ERANGE);
	/* A single reading has no effect. */
	assert_int_equal(netsync_push_message(ns, 0, 1, EPOCH, EPOCH + US), 0);
	assert_int_equal(netsync_push_message(ns, 1, 0, EPOCH + SEC, EPOCH + SEC + US), 0);
	q = p;
	q.host = 1;
	q.time_ns -= FAR;
	assert_int_equal(netsync_push_clock(ns, &q), -ERANGE);
	assert_int_equal(netsync_solve(ns, NULL), 0);
	netsync_free(ns);

	ns = netsync_new();
	netsync_add_host(ns, "a");
	netsync_add_host(ns, "b");
	assert_int_equal(netsync_push_message(ns, 0, 1, EPOCH + 5 * SEC, EPOCH + 5 * SEC + US), 0);
	/*
	 * Messages of the first seconds are deferred until readings arrive or a result is
	 * requested.
	 */
	assert_int_equal(netsync_solve(ns, NULL), 0);
	assert_int_equal(netsync_push_clock(ns, &p), -EALREADY);
	assert_string_not_equal(netsync_error(ns), "");
	/*
	 * A reading that follows a timely one is not too late either, even if the clock is stepped
	 * back.
	 */
	q = p;
	q.time_ns += 9 * SEC / 2;
	q.raw_ns += 9 * SEC / 2;
	assert_int_equal(netsync_push_clock(ns, &q), 0);
	assert_int_equal(netsync_push_clock(ns, &p), -EALREADY);
	q.time_ns = EPOCH;
	q.raw_ns += 3 * SEC;
	q.was_set = 1;
	assert_int_equal(netsync_push_clock(ns, &q), 0);
	netsync_free(ns);
}

/* ---- messages before the first reading ------------------------------------------- */

/* Make a clock that is slewed strongly at first and slightly all the time. */
static void slew_clock_at_begin(struct machine *m, double first)
{
	steer_clock(m, compute_raw_time(m, -SEC / 2), 1 + first, 0);
	for (int64_t t = 5 * SEC; t < SPAN; t += 30 * SEC) {
		steer_clock(m, compute_raw_time(m, t), 1, 0);
		steer_clock(m, compute_raw_time(m, t + 20 * SEC), 1 + 60 * PPM, 0);
	}
}

/* Push ten readings per second from @from on. */
static void push_readings_from(struct world *w, uint32_t host, int64_t from)
{
	const struct machine *m = &w->m[host];

	for (int64_t raw = compute_raw_time(m, from); raw < compute_raw_time(m, SPAN);
	     raw += SEC / 10) {
		const struct netsync_clock_point p = make_clock_point(m, host, raw);

		assert_int_equal(netsync_push_clock(w->ns, &p), 0);
	}
}

static void make_early_world(struct world *w)
{
	make_steered_world(w, 4);
	slew_clock_at_begin(&w->m[0], -300 * PPM);
	slew_clock_at_begin(&w->m[1], 400 * PPM);
}

static void check_same_clocks(const struct world *a, const struct world *b)
{
	const uint32_t host = !netsync_reference(a->ns);
	int64_t got[2], bound[2];

	assert_int_equal(netsync_reference(b->ns), !host);
	for (int64_t t = -SEC; t <= SPAN; t += SEC / 4) {
		const int64_t at = read_clock_at_time(&a->m[host], t);

		netsync_convert(netsync_host_clock(a->ns, host), at, &got[0], &bound[0]);
		netsync_convert(netsync_host_clock(b->ns, host), at, &got[1], &bound[1]);
		assert_int_equal(got[0], got[1]);
		assert_int_equal(bound[0], bound[1]);
	}
}

/*
 * Push some or all messages of the first second and the first readings in any order. The result
 * must be the same and its bounds must hold, whether readings begin before the messages or after
 * some of them.
 */
static void test_early_messages_wait(void **state)
{
	/* The time of the hosts' first readings, and the number of messages before it. */
	static const struct {
		int64_t begin[2], before;
	} cases[] = {
		{ { 0, 0 }, 990 * SEC / 1000 },
		{ { 700 * SEC / 1000, 300 * SEC / 1000 }, 990 * SEC / 1000 },
		{ { 0, 5 * SEC }, 9 * SEC },
		{ { 0, 0 }, 25 * SEC },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w[3];

		for (int order = 0; order < 3; order++) {
			const int64_t before = cases[i].before;
			struct errors e;

			make_early_world(&w[order]);
			if (order == 1)
				exchange_messages(&w[order], 0, before);
			push_readings_from(&w[order], 0, cases[i].begin[0]);
			if (order == 2)
				exchange_messages(&w[order], 0, before);
			push_readings_from(&w[order], 1, cases[i].begin[1]);
			if (!order)
				exchange_messages(&w[order], 0, before);
			exchange_messages(&w[order], before, SPAN);
			e = solve_and_measure(&w[order]);
			print_message("case %zu, order %d: %lld / %.0f ns, %d outside\n", i, order,
				      (long long)e.max, e.rms, e.outside);
			assert_int_equal(e.outside, 0);
			assert_int_equal(e.unknown, 0);
		}
		check_same_clocks(&w[0], &w[1]);
		check_same_clocks(&w[0], &w[2]);
		for (int order = 0; order < 3; order++)
			netsync_free(w[order].ns);
	}
}

/*
 * A result is requested before the first readings. Messages that were used without readings make
 * the bounds wider.
 */
static void test_used_too_early(void **state)
{
	(void)state;
	for (int64_t before = SEC / 2; before < SEC; before += SEC / 4) {
		struct world w;
		struct errors e;

		make_early_world(&w);
		exchange_messages(&w, 0, before);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		push_readings_from(&w, 0, 0);
		push_readings_from(&w, 1, 0);
		exchange_messages(&w, before, SPAN);
		e = solve_and_measure(&w);
		print_message("used before: %lld / %.0f ns, %d outside, %d unknown\n",
			      (long long)e.max, e.rms, e.outside, e.unknown);
		assert_int_equal(e.outside, 0);
		netsync_free(w.ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_go_both_ways),
		cmocka_unit_test(test_lines_are_thinned),
		cmocka_unit_test(test_as_if_nobody_steered),
		cmocka_unit_test(test_readings_in_parts),
		cmocka_unit_test(test_lost_ones_cost_their_time),
		cmocka_unit_test(test_wrong_ones_are_left_out),
		cmocka_unit_test(test_results_reach_so_far),
		cmocka_unit_test(test_readings_are_fewer),
		cmocka_unit_test(test_sampled_ones_do),
		cmocka_unit_test(test_readings_close_together),
		cmocka_unit_test(test_rejected_messages_extend_span),
		cmocka_unit_test(test_late_ones_are_waited_for),
		cmocka_unit_test(test_a_gap_falls_back),
		cmocka_unit_test(test_nothing_to_correct),
		cmocka_unit_test(test_early_messages_wait),
		cmocka_unit_test(test_used_too_early),
		cmocka_unit_test(test_senseless_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
