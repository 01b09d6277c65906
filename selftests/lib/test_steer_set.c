// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test stepped clocks and netsync_push_clock(), which reports when they were stepped, or between
 * which readings. The truth must be within the bound at every instant on either side of a step.
 */
#include <errno.h>
#include <stdio.h>

#include "steered.h"

static void test_set_clocks_are_reported(void **state)
{
	struct netsync_host_info info = { .size = sizeof(info) };
	struct netsync_step step = { .size = sizeof(step) };
	struct netsync_steering steering = { .size = sizeof(steering) };
	const int64_t by[] = { 2 * SEC, -3 * SEC, 50 * US, -70 * US };
	struct world w;
	struct errors e;

	(void)state;
	make_steered_world(&w, 9);
	for (int i = 0; i < 4; i++)
		steer_clock(&w.m[1], compute_raw_time(&w.m[1], SPAN / 5 * (i + 1) + SEC / 77), 1,
			    by[i]);
	push_all_changes(&w, 1, 0, SPAN);
	exchange_messages(&w, 0, SPAN);
	assert_int_equal(netsync_solve(w.ns, NULL), 0);
	assert_int_equal(netsync_get_host(w.ns, 1, &info), 0);
	assert_int_equal(info.num_steps, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(netsync_get_step(w.ns, 1, i, &step), 0);
		assert_int_equal(step.known, 1);
		assert_in_range(llabs(step.offset_ns - by[i]), 0, 5);
		assert_in_range(llabs(step.time_ns + step.offset_ns -
				      read_clock_at_time(&w.m[1], SPAN / 5 * (i + 1) + SEC / 77)),
				0, 5);
	}
	check_steering(&w, 1, 0);
	assert_int_equal(netsync_get_steering(w.ns, 0, &steering), 0);
	assert_int_equal(steering.points, 0);
	assert_int_equal(netsync_get_steering(w.ns, 2, &steering), -EINVAL);
	/* The 3 s that the clock showed twice are ambiguous. */
	e = measure_errors(&w, SEC / 10, SPAN / 5 * 2, 4 * SEC);
	assert_int_equal(e.outside, 0);
	assert_in_range(e.max, 0, 5000);
	e = measure_errors(&w, SEC / 10, -SPAN, 0);
	assert_int_equal(e.outside, 0);
	check_accurate(&w);
	netsync_free(w.ns);
}

/* If readings are lost, the time of the step is unknown. Some gaps between readings are short, and
 * others are long. */
static void test_set_when_points_were_lost(void **state)
{
	const int64_t by[] = { 300 * US, 20000 * US, 3 * SEC / 2, -3 * SEC / 2 };
	const int64_t lost[] = { 5 * SEC, 20 * SEC };
	uint64_t s = 9;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		const int64_t half = lost[i & 1] / 2;
		struct world w;

		make_steered_world(&w, 71 + i);
		steer_like_chrony(&w.m[0], &s);
		steer_clock(&w.m[1], compute_raw_time(&w.m[1], SPAN / 2), 1 + 9 * PPM, by[i / 2]);
		push_all_changes(&w, 0, 0, SPAN);
		push_changes_with_losses(&w, 1, SPAN / 2 - half, SPAN / 2 + half);
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(measure_errors(&w, SEC / 50, -SPAN, 0).outside, 0);
		netsync_free(w.ns);
	}
}

/*
 * The clock is stepped back by less than steering may change it between two readings, so that times
 * near the readings were shown twice. The clock is that of the reference or of the other host.
 */
static void test_set_back_by_little(void **state)
{
	const int64_t by[] = { -2000 * US, -5000 * US, -9000 * US };
	static const char *const reference[] = { "a", "b" };
	uint64_t s = 3;

	(void)state;
	for (size_t i = 0; i < 18; i++) {
		const struct netsync_options opt = {
			.size = sizeof(opt),
			.reference = reference[i & 1],
		};
		struct world w;

		make_steered_world(&w, 31 + i);
		steer_clock(&w.m[0],
			    compute_raw_time(&w.m[0], SPAN / 2 + (int64_t)(i % 9 + 1) * SEC / 100),
			    1, by[i / 2 % 3]);
		push_sampled_readings(&w, 0, SPAN, &s);
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(measure_errors(&w, SEC / 500, -SPAN, 0).outside, 0);
		netsync_free(w.ns);
	}
}

/* Count the times from @from on whose interval does not contain the truth. */
static int count_times_outside(const struct world *w, int64_t from, int64_t to, int64_t apart)
{
	uint32_t reference = (uint32_t)netsync_reference(w->ns);
	const struct netsync_clock *c = netsync_host_clock(w->ns, !reference);
	int outside = 0;

	assert_non_null(c);
	for (int64_t t = from; t <= to; t += apart) {
		int64_t truth = read_clock_at_time(&w->m[reference], t), lo, hi;

		assert_int_equal(
			netsync_interval(c, read_clock_at_time(&w->m[!reference], t), &lo, &hi), 0);
		outside += truth < lo || truth > hi;
	}
	return outside;
}

/*
 * Readings with rates are some seconds apart, and do not report that the clock was stepped back.
 * Times that were shown twice were read before the last reading or after the next one.
 */
static void test_set_back_between_rates(void **state)
{
	static const char *const reference[] = { "a", "b" };

	(void)state;
	for (int i = 0; i < 24; i++) {
		const struct netsync_options opt = {
			.size = sizeof(opt),
			.reference = reference[i & 1],
		};
		const int64_t apart = (i & 2 ? 1 : 5) * SEC, by = -apart / (i & 4 ? 12 : 40);
		/*
		 * The step is just after a reading, between two readings, or just before the
		 * next one.
		 */
		const int64_t set = SPAN / 2 + apart * (i / 8 * 48 + 1) / 100;
		struct world w;
		uint32_t number = 1;

		make_steered_world(&w, 231 + i);
		for (int64_t t = 0; t <= SPAN; t += apart) {
			struct netsync_clock_point p;

			if (t > set && w.m[0].num == 1)
				steer_clock(&w.m[0], compute_raw_time(&w.m[0], set), 1, by);
			p = make_clock_point(&w.m[0], 0, compute_raw_time(&w.m[0], t));
			p.number = number++;
			assert_int_equal(netsync_push_clock(w.ns, &p), 0);
		}
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, set - apart, set + apart, apart / 2000),
				 0);
		netsync_free(w.ns);
	}
}

/* How the readings of a host with a step are reported. The reading at the step may be lost. */
enum set_report { NUMBERED, NOT_NUMBERED, BY_WAS_SET };

/*
 * Push readings once a second in random order, each of them twice. Also push one at the step,
 * unless it was lost. The numbering restarts at some time.
 */
static void push_setting(struct world *w, enum set_report how, int64_t set, bool is_lost)
{
	const struct machine *m = &w->m[1];
	const int64_t num = SPAN / SEC + 2, anew = SPAN / SEC / 3 * 2;

	for (int64_t i = 0; i < 2 * num; i++) {
		const int64_t k = i * 7 % num, at = k * SEC;
		const bool is_setting = k == num - 1;
		struct netsync_clock_point p = make_clock_point(
			m, 1, compute_raw_time(m, is_setting ? set : at));

		if (is_setting && is_lost)
			continue;
		p.was_set = is_setting && how == BY_WAS_SET;
		if (how == NUMBERED)
			p.number = is_setting ? (uint32_t)(set / SEC) + 2 :
						(uint32_t)(k % anew) + 1 + (at > set && k < anew);
		assert_int_equal(netsync_push_clock(w->ns, &p), 0);
	}
}

/* A reading gives the time of the step only if no reading can have been lost. */
static void test_a_setting_may_be_lost(void **state)
{
	const int64_t by[] = { 5 * SEC, -5 * SEC, SEC / 2, -SEC / 2 };
	const int64_t set = SPAN / 2 + SEC / 3;

	(void)state;
	for (int i = 0; i < 4 * 3 * 2; i++) {
		const enum set_report how = (enum set_report)(i / 4 % 3);
		const bool is_lost = i / 12, is_known = !is_lost && how != NOT_NUMBERED;
		struct netsync_step step = { .size = sizeof(step) };
		struct world w;
		int64_t at;

		make_steered_world(&w, 101 + (uint64_t)i);
		steer_clock(&w.m[1], compute_raw_time(&w.m[1], set), 1, by[i % 4]);
		push_setting(&w, how, set, is_lost);
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(measure_errors(&w, SEC / 50, -SPAN, 0).outside, 0);
		check_accurate(&w);
		assert_int_equal(netsync_get_step(w.ns, 1, 0, &step), 0);
		assert_int_equal(step.known, 1);
		assert_in_range(llabs(step.offset_ns - by[i % 4]), 0, 5);
		at = read_clock_at_time(&w.m[1], set) - by[i % 4];
		assert_true(llabs(step.time_ns - at) <= step.within_ns + 5);
		assert_int_equal(step.within_ns <= 5, is_known);
		netsync_free(w.ns);
	}
}

/*
 * The step is at one end of an interval between two readings, which are taken ten times a second.
 */
static void test_set_between_samples(void **state)
{
	const int64_t by[] = { 100 * US, -300 * US, 5000 * US, SEC };
	uint64_t s = 17;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct world w;

		make_steered_world(&w, 91 + i);
		steer_clock(&w.m[1], compute_raw_time(&w.m[1], SPAN / 2) + SEC / 1000, 1, by[i]);
		push_sampled_readings(&w, 0, SPAN, &s);
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(measure_errors(&w, SEC / 100, -SPAN, 0).outside, 0);
		netsync_free(w.ns);
	}
}

/*
 * The reference is stepped by more than the interval between two readings. If the time of the step
 * is known only from these readings, conversion to the reference has an error as large as the step.
 */
static void test_set_reference_between_samples(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	const int64_t by[] = { SEC / 2, 5 * SEC, 3600 * SEC, -SEC / 2, -5 * SEC };
	const int64_t late[] = { SEC / 1000, SEC / 20, SEC / 10 - SEC / 1000 };
	uint64_t s = 19;

	(void)state;
	for (size_t i = 0; i < 15; i++) {
		const int64_t at = SPAN / 2 + late[i / 5];
		struct world w;

		make_steered_world(&w, 111 + i);
		steer_clock(&w.m[0], compute_raw_time(&w.m[0], at), 1, by[i % 5]);
		push_sampled_readings(&w, 0, SPAN, &s);
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, 0, SPAN - SEC, SEC / 50), 0);
		assert_int_equal(count_times_outside(&w, at - SEC / 5, at + SEC / 5, 10 * US), 0);
		assert_int_equal(count_times_outside(&w, at - 100 * US, at + 100 * US, 7), 0);
		netsync_free(w.ns);
	}
}

/*
 * If the oscillator is slow or the clock is slewed at the same time, the two times at which the
 * clock showed a time are farther apart on the reference than the step.
 */
static void test_set_back_and_slow(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	const int64_t by = -60 * SEC;

	(void)state;
	for (int i = 0; i < 3; i++) {
		const int64_t at = SPAN / 2 + SEC / 3;
		struct world w;

		make_steered_world(&w, 131);
		w.m[0].skew = -w.m[0].skew;
		w.m[1].skew = -90 * PPM;
		w.m[1].num = 0;
		steer_clock(&w.m[1], compute_raw_time(&w.m[1], -SEC), 1, 0);
		steer_clock(&w.m[1], compute_raw_time(&w.m[1], at), 1, by);
		if (i)
			steer_clock(&w.m[1], compute_raw_time(&w.m[1], at) + SEC / 2,
				    i == 1 ? 0.97 : 1.03, 0);
		push_all_changes(&w, 1, 0, SPAN);
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, 0, SPAN - SEC, SEC / 50), 0);
		assert_int_equal(
			count_times_outside(&w, at + by - SEC / 10, at + SEC / 10, SEC / 300), 0);
		netsync_free(w.ns);
	}
}

/*
 * Readings reveal steps that messages cannot reveal: before the first message and after the last
 * one.
 */
static void test_set_without_messages(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	const int64_t by[] = { 60 * SEC, -60 * SEC };
	uint64_t s = 23;

	(void)state;
	for (int i = 0; i < 16; i++) {
		/*
		 * The step is just before the end of the messages or long before their beginning.
		 */
		const int64_t at = i & 4 ? SPAN / 2 : SPAN / 4;
		const int64_t from = at - 10 * SEC - SEC / 3;
		const int64_t until = at + 100 * SEC;
		struct world w;
		struct machine *m;

		make_steered_world(&w, 151 + i);
		m = &w.m[i & 1];
		steer_clock(m, compute_raw_time(m, at) + SEC / 7, 1, by[i >> 1 & 1]);
		if (i & 8)
			push_sampled_readings(&w, 0, SPAN, &s);
		for (uint32_t host = 0; host < 2 && !(i & 8); host++)
			push_all_changes(&w, host, 0, SPAN);
		if (i & 4)
			exchange_messages(&w, 0, at + SEC / 2);
		else
			exchange_messages(&w, until, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, SEC, SPAN - 2 * SEC, SEC / 10), 0);
		assert_int_equal(count_times_outside(&w, from, until, SEC / 50), 0);
		netsync_free(w.ns);

		if (!(i & 4))
			continue;
		make_steered_world(&w, 171 + i);
		m = &w.m[i & 1];
		steer_clock(m, compute_raw_time(m, at) + SEC / 7, 1, by[i >> 1 & 1]);
		for (uint32_t host = 0; host < 2; host++)
			push_all_changes(&w, host, 0, i & 8 ? SPAN : at + SEC);
		exchange_messages(&w, 0, from);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, SEC, SPAN - 2 * SEC, SEC / 10), 0);
		netsync_free(w.ns);
	}
}

/*
 * The clock is stepped before the first reading or after the last one. Messages of this time are
 * rejected, and its bound is not usable. At all other times, the result is the same as without the
 * step.
 */
static void test_set_where_nothing_is_read(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	const int64_t by[] = { 20000 * US, 5 * SEC, -20000 * US };
	uint64_t s = 29;

	(void)state;
	for (int i = 0; i < 12; i++) {
		const int64_t less = 6 * SEC, set = i & 1 ? 2 * SEC : SPAN - 3 * SEC;
		const int64_t begin = i & 1 ? less : 0;
		const int64_t end = i & 1 ? SPAN : SPAN - less;
		struct world w;
		struct machine *m;
		struct errors e;

		make_steered_world(&w, 191 + i);
		m = &w.m[i >> 1 & 1];
		steer_clock(m, compute_raw_time(m, set), 1, by[i / 4]);
		push_sampled_readings(&w, begin, end, &s);
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		check_accurate(&w);
		assert_int_equal(count_times_outside(&w, 0, SPAN - SEC, SEC / 20), 0);
		e = measure_errors(&w, SEC / 10, i & 1 ? 0 : SPAN, less + 6 * SEC);
		assert_int_equal(e.unknown, 0);
		netsync_free(w.ns);
	}
}

/*
 * Push requests and their responses one after the other, as fast as possible. Host @first sends the
 * requests.
 */
static void exchange_requests(struct world *w, int first, int64_t from, int64_t to)
{
	const int64_t takes = DELAY + 10 * US;

	for (int64_t t = from; t < to; t += 2 * takes)
		for (int i = 0; i < 2; i++) {
			const int64_t at = t + i * takes;
			const int way = i ? !first : first;

			assert_int_equal(netsync_push_message(w->ns, way, !way,
							      read_clock_at_time(&w->m[way], at),
							      read_clock_at_time(&w->m[!way],
										 at + DELAY)),
					 0);
		}
}

/*
 * There are so many requests and responses that only some are stored. Requests are sent in both
 * directions, because only one direction reveals the step.
 */
static void test_set_beside_many_messages(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	uint64_t s = 31;

	(void)state;
	for (int i = 0; i < 4; i++) {
		const int64_t begin = 6 * SEC;
		struct world w;

		make_steered_world(&w, 211 + i);
		steer_clock(&w.m[1], compute_raw_time(&w.m[1], 2 * SEC), 1,
			    i & 1 ? 480 * 1000 * US : -480 * 1000 * US);
		push_sampled_readings(&w, begin, SPAN, &s);
		exchange_requests(&w, i >> 1, 0, begin);
		exchange_messages(&w, begin, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, 0, begin, SEC / 50), 0);
		netsync_free(w.ns);
	}
}

static int append_to_stream_file(void *data, const void *bytes, size_t size)
{
	FILE *file = data;

	return fwrite(bytes, 1, size, file) == size ? 0 : -EIO;
}

/* Return another object with the same data. */
static struct netsync *copy_by_saving(struct netsync *ns)
{
	struct netsync *copy = netsync_new();
	char *bytes = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&bytes, &size);

	assert_non_null(file);
	assert_int_equal(netsync_save_messages(ns, append_to_stream_file, file), 0);
	fclose(file);
	assert_int_equal(netsync_merge_messages(copy, bytes, size), 0);
	free(bytes);
	return copy;
}

/*
 * If messages have revealed a step of a clock without readings, all later results use this step.
 * The step must also be used with another object, and if hosts were traced for a longer time since
 * then.
 */
static void test_set_is_not_forgotten(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	uint64_t s = 31;

	(void)state;
	for (int i = 0; i < 8; i++) {
		const int64_t less = 6 * SEC, set = SPAN - 3 * SEC;
		struct netsync *first;
		struct world w;
		struct machine *m;

		make_steered_world(&w, 211 + i);
		m = &w.m[i & 1];
		steer_clock(m, compute_raw_time(m, set), 1, i & 2 ? SEC : -SEC);
		push_sampled_readings(&w, 0, SPAN - less, &s);
		exchange_messages(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, 0, SPAN - SEC, SEC / 20), 0);
		assert_int_equal(netsync_extend_span(w.ns, i >> 2,
						     read_clock_at_time(&w.m[i >> 2], SPAN) + SEC),
				 0);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, 0, SPAN - SEC, SEC / 20), 0);
		first = w.ns;
		w.ns = copy_by_saving(first);
		netsync_free(first);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(count_times_outside(&w, 0, SPAN - SEC, SEC / 20), 0);
		netsync_free(w.ns);
	}
}

/*
 * Exchange messages between a host and a third host, whose clock is not steered and has no
 * readings.
 */
static void exchange_with_third_host(struct world *w, const struct machine *third, int host,
				     int64_t from, int64_t to)
{
	const struct machine *m = &w->m[host];

	for (int64_t t = from; t < to; t += SEC / RATE) {
		const int64_t late = t + DELAY + (int64_t)draw_from_exponential(&w->seed, MEAN);

		assert_int_equal(netsync_push_message(w->ns, host, 2, read_clock_at_time(m, t),
						      read_clock_at_time(third, late)),
				 0);
		assert_int_equal(netsync_push_message(w->ns, 2, host, read_clock_at_time(third, t),
						      read_clock_at_time(m, late)),
				 0);
	}
}

/*
 * Messages have revealed a step of one of two hosts. Until the next result, the trace of one of
 * them becomes longer. The conclusion about the other host in the previous result must not excuse
 * it. The reference is a third host, which shares no messages with the other host.
 */
static void set_is_not_excused(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "c" };
	uint64_t s = 37;

	(void)state;
	for (int i = 0; i < 4; i++) {
		const int64_t less = 6 * SEC, set = SPAN - 3 * SEC;
		const int one = i & 1;
		const struct netsync_clock *clock;
		struct machine third = { .skew = 10 * PPM };
		struct world w;

		make_steered_world(&w, 251 + i);
		assert_int_equal(netsync_add_host(w.ns, "c"), 2);
		steer_clock(&third, compute_raw_time(&third, -SEC), 1, 0);
		steer_clock(&w.m[one], compute_raw_time(&w.m[one], set), 1, i & 2 ? SEC : -SEC);
		push_sampled_readings(&w, 0, SPAN - less, &s);
		exchange_messages(&w, 0, SPAN);
		exchange_with_third_host(&w, &third, one, 0, SPAN - less);
		for (int solved = 0; solved < 2; solved++) {
			assert_int_equal(netsync_solve(w.ns, &opt), 0);
			clock = netsync_host_clock(w.ns, one);
			assert_non_null(clock);
			for (int64_t t = 0; t < SPAN - SEC; t += SEC / 20) {
				const int64_t truth = read_clock_at_time(&third, t);
				int64_t lo, hi;

				assert_int_equal(netsync_interval(clock,
								  read_clock_at_time(&w.m[one], t),
								  &lo, &hi),
						 0);
				assert_true(lo <= truth && truth <= hi);
			}
			assert_int_equal(netsync_extend_span(w.ns, one,
							     read_clock_at_time(&w.m[one], SPAN) +
								     2 * SEC),
					 0);
		}
		netsync_free(w.ns);
	}
}

/* Saved readings equal those that were pushed, including their uncertainties and numbers. */
static void test_points_are_saved_whole(void **state)
{
	const int64_t set = SPAN / 2 + SEC / 3;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct netsync_step step = { .size = sizeof(step) };
		struct netsync_host_info info[2] = { { .size = sizeof(*info) },
						     { .size = sizeof(*info) } };
		struct netsync *first;
		struct world w;

		make_steered_world(&w, 231 + (uint64_t)i);
		steer_clock(&w.m[1], compute_raw_time(&w.m[1], set), 1, i & 1 ? SEC : -SEC);
		push_setting(&w, (enum set_report)(i % 3), set, false);
		exchange_messages(&w, 0, SPAN);
		first = w.ns;
		w.ns = copy_by_saving(first);
		assert_int_equal(netsync_solve(first, NULL), 0);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		for (int k = 0; k < 2; k++)
			assert_int_equal(netsync_get_host(k ? first : w.ns, 1, &info[k]), 0);
		assert_int_equal(info[0].bound_max_ns, info[1].bound_max_ns);
		assert_int_equal(netsync_get_step(w.ns, 1, 0, &step), 0);
		assert_int_equal(step.within_ns <= 5, i % 3 != NOT_NUMBERED);
		netsync_free(first);
		netsync_free(w.ns);
	}
}

/* The uncertainty of readings is saved, so that a copy has the same bound. */
static void uncertainty_is_saved(void **state)
{
	uint64_t s = 41;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct netsync_host_info info[2] = { { .size = sizeof(*info) },
						     { .size = sizeof(*info) } };
		struct netsync *copy;
		struct world w;

		make_steered_world(&w, 271 + (uint64_t)i);
		push_sampled_readings(&w, 0, SPAN, &s);
		exchange_messages(&w, 0, SPAN);
		if (i)
			assert_int_equal(netsync_solve(w.ns, NULL), 0);
		copy = copy_by_saving(w.ns);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(netsync_solve(copy, NULL), 0);
		for (int k = 0; k < 2; k++)
			assert_int_equal(netsync_get_host(k ? copy : w.ns, 1, &info[k]), 0);
		assert_true(info[0].bound_max_ns < NETSYNC_UNKNOWN);
		assert_int_equal(info[0].bound_max_ns, info[1].bound_max_ns);
		assert_int_equal(info[0].bound_median_ns, info[1].bound_median_ns);
		netsync_free(copy);
		netsync_free(w.ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_clocks_are_reported),
		cmocka_unit_test(test_set_when_points_were_lost),
		cmocka_unit_test(test_set_back_by_little),
		cmocka_unit_test(test_set_back_between_rates),
		cmocka_unit_test(test_a_setting_may_be_lost),
		cmocka_unit_test(test_set_between_samples),
		cmocka_unit_test(test_set_reference_between_samples),
		cmocka_unit_test(test_set_back_and_slow),
		cmocka_unit_test(test_set_without_messages),
		cmocka_unit_test(test_set_where_nothing_is_read),
		cmocka_unit_test(test_set_beside_many_messages),
		cmocka_unit_test(test_set_is_not_forgotten),
		cmocka_unit_test(set_is_not_excused),
		cmocka_unit_test(test_points_are_saved_whole),
		cmocka_unit_test(uncertainty_is_saved),
	};

	return cmocka_run_group_tests_name("steer_set", tests, NULL, NULL);
}
