// SPDX-License-Identifier: GPL-2.0-only
/*
 * Distinguish change points and wrong messages from the normal behaviour of clocks and networks.
 * Host 1 exchanges messages with hosts 0 and 2, whose clocks are right, or with only one of them.
 */
#include <string.h>

#include "test.h"
#include "curve/change-point.h"
#include "curve/initial-fit.h"
#include "curve/outliers.h"

#define SPAN 240e9
#define RATE 140 /* messages per second, in each direction */
#define DELAY 30e3
#define MEAN 100e3
#define DRIFT (0.1e-6 / 1e9) /* drift of free-running clocks, 1 / ns */
#define BREAK 120e9	     /* time of the change, in the middle of the messages, ns */
#define PPM 1e-6
#define SEEDS 20

/* Offset of the host's clock at a true time, ns. */
typedef double (*ahead_fn)(double t);
/* The minimum delay of a direction. */
typedef double (*delay_fn)(int side, double t);

static double show_no_change(double t)
{
	(void)t;
	return 0;
}

static double get_same_delay(int side, double t)
{
	(void)side;
	(void)t;
	return DELAY;
}

struct network {
	ahead_fn ahead;
	delay_fn delay;
	uint64_t seed;
	double wrong; /* fraction of the messages that are wrong */
	bool alone;   /* host 1 has one neighbour instead of two */
	/* make_network() fills in all other members. */
	struct pairs pairs;
	struct correction other;
	struct correction correction;
	struct link link[2];
	struct observations points;
	struct initial_fit initial;
};

static void send_between_peers(struct network *n, uint32_t peer, int side, uint64_t *seed)
{
	double t = draw_between_0_and_1(seed) * SPAN;
	double late = n->delay(side, t) + draw_from_exponential(seed, MEAN);
	double r = t + late;
	struct endpoint from = { side == ABOVE ? 1 : peer, 0, llround(t) };
	struct endpoint to = { side == ABOVE ? peer : 1, 0, llround(r) };

	if (side == ABOVE)
		from.t += llround(n->ahead(t));
	else
		to.t += llround(n->ahead(r));
	/* A wrong message answers another request, which was sent up to 0.1 s earlier or later. */
	if (draw_between_0_and_1(seed) < n->wrong)
		to.t += draw_integer_below(seed, 200000000) - 100000000;
	assert_int_equal(pairs_add(&n->pairs, &from, &to), 0);
}

static void make_network(struct network *n)
{
	uint64_t seed = n->seed * 1000003;

	n->correction = (struct correction){ .to = (int64_t)SPAN };
	n->other = n->correction;
	n->other.known = true;
	for (long i = 0; i < (long)(SPAN / 1e9 * RATE); i++)
		for (int side = 0; side < 2; side++)
			send_between_peers(n, i & 1 && !n->alone ? 2 : 0, side, &seed);
	assert_int_equal(pairs_settle(&n->pairs), 0);
	assert_int_equal(n->pairs.num, n->alone ? 1 : 2);
	for (size_t i = 0; i < n->pairs.num; i++)
		n->link[i] = (struct link){
			.pair = n->pairs.pair[i],
			.other = &n->other,
			.first = n->pairs.pair[i]->host[0] == 1,
		};
	assert_int_equal(observations_gather(&n->points, &n->correction, n->link, n->pairs.num), 0);
	for (size_t i = 0; i < 2 * n->points.links; i++)
		n->points.direction[i].mean = MEAN;
}

/* The line relative to which change points are reported. */
static double evaluate_line(const struct correction *c, double t)
{
	return (double)c->offset + c->frac + c->skew * t;
}

static void release_network(struct network *n)
{
	observations_release(&n->points);
	initial_fit_release(&n->initial);
	pairs_release(&n->pairs);
	correction_release(&n->correction);
}

/* Find change points in a first pass, for which the middle line is already known. */
static int find_first_change_points(struct network *n)
{
	return change_points_find(&n->correction, &n->points, DRIFT, false, initial_fit_at,
				  &n->initial);
}

static int make_and_find_change_points(struct network *n)
{
	int found;

	make_network(n);
	assert_int_equal(initial_fit_find(&n->initial, &n->points, &n->correction), 0);
	found = find_first_change_points(n);
	assert_int_equal(found, n->correction.num_changes);
	for (int i = 1; i < found; i++)
		assert_true(n->correction.change[i - 1].t <= n->correction.change[i].t);
	return found;
}

static void check_nothing_found(ahead_fn ahead, delay_fn delay, uint64_t seed, bool alone)
{
	struct network n = {
		.ahead = ahead,
		.delay = delay,
		.seed = seed,
		.alone = alone,
	};

	assert_int_equal(make_and_find_change_points(&n), 0);
	release_network(&n);
}

/* ---- no change points --------------------------------------------------- */

static void test_noisy_clocks(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++)
		check_nothing_found(show_no_change, get_same_delay, seed, seed & 1);
}

/* A drift of half of the assumed maximum. The drift changes the rate by 12 ppm in total. */
static double drift_at_half_limit(double t)
{
	return 0.25 * DRIFT * t * t;
}

/* A drift of at most 53 ppb/s. */
static double swing_within_limit(double t)
{
	return 30e3 * sin(2 * M_PI * t / 150e9);
}

static void test_smooth_clocks(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		check_nothing_found(drift_at_half_limit, get_same_delay, seed, seed & 1);
		check_nothing_found(swing_within_limit, get_same_delay, seed, false);
	}
}

/* One direction uses a longer route after BREAK. */
static double slow_one_direction(int side, double t)
{
	return DELAY + (side == ABOVE && t > BREAK ? 30e3 : 0);
}

static double slow_other_direction(int side, double t)
{
	return DELAY + (side == BELOW && t > BREAK ? 30e3 : 0);
}

/* Both directions use a longer route after BREAK. */
static double slow_both_directions(int side, double t)
{
	(void)side;
	return DELAY + (t > BREAK ? 30e3 : 0);
}

/* A queue in one direction fills after BREAK. */
static double fill_queue_upward(int side, double t)
{
	return DELAY + (side == ABOVE ? 20 * PPM * fmax(t - BREAK, 0) : 0);
}

static double fill_both_queues(int side, double t)
{
	(void)side;
	return DELAY + 20 * PPM * fmax(t - BREAK, 0);
}

static void test_changing_delays(void **state)
{
	const delay_fn delays[] = { slow_one_direction, slow_other_direction, slow_both_directions,
				    fill_queue_upward, fill_both_queues };

	(void)state;
	for (uint64_t seed = 0; seed < 2; seed++)
		for (int i = 0; i < 5; i++)
			check_nothing_found(show_no_change, delays[i], seed, seed & 1);
}

/* ---- kinks ------------------------------------------------------------- */

static double change_rate_once(double t)
{
	return 20 * PPM * fmax(t - BREAK, 0);
}

static double change_rate_twice(double t)
{
	return change_rate_once(t) - change_rate_once(t - 5e9);
}

static double change_rate_unequally(double t)
{
	return change_rate_once(t) + 2 * change_rate_once(t - 5e9);
}

/* If the clock becomes faster, the slope of its correction must fall. */
static void check_kink(const struct change_point *b, double t, double faster)
{
	assert_false(b->phase_step);
	assert_true(b->uncertainty < 5e9);
	assert_true(fabs(b->t - t) < b->uncertainty);
	/*
	 * Before curves are fitted, a part of a neighbour's change may be attributed to the host
	 * itself.
	 */
	assert_true(b->skew / -faster > 0.5 && b->skew / -faster < 2);
}

static void find_kinks(uint64_t seed, bool alone)
{
	struct network one = {
		.ahead = change_rate_once,
		.delay = get_same_delay,
		.seed = seed,
		.alone = alone,
	};
	struct network two = one, unequal = one;

	assert_int_equal(make_and_find_change_points(&one), 1);
	check_kink(&one.correction.change[0], BREAK, 20 * PPM);
	assert_float_equal(one.correction.change[0].t, BREAK, 0.5e9);
	/* A second pass finds no more change points. */
	assert_int_equal(find_first_change_points(&one), 0);
	release_network(&one);
	two.ahead = change_rate_twice;
	assert_int_equal(make_and_find_change_points(&two), 2);
	check_kink(&two.correction.change[0], BREAK, 20 * PPM);
	check_kink(&two.correction.change[1], BREAK + 5e9, -20 * PPM);
	release_network(&two);
	unequal.ahead = change_rate_unequally;
	assert_int_equal(make_and_find_change_points(&unequal), 2);
	check_kink(&unequal.correction.change[0], BREAK, 20 * PPM);
	check_kink(&unequal.correction.change[1], BREAK + 5e9, 40 * PPM);
	release_network(&unequal);
}

static void test_rate_steps(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++)
		find_kinks(seed, seed & 1);
}

/* Relative to a curve that already has the rate step, no rate step is left. */
static double evaluate_known_kink(void *arg, double t)
{
	(void)arg;
	return -change_rate_once(t);
}

static void test_beyond_curve(void **state)
{
	struct network n = { .ahead = change_rate_once, .delay = get_same_delay };

	(void)state;
	make_network(&n);
	assert_int_equal(change_points_find(&n.correction, &n.points, DRIFT, true,
					    evaluate_known_kink, NULL),
			 0);
	release_network(&n);
}

/* ---- clocks that are stepped ------------------------------------------- */

static double jump_forward(double t)
{
	return t > BREAK ? 50e6 : 0;
}

static double jump_backward(double t)
{
	return t > BREAK ? -50e6 : 0;
}

/*
 * Check that the step is found. Detection starts at the true time of the step, because the middle
 * line is known.
 */
static void check_jump(ahead_fn ahead, double size, uint64_t seed, bool alone)
{
	struct network n = {
		.ahead = ahead,
		.delay = get_same_delay,
		.seed = seed,
		.alone = alone,
	};
	struct change_point b;

	assert_int_equal(make_and_find_change_points(&n), 1);
	b = n.correction.change[0];
	assert_true(b.phase_step);
	assert_float_equal(b.offset, -size, 1e6);
	assert_true(fabs(b.t - BREAK) < b.uncertainty + fabs(size));
	assert_true(b.uncertainty < 1e9);

	b.uncertainty += fabs(size);
	change_point_place_phase_step(&b, &n.points, -size / 2 - evaluate_line(&n.correction, b.t),
				      -n.correction.skew);
	/* Times from BREAK to BREAK + size were skipped or shown twice. */
	assert_float_equal(b.t, BREAK + size / 2, 20e6);
	assert_true(b.uncertainty < fabs(size) + 20e6);
	assert_true(b.t - b.uncertainty <= BREAK + fmax(size, 0));
	assert_true(b.t + b.uncertainty >= BREAK + fmin(size, 0));
	release_network(&n);
}

static void test_phase_steps(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		check_jump(jump_forward, 50e6, seed, seed & 1);
		check_jump(jump_backward, -50e6, seed, seed & 1);
	}
}

/* The time of a step that is followed by only 60 messages in each direction. */
#define LATE (SPAN - 60e9 / RATE)

static double jump_backward_late(double t)
{
	return t > LATE ? -50e6 : 0;
}

static void test_late_jump(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct network n = {
			.ahead = jump_backward_late,
			.delay = get_same_delay,
			.seed = seed,
			.alone = true,
		};

		assert_int_equal(make_and_find_change_points(&n), 1);
		assert_true(n.correction.change[0].phase_step);
		assert_float_equal(n.correction.change[0].offset, 50e6, 1e6);
		release_network(&n);
	}
}

/* ---- two rate steps that look like one step ---------------------------- */

#define APART 1.2e9

static double jump_again_soon(double t)
{
	return change_rate_once(t) + change_rate_once(t - APART);
}

static double jump_back_soon(double t)
{
	return change_rate_once(t) - change_rate_once(t - APART);
}

/* Fit curves before and after @at. Return their values and slopes at @at. */
static struct ends make_split_ends(ahead_fn ahead, double at)
{
	const double far = 40e9;
	struct ends e;

	e.slope[0] = -(ahead(at - far) - ahead(at - 2 * far)) / far;
	e.slope[1] = -(ahead(at + 2 * far) - ahead(at + far)) / far;
	e.level[0] = -ahead(at - far) + far * e.slope[0];
	e.level[1] = -ahead(at + far) - far * e.slope[1];
	return e;
}

static int split_change_point(ahead_fn ahead, double at, uint64_t seed, struct change_point b[2])
{
	const double margin[2] = { DELAY, DELAY };
	struct network n = { .ahead = ahead, .delay = get_same_delay, .seed = seed };
	struct ends e = make_split_ends(ahead, at);
	int ret;

	b[0] = (struct change_point){ .t = at, .uncertainty = 1e9 };
	make_network(&n);
	ret = change_point_split(b, &n.points, margin, &e, 5e9);
	release_network(&n);
	return ret;
}

static void check_split(ahead_fn ahead, double second, uint64_t seed)
{
	struct change_point b[2];

	assert_int_equal(split_change_point(ahead, BREAK + APART / 2, seed, b), 1);
	assert_float_equal(b[0].t, BREAK, 0.4e9);
	assert_float_equal(b[1].t, BREAK + APART, 0.4e9);
	assert_float_equal(b[0].skew, -20 * PPM, 10 * PPM);
	assert_float_equal(b[1].skew, -second, 10 * PPM);
	assert_true(b[0].t + b[0].uncertainty < b[1].t - b[1].uncertainty);
	assert_true(b[0].placed && b[1].placed);
	assert_true(!b[0].phase_step && !b[1].phase_step);
}

static void test_split_of_two_steps(void **state)
{
	struct change_point b[2];

	(void)state;
	for (uint64_t seed = 0; seed < 10; seed++) {
		check_split(jump_again_soon, 20 * PPM, seed);
		check_split(jump_back_soon, -20 * PPM, seed);
		/* A single rate step is not split, even if its time is uncertain. */
		assert_int_equal(split_change_point(change_rate_once, BREAK, seed, b), 0);
		assert_int_equal(split_change_point(change_rate_once, BREAK + 0.5e9, seed, b), 0);
		assert_true(b[0].t == BREAK + 0.5e9 && !b[0].placed);
	}
}

/* ---- wrong messages ---------------------------------------------------- */

/* Count the points that violate the true limits by more than @by. */
static size_t count_inward(const struct network *n, double by, size_t *all)
{
	const struct correction *c = &n->correction;
	size_t num = 0;

	*all = 0;
	for (size_t i = 0; i < 2 * n->points.links; i++) {
		const struct obs_direction *side = &n->points.direction[i];

		for (size_t j = 0; j < side->bins; j++) {
			const struct obs_bin *h = &side->bin[j];

			for (uint32_t k = 0; k < h->num; k++) {
				const struct observation *s = &n->points.obs[h->from + k];
				double y = s->y + evaluate_line(c, s->t) + n->ahead(s->t);

				num += (i & 1 ? -y : y) < -by;
				++*all;
			}
		}
	}
	return num;
}

static void clean_wrong_messages(struct network *n, size_t *before, size_t *after, size_t *inward)
{
	size_t dropped;

	make_network(n);
	*inward = count_inward(n, 50e3, before);
	assert_int_equal(initial_fit_find(&n->initial, &n->points, &n->correction), 0);
	/* The middle line is close to the clock, whatever else is wrong. */
	for (double t = 10e9; t < SPAN - 10e9; t += 1e9)
		if (fabs(t - BREAK) > 5e9)
			assert_float_equal(initial_fit_at(&n->initial, t) +
						   evaluate_line(&n->correction, t),
					   -n->ahead(t), 250e3);
	observations_set_residuals(&n->points, NULL, NULL);
	assert_int_equal(outliers_reject(&n->points, &n->correction, 0, &dropped), 0);
	assert_int_equal(count_inward(n, 50e3, after), 0);
}

static void test_wrong_messages(void **state)
{
	const ahead_fn clocks[] = { show_no_change, swing_within_limit, change_rate_once };
	size_t before, after, inward;

	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		for (int i = 0; i < 3; i++) {
			struct network n = {
				.ahead = clocks[i],
				.delay = get_same_delay,
				.seed = seed,
				.wrong = 1e-3,
			};

			clean_wrong_messages(&n, &before, &after, &inward);
			/* About half of the 67 wrong messages violate a limit. */
			assert_true(inward > 20 && inward < 50);
			assert_true(before - after >= inward);
			assert_true(before - after < inward + before / 1000);
			release_network(&n);
		}
	}
}

/* No correct message is rejected, even if the clock is stepped. */
static void test_correct_messages(void **state)
{
	/* The test has no step back, because times that are shown twice have two true offsets. */
	const ahead_fn clocks[] = { show_no_change, swing_within_limit, change_rate_once,
				    jump_forward };
	size_t before, after, inward;

	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		for (int i = 0; i < 4; i++) {
			struct network n = {
				.ahead = clocks[i],
				.delay = get_same_delay,
				.seed = seed,
			};

			clean_wrong_messages(&n, &before, &after, &inward);
			assert_int_equal(inward, 0);
			assert_true(before - after < before / 1000);
			release_network(&n);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_noisy_clocks),	cmocka_unit_test(test_smooth_clocks),
		cmocka_unit_test(test_changing_delays), cmocka_unit_test(test_rate_steps),
		cmocka_unit_test(test_beyond_curve),	cmocka_unit_test(test_phase_steps),
		cmocka_unit_test(test_late_jump),	cmocka_unit_test(test_split_of_two_steps),
		cmocka_unit_test(test_wrong_messages),	cmocka_unit_test(test_correct_messages),
	};

	return cmocka_run_group_tests_name("change_point", tests, NULL, NULL);
}
