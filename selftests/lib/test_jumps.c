// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test how steps of a clock are added and removed. A step must be added where the evidence supports
 * it, and nowhere else.
 */
#include <string.h>

#include "infer/window.h"
#include "test.h"

#define KNOTS 200
#define LENGTH 0.5  /* time between knots, s */
#define MESSAGES 10 /* messages in each direction at each knot */
#define MEAN 1e5    /* mean excess delay, ns */
#define DELAY 3e4   /* minimum delay, ns */
#define STEP_AT 90

struct stepper {
	struct inference n;
	struct infer_task task;
	struct chain chain[2];
	struct knot knot[KNOTS];
	struct infer_link link;
	struct factor factor[2][KNOTS];
};

static int slew_end = KNOTS; /* knot at which the slew of compute_stepped_phase() ends */

/*
 * Return the phase of a host that is stepped by @step at knot STEP_AT, and whose frequency
 * is @slew after it.
 */
static double compute_stepped_phase(int knot, double step, double slew)
{
	const int slewed = knot < slew_end ? knot : slew_end;

	return knot < STEP_AT ? 0 : step + slew * LENGTH * (slewed - STEP_AT);
}

static void fill_step_factors(struct stepper *s, double step, double slew)
{
	uint64_t seed = 3;

	for (int way = 0; way < 2; way++) {
		struct link_direction *d = &s->link.direction[way];

		d->factor = s->factor[way];
		d->num_factors = KNOTS;
		for (int i = 0; i < KNOTS; i++) {
			struct lowest *l = &d->factor[i].lowest;
			const double phase = compute_stepped_phase(i, step, slew);
			double delay = DELAY + (way ? phase : -phase);

			d->factor[i].knot[1] = (uint32_t)i;
			*l = (struct lowest){ .messages = MESSAGES, .num = LOWEST };
			for (int k = 0; k < LOWEST; k++) {
				delay += draw_from_exponential(&seed, MEAN / (MESSAGES - k));
				l->delay[k] = delay;
			}
		}
		delay_law_begin(&d->law, MEAN, 0);
	}
}

/* Make the state after the round in which factors use only their own messages. */
static void make_stepper(struct stepper *s, double step, double slew)
{
	struct chain *c = &s->chain[1];

	memset(s, 0, sizeof(*s));
	s->task = (struct infer_task){ .num = 2 };
	s->n = (struct inference){ .task = &s->task,
				   .chain = s->chain,
				   .link = &s->link,
				   .num_links = 1,
				   .damping = 0.4,
				   .alone = true };
	*c = (struct chain){ .knot = s->knot,
			     .num = KNOTS,
			     .intensity = { 1, 100, 1, 0.01 },
			     .first = { .deviation = { 1e6 + fabs(step), 1e6, 100, 1 } },
			     .range = fabs(step) };
	memcpy(c->unknown, c->first.deviation, sizeof(c->unknown));
	mixture_init_for_frequency(&c->bends, LENGTH);
	mixture_init_for_phase(&c->jumps, KNOTS * LENGTH, c->range);
	for (int i = 0; i < KNOTS; i++)
		s->knot[i] = (struct knot){ .t = LENGTH * i,
					    .length = i ? LENGTH : 0,
					    .bend = 4e8 * LENGTH,
					    .variance = 1e16 };
	s->link.host[1] = 1;
	s->link.first = (struct natural){ 1e-8, DELAY * 1e-8 };
	s->link.delay = (struct moments){ DELAY, 1e8 };
	fill_step_factors(s, step, slew);
	assert_int_equal(propagate_messages(&s->n), 0);
	assert_int_equal(smooth_chain(c), 0);
}

/* Return the number of knots with a jump. Set @last to the last of these knots. */
static int count_jumps(const struct stepper *s, int *last)
{
	int num = 0;

	for (int i = 1; i < KNOTS; i++)
		if (s->knot[i].jump > 1) {
			num++;
			*last = i;
		}
	return num;
}

static void test_birth_of_step(void **state)
{
	static const double step[] = { 3e6, -5e9, 6e11 };
	static struct stepper s;
	int at = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(step) / sizeof(*step); i++) {
		make_stepper(&s, step[i], 0);
		assert_int_equal(move_jumps(&s.n), 0);
		assert_int_equal(count_jumps(&s, &at), 1);
		assert_int_equal(at, STEP_AT);
		/* The marginals are those of a clock that has the step. */
		assert_float_equal(s.knot[STEP_AT - 1].state[0], 0, 1e5);
		assert_float_equal(s.knot[STEP_AT].state[0], step[i], 1e5);
	}
}

/* No step is added to a clock that is slewed by 500 ppm, or to a clock without events. */
static void test_clock_without_jump(void **state)
{
	static struct stepper s;
	int at;

	(void)state;
	make_stepper(&s, 0, 0);
	assert_int_equal(move_jumps(&s.n), 0);
	assert_int_equal(count_jumps(&s, &at), 0);
	make_stepper(&s, 0, 5e5);
	assert_int_equal(move_jumps(&s.n), 0);
	assert_int_equal(count_jumps(&s, &at), 0);
}

/* A false step is removed, and a misplaced step is moved. */
static void test_death_of_false_step(void **state)
{
	static struct stepper s;
	int at = 0;

	(void)state;
	make_stepper(&s, 0, 0);
	s.n.alone = false;
	s.knot[40].jump = 1e12;
	assert_int_equal(move_jumps(&s.n), 0);
	assert_int_equal(count_jumps(&s, &at), 0);
	make_stepper(&s, 3e6, 0);
	s.n.alone = false;
	s.knot[STEP_AT - 2].jump = 1e13;
	assert_int_equal(smooth_chain(&s.chain[1]), 0);
	assert_int_equal(move_jumps(&s.n), 0);
	assert_int_equal(count_jumps(&s, &at), 1);
	assert_int_equal(at, STEP_AT);
}

/* Let @s change its frequency in any interval beside STEP_AT, and let its sites settle. */
static void spread_bend(struct stepper *s)
{
	s->n.alone = false;
	s->chain[1].intensity[STATE_FREQUENCY] = 1;
	for (int round = 0; round < 30; round++) {
		for (int i = 1; i < KNOTS; i++)
			s->knot[i].bend = abs(i - STEP_AT) < 6 ? 1e8 : 1;
		assert_int_equal(propagate_messages(&s->n), 0);
		assert_int_equal(smooth_chain(&s->chain[1]), 0);
	}
}

/* Return the number of intervals in which the frequency changes, and set @last to the last one. */
static int count_bends(const struct stepper *s, int *last)
{
	int num = 0;

	for (int i = 1; i < KNOTS; i++)
		if (s->knot[i].bend > 100) {
			num++;
			*last = i;
		}
	return num;
}

/* A frequency step is concentrated in its interval; the two ends of a slew are not. */
static void test_concentrated_bend(void **state)
{
	static struct stepper s;
	int at = 0;

	(void)state;
	make_stepper(&s, 0, 1e5);
	spread_bend(&s);
	assert_int_equal(count_bends(&s, &at), 11);
	assert_int_equal(move_bends(&s.n), 0);
	assert_int_equal(count_bends(&s, &at), 1);
	assert_true(abs(at - STEP_AT) < 2);
	slew_end = STEP_AT + 4;
	make_stepper(&s, 0, 1e5);
	slew_end = KNOTS;
	spread_bend(&s);
	assert_int_equal(move_bends(&s.n), 0);
	assert_int_equal(count_bends(&s, &at), 11);
}

/* The index finds each factor exactly once, at its knot, whether the host receives or sends. */
static void test_index_of_factors(void **state)
{
	static struct stepper s;
	struct factor_index x;

	(void)state;
	make_stepper(&s, 0, 0);
	assert_int_equal(factor_index_make(&x, &s.n, 1), 0);
	for (uint32_t i = 0; i < KNOTS; i++) {
		assert_int_equal(x.first[i + 1] - x.first[i], 2);
		for (uint32_t k = x.first[i]; k < x.first[i + 1]; k++) {
			assert_int_equal(x.place[k].factor, i);
			assert_int_equal(x.place[k].end, x.place[k].way ? TO_SENDER : TO_RECEIVER);
		}
	}
	factor_index_release(&x);
}

/*
 * Without learning, the evidence of a window is the evidence of its messages. A second window adds
 * the evidence of its own knots.
 */
static void test_evidence_of_windows(void **state)
{
	static struct stepper s;
	struct factor_index x;
	struct chain_window right = { 0 }, wrong = { 0 };

	(void)state;
	make_stepper(&s, 3e6, 0);
	for (int i = 1; i < KNOTS; i++)
		s.knot[i].bend = 100 * LENGTH;
	assert_int_equal(factor_index_make(&x, &s.n, 1), 0);
	assert_int_equal(window_open(&wrong, &s.n, 1, &x, STEP_AT - 20, STEP_AT + 20), 0);
	assert_int_equal(wrong.num, 80);
	assert_int_equal(window_copy(&right, &wrong), 0);
	right.chain.knot[20].jump = 1e13;
	window_filter(&right);
	window_filter(&wrong);
	assert_true(right.evidence > wrong.evidence + 100);
	/*
	 * Each message has an exponential distribution around its knot, with a log density (1/ns)
	 * of about -12.
	 */
	assert_true(right.evidence / (80 * LOWEST) > -14);
	window_apply(&right, &s.n, 1, &x, STEP_AT - 20, 0);
	assert_float_equal(s.knot[STEP_AT].jump, 1e13, 0);
	assert_true(s.factor[0][STEP_AT].site[TO_RECEIVER].precision > 1 / (MEAN * MEAN));
	window_close(&right);
	window_close(&wrong);
	factor_index_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_birth_of_step),
		cmocka_unit_test(test_clock_without_jump),
		cmocka_unit_test(test_death_of_false_step),
		cmocka_unit_test(test_concentrated_bend),
		cmocka_unit_test(test_index_of_factors),
		cmocka_unit_test(test_evidence_of_windows),
	};

	return cmocka_run_group_tests_name("jumps", tests, NULL, NULL);
}
