// SPDX-License-Identifier: GPL-2.0-only
/* Learn the noise of a simulated clock. The result must not depend on the initial assumption. */
#include <string.h>

#include "infer/internal.h"
#include "test.h"

#define KNOTS 3000
#define STEP 1.0 /* time between knots, s */
#define ROUNDS 150
#define RANGE 1e6 /* of the phase, ns */

static const int none[] = { 0 };

static double draw_normal_number(uint64_t *seed)
{
	return sqrt(-2 * log(draw_between_0_and_1(seed))) *
	       cos(2 * M_PI * draw_between_0_and_1(seed));
}

/*
 * Simulate a clock with this noise, which is observed with a standard deviation of 1 ns. A daemon
 * changes its frequency by @slew, ppb, at every 100th knot.
 */
static void simulate_clock(struct knot *knot, double white, double walk, double slew)
{
	double state[STATES] = { 0 };
	uint64_t seed = 21;

	memset(knot, 0, KNOTS * sizeof(*knot));
	for (int i = 0; i < KNOTS; i++) {
		struct knot *k = &knot[i];

		k->t = STEP * i;
		k->length = i ? STEP : 0;
		if (i) {
			double bend = sqrt(walk * STEP) * draw_normal_number(&seed);

			/* The slew begins half-way between two knots. */
			bend += i % 100 ? 0 : i % 200 ? slew : -slew;
			state_shift(state, STEP);
			state[0] += sqrt(white * STEP) * draw_normal_number(&seed) +
				    bend * STEP / 2;
			state[1] += bend;
		}
		k->site = (struct natural){ 1, state[0] + draw_normal_number(&seed) };
	}
}

/*
 * Learn the noise of a chain. @jump lists the knots at which steps of up to @range ns may have
 * occurred, and ends with 0.
 */
static void learn_simulated_chain(struct chain *c, struct knot *knot, double white, double walk,
				  const int *jump, double range)
{
	*c = (struct chain){ .knot = knot,
			     .num = KNOTS,
			     .intensity = { white, walk, 1, 0.1 },
			     .first = { .deviation = { 1e6, 1e6, 100, 1 } } };
	mixture_init_for_frequency(&c->bends, STEP);
	mixture_init_for_phase(&c->jumps, KNOTS * STEP, range);
	for (int i = 0; i < KNOTS; i++)
		knot[i].bend = 4e8 * knot[i].length;
	for (; *jump; jump++)
		knot[*jump].jump = range * range / 100;
	for (int i = 0; i < ROUNDS; i++) {
		assert_int_equal(smooth_chain(c), 0);
		learn_noise(c);
	}
}

static void test_noise_of_oscillator(void **state)
{
	static struct knot knot[KNOTS];
	struct chain c;

	(void)state;
	for (int loose = 0; loose < 2; loose++) {
		simulate_clock(knot, 0.01, 4, 0);
		learn_simulated_chain(&c, knot, loose ? 100 : 1e-3, loose ? 1e4 : 1e-2, none,
				      RANGE);
		assert_true(c.intensity[STATE_FREQUENCY] > 2 && c.intensity[STATE_FREQUENCY] < 8);
		assert_true(c.intensity[STATE_PHASE] < 1);
		assert_true(c.intensity[STATE_DRIFT] < 0.01);
	}
}

/* Slews do not count as noise. Each slew is found at its place. */
static void test_slews_of_daemon(void **state)
{
	static struct knot knot[KNOTS];
	struct chain c;
	int found = 0;

	(void)state;
	simulate_clock(knot, 0.01, 0.01, 5000);
	learn_simulated_chain(&c, knot, 1, 100, none, RANGE);
	for (int i = 100; i < KNOTS; i += 100)
		found += knot[i].quiet < 0.01;
	assert_int_equal(found, KNOTS / 100 - 1);
	assert_true(c.intensity[STATE_FREQUENCY] < 1);
}

/*
 * A clock is stepped by 10 ms. Steps are possible at two knots. Only one of them keeps its step,
 * and the variance of the step is learned.
 */
static void test_variance_of_step(void **state)
{
	static const int jump[] = { KNOTS / 2, KNOTS / 4, 0 };
	static struct knot knot[KNOTS];
	struct chain c;

	(void)state;
	simulate_clock(knot, 0.01, 0.01, 0);
	for (int i = KNOTS / 2; i < KNOTS; i++)
		knot[i].site.weighted += 1e7;
	learn_simulated_chain(&c, knot, 1, 100, jump, RANGE);
	for (int i = 1; i < KNOTS; i++)
		assert_int_equal(knot[i].jump > 1, i == KNOTS / 2);
	assert_float_equal(knot[KNOTS / 2].state[0] - knot[KNOTS / 2 - 1].state[0], 1e7, 100);
}

/*
 * A clock stood still for ten days. The information on such a step is tiny, but the step's
 * variance must not shrink: the noise would grow to explain the step.
 */
static void test_clock_stopped_for_days(void **state)
{
	static const int jump[] = { KNOTS / 2, 0 };
	const double days = 864e12;
	static struct knot knot[KNOTS];
	struct chain c;

	(void)state;
	simulate_clock(knot, 0.01, 0.01, 0);
	for (int i = KNOTS / 2; i < KNOTS; i++)
		knot[i].site.weighted += days * knot[i].site.precision;
	learn_simulated_chain(&c, knot, 1, 100, jump, days);
	assert_true(sqrt(knot[KNOTS / 2].jump) > days / 10);
	assert_true(c.intensity[STATE_FREQUENCY] < 1);
	assert_float_equal(knot[KNOTS / 2].state[0] - knot[KNOTS / 2 - 1].state[0], days, 100);
}

/* A clock without noise: its phase does not deflect by a nanosecond, for any length of time. */
static void test_clock_without_noise(void **state)
{
	const double span = (KNOTS - 1) * STEP;
	static struct knot knot[KNOTS];
	struct chain c;

	(void)state;
	simulate_clock(knot, 0, 0, 0);
	learn_simulated_chain(&c, knot, 1, 100, none, RANGE);
	assert_true(c.intensity[STATE_PHASE] * span < 1);
	assert_true(c.intensity[STATE_FREQUENCY] * pow(span, 3) / 3 < 1);
	assert_true(c.intensity[STATE_DRIFT] * pow(span, 5) / 20 < 1);
	assert_true(c.intensity[STATE_JERK] * pow(span, 7) / 252 < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_noise_of_oscillator),
		cmocka_unit_test(test_clock_without_noise),
		cmocka_unit_test(test_slews_of_daemon),
		cmocka_unit_test(test_variance_of_step),
		cmocka_unit_test(test_clock_stopped_for_days),
	};

	return cmocka_run_group_tests_name("learn noise", tests, NULL, NULL);
}
