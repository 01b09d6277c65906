// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test guaranteed limits for the clocks of a pair. Random clocks within the assumptions must never
 * leave the limits, and the limits must be as tight as those that an exhaustive search over
 * combinations of messages finds.
 */
#include "test.h"
#include "bound/rate-bound.h"

#define MAX_POINTS 40
#define MAX_INTERVALS 20
#define MAX_JOLTS 3
#define SPAN 1000000 /* duration of the trace, ns */

/* A clock that consists of parabolas between knots, and has windows. */
struct truth {
	double from[MAX_INTERVALS];
	double y[MAX_INTERVALS];
	double slope[MAX_INTERVALS];
	double bend[MAX_INTERVALS];
	int intervals;
	struct limits limits;
	struct change_window window[MAX_JOLTS];
	double at[MAX_JOLTS];
	size_t windows;
};

static double evaluate_rate_truth(const struct truth *c, double x)
{
	int i = 0;
	double d;

	while (i + 1 < c->intervals && c->from[i + 1] <= x)
		i++;
	d = x - c->from[i];
	return c->y[i] + (c->slope[i] + c->bend[i] / 2 * d) * d;
}

/* Largest allowed phase step of a clock, ns. */
#define LARGEST_STEP 10000

/* Draw windows in the order of their beginnings. Phase steps do not overlap. */
static void draw_jolts(struct truth *c, uint64_t *seed)
{
	int64_t from = 0, to = 0;
	bool set = false;

	c->windows = draw_random64(seed) & 1 ? (size_t)draw_integer_below(seed, MAX_JOLTS + 1) : 0;
	for (size_t i = 0; i < c->windows; i++) {
		int64_t width = draw_integer_below(seed, 40000);
		bool sets = draw_random64(seed) & 1;

		from += draw_integer_below(seed, SPAN / 3);
		if (set && sets)
			from = from > to ? from : to + 1;
		set = sets || (set && from <= to);
		to = from + width > to ? from + width : to;
		c->window[i] = (struct change_window){ .from = from,
						       .to = from + width,
						       .phase_step = sets,
						       .largest = i == 1 ? 0 : LARGEST_STEP };
		c->at[i] = (double)from + draw_between_0_and_1(seed) * (double)width;
		/* Windows that overlap are merged, and change the clock in this order. */
		if (i && c->at[i] < c->at[i - 1])
			c->at[i] = c->at[i - 1];
		if (c->window[i].to < (int64_t)ceil(c->at[i]))
			c->window[i].to = (int64_t)ceil(c->at[i]);
	}
}

/* Begin a piece of the clock. The piece's slope remains within the limit until the next piece. */
static void add_truth_piece(struct truth *c, double x, double y, double slope, double length,
			    uint64_t *seed)
{
	double s = c->limits.slope, k = c->limits.bend;
	double max = fmin(k, (s - slope) / length);
	double min = fmax(-k, (-s - slope) / length);
	int i = c->intervals++;

	c->from[i] = x;
	c->y[i] = y;
	c->slope[i] = slope;
	/* Usually, draw an extreme value. */
	switch (draw_integer_below(seed, 3)) {
	case 0:
		c->bend[i] = max;
		break;
	case 1:
		c->bend[i] = min;
		break;
	default:
		c->bend[i] = min + (max - min) * draw_between_0_and_1(seed);
	}
}

/*
 * Add pieces from @x on, in which the clock is slewed, until the window ends or the clock changes
 * again.
 */
static double add_slewed_pieces(struct truth *c, size_t window, double x, double y, uint64_t *seed)
{
	double most = c->limits.slope + c->limits.slew;
	double until = (double)c->window[window].to;

	if (window + 1 < c->windows)
		until = fmin(until, c->at[window + 1]);
	add_truth_piece(c, x, y, most * (2 * draw_between_0_and_1(seed) - 1), 1, seed);
	c->bend[c->intervals - 1] = 0;
	return until;
}

static void draw_truth(struct truth *c, uint64_t *seed)
{
	double x = -0.5 * SPAN, end = 1.5 * SPAN, s, slewed_until = HUGE_VAL;
	size_t next = 0;

	*c = (struct truth){ .limits = { .slope = 1e-3 + 0.1 * draw_between_0_and_1(seed) } };
	s = c->limits.slope;
	if (draw_random64(seed) & 1)
		c->limits.slew = 2 * s * draw_between_0_and_1(seed);
	if (draw_integer_below(seed, 4))
		c->limits.bend = s / SPAN * 10 * draw_between_0_and_1(seed);
	draw_jolts(c, seed);
	add_truth_piece(c, x, 1e5 * (draw_between_0_and_1(seed) - 0.5),
			s * (2 * draw_between_0_and_1(seed) - 1), 2 * SPAN, seed);
	c->bend[0] = 0;
	while (c->intervals < MAX_INTERVALS - 2 * MAX_JOLTS || slewed_until < HUGE_VAL) {
		double at = x + draw_between_0_and_1(seed) * SPAN / 2, y, slope, d;
		int i = c->intervals - 1;
		bool window = next < c->windows && fmin(at, slewed_until) >= c->at[next];
		bool calm = !window && at >= slewed_until;

		if (window)
			at = c->at[next];
		else if (calm)
			at = slewed_until;
		else if (slewed_until < HUGE_VAL)
			continue;
		if (at >= end)
			break;
		d = at - c->from[i];
		y = evaluate_rate_truth(c, at);
		slope = c->slope[i] + c->bend[i] * d;
		x = at;
		if (window) {
			slewed_until = HUGE_VAL;
			if (!c->window[next].phase_step) {
				slewed_until = add_slewed_pieces(c, next++, x, y, seed);
				continue;
			}
			next++;
			y += 2 * LARGEST_STEP * (draw_between_0_and_1(seed) - 0.5);
		}
		if (window || calm)
			slope = s * (2 * draw_between_0_and_1(seed) - 1);
		if (calm)
			slewed_until = HUGE_VAL;
		add_truth_piece(c, x, y, slope, end - x, seed);
	}
}

struct observation {
	struct truth truth;
	struct point p[2][MAX_POINTS]; /* in the form that rate_bound_make() expects */
	size_t n[2];
	struct rate_bound bound;
};

static int compare_points_by_x(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return p->x < q->x ? -1 : p->x > q->x;
}

static void draw_rate_points(struct observation *c, int side, uint64_t *seed)
{
	struct point *p = c->p[side];
	size_t n = (size_t)draw_integer_below(seed, MAX_POINTS + 1), kept = 0;
	double delay = pow(10, 4 * draw_between_0_and_1(seed));

	for (size_t i = 0; i < n; i++) {
		double y;

		p[i].x = draw_integer_below(seed, SPAN);
		y = evaluate_rate_truth(&c->truth, (double)p[i].x);
		p[i].y = (int64_t)ceil((side ? -y : y) + draw_from_exponential(seed, delay));
	}
	qsort(p, n, sizeof(*p), compare_points_by_x);
	for (size_t i = 0; i < n; i++)
		if (!kept || p[i].x > p[kept - 1].x)
			p[kept++] = p[i];
	c->n[side] = kept;
}

static void draw_rate_observation(struct observation *c, uint64_t *seed)
{
	draw_truth(&c->truth, seed);
	draw_rate_points(c, 0, seed);
	draw_rate_points(c, 1, seed);
	assert_int_equal(rate_bound_make(&c->bound, &c->truth.limits, c->p[0], c->n[0], c->p[1],
					 c->n[1], c->truth.window, c->truth.windows),
			 0);
}

static bool does_range_hold(const struct range *r, double v)
{
	return (r->lo == INT64_MIN || (double)r->lo <= v + 1e-3) &&
	       (r->hi == INT64_MAX || (double)r->hi >= v - 1e-3);
}

/* Clocks within the assumptions never leave the limits. */
static void test_bound_of_random_clocks(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct bound_place near = { 0 };
		struct observation c;

		draw_rate_observation(&c, &seed);
		assert_int_equal(c.bound.infeasible, 0);
		for (int i = 0; i < 40; i++) {
			struct bound_place anywhere = { 0 };
			int64_t x = draw_integer_below(&seed, 2 * SPAN) - SPAN / 2;
			double y = evaluate_rate_truth(&c.truth, (double)x);
			double t = (double)x + y;
			struct range at = rate_bound_at(&c.bound, x), in, out;

			assert_true(does_range_hold(&at, y));
			/*
			 * A range around an instant is converted to a range around the converted
			 * instant.
			 */
			in.lo = x - draw_integer_below(&seed, 1000);
			in.hi = x + draw_integer_below(&seed, 1000);
			out = rate_bound_to_second(&c.bound, in, &near);
			assert_true(does_range_hold(&out, t));
			in.lo = (int64_t)floor(t) - draw_integer_below(&seed, 1000);
			in.hi = (int64_t)ceil(t) + draw_integer_below(&seed, 1000);
			out = rate_bound_to_first(&c.bound, in, &near);
			assert_true(does_range_hold(&out, (double)x));
			/* The place at which the search starts does not change the result. */
			in = rate_bound_to_first(&c.bound, in, &anywhere);
			assert_memory_equal(&in, &out, sizeof(in));
		}
		rate_bound_release(&c.bound);
	}
}

/* ---- exhaustive search over messages --------------------------------- */

static double compute_climb(const struct limits *l, double rise, double d)
{
	double part = (l->slope - rise) / l->bend;

	if (!l->bend || d <= part)
		return rise * d + l->bend / 2 * d * d;
	return rise * part + l->bend / 2 * part * part + l->slope * (d - part);
}

/* Return whether q[j] is on no chord between two other points, even with the curvature. */
static bool is_limit_corner(const struct limits *l, const struct point *q, size_t n, size_t j)
{
	for (size_t a = 0; a < j; a++) {
		for (size_t c = j + 1; c < n; c++) {
			double ap = (double)(q[j].x - q[a].x);
			double pc = (double)(q[c].x - q[j].x);
			double y = (double)q[a].y + ap / (ap + pc) * (double)(q[c].y - q[a].y) +
				   l->bend / 2 * ap * pc;

			if ((double)q[j].y > y - 1e-6)
				return false;
		}
	}
	return true;
}

/*
 * Return the upper limit at x, or with @side 1 the upper limit of -f. Only corners are used,
 * because times are integers.
 */
static double find_upper_limit(const struct observation *s, int side, double x)
{
	const struct limits *l = &s->truth.limits;
	const struct point *p = s->p[side], *q = s->p[!side];
	size_t n = s->n[side], m = s->n[!side];
	double best = HUGE_VAL;
	bool corner[MAX_POINTS];

	for (size_t j = 0; j < m; j++)
		corner[j] = is_limit_corner(l, q, m, j);
	for (size_t i = 0; i < n; i++) {
		double d = x - (double)p[i].x, rise = l->slope;
		double y = (double)p[i].y + 1;

		for (size_t j = 0; j < m && is_limit_corner(l, p, n, i); j++) {
			double e = (double)(p[i].x - q[j].x);

			if (corner[j] && e * d > 0)
				rise = fmin(rise, l->bend / 2 * fabs(e) +
							  (y + (double)q[j].y + 1) / fabs(e));
		}
		best = fmin(best, y + compute_climb(l, rise, fabs(d)));
		for (size_t c = i + 1; c < n && d >= 0; c++) {
			double rest = (double)p[c].x - x;
			double more = (double)p[c].y + 1 - y;

			if (rest >= 0)
				best = fmin(best,
					    y + d / (d + rest) * more + l->bend / 2 * d * rest);
		}
	}
	return best;
}

static void test_narrow_limits(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		struct observation c;

		draw_rate_observation(&c, &seed);
		for (int i = 0; i < 20 && !c.truth.windows; i++) {
			int64_t x = draw_integer_below(&seed, 2 * SPAN) - SPAN / 2;
			struct range r = rate_bound_at(&c.bound, x);
			double u = find_upper_limit(&c, 0, (double)x);
			double l = find_upper_limit(&c, 1, (double)x);

			/* Rounding of each limit may add 1 ns. */
			if (c.n[0])
				assert_true((double)r.hi <= u + MAX_POINTS);
			else
				assert_int_equal(r.hi, INT64_MAX);
			if (c.n[1])
				assert_true(-(double)r.lo <= l + MAX_POINTS);
			else
				assert_int_equal(r.lo, INT64_MIN);
		}
		rate_bound_release(&c.bound);
	}
}

/* Add a message per second in each direction, with a slack of 60 us. */
static void exchange_every_second(struct point *up, struct point *low, int num)
{
	for (int i = 0; i < num; i++) {
		up[i].x = i * SEC;
		low[i].x = i * SEC + SEC / 2;
		up[i].y = low[i].y = 30000;
	}
}

/* If messages are inconsistent with the assumptions, this is reported. */
static void test_inconsistent_messages(void **state)
{
	const struct limits limits = { .slope = 500e-6, .bend = 2e-16 };
	struct point up[200], low[200];
	struct rate_bound b;

	(void)state;
	exchange_every_second(up, low, 200);
	assert_int_equal(rate_bound_make(&b, &limits, up, 200, low, 200, NULL, 0), 0);
	assert_int_equal(b.infeasible, 0);
	rate_bound_release(&b);
	up[77].y -= 100000;
	assert_int_equal(rate_bound_make(&b, &limits, up, 200, low, 200, NULL, 0), 0);
	assert_true(b.infeasible > 0);
	rate_bound_release(&b);
}

/* Messages are years apart and far from zero, but no number overflows. */
static void test_messages_years_apart(void **state)
{
	const struct limits limits = { .slope = 500e-6, .bend = 2e-16 };
	const int64_t far = NETSYNC_MAX_SPAN;
	const struct point up[] = { { -far, far }, { 0, far }, { far, far } };
	const struct point low[] = { { -far, -far + 1 }, { far, -far + 1 } };
	struct bound_place near = { 0 };
	struct range r;
	struct rate_bound b;

	(void)state;
	assert_int_equal(rate_bound_make(&b, &limits, up, 3, low, 2, NULL, 0), 0);
	assert_int_equal(b.infeasible, 0);
	r = rate_bound_at(&b, 0);
	assert_true(r.lo < far && r.hi >= far && r.hi <= far + 1);
	r = rate_bound_to_second(&b, (struct range){ 7, 7 }, &near);
	assert_true(r.lo < far + 7 && r.hi >= far + 7);
	r = rate_bound_to_first(&b, (struct range){ far + 7, far + 7 }, &near);
	assert_true(r.lo <= 7 && r.hi >= 7);
	r = rate_bound_at(&b, INT64_MAX);
	assert_int_equal(r.hi, INT64_MAX);
	r = rate_bound_to_second(&b, (struct range){ INT64_MIN, 7 }, &near);
	assert_true(r.lo == INT64_MIN && r.hi >= far + 7);
	rate_bound_release(&b);
}

/*
 * Before the first message and after the last one, a clock that may have been stepped can have
 * almost any offset. Some times are excluded, because the clock cannot have shown them at that
 * time.
 */
static void test_no_message_beyond(void **state)
{
	const struct limits limits = { .slope = 500e-6, .bend = 2e-16 };
	const struct change_window windows[] = {
		{ .from = -9 * SEC, .to = -7 * SEC, .phase_step = true, .largest = 1e6 },
		{ .from = -5 * SEC, .to = 5 * SEC, .phase_step = true, .largest = 1e6 },
		{ .from = 195 * SEC, .to = 205 * SEC, .phase_step = true, .largest = 1e6 },
	};
	struct bound_place near = { 0 };
	struct point up[200], low[200];
	struct rate_bound b;
	struct range r;

	(void)state;
	exchange_every_second(up, low, 200);
	assert_int_equal(rate_bound_make(&b, &limits, up, 200, low, 200, windows, 3), 0);
	assert_int_equal(b.infeasible, 0);
	r = rate_bound_to_first(&b, (struct range){ 100 * SEC, 100 * SEC }, &near);
	assert_in_range(100 * SEC - r.lo, 0, 31000);
	assert_in_range(r.hi - 100 * SEC, 0, 31000);
	/* Convert ranges on either side of the window. */
	r = rate_bound_to_first(&b, (struct range){ 5 * SEC, 5 * SEC }, &near);
	assert_true(r.lo == INT64_MIN && r.hi >= 5 * SEC);
	r = rate_bound_to_first(&b, (struct range){ 195 * SEC, 195 * SEC }, &near);
	assert_true(r.lo <= 195 * SEC && r.hi == INT64_MAX);
	/*
	 * If the clock was stepped by a millisecond twice, it did not pass through a larger
	 * distance.
	 */
	r = rate_bound_to_first(&b, (struct range){ 5 * SEC + 3000000, 5 * SEC + 3000000 }, &near);
	assert_true(r.lo > 5 * SEC && r.lo <= 5 * SEC + 3000000);
	r = rate_bound_to_second(&b, (struct range){ 4 * SEC, 4 * SEC }, &near);
	assert_true(r.lo == INT64_MIN && r.hi == INT64_MAX);
	rate_bound_release(&b);
}

/*
 * Send messages every ms in each direction, with delays of a few us. After @at, f is ahead by
 * @step.
 */
#define MESSAGES 200
#define EVERY (1000 * US)

static void make_stepped(struct rate_bound *b, int64_t at, int64_t step,
			 const struct change_window *windows, size_t num)
{
	const struct limits limits = { .slope = 500e-6, .bend = 1e-16, .slew = 1e-3 };
	struct point upper[MESSAGES], lower[MESSAGES];

	for (int64_t i = 0; i < MESSAGES; i++) {
		const int64_t x = i * EVERY, f = x < at ? 0 : step;

		upper[i] = (struct point){ x, f + 5 * US };
		lower[i] = (struct point){ x, -f + 5 * US };
	}
	assert_int_equal(
		rate_bound_make(b, &limits, upper, MESSAGES, lower, MESSAGES, windows, num), 0);
}

/*
 * In the window of a rate step, messages before and after the window of a phase step limit f.
 * Within the phase step, only one of both limits applies.
 */
static void test_step_in_window(void **state)
{
	const struct change_window windows[] = {
		{ .from = 10 * EVERY, .to = 190 * EVERY },
		{ .from = 99 * EVERY, .to = 101 * EVERY, .phase_step = true },
	};
	struct rate_bound b;

	(void)state;
	make_stepped(&b, 100 * EVERY, 300 * US, windows, 2);
	assert_int_equal(b.infeasible, 0);
	for (int64_t x = 0; x < MESSAGES * EVERY; x += EVERY / 4) {
		const struct range f = rate_bound_at(&b, x);
		const bool before = x <= 101 * EVERY, after = x >= 99 * EVERY;

		assert_true(f.lo <= (before ? 0 : 300 * US));
		assert_true(f.hi >= (after ? 300 * US : 0));
		/* The limit is the distance to a message at 1500 ppm. */
		assert_true(f.lo >= (before ? 0 : 300 * US) - 10 * US);
		assert_true(f.hi <= (after ? 300 * US : 0) + 10 * US);
	}
	rate_bound_release(&b);
}

/*
 * As a time of the second host, one side of a phase step is possible for some f from the end of its
 * window on, and for all f from its inner end on.
 */
static void test_inner_ends(void **state)
{
	const struct change_window window = { .from = 99 * EVERY,
					      .to = 101 * EVERY,
					      .phase_step = true };
	struct bound_place near = { 0 };
	struct rate_bound b;

	(void)state;
	make_stepped(&b, 100 * EVERY, 300 * US, &window, 1);
	assert_int_equal(b.parts, 2);
	assert_true(b.part[1].other.lo < b.part[1].other_inner.lo);
	assert_true(b.part[0].other_inner.hi < b.part[0].other.hi);
	for (int inner = 0; inner < 2; inner++) {
		const int64_t t = inner ? b.part[1].other_inner.lo : b.part[1].other.lo - 1;
		const struct range x = rate_bound_to_first(&b, (struct range){ t, t }, &near);

		/* The result is the earliest x for the part before the step or after the step. */
		assert_int_equal(x.lo < t - 290 * US, inner);
	}
	rate_bound_release(&b);
}

/* Two phase steps in a general window are apart: between them, the bound is known. */
static void test_steps_in_window(void **state)
{
	const struct change_window windows[] = {
		{ .from = 10 * EVERY, .to = 190 * EVERY, .is_general = true },
		{ .from = 49 * EVERY, .to = 51 * EVERY, .phase_step = true },
		{ .from = 99 * EVERY, .to = 101 * EVERY, .phase_step = true },
	};
	struct rate_bound b;

	(void)state;
	make_stepped(&b, 100 * EVERY, 300 * US, windows, 3);
	assert_int_equal(b.infeasible, 0);
	assert_int_equal(b.parts, 3);
	for (int64_t x = 0; x < MESSAGES * EVERY; x += EVERY / 4) {
		const struct range f = rate_bound_at(&b, x);
		const bool before = x <= 101 * EVERY, after = x >= 99 * EVERY;

		assert_false(rate_bound_is_unknown_at(&b, x));
		assert_true(f.lo <= (before ? 0 : 300 * US));
		assert_true(f.hi >= (after ? 300 * US : 0));
		assert_true(f.lo >= (before ? 0 : 300 * US) - 10 * US);
		assert_true(f.hi <= (after ? 300 * US : 0) + 10 * US);
	}
	rate_bound_release(&b);
}

#define SET_BACK (300 * EVERY)
#define SET_AT (1200 * EVERY)

static int64_t read_set_clock(int64_t t)
{
	return t < SET_AT ? t : t - SET_BACK;
}

/*
 * The first clock is set back in a silence, and then shows times before the silence again. For all
 * times of the second clock, the bound has to include what the first one showed.
 */
static void test_set_back(void **state)
{
	const struct limits limits = { .slope = 500e-6, .bend = 1e-16, .slew = 1e-3 };
	const struct change_window window = { .from = 1000 * EVERY,
					      .to = 2000 * EVERY - SET_BACK,
					      .phase_step = true };
	struct point upper[MESSAGES], lower[MESSAGES];
	struct bound_place near = { 0 };
	struct rate_bound b;

	(void)state;
	for (int64_t i = 0; i < MESSAGES; i++) {
		const int64_t t = (i < MESSAGES / 2 ? 900 : 1900) * EVERY + i * EVERY;
		const int64_t x = read_set_clock(t);

		upper[i] = (struct point){ x, t - x + 5 * US };
		lower[i] = (struct point){ x, x - t + 5 * US };
	}
	assert_int_equal(rate_bound_make(&b, &limits, upper, MESSAGES, lower, MESSAGES, &window, 1),
			 0);
	assert_int_equal(b.infeasible, 0);
	for (int64_t t = 901 * EVERY; t < 2099 * EVERY; t += EVERY / 4) {
		const struct range x = rate_bound_to_first(&b, (struct range){ t, t }, &near);

		assert_true(x.lo <= read_set_clock(t) && read_set_clock(t) <= x.hi);
	}
	rate_bound_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound_of_random_clocks),
		cmocka_unit_test(test_narrow_limits),
		cmocka_unit_test(test_inconsistent_messages),
		cmocka_unit_test(test_messages_years_apart),
		cmocka_unit_test(test_no_message_beyond),
		cmocka_unit_test(test_step_in_window),
		cmocka_unit_test(test_steps_in_window),
		cmocka_unit_test(test_inner_ends),
		cmocka_unit_test(test_set_back),
	};

	return cmocka_run_group_tests_name("rate_bound", tests, NULL, NULL);
}
