// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check which observations are rejected if wrong messages are spread over a trace. Observations
 * that are far off are rejected in any case.
 */
#include <math.h>

#include "curve/contamination.h"
#include "messages.h"

enum { BINS = 400, OF_BIN = 10, WINDOWS = 40, OF_WINDOW = BINS / WINDOWS };

#define MEAN 100e3 /* excess delay, ns */
#define FAR (-200e3)
/*
 * The lowest of 100 messages in a window is about 1 us above the edge. 40 times this distance fit
 * between this offset and the edge.
 */
#define NEAR (-40e3)
#define SCALE 500.0 /* distance by which a message may be below the edge, ns */

static const struct correction clock_at = { .known = true, .to = BINS * SEC };

struct sample {
	struct observations p;
	struct obs_direction direction[2];
	struct obs_bin bin[2][BINS];
	struct observation obs[2][BINS][OF_BIN];
};

/*
 * Draw exponential delays. In every @every-th window, the last observation of a bin is far off and
 * has been rejected.
 */
static void draw_contaminated_sample(struct sample *s, uint64_t seed, size_t every)
{
	*s = (struct sample){ 0 };
	s->p = (struct observations){
		.span = BINS * 1e9,
		.links = 1,
		.direction = s->direction,
		.obs = s->obs[0][0],
		.num = 2 * BINS * OF_BIN,
		.messages = { BINS * OF_BIN, BINS * OF_BIN },
		.softness = 1,
	};
	for (int side = 0; side < 2; side++) {
		s->direction[side] = (struct obs_direction){
			.bin = s->bin[side],
			.bins = BINS,
			.messages = BINS * OF_BIN,
			.width = 1e9,
			.mean = MEAN,
		};
		for (uint32_t b = 0; b < BINS; b++) {
			bool wrong = !(b % (OF_WINDOW * every));
			struct obs_bin *h = &s->bin[side][b];

			*h = (struct obs_bin){
				.t = (b + 0.5) * 1e9,
				.messages = OF_BIN,
				.from = ((uint32_t)side * BINS + b) * OF_BIN,
				.gathered = OF_BIN,
				.num = OF_BIN - wrong,
			};
			for (size_t i = 0; i < OF_BIN; i++) {
				double y = -MEAN * log(1 - draw_between_0_and_1(&seed));

				if (i == OF_BIN - 1 && wrong)
					y = FAR;
				s->obs[side][b][i] = (struct observation){
					.t = h->t,
					.residual = side == ABOVE ? y : -y,
				};
			}
		}
	}
}

/* Add an observation with a small error. */
static void add_near_outliers(struct sample *s)
{
	s->obs[BELOW][BINS / 2 + 3][4].residual = -NEAR;
}

static size_t count_kept_observations(const struct sample *s)
{
	return s->p.num - observations_rejected(&s->p);
}

/* Return the number of rejected observations. */
static size_t reject_lone_outliers(struct sample *s, const struct correction *c)
{
	size_t rejected;

	assert_int_equal(contamination_reject_lone(&s->p, c, WINDOWS, &rejected), 0);
	return rejected;
}

/*
 * Return the number of observations that are rejected as inverted at the edge of
 * draw_contaminated_sample().
 */
static size_t reject_inverted_outliers(struct sample *s)
{
	const double margin = 0, scale = SCALE;
	size_t rejected;

	assert_int_equal(contamination_reject_inverted(&s->p, &clock_at, WINDOWS, &margin, &scale,
						       &rejected),
			 0);
	return rejected;
}

static void test_lone_outliers(void **state)
{
	static struct sample s;
	size_t before;

	(void)state;
	draw_contaminated_sample(&s, 1, 1);
	before = count_kept_observations(&s);
	assert_int_equal(reject_lone_outliers(&s, &clock_at), 0);
	add_near_outliers(&s);
	assert_int_equal(reject_lone_outliers(&s, &clock_at), 1);
	assert_int_equal(count_kept_observations(&s), before - 1);
	assert_int_equal(s.bin[BELOW][BINS / 2 + 3].num, OF_BIN - 1);
}

/*
 * Two equally wrong observations must not pass, as they would if only the lowest one were examined.
 */
static void test_two_equal_outliers(void **state)
{
	static struct sample s;

	(void)state;
	draw_contaminated_sample(&s, 2, 1);
	add_near_outliers(&s);
	s.obs[BELOW][BINS / 2 + 5][2].residual = -NEAR + 1;
	assert_int_equal(reject_lone_outliers(&s, &clock_at), 2);
}

static void test_inverted_outliers(void **state)
{
	static struct sample s;

	(void)state;
	draw_contaminated_sample(&s, 3, 1);
	add_near_outliers(&s);
	s.obs[ABOVE][7][0].residual = -SCALE;
	assert_int_equal(reject_inverted_outliers(&s), 1);
	assert_int_equal(s.bin[BELOW][BINS / 2 + 3].num, OF_BIN - 1);
	assert_int_equal(s.bin[ABOVE][7].num, OF_BIN);
}

/* Coarse stamps scatter, so that smaller errors cannot be detected. */
static void test_outliers_of_coarse_stamps(void **state)
{
	static struct sample s;

	(void)state;
	draw_contaminated_sample(&s, 6, 1);
	add_near_outliers(&s);
	s.p.resolution = 10 * MEAN;
	assert_int_equal(reject_lone_outliers(&s, &clock_at), 0);
	assert_int_equal(reject_inverted_outliers(&s), 0);
}

/* Errors in only a few places may be errors of the clock, so no observation is rejected. */
static void test_not_all_over(void **state)
{
	static struct sample s;

	(void)state;
	draw_contaminated_sample(&s, 4, 3);
	add_near_outliers(&s);
	assert_int_equal(reject_lone_outliers(&s, &clock_at), 0);
	assert_int_equal(reject_inverted_outliers(&s), 0);
}

/* In the window of a change point, no curve is known, so no observation is rejected. */
static void test_near_change(void **state)
{
	struct change_point change = { .t = BINS / 2 * 1e9, .uncertainty = 10e9 };
	struct correction c = clock_at;
	static struct sample s;

	(void)state;
	c.change = &change;
	c.num_changes = 1;
	draw_contaminated_sample(&s, 5, 1);
	add_near_outliers(&s);
	assert_int_equal(reject_lone_outliers(&s, &c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lone_outliers),
		cmocka_unit_test(test_two_equal_outliers),
		cmocka_unit_test(test_inverted_outliers),
		cmocka_unit_test(test_outliers_of_coarse_stamps),
		cmocka_unit_test(test_not_all_over),
		cmocka_unit_test(test_near_change),
	};

	return cmocka_run_group_tests_name("contamination", tests, NULL, NULL);
}
