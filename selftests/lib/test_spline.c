// SPDX-License-Identifier: GPL-2.0-only
/* Test splines with knots of multiplicity one, three and four. */
#include "test.h"
#include "curve/spline.h"

#define SPAN 100.0

/*
 * Return the abscissa of a coefficient: if each coefficient is on a line at its abscissa, the
 * spline is that line.
 */
static double compute_abscissa(const struct spline *s, size_t i)
{
	return (s->knot[i + 1] + s->knot[i + 2] + s->knot[i + 3]) / 3;
}

static struct spline make_test_spline(size_t intervals, const struct spline_knot *b, size_t n)
{
	struct spline s;

	assert_int_equal(spline_new(&s, 0, SPAN, intervals, b, n), 0);
	assert_int_equal(s.knots, s.coefs + 4);
	for (size_t i = 0; i < s.knots; i++) {
		assert_true(s.knot[i] >= 0 && s.knot[i] <= SPAN);
		assert_true(!i || s.knot[i - 1] <= s.knot[i]);
	}
	/* An interval between a regular knot and a break is not much shorter than the others. */
	for (size_t i = 4; i + 4 < s.knots; i++) {
		double nearest = SPAN;

		for (size_t j = 0; j < n; j++)
			nearest = fmin(nearest, fabs(s.knot[i] - b[j].t));
		assert_true(nearest == 0 || nearest > 0.4 * SPAN / (double)intervals);
	}
	return s;
}

static void set_random_coefficients(struct spline *s, uint64_t seed)
{
	for (size_t i = 0; i < s->coefs; i++)
		s->coef[i] = draw_between_0_and_1(&seed) * 2 - 1;
	spline_set_cubics(s);
}

/* Check that the basis functions sum to one and that the spline can be any line. */
static void check_spline_lines(struct spline *s)
{
	for (size_t i = 0; i < s->coefs; i++)
		s->coef[i] = 7 - 3 * compute_abscissa(s, i);
	spline_set_cubics(s);
	for (int i = 0; i <= 5000; i++) {
		double t = SPAN / 5000 * i, sum = 0;
		struct place p = spline_place(s, t);

		assert_true(p.first + 4 <= s->coefs);
		for (int k = 0; k < 4; k++) {
			assert_true(p.basis[k] >= -1e-12);
			sum += p.basis[k];
		}
		assert_float_equal(sum, 1, 1e-9);
		assert_float_equal(spline_at(s, t), 7 - 3 * t, 1e-9);
	}
}

static void test_spline_of_lines(void **state)
{
	const struct spline_knot near[] = {
		/* The breaks are next to a regular knot, close together, and close to the ends. */
		{ 1e-3, 3 },  { 20 - 1e-6, 3 }, { 50, 4 },
		{ 50.01, 3 }, { 73, 4 },	{ SPAN - 1e-3, 4 },
	};

	(void)state;
	for (size_t intervals = 1; intervals < 40; intervals++) {
		struct spline s = make_test_spline(intervals, NULL, 0);

		assert_int_equal(s.coefs, intervals + 3);
		check_spline_lines(&s);
		spline_free(&s);
		s = make_test_spline(intervals, near, sizeof(near) / sizeof(near[0]));
		check_spline_lines(&s);
		spline_free(&s);
	}
}

/* Compute the changes of value, slope and curvature at a time. */
static void compute_changes_at(const struct spline *s, double t, double change[3])
{
	const double h = 1e-3;
	double v[2][3];

	for (int side = 0; side < 2; side++) {
		double way = side ? h : -h, near = t + way * 1e-6;

		for (int i = 0; i < 3; i++)
			v[side][i] = spline_at(s, near + way * i);
	}
	change[0] = fabs(v[1][0] - v[0][0]);
	change[1] = fabs((v[1][1] - v[1][0]) + (v[0][1] - v[0][0])) / h;
	change[2] = fabs((v[1][2] - 2 * v[1][1] + v[1][0]) - (v[0][2] - 2 * v[0][1] + v[0][0])) /
		    (h * h);
}

static void test_smoothness_at_knots(void **state)
{
	const struct spline_knot b[] = { { 33.3, 3 }, { 66.6, 4 } };
	double worst[2] = { 0, 0 };

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct spline s = make_test_spline(10, b, 2);
		double c[3];

		set_random_coefficients(&s, seed);
		/* At regular knots and between them, the first two derivatives are continuous. */
		for (double t = 5; t < 96; t += 5) {
			compute_changes_at(&s, t, c);
			assert_true(c[0] < 1e-6);
			assert_true(c[1] < 1e-2);
			assert_true(c[2] < 1e-2);
		}
		/* At a rate step, the value is continuous, but the slope may change. */
		compute_changes_at(&s, b[0].t, c);
		assert_true(c[0] < 1e-6);
		worst[0] = fmax(worst[0], c[1]);
		/* This is a phase step. */
		compute_changes_at(&s, b[1].t, c);
		worst[1] = fmax(worst[1], c[0]);
		spline_free(&s);
	}
	assert_true(worst[0] > 0.3 && worst[1] > 0.3);
}

/* After a phase step, the spline does not depend on the part before it. */
static void test_jump_parts(void **state)
{
	const struct spline_knot b = { 50, 4 };
	struct spline s = make_test_spline(10, &b, 1);

	(void)state;
	for (size_t i = 0; i < s.coefs; i++)
		s.coef[i] = compute_abscissa(&s, i) < 50 ? -1 : 1;
	/*
	 * If several knots are at the same place, the first of them belongs to the part before it.
	 */
	for (size_t i = 1; i < s.coefs; i++)
		if (compute_abscissa(&s, i) == 50 && compute_abscissa(&s, i - 1) < 50)
			s.coef[i] = -1;
	spline_set_cubics(&s);
	for (double t = 0; t < 49.99; t += 0.1)
		assert_float_equal(spline_at(&s, t), -1, 1e-12);
	for (double t = 50; t <= 100; t += 0.1)
		assert_float_equal(spline_at(&s, t), 1, 1e-12);
	spline_free(&s);
}

/* A phase step has no slope, and NaN does not count as flat. */
static void test_flat_intervals(void **state)
{
	const struct spline_knot b = { 50, 4 };
	struct spline s = make_test_spline(10, &b, 1);

	(void)state;
	for (int sign = 1; sign >= -1; sign -= 2) {
		for (size_t i = 0; i < s.coefs; i++)
			s.coef[i] = sign *
				    (0.5 * compute_abscissa(&s, i) + (i >= s.coefs / 2 ? 1e6 : 0));
		spline_set_cubics(&s);
		assert_true(spline_steepest(&s) < 0.51);
		assert_true(spline_steepest(&s) > 0.49);
	}
	s.coef[2] = NAN;
	spline_set_cubics(&s);
	assert_true(isinf(spline_steepest(&s)));
	spline_free(&s);
}

/* Adding knots to a curve does not change it, even at change points. */
static void test_added_knots(void **state)
{
	/* The last breaks are several change points at one place. */
	const struct spline_knot b[] = { { 23.4, 3 }, { 61.7, 4 }, { 66.6, 7 } };

	(void)state;
	for (size_t more = 1; more <= 8; more *= 2) {
		struct spline s = make_test_spline(8, b, 3),
			      fine = make_test_spline(8 * more, b, 3);
		bool same = more <= 2;

		set_random_coefficients(&s, more);
		spline_follow(&fine, &s);
		spline_set_cubics(&fine);
		for (int i = 0; i < 1000; i++) {
			double t = SPAN / 1000 * (i + 0.5);

			if (same || t < 20 || t > 70)
				assert_float_equal(spline_at(&fine, t), spline_at(&s, t), 1e-9);
		}
		spline_free(&s);
		spline_free(&fine);
	}
}

/* The spline has the values and slopes of the vertices, on either side of a step. */
static void test_spline_through_vertices(void **state)
{
	const struct spline_vertex v[] = {
		{ 0, 1, 0.5 }, { 2, 3, -1 }, { 3, 5, 0 }, { 3, -40, 2 }, { 7.5, 0, 1 },
	};
	const double near = 1e-6;
	struct spline s, copy;

	(void)state;
	assert_int_equal(spline_through(&s, v, 5), 0);
	assert_int_equal(spline_copy(&copy, &s), 0);
	spline_compact(&s);
	for (size_t i = 0; i < 5; i++) {
		const double before = i ? spline_at(&s, v[i].t - near) : v[i].value;
		const double after = spline_at(&copy, v[i].t + near);

		/* At a step, the second of two vertices has the value after it. */
		if (i != 2)
			assert_float_equal(after, v[i].value, 1e-5);
		if (i != 3)
			assert_float_equal(before, v[i].value, 1e-5);
		if (i != 2 && i != 4)
			assert_float_equal((after - spline_at(&s, v[i].t)) / near, v[i].slope,
					   1e-4);
	}
	/*
	 * At its middle, a cubic is the mean of both values plus an eighth of the difference
	 * of the slopes.
	 */
	assert_float_equal(spline_at(&s, 1), 2 + 2 * 1.5 / 8, 1e-12);
	spline_free(&s);
	spline_free(&copy);
	/* Test a single cubic. */
	assert_int_equal(spline_through(&s, v, 2), 0);
	assert_float_equal(spline_at(&s, 1), 2 + 2 * 1.5 / 8, 1e-12);
	spline_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spline_of_lines),
		cmocka_unit_test(test_smoothness_at_knots),
		cmocka_unit_test(test_jump_parts),
		cmocka_unit_test(test_flat_intervals),
		cmocka_unit_test(test_added_knots),
		cmocka_unit_test(test_spline_through_vertices),
	};

	return cmocka_run_group_tests_name("spline", tests, NULL, NULL);
}
