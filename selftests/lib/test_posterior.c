// SPDX-License-Identifier: GPL-2.0-only
/* Compare the error of a pair's posterior with its reported deviation. */
#include "infer/infer.h"
#include "messages.h"

#define SECONDS 1800
#define MESSAGES 20000
#define AHEAD (7 * SEC)

/* The offset of host 1 from host 0. The frequency makes a random walk with steps of one second. */
struct wanderer {
	double phase[SECONDS + 1];
	double frequency[SECONDS + 1]; /* ns/s */
};

static void wander_randomly(struct wanderer *w, uint64_t *seed)
{
	w->phase[0] = 0;
	w->frequency[0] = 20e3;
	for (int i = 0; i < SECONDS; i++) {
		const double normal = sqrt(-2 * log(draw_between_0_and_1(seed))) *
				      cos(2 * M_PI * draw_between_0_and_1(seed));

		w->phase[i + 1] = w->phase[i] + w->frequency[i];
		w->frequency[i + 1] = w->frequency[i] + 2 * normal;
	}
}

static double evaluate_wanderer(const struct wanderer *w, int64_t t)
{
	const int64_t i = t / SEC;

	return w->phase[i] + w->frequency[i] * (double)(t - i * SEC) / 1e9;
}

static void talk_with_wanderer(struct pairs *ps, const struct wanderer *w, uint64_t *seed)
{
	for (int i = 0; i < MESSAGES; i++) {
		const int64_t t = draw_integer_below(seed, (SECONDS - 1) * SEC);
		const int64_t r = t + 30000 + (int64_t)draw_from_exponential(seed, 100e3);

		if (draw_random64(seed) & 1)
			add_message(ps, 0, 1, t, r + AHEAD + llround(evaluate_wanderer(w, r)));
		else
			add_message(ps, 1, 0, t + AHEAD + llround(evaluate_wanderer(w, t)), r);
	}
	assert_int_equal(pairs_settle(ps), 0);
}

/*
 * The ratio of errors to deviations should have a root mean square of 1. However, learned noise is
 * treated as known, and the drift explains a part of the frequency's random walk, so that the value
 * is up to 1.7.
 */
static void test_calibration_of_errors(void **state)
{
	double sum = 0, most = 0, errors = 0;
	int num = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct correction c[2] = {
			{ .known = true, .to = SECONDS * SEC },
			{ .known = true, .from = AHEAD, .to = AHEAD + SECONDS * SEC + SEC }
		};
		struct infer_host host[2] = { { .correction = &c[0] },
					      { .correction = &c[1], .number = 1 } };
		struct infer_pair pair = { .host = { 0, 1 } };
		static struct wanderer w;
		struct pairs ps = { 0 };
		uint64_t s = seed;

		wander_randomly(&w, &s);
		talk_with_wanderer(&ps, &w, &s);
		host[1].via = pair.pair = ps.pair[0];
		assert_int_equal(infer_clocks(&(struct infer_task){
					 .host = host, .num = 2, .pair = &pair, .num_pairs = 1 }),
				 0);
		assert_true(c[1].num_known_to > 100);
		assert_int_equal(c[1].num_changes, 0);
		for (int64_t t = SEC; t < (SECONDS - 2) * SEC; t += SEC) {
			const double ahead = evaluate_wanderer(&w, t);
			const int64_t own = t + AHEAD + llround(ahead);
			int64_t ref;
			const double rest = correction_at(&c[1], own, &ref);
			const double error = (double)(ref - t) + rest;
			const double z = error / correction_deviation_at(&c[1], own);

			sum += z * z;
			errors += error * error;
			most = fmax(most, fabs(z));
			num++;
		}
		for (int h = 0; h < 2; h++)
			correction_release(&c[h]);
		pairs_release(&ps);
	}
	print_message("error %.0f ns, over its deviation %.2f, at most %.1f\n", sqrt(errors / num),
		      sqrt(sum / num), most);
	assert_true(sqrt(errors / num) < 200);
	assert_true(sqrt(sum / num) > 0.7 && sqrt(sum / num) < 1.7);
	assert_true(most < 9);
}

/*
 * Between knots, deviations are interpolated. Before the first knot and after the last one, the
 * deviation of this knot is used.
 */
static void test_deviation_of_posterior(void **state)
{
	struct deviation_knot knot[] = { { 10, 4, 0 }, { 30, 2, 0 } };
	const struct correction c = { .from = 100, .known_to = knot, .num_known_to = 2 };
	const struct correction none = { .from = 100 };

	(void)state;
	assert_float_equal(correction_deviation_at(&c, 100), 4, 0);
	assert_float_equal(correction_deviation_at(&c, 115), 3.5, 1e-12);
	assert_float_equal(correction_deviation_at(&c, 200), 2, 0);
	assert_true(isinf(correction_deviation_at(&none, 100)));
}

/* With impossible input, the result is the initial line, which is marked as unreliable. */
static void test_impossible_input(void **state)
{
	struct correction c[2] = { { .known = true, .to = SECONDS * SEC },
				   { .known = true, .to = SECONDS * SEC } };
	struct infer_host host[2] = { { .correction = &c[0] },
				      { .correction = &c[1], .number = 1 } };
	struct infer_pair pair = { .host = { 0, 1 } };
	struct pairs ps = { 0 };
	uint64_t seed = 8;

	(void)state;
	for (int i = 0; i < 2000; i++)
		add_message(&ps, i & 1, !(i & 1), draw_integer_below(&seed, SECONDS * SEC),
			    draw_integer_below(&seed, SECONDS * SEC));
	assert_int_equal(pairs_settle(&ps), 0);
	host[1].via = pair.pair = ps.pair[0];
	assert_int_equal(infer_clocks(&(struct infer_task){
				 .host = host, .num = 2, .pair = &pair, .num_pairs = 1 }),
			 0);
	for (int64_t t = 0; t < SECONDS * SEC; t += SEC) {
		int64_t ref;

		assert_true(isfinite(correction_at(&c[1], t, &ref)));
	}
	for (int h = 0; h < 2; h++)
		correction_release(&c[h]);
	pairs_release(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calibration_of_errors),
		cmocka_unit_test(test_deviation_of_posterior),
		cmocka_unit_test(test_impossible_input),
	};

	return cmocka_run_group_tests_name("posterior", tests, NULL, NULL);
}
