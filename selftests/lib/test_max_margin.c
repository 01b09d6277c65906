// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare the line, the possible slopes and the bounds of a pair with those of a solver that tries
 * every line through two messages. The random cases are small.
 */
#include "bound/rate-bound.h"
#include "messages.h"
#include "pair/estimate.h"

#define MAX_POINTS 8
#define TINY 1e-7
#define FINE 10000000

struct observation {
	struct pair pair;
	struct point p[2][MAX_POINTS];
	int n[2];
	double limit;
};

/* Return whether y = p.y + s (x - p.x) is at most U and at least L everywhere. */
static bool is_line_possible(const struct observation *c, const struct point *p, double s)
{
	if (fabs(s) > c->limit + TINY)
		return false;
	for (int i = 0; i < c->n[0]; i++)
		if ((double)(c->p[0][i].y - p->y) - s * (double)(c->p[0][i].x - p->x) < -TINY)
			return false;
	for (int i = 0; i < c->n[1]; i++)
		if ((double)(c->p[1][i].y - p->y) - s * (double)(c->p[1][i].x - p->x) > TINY)
			return false;
	return true;
}

static double compute_strip_width(const struct observation *c, double s)
{
	double up = HUGE_VAL, down = -HUGE_VAL;

	for (int i = 0; i < c->n[0]; i++)
		up = fmin(up, (double)c->p[0][i].y - s * (double)c->p[0][i].x);
	for (int i = 0; i < c->n[1]; i++)
		down = fmax(down, (double)c->p[1][i].y - s * (double)c->p[1][i].x);
	return up - down;
}

/* The result of the solver. */
struct truth {
	double widest; /* the largest width for any slope within the limit */
	double slope_min;
	double slope_max;
	double lowest; /* the lowest value at x of any possible line */
	double highest;
};

static void try_truth_line(const struct observation *c, struct truth *t, const struct point *p,
			   double s, int64_t x)
{
	double y = (double)p->y + s * (double)(x - p->x);

	if (!is_line_possible(c, p, s))
		return;
	t->slope_min = fmin(t->slope_min, s);
	t->slope_max = fmax(t->slope_max, s);
	t->lowest = fmin(t->lowest, y);
	t->highest = fmax(t->highest, y);
}

static struct truth find_true_ranges(const struct observation *c, int64_t x)
{
	struct truth t = { -HUGE_VAL, HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL };

	for (int a = 0; a < c->n[0] + c->n[1]; a++) {
		const struct point *p = a < c->n[0] ? &c->p[0][a] : &c->p[1][a - c->n[0]];

		try_truth_line(c, &t, p, c->limit, x);
		try_truth_line(c, &t, p, -c->limit, x);
		for (int b = 0; b < c->n[0] + c->n[1]; b++) {
			const struct point *q = b < c->n[0] ? &c->p[0][b] : &c->p[1][b - c->n[0]];
			double s;

			if (p->x == q->x)
				continue;
			s = (double)(p->y - q->y) / (double)(p->x - q->x);
			try_truth_line(c, &t, p, s, x);
			/*
			 * The width is a concave function of the slope, so it is largest at the
			 * slope of an edge.
			 */
			s = fmax(fmin(s, c->limit), -c->limit);
			t.widest = fmax(t.widest, compute_strip_width(c, s));
		}
	}
	return t;
}

static int compare_cloud_by_place(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return p->y < q->y ? -1 : p->y > q->y;
}

/* Make a cloud of points, any of which can be a corner. */
static void make_point_cloud(struct direction *c, const struct point *p, int n, bool back)
{
	struct point sorted[MAX_POINTS];

	for (int i = 0; i < n; i++) {
		sorted[i] = p[i];
		if (back)
			sorted[i].y = -p[i].y;
		c->num++;
		c->sum_x += p[i].x;
		c->sum_y += p[i].y;
	}
	qsort(sorted, (size_t)n, sizeof(*sorted), compare_cloud_by_place);
	for (int i = 0; i < n; i++)
		if (!i || sorted[i].x != sorted[i - 1].x)
			assert_int_equal(hull_add(&c->hull, &sorted[i]), 0);
}

static void release_pair_hulls(struct pair *p)
{
	hull_release(&p->direction[0].hull);
	hull_release(&p->direction[1].hull);
}

static void draw_observation(struct observation *c, uint64_t *seed, int64_t range, int64_t gap)
{
	double s = draw_between_0_and_1(seed) * 2 - 1;

	*c = (struct observation){ .limit = 1.5 };
	for (int side = 0; side < 2; side++) {
		c->n[side] = 1 + (int)draw_integer_below(seed, MAX_POINTS);
		for (int i = 0; i < c->n[side]; i++) {
			struct point *p = &c->p[side][i];
			int64_t d = gap + draw_integer_below(seed, range);

			p->x = draw_integer_below(seed, range) - range / 2;
			p->y = (int64_t)floor(s * (double)p->x) + (side ? -d : d);
		}
		make_point_cloud(&c->pair.direction[side], c->p[side], c->n[side], side);
	}
}

/* Return whether the width of the strip is limited, because both clouds cover the same times. */
static bool is_strip_limited(const struct estimate *e)
{
	return e->overlap_from < e->overlap_to;
}

/* Return the range at x that linear clocks permit, as computed by bound.c, in small units. */
static struct range compute_bound_at(const struct observation *c, int64_t x)
{
	const struct limits limits = { .slope = c->limit };
	struct point p[2][MAX_POINTS];
	size_t n[2];
	struct rate_bound b;
	struct range r;

	for (int side = 0; side < 2; side++) {
		const struct hull *h = &c->pair.direction[side].hull;

		n[side] = h->corners;
		for (size_t i = 0; i < n[side]; i++)
			p[side][i] = (struct point){ h->corner[i].x * FINE, h->corner[i].y * FINE };
	}
	assert_int_equal(rate_bound_make(&b, &limits, p[0], n[0], p[1], n[1], NULL, 0), 0);
	r = rate_bound_at(&b, x * FINE);
	rate_bound_release(&b);
	return r;
}

static void check_estimate_possible(const struct observation *c, const struct estimate *e,
				    int64_t x)
{
	struct truth t = find_true_ranges(c, x);
	struct range r = compute_bound_at(c, x);

	assert_int_equal(e->quality, NETSYNC_ACCURATE);
	assert_float_equal(e->slope_min, t.slope_min, TINY);
	assert_float_equal(e->slope_max, t.slope_max, TINY);
	/* The range is rounded outward to whole units. */
	assert_true((double)r.lo / FINE <= t.lowest + TINY);
	assert_true((double)r.hi / FINE >= t.highest - TINY);
	assert_float_equal((double)r.lo / FINE, t.lowest, 1e-4);
	assert_float_equal((double)r.hi / FINE, t.highest, 1e-4);
	assert_float_equal(compute_strip_width(c, e->line.slope), 2 * e->margin, 1e-6);
	if (is_strip_limited(e))
		assert_float_equal(2 * e->margin, t.widest, 1e-6);
}

static void check_line_is_possible(const struct observation *c, const struct estimate *e)
{
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < c->n[side]; i++) {
			double d = -line_value_above(&e->line, c->p[side][i].x, c->p[side][i].y);

			assert_true(side ? d <= TINY : d >= -TINY);
		}
	}
}

static void check_random_cases(uint64_t seed, int64_t gap, int *accurate, int * not )
{
	for (int round = 0; round < 20000; round++) {
		struct observation c;
		struct estimate e;
		int64_t range = 4 + draw_integer_below(&seed, 40);
		struct truth t;

		draw_observation(&c, &seed, range, gap);
		estimate_max_margin(&e, &c.pair, c.limit);
		t = find_true_ranges(&c, 0);
		if (t.slope_min > t.slope_max) {
			assert_int_equal(e.quality, NETSYNC_APPROXIMATE);
			++*not ;
		} else {
			for (int k = 0; k < 3; k++)
				check_estimate_possible(&c, &e,
							draw_integer_below(&seed, 3 * range) -
								3 * range / 2);
			check_line_is_possible(&c, &e);
			++*accurate;
		}
		release_pair_hulls(&c.pair);
	}
}

static void test_feasible_line(void **state)
{
	int accurate = 0, not = 0;

	(void)state;
	check_random_cases(1, 2, &accurate, &not );
	assert_int_equal(not, 0);
}

static void test_barely_feasible(void **state)
{
	int accurate = 0, not = 0;

	(void)state;
	check_random_cases(2, -3, &accurate, &not );
	assert_true(accurate > 1000);
	assert_true(not > 1000);
}

/* If no line is possible, the widest "strip" is the smallest overlap. */
static void test_infeasible_line(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct observation c;
		struct estimate e;
		struct truth t;

		draw_observation(&c, &seed, 20, -12);
		c.limit = 100;
		estimate_max_margin(&e, &c.pair, c.limit);
		t = find_true_ranges(&c, 0);
		if (e.relaxation) {
			assert_int_equal(e.quality, NETSYNC_APPROXIMATE);
			if (is_strip_limited(&e)) {
				assert_float_equal(2 * e.margin, t.widest, TINY);
				assert_true(e.relaxation >= -e.margin);
			}
			assert_true(e.slope_min <= e.line.slope + TINY);
			assert_true(e.slope_max >= e.line.slope - TINY);
		}
		release_pair_hulls(&c.pair);
	}
}

/*
 * If the clouds touch, a line is possible. If the clouds overlap by 1 ns, no line is possible.
 * Rounding does not affect the decision.
 */
static void test_exact_decision(void **state)
{
	const int64_t far = INT64_C(1) << 58, t0 = INT64_C(1) << 57;

	(void)state;
	for (int overlap = 0; overlap < 2; overlap++) {
		/* The three points are far apart, on a line with slope 1/2^20. */
		const struct point up[] = { { -far, -(far >> 20) }, { far, far >> 20 } };
		const struct point down = { t0, (t0 >> 20) + overlap };
		struct pair p = { .host = { 0, 1 } };
		struct estimate e;

		make_point_cloud(&p.direction[0], up, 2, false);
		make_point_cloud(&p.direction[1], &down, 1, true);
		estimate_max_margin(&e, &p, 500e-6);
		assert_int_equal(e.quality, overlap ? NETSYNC_APPROXIMATE : NETSYNC_ACCURATE);
		release_pair_hulls(&p);
	}
}

static void test_one_direction(void **state)
{
	struct pairs ps = { 0 };
	struct estimate e;

	(void)state;
	for (int64_t i = 0; i < 100; i++)
		add_message(&ps, 0, 1, i * SEC, i * SEC + i * 10000 + 500 + i * 37 % 11);
	pairs_settle(&ps);
	estimate_max_margin(&e, ps.pair[0], 500e-6);
	assert_int_equal(e.quality, NETSYNC_INCOMPLETE);
	assert_float_equal(e.line.slope, 10e-6, 1e-9);
	pairs_release(&ps);
}

/* If the skew exceeds the limit, this is reported, but the line has this skew. */
static void test_skew_beyond_limit(void **state)
{
	struct pairs ps = { 0 };
	struct estimate e;

	(void)state;
	for (int64_t i = 0; i < 100; i++) {
		int64_t t = i * SEC, other = t + i * 2000000;

		add_message(&ps, 0, 1, t, other + 1000);
		add_message(&ps, 1, 0, other + 500, t + 1500);
	}
	pairs_settle(&ps);
	estimate_max_margin(&e, ps.pair[0], 500e-6);
	assert_int_equal(e.quality, NETSYNC_APPROXIMATE);
	assert_float_equal(e.line.slope, 2e-3, 1e-7);
	estimate_max_margin(&e, ps.pair[0], 5e-3);
	assert_int_equal(e.quality, NETSYNC_ACCURATE);
	pairs_release(&ps);
}

/* Return the least-squares value of one direction at x, in full precision. */
static long double fit_least_squares(const struct point *p, size_t n, long double x,
				     long double *slope)
{
	long double mx = 0, my = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < n; i++) {
		mx += (long double)p[i].x / n;
		my += (long double)p[i].y / n;
	}
	for (size_t i = 0; i < n; i++) {
		xx += (p[i].x - mx) * (p[i].x - mx);
		xy += (p[i].x - mx) * (p[i].y - my);
	}
	*slope = xy / xx;
	return my + *slope * (x - mx);
}

static void test_regression_line(void **state)
{
	enum { N = 200 };
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 200; round++) {
		/* Spans are from a second to the maximum of 36 years. */
		int64_t span = INT64_C(1) << (30 + draw_integer_below(&seed, 31));
		int64_t apart = draw_integer_below(&seed, span) - span / 2;
		long double slope[2], y = 0;
		struct point p[2][N];
		struct pairs ps = { 0 };
		struct estimate e;
		int64_t x = 0;

		for (int side = 0; side < 2; side++) {
			for (int i = 0; i < N; i++) {
				struct point *q = &p[side][i];
				int64_t d = (int64_t)draw_from_exponential(&seed, 1e5);

				q->x = draw_integer_below(&seed, span) - span / 2;
				q->y = apart + q->x / 30000 + (side ? -d : d);
				if (side)
					add_message(&ps, 1, 0, q->x + q->y, q->x);
				else
					add_message(&ps, 0, 1, q->x, q->x + q->y);
				/* The result is as exact at 2^59 ns as at 1 ns. */
				x += q->x / (2 * N);
			}
		}
		assert_int_equal(pairs_settle(&ps), 0);
		estimate_max_margin(&e, ps.pair[0], 500e-6);
		estimate_regression(&e, ps.pair[0], 500e-6);
		for (int side = 0; side < 2; side++)
			y += fit_least_squares(p[side], N, x, &slope[side]) / 2;
		/* The parentheses keep the first number from becoming a float. */
		assert_float_equal((e.line.slope - (slope[0] + slope[1]) / 2) * span, 0, 1);
		assert_float_equal(((long double)e.line.y - y + e.line.frac +
				    e.line.slope * (double)(x - e.line.x)),
				   0, 1);
		pairs_release(&ps);
	}
}

static void test_line_both_ways(void **state)
{
	const struct line l = { .x = 12345, .y = -98765432109, .frac = 0.25, .slope = 123e-6 };
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		int64_t t0 = (int64_t)(draw_random64(&seed) >> 12), t1 = t0, back;
		double f1 = line_convert_to_second(&l, &t1), f0;

		back = t1;
		f0 = line_convert_to_first(&l, &back);
		/* A fraction that was dropped is restored nearly unchanged. */
		assert_float_equal((double)(back - t0) + f0 + f1, 0, 1e-3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_feasible_line),	cmocka_unit_test(test_barely_feasible),
		cmocka_unit_test(test_infeasible_line), cmocka_unit_test(test_exact_decision),
		cmocka_unit_test(test_one_direction),	cmocka_unit_test(test_skew_beyond_limit),
		cmocka_unit_test(test_regression_line), cmocka_unit_test(test_line_both_ways),
	};

	return cmocka_run_group_tests_name("max_margin", tests, NULL, NULL);
}
