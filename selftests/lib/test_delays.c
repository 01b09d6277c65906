// SPDX-License-Identifier: GPL-2.0-only
/* Mean excess delays, and a test of whether the minimum delay is stationary. */
#include "curve/delays.h"
#include "sample.h"

/* The drift of a very good clock, which moves by 50 ns within a window, 1 / ns. */
#define DRIFT 1e-19

/* Delays are uniformly distributed from DELAY to 2 DELAY. */
static void test_mean_delays(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	observations_set_residuals(&s.p, NULL, NULL);
	assert_int_equal(delays_set_means(&s.p), 0);
	for (int side = ABOVE; side <= BELOW; side++)
		assert_true(s.p.direction[side].mean > 0.25 * DELAY &&
			    s.p.direction[side].mean < DELAY);
	sample_release(&s);
}

/* Find minimum delays. @drift is the assumed maximum drift of the clock, 1 / ns. */
static int find_delay_minima(struct sample *s, double drift)
{
	observations_set_residuals(&s->p, NULL, NULL);
	assert_int_equal(delays_set_means(&s->p), 0);
	return delays_find_minima(&s->p, drift);
}

static void test_stationary_minimum(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	assert_int_equal(find_delay_minima(&s, DRIFT), 0);
	for (int side = ABOVE; side <= BELOW; side++)
		for (size_t i = 0; i < s.p.direction[side].bins; i++)
			assert_true(s.p.direction[side].bin[i].excess == 0);
	sample_release(&s);
}

/*
 * Messages of both directions take 5 ms longer after the first of six windows. The change is
 * detected, because the last window is far enough from the first one.
 */
static void test_lifted_minimum(void **state)
{
	struct sample s;

	(void)state;
	sample_gather(&s);
	for (size_t i = 0; i < 2; i++) {
		const struct obs_direction *dir = &s.p.direction[i];

		for (size_t k = 0; k < dir->bins; k++)
			for (uint32_t j = 0; j < dir->bin[k].num; j++) {
				struct observation *o = &s.p.obs[dir->bin[k].from + j];

				if (o->t > SECONDS / 6 * 1e9)
					o->y += i == ABOVE ? 5e6 : -5e6;
			}
	}
	assert_int_equal(find_delay_minima(&s, DRIFT), 1);
	for (size_t i = 0; i < 2; i++) {
		const struct obs_direction *dir = &s.p.direction[i];

		assert_true(dir->bin[0].excess == 0);
		assert_true(dir->bin[dir->bins - 1].excess > 4e6 &&
			    dir->bin[dir->bins - 1].excess < 6e6);
	}
	/* A worse clock could move by as much as the delays, so that no change is detected. */
	assert_int_equal(find_delay_minima(&s, 1e-15), 0);
	sample_release(&s);
}

#define SPAN 600e9
#define MEAN 100e3
#define MESSAGES 400000
#define INTERVALS 64

/* A value to add to a limit at a time, ns. */
typedef double (*add_fn)(int side, double t, uint64_t *seed);

static double add_nothing(int side, double t, uint64_t *seed)
{
	(void)side;
	(void)t;
	(void)seed;
	return 0;
}

/* The clocks of a host's processors differ by up to a tenth of the mean delay. */
static double add_processor_difference(int side, double t, uint64_t *seed)
{
	(void)side;
	(void)t;
	return (draw_between_0_and_1(seed) - draw_between_0_and_1(seed)) * MEAN / 10;
}

/* The curve has an error that is larger than the scatter of windows. */
static double add_missed_curve(int side, double t, uint64_t *seed)
{
	(void)side;
	(void)seed;
	return MEAN / 1000 * sin(2 * M_PI * t / 60e9);
}

/* For a while, delays in both directions are longer. */
static double add_busy_delay(int side, double t, uint64_t *seed)
{
	return (side == ABOVE ? 1 : -1) * add_missed_curve(side, t, seed);
}

static double measure_softness(add_fn add)
{
	struct correction c = { .known = true, .to = (int64_t)SPAN };
	struct correction other = c;
	struct pairs pairs = { 0 };
	struct observations p;
	struct link link;
	uint64_t seed = 9;
	double soft;

	for (long i = 0; i < MESSAGES; i++) {
		const int side = (int)(draw_random64(&seed) & 1);
		const int64_t t = draw_integer_below(&seed, (int64_t)SPAN);
		const double y = (side == ABOVE ? 1 : -1) *
				 (DELAY + draw_from_exponential(&seed, MEAN));
		const int64_t at = t + (int64_t)(y + add(side, (double)t, &seed));

		if (side == ABOVE)
			add_message(&pairs, 1, 0, t, at);
		else
			add_message(&pairs, 0, 1, at, t);
	}
	assert_int_equal(pairs_settle(&pairs), 0);
	link = (struct link){ .pair = pairs.pair[0], .other = &other };
	assert_int_equal(observations_gather(&p, &c, &link, 1), 0);
	observations_set_residuals(&p, NULL, NULL);
	assert_int_equal(delays_set_means(&p), 0);
	assert_int_equal(delays_soften(&p, INTERVALS), 0);
	soft = p.softness;
	observations_release(&p);
	pairs_release(&pairs);
	return soft;
}

/* Neither a wrong curve nor busy times blur the edge. */
static void test_softness_of_edge(void **state)
{
	(void)state;
	assert_true(measure_softness(add_nothing) == 1);
	assert_true(measure_softness(add_processor_difference) > 3);
	assert_true(measure_softness(add_missed_curve) == 1);
	assert_true(measure_softness(add_busy_delay) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_softness_of_edge),
		cmocka_unit_test(test_mean_delays),
		cmocka_unit_test(test_stationary_minimum),
		cmocka_unit_test(test_lifted_minimum),
	};

	return cmocka_run_group_tests_name("delays", tests, NULL, NULL);
}
