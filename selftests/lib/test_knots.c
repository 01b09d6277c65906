// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knots are computed from samples of a range, but must hold at all instants. For random clocks with
 * curvature, rate changes and phase steps, check every ns of a short span.
 */
#include "test.h"
#include "clock.h"
#include "bound/knots.h"

#define SPAN 20000

/* The known ranges, in order of time. */
struct source {
	struct range (*at)(void *arg, int64_t t);
	void *arg;
};

static void answer_ranges(void *arg, const int64_t *t, size_t num, struct range *range)
{
	const struct source *from = arg;

	for (size_t i = 0; i < num; i++) {
		assert_true(!i || t[i] > t[i - 1]);
		range[i] = from->at(from->arg, t[i]);
	}
}

/* The offset of a clock from the reference, before and after a window. */
struct truth {
	double y[2]; /* offset at the window */
	double slope[2];
	double bend[2];
	double at;
	struct change_window window;
	size_t windows;
	struct limits limits;
	uint64_t noise;
	bool one_sided;
};

static double evaluate_branch(const struct truth *c, int i, double t)
{
	double d = t - c->at;

	return c->y[i] + (c->slope[i] + c->bend[i] / 2 * d) * d;
}

static double evaluate_branches(const struct truth *c, int64_t t)
{
	return (double)t + evaluate_branch(c, (double)t >= c->at, (double)t);
}

/* Return the known range at t. The width of the range differs from instant to instant. */
static struct range get_known_range(void *arg, int64_t t)
{
	const struct truth *c = arg;
	uint64_t seed = c->noise + (uint64_t)t;
	int own = (double)t >= c->at;
	double a = evaluate_branch(c, own, (double)t), b = a;
	struct range r;

	/* Near a phase step, the range may be the one before or after the step. */
	if (c->windows && c->window.phase_step && t >= c->window.from && t <= c->window.to)
		b = evaluate_branch(c, !own, (double)t);
	r.lo = EPOCH + t + (int64_t)floor(fmin(a, b) - draw_from_exponential(&seed, 50));
	r.hi = EPOCH + t + (int64_t)ceil(fmax(a, b) + draw_from_exponential(&seed, 50));
	if (c->one_sided)
		r.lo = INT64_MIN;
	return r;
}

/* Slopes stay within the limit over the whole span. */
static void draw_branches(struct truth *c, uint64_t *seed)
{
	*c = (struct truth){ .limits = { .slope = 0.2 },
			     .noise = *seed,
			     .at = draw_between_0_and_1(seed) * SPAN,
			     .windows = draw_random64(seed) & 1,
			     .one_sided = !draw_integer_below(seed, 8) };
	c->limits.bend = draw_between_0_and_1(seed) * 1e-5;
	for (int i = 0; i < 2; i++) {
		c->slope[i] = (draw_between_0_and_1(seed) - 0.5) * 0.2;
		c->bend[i] = (2 * draw_between_0_and_1(seed) - 1) *
			     fmin(c->limits.bend, 0.1 / SPAN);
	}
	if (c->windows) {
		int64_t half = draw_integer_below(seed, 2000);

		c->window.from = (int64_t)c->at - draw_integer_below(seed, half + 1);
		c->window.to = (int64_t)ceil(c->at) + draw_integer_below(seed, half + 1);
		c->window.phase_step = draw_random64(seed) & 1;
		c->y[1] = c->window.phase_step ? (draw_between_0_and_1(seed) - 0.5) * 3000 : 0;
	} else {
		c->slope[1] = c->slope[0];
	}
}

/* Make a correction that is close to the truth and changes its slope at an arbitrary time. */
static struct netsync_clock *make_broken_correction(const struct truth *c,
						    const struct netsync_knot *knot, uint32_t knots)
{
	int64_t half = (int64_t)c->at / 2 + SPAN / 4;
	const struct netsync_segment s[] = {
		{ 0, half, EPOCH + (int64_t)evaluate_branch(c, 0, 0), 1 + c->slope[0], 0 },
		{ half, SPAN, EPOCH + (int64_t)evaluate_branch(c, 1, (double)half), 1 + c->slope[1],
		  0 },
	};
	const struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = 2,
		.segment_size = sizeof(*s),
		.segments = s,
		.num_knots = knots,
		.knot_size = sizeof(*knot),
		.knots = knot,
	};
	struct netsync_clock *clock = NULL;

	assert_int_equal(netsync_clock_new(&m, &clock), 0);
	return clock;
}

static void test_range_holds_everywhere(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct truth c;
		struct knots k;
		struct netsync_clock *clock;

		draw_branches(&c, &seed);
		clock = make_broken_correction(&c, NULL, 0);
		k = (struct knots){
			.clock = clock,
			.last = SPAN,
			.limits = c.limits,
			.windows = &c.window,
			.num_windows = c.windows,
			.at = answer_ranges,
			.arg = &(struct source){ get_known_range, &c },
			.instants = 2 + (size_t)draw_integer_below(&seed, 100),
		};
		assert_int_equal(knots_make(&k), 0);
		netsync_clock_free(clock);
		assert_int_equal(k.knot[0].time_ns, 0);
		assert_int_equal(k.knot[k.num - 1].time_ns, SPAN);
		clock = make_broken_correction(&c, k.knot, k.num);
		for (int64_t t = 0; t <= SPAN; t++) {
			double truth = evaluate_branches(&c, t);
			int64_t lo, hi;

			assert_int_equal(netsync_interval(clock, t, &lo, &hi), 0);
			assert_true((double)(hi - EPOCH) >= truth);
			if (c.one_sided)
				assert_int_equal(lo, INT64_MIN);
			else
				assert_true((double)(lo - EPOCH) <= truth);
		}
		netsync_clock_free(clock);
		free(k.knot);
	}
}

static struct range get_even_range(void *arg, int64_t t)
{
	(void)arg;
	return (struct range){ EPOCH + t - 1000000, EPOCH + t + 2000000 };
}

/*
 * If the range does not change, no knots are stored. The number of knots never exceeds its limit.
 */
static void test_number_of_knots(void **state)
{
	struct truth c = { .limits = { 500e-6, 2e-16 }, .noise = 7 };
	struct netsync_clock *clock = make_broken_correction(&c, NULL, 0);
	struct source source = { get_even_range, &c };
	struct knots k = {
		.clock = clock,
		.last = SPAN,
		.limits = c.limits,
		.at = answer_ranges,
		.arg = &source,
		.instants = SPAN,
	};

	(void)state;
	assert_int_equal(knots_make(&k), 0);
	assert_int_equal(k.num, 2);
	assert_in_range(k.knot[1].below_ns, 1000000, 1000005);
	assert_in_range(k.knot[1].above_ns, 2000000, 2000005);
	free(k.knot);
	source.at = get_known_range;
	assert_int_equal(knots_make(&k), 0);
	assert_in_range(k.num, 100, 4096);
	free(k.knot);
	/* The span is a single instant. */
	k.last = k.first;
	assert_int_equal(knots_make(&k), 0);
	assert_int_equal(k.num, 1);
	free(k.knot);
	netsync_clock_free(clock);
}

/* The limits are smooth for a while, and then change from ns to ns. */
static struct range get_leaping_range(void *arg, int64_t t)
{
	double far = (double)(t - SPAN / 4) / (SPAN / 4);
	int64_t by = 7000 + (int64_t)(500 * far * far);

	(void)arg;
	if (t > SPAN / 2)
		by = t & 1 ? 1000 : 1000000000;
	return (struct range){ EPOCH + t - by, EPOCH + t + by };
}

/* Where a line is a poor fit, more knots are used, but not elsewhere. */
static void test_knots_where_needed(void **state)
{
	struct truth c = { .limits = { .slope = 500e-6, .bend = 2e-16 } };
	struct netsync_clock *clock = make_broken_correction(&c, NULL, 0);
	struct knots k = {
		.clock = clock,
		.last = SPAN,
		.limits = c.limits,
		.at = answer_ranges,
		.arg = &(struct source){ get_leaping_range, &c },
		.instants = SPAN,
	};

	(void)state;
	assert_int_equal(knots_make(&k), 0);
	assert_in_range(k.num, 100, 4096);
	netsync_clock_free(clock);
	clock = make_broken_correction(&c, k.knot, k.num);
	for (int64_t t = 0; t <= SPAN; t++) {
		struct range known = get_leaping_range(NULL, t);
		int64_t lo, hi;

		assert_int_equal(netsync_interval(clock, t, &lo, &hi), 0);
		assert_true(lo <= known.lo && hi >= known.hi);
		/*
		 * The number of knots is the same as for smooth limits alone, except for rounding.
		 */
		if (t < SPAN * 7 / 16)
			assert_true(hi - known.hi < 7 + 2 + 5);
	}
	netsync_clock_free(clock);
	free(k.knot);
}

/* The limits rise and fall as fast as clocks can, and the truth is always at one of the limits. */
struct zigzag {
	const struct truth *c;
	int64_t period;
	int side; /* whether the truth is at the upper or the lower limit */
};

static int64_t evaluate_zigzag(const struct zigzag *z, int64_t t)
{
	const int64_t part = t % z->period;

	return EPOCH + t +
	       (int64_t)(z->c->limits.slope *
			 (double)(part < z->period / 2 ? part : z->period - part));
}

static struct range get_zigzag_range(void *arg, int64_t t)
{
	const struct zigzag *z = arg;
	const int64_t at = evaluate_zigzag(z, t);

	return (struct range){ at - (z->side ? 1000 : 0), at + (z->side ? 0 : 1000) };
}

/* In a window, nothing but the maximum slope is assumed. */
static void test_maximum_slope_in_window(void **state)
{
	const struct truth c = { .limits = { .slope = 0.2 } };
	const struct change_window windows[] = {
		{ .from = -SPAN, .to = SPAN / 2 },
		{ .from = SPAN / 4, .to = SPAN / 3 },
		{ .from = SPAN / 3, .to = 2 * SPAN },
	};

	(void)state;
	for (int64_t period = 2; period < SPAN; period += period / 7 + 1) {
		struct zigzag z = { .c = &c, .period = period, .side = period & 1 };
		struct netsync_clock *clock = make_broken_correction(&c, NULL, 0);
		struct knots k = {
			.clock = clock,
			.last = SPAN,
			.limits = c.limits,
			.windows = windows,
			.num_windows = 3,
			.at = answer_ranges,
			.arg = &(struct source){ get_zigzag_range, &z },
			.instants = 33,
			.width = 1000,
		};

		assert_int_equal(knots_make(&k), 0);
		netsync_clock_free(clock);
		clock = make_broken_correction(&c, k.knot, k.num);
		for (int64_t t = 0; t <= SPAN; t++) {
			int64_t lo, hi, truth = evaluate_zigzag(&z, t);

			assert_int_equal(netsync_interval(clock, t, &lo, &hi), 0);
			assert_true(lo <= truth && truth <= hi);
		}
		netsync_clock_free(clock);
		free(k.knot);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range_holds_everywhere),
		cmocka_unit_test(test_number_of_knots),
		cmocka_unit_test(test_knots_where_needed),
		cmocka_unit_test(test_maximum_slope_in_window),
	};

	return cmocka_run_group_tests_name("knots", tests, NULL, NULL);
}
