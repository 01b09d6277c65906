// SPDX-License-Identifier: GPL-2.0-only
/* Test the information that a host's messages give about the host together with its neighbours. */
#include <string.h>

#include "curve/constraints.h"
#include "curve/pair-terms.h"
#include "sample.h"

/* Largest drift of an oscillator, 1 / ns. */
#define DRIFT 1e-16
#define INTERVALS 4

static const struct correction host_of_sample = {
	.known = true,
	.from = AHEAD,
	.to = AHEAD + SECONDS * SEC,
	.offset = -AHEAD,
};

/* Make the terms of host 0, whose only neighbour is host 1. */
static void make_pair_terms(struct sample *s, struct pair_terms *p, const struct correction *other)
{
	sample_gather(s);
	s->link.other = other;
	s->link.first = true;
	assert_int_equal(
		pair_terms_make(p, &sample_reference, &s->link, 1, DRIFT, INTERVALS, false), 0);
}

static void test_terms_of_sample(void **state)
{
	double hold[2] = { 0, 0 }, press[2] = { 0, 0 };
	struct pair_terms p;
	struct sample s;

	(void)state;
	make_pair_terms(&s, &p, &host_of_sample);
	assert_int_equal(p.margins, 1);
	assert_int_equal(p.curve.coefs, INTERVALS + 3);
	assert_false(p.straight);
	assert_true(p.num_constraints > 2 * INTERVALS);
	for (size_t i = 0; i < p.num_constraints; i++) {
		const struct pair_constraint *w = &p.constraint[i];

		/* The clock of either host is right, so the slack is the delay of a message. */
		assert_true(w->room >= 0.99 * DELAY && w->room <= 2.01 * DELAY);
		assert_int_equal(w->other, 1);
		assert_true(fabs(w->u[1] - w->u[0]) < 3 * DELAY);
		hold[w->side] += w->sharp;
	}
	for (size_t i = 0; i < p.num_scores; i++)
		press[p.score[i].side] += p.score[i].score;
	for (int side = 0; side < 2; side++) {
		assert_true(press[side] > 0);
		assert_true(press[side] <= CONSTRAINT_HOLD * hold[side]);
	}
	pair_terms_release(&p);
	sample_release(&s);
}

/* The terms of a pair belong to one of the pair's hosts. */
static void test_other_host(void **state)
{
	struct pair_terms p;
	struct sample s;

	(void)state;
	sample_gather(&s);
	assert_int_equal(pair_terms_make(&p, &s.c, &s.link, 1, DRIFT, 0, false), 0);
	assert_true(p.straight);
	assert_int_equal(p.num_constraints, 0);
	assert_int_equal(p.num_scores, 0);
	assert_int_equal(p.margins, 1);
	assert_int_equal(p.curve.coefs, 4);
	pair_terms_release(&p);
	sample_release(&s);
}

/* If messages do not tell whether the other clock was already stepped, there is no term. */
static void test_terms_near_step(void **state)
{
	struct change_point step = {
		.t = SECONDS / 2 * 1e9,
		.uncertainty = 20e9,
		.phase_step = true,
	};
	struct correction other = host_of_sample;
	struct pair_terms p;
	struct sample s;

	(void)state;
	other.change = &step;
	other.num_changes = 1;
	make_pair_terms(&s, &p, &other);
	assert_true(p.num_constraints > 2 * INTERVALS);
	for (size_t i = 0; i < p.num_constraints; i++)
		assert_true(fabs(p.constraint[i].u[1] - step.t) >= step.uncertainty);
	for (size_t i = 0; i < p.num_scores; i++)
		assert_true(fabs(p.score[i].t[1] - step.t) >= step.uncertainty);
	pair_terms_release(&p);
	sample_release(&s);
}

/*
 * A bend (a change of slope) is the less likely, the longer the line before it is, and the more
 * likely, the larger the random walk is.
 */
static void test_prior_of_bends(void **state)
{
	const struct bend bend = { .length = 1e9 }, twice = { .length = 2e9 };
	struct pair_terms p;
	struct sample s;

	(void)state;
	make_pair_terms(&s, &p, &host_of_sample);
	assert_true(fabs(pair_terms_prior(&p, &bend, 0) / pair_terms_prior(&p, &twice, 0) - 8) <
		    1e-9);
	/* If the clock's rate may change suddenly, each bend has a variance of its own. */
	p.variance = (double[]){ 1e-10, 4e-10 };
	assert_true(fabs(pair_terms_prior(&p, &bend, 0) / pair_terms_prior(&p, &bend, 1) - 4) <
		    1e-9);
	assert_true(fabs(pair_terms_prior(&p, &bend, 0) / pair_terms_prior(&p, &twice, 0) - 4) <
		    1e-9);
	pair_terms_release(&p);
	sample_release(&s);
}

/* Make a linear curve whose distance from the middle of the messages is @off ns. */
static void set_curve_offset(struct correction *c, double off)
{
	assert_int_equal(spline_new(&c->curve, 0, (double)(c->to - c->from), 1, NULL, 0), 0);
	for (size_t i = 0; i < c->curve.coefs; i++)
		c->curve.coef[i] = off;
	spline_set_cubics(&c->curve);
}

static void test_terms_in_untrusted_intervals(void **state)
{
	/* No curve explains the messages. */
	const struct doubt set = { 1e9, 2e9, true }, other = { 5e9, 6e9, false };

	(void)state;
	for (int off = 0; off < 2; off++) {
		struct correction c = host_of_sample;
		struct sample s;

		sample_gather(&s);
		set_curve_offset(&c, off * 3.0 * DELAY);
		c.doubt = malloc(2 * sizeof(*c.doubt));
		assert_non_null(c.doubt);
		c.doubt[0] = set;
		c.doubt[1] = other;
		c.num_doubts = 2;
		assert_int_equal(pair_terms_doubt(&c, &s.link, 1, DRIFT, 1), 0);
		assert_int_equal(c.no_margin, off);
		assert_true(c.num_doubts >= 1);
		assert_true(c.doubt[0].phase_step);
		/* Without a minimum delay, the curve is untrusted for the whole span. */
		assert_true(off ? c.doubt[0].to == (double)(c.to - c.from) :
				  c.num_doubts == 1 && c.doubt[0].to == set.to);
		assert_true(c.curve.coefs == 4);
		correction_release(&c);
		sample_release(&s);
	}
}

/* If a steered clock cannot have a bound, it gets none, and the other clocks are examined again. */
static void test_doubt_steered(void **state)
{
	(void)state;
	for (int is_steered = 0; is_steered < 2; is_steered++) {
		struct correction c = host_of_sample;
		struct sample s;

		sample_gather(&s);
		set_curve_offset(&c, 0);
		c.steered = is_steered;
		c.no_margin = true;
		assert_int_equal(pair_terms_doubt(&c, &s.link, 1, DRIFT, 1), 0);
		assert_int_equal(c.no_margin, is_steered);
		correction_release(&c);
		sample_release(&s);
	}
}

/*
 * The mean delay is the mean excess over the minimum delays of both directions. The mean delay does
 * not depend on the distance of the curve.
 */
static void test_mean_delay_of_pair(void **state)
{
	double mean_delay, twice, expected_error;
	struct correction c = host_of_sample;
	size_t intervals;
	struct sample s;

	(void)state;
	sample_gather(&s);
	set_curve_offset(&c, 0);
	assert_int_equal(pair_terms_judge(&c, &s.link, 1, 4, &mean_delay, &expected_error), 0);
	assert_true(mean_delay > 0.5 * DELAY && mean_delay < 2 * DELAY);
	assert_true(expected_error > 0 && expected_error < 0.1 * DELAY);
	assert_int_equal(pair_terms_judge(&c, &s.link, 1, 8, &mean_delay, &twice), 0);
	assert_true(fabs(twice / expected_error - 2) < 1e-9);
	/* There are fewer than eight messages in each direction, which a knot interval needs. */
	assert_int_equal(pair_terms_count_intervals(&c, &s.link, 1, &intervals), 0);
	assert_int_equal(intervals, 0);
	correction_release(&c);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terms_of_sample),
		cmocka_unit_test(test_other_host),
		cmocka_unit_test(test_terms_near_step),
		cmocka_unit_test(test_prior_of_bends),
		cmocka_unit_test(test_terms_in_untrusted_intervals),
		cmocka_unit_test(test_doubt_steered),
		cmocka_unit_test(test_mean_delay_of_pair),
	};

	return cmocka_run_group_tests_name("pair_terms", tests, NULL, NULL);
}
