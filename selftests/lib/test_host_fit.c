// SPDX-License-Identifier: GPL-2.0-only
/* Test the complete estimator of one host. The host has a neighbour whose clock is right. */
#include "curve/host-fit.h"
#include "curve/state.h"
#include "sample.h"

/* Largest drift of an oscillator, 1 / ns. */
#define DRIFT 1e-16

static double find_worst_correction_error(const struct correction *c, int64_t from, int64_t to,
					  int64_t ahead)
{
	double most = 0;

	for (int64_t t = from; t < to; t += SEC) {
		int64_t ref;

		correction_at(c, ahead + t, &ref);
		most = fmax(most, fabs((double)(ref - t)));
	}
	return most;
}

static void test_fit_of_constant_offset(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	assert_int_equal(host_fit(&s.c, &s.link, 1, DRIFT), 0);
	assert_true(find_worst_correction_error(&s.c, SEC, (SECONDS - 1) * SEC, AHEAD) <
		    0.1 * DELAY);
	assert_int_equal(s.c.num_changes, 0);
	/* Fit a second time, starting from the result. */
	assert_int_equal(host_fit(&s.c, &s.link, 1, DRIFT), 0);
	assert_true(find_worst_correction_error(&s.c, SEC, (SECONDS - 1) * SEC, AHEAD) <
		    0.1 * DELAY);
	correction_release(&s.c);
	sample_release(&s);
}

/*
 * Without a neighbour, or without a common time with a neighbour, the correction does not change.
 */
static void test_host_without_neighbour(void **state)
{
	struct correction c = { .known = true, .from = 0, .to = SEC, .offset = 5 };
	const struct correction before = c;
	struct sample s;

	(void)state;
	assert_int_equal(host_fit(&c, NULL, 0, DRIFT), 0);
	assert_memory_equal(&c, &before, sizeof(c));
	sample_gather(&s);
	s.c.to = s.c.from;
	assert_int_equal(host_fit(&s.c, &s.link, 1, DRIFT), 0);
	assert_int_equal(s.c.offset, -AHEAD - 250 * US);
	assert_int_equal(s.c.curve.coefs, 0);
	sample_release(&s);
}

/* In a short trace, a linear correction without inversions does not change. */
static void test_short_trace(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	s.c.offset = -AHEAD;
	assert_int_equal(host_fit(&s.c, &s.link, 1, 1e-22), 0);
	assert_int_equal(s.c.offset, -AHEAD);
	assert_int_equal(s.c.curve.coefs, 0);
	sample_release(&s);
}

/*
 * The fit starts half-way between the messages of both directions, with an error of a fraction of
 * their delays.
 */
static void test_start_of_fit(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	s.link.thin = true;
	assert_int_equal(host_fit_start(&s.c, &s.link, 1), 0);
	assert_true(find_worst_correction_error(&s.c, SEC, (SECONDS - 1) * SEC, AHEAD) <
		    0.5 * DELAY);
	assert_true(s.c.curve.coefs > 0);
	assert_int_equal(s.c.intervals, 0);
	correction_release(&s.c);
	/* A fit that starts from this result or uses merged links is as accurate as before. */
	assert_int_equal(host_fit(&s.c, &s.link, 1, DRIFT), 0);
	assert_true(find_worst_correction_error(&s.c, SEC, (SECONDS - 1) * SEC, AHEAD) <
		    0.1 * DELAY);
	correction_release(&s.c);
	sample_release(&s);
}

/*
 * Links with few messages come last. Such links are only used if they have more messages than the
 * other links.
 */
static void test_choice_of_links(void **state)
{
	struct pairs few = { 0 }, enough = { 0 };
	struct link link[4];

	(void)state;
	add_talk_of_two(&few, MIN_MESSAGES - 1, AHEAD, DELAY);
	add_talk_of_two(&enough, MIN_MESSAGES, AHEAD, DELAY);
	for (size_t i = 0; i < 4; i++)
		link[i] = (struct link){ .pair = few.pair[0], .thin = true };
	assert_int_equal(host_fit_choose(link, 4), 4);
	link[2] = (struct link){ .pair = enough.pair[0] };
	assert_int_equal(host_fit_choose(link, 4), 4);
	assert_false(link[0].thin);
	assert_true(link[1].thin && link[2].thin && link[3].thin);
	assert_int_equal(host_fit_choose(link, 2), 1);
	assert_int_equal(host_fit_choose(link, 1), 1);
	assert_int_equal(host_fit_choose(link, 0), 0);
	pairs_release(&few);
	pairs_release(&enough);
}

static void test_minimum_of_messages(void **state)
{
	struct pairs few = { 0 }, enough = { 0 };

	(void)state;
	add_talk_of_two(&few, MIN_MESSAGES - 1, AHEAD, DELAY);
	add_talk_of_two(&enough, MIN_MESSAGES, AHEAD, DELAY);
	assert_false(host_fit_useful(few.pair[0]));
	assert_true(host_fit_useful(enough.pair[0]));
	pairs_release(&few);
	pairs_release(&enough);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fit_of_constant_offset),
		cmocka_unit_test(test_host_without_neighbour),
		cmocka_unit_test(test_short_trace),
		cmocka_unit_test(test_start_of_fit),
		cmocka_unit_test(test_choice_of_links),
		cmocka_unit_test(test_minimum_of_messages),
	};

	return cmocka_run_group_tests_name("host_fit", tests, NULL, NULL);
}
