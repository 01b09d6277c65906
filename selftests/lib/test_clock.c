// SPDX-License-Identifier: GPL-2.0-only
/* Convert times with stored models, and refuse invalid models. */
#include <errno.h>
#include <float.h>

#include "test.h"

static struct netsync_clock *make_test_clock(const struct netsync_segment *s, uint32_t n,
					     const struct netsync_knot *k, uint32_t m)
{
	const struct netsync_model model = {
		.size = sizeof(model),
		.num_segments = n,
		.num_knots = m,
		.segment_size = sizeof(*s),
		.knot_size = sizeof(*k),
		.segments = s,
		.knots = k,
		.growth_ppm = { 2, 3 },
	};
	struct netsync_clock *c = NULL;

	return netsync_clock_new(&model, &c) ? NULL : c;
}

static int64_t convert_or_fail(const struct netsync_clock *c, int64_t t)
{
	int64_t r = 0;

	assert_int_equal(netsync_convert(c, t, &r, NULL), 0);
	return r;
}

static int64_t get_bound_of_time(const struct netsync_clock *c, int64_t t)
{
	int64_t r, b = -1;

	assert_int_equal(netsync_convert(c, t, &r, &b), 0);
	return b;
}

/* Conversion is exact to 1 ns for times since 1970. */
static void test_exact_conversion(void **state)
{
	const struct netsync_segment s = { EPOCH, EPOCH + SEC, 123456789012345, 1, 0 };
	struct netsync_clock *c = make_test_clock(&s, 1, NULL, 0);

	(void)state;
	for (int64_t t = EPOCH - 5000; t < EPOCH + 5000; t++)
		assert_int_equal(convert_or_fail(c, t), t + 123456789012345);
	assert_int_equal(get_bound_of_time(c, EPOCH), NETSYNC_UNKNOWN);
	netsync_clock_free(c);
}

static void test_segments(void **state)
{
	const struct netsync_segment s[] = {
		{ EPOCH, EPOCH + SEC, 1000, 1 + 100e-6, 0 },
		{ EPOCH + SEC, EPOCH + 2 * SEC, 101000, 1, 0 },
		{ EPOCH + 2 * SEC, EPOCH + 3 * SEC, 101000, 1 - 50e-6, 0 },
	};
	struct netsync_clock *c = make_test_clock(s, 3, NULL, 0);

	(void)state;
	assert_int_equal(convert_or_fail(c, EPOCH), EPOCH + 1000);
	assert_int_equal(convert_or_fail(c, EPOCH + SEC / 2), EPOCH + SEC / 2 + 51000);
	assert_int_equal(convert_or_fail(c, EPOCH + SEC), EPOCH + SEC + 101000);
	assert_int_equal(convert_or_fail(c, EPOCH + 3 * SEC / 2), EPOCH + 3 * SEC / 2 + 101000);
	assert_int_equal(convert_or_fail(c, EPOCH + 3 * SEC), EPOCH + 3 * SEC + 51000);
	/* The first and the last segment are also used for times before and after them. */
	assert_int_equal(convert_or_fail(c, EPOCH - SEC), EPOCH - SEC - 99000);
	assert_int_equal(convert_or_fail(c, EPOCH + 4 * SEC), EPOCH + 4 * SEC + 1000);
	netsync_clock_free(c);
}

static void test_conversion_of_many_times(void **state)
{
	const struct netsync_segment s[] = {
		{ EPOCH, EPOCH + SEC, 1000, 1 + 100e-6, 0 },
		{ EPOCH + SEC, EPOCH + 2 * SEC, 101000, 1, 0 },
	};
	const struct netsync_knot k[] = { { EPOCH, 5000, 700 }, { EPOCH + SEC, 1000, 600 } };
	struct netsync_clock *c = make_test_clock(s, 2, k, 2);
	int64_t t[100], t_ref[100], bounds[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		t[i] = EPOCH + (i * 37 % 100) * SEC / 50;
	assert_int_equal(netsync_convert_many(c, 100, t, t_ref, bounds), 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(t_ref[i], convert_or_fail(c, t[i]));
		assert_int_equal(bounds[i], get_bound_of_time(c, t[i]));
	}
	/* Conversion in place ends at the first result that does not fit. */
	t[50] = INT64_MAX;
	assert_int_equal(netsync_convert_many(c, 100, t, t, NULL), -ERANGE);
	assert_memory_equal(t, t_ref, 50 * sizeof(*t));
	assert_int_equal(t[50], INT64_MAX);
	assert_int_equal(netsync_convert_many(c, 0, NULL, NULL, NULL), 0);
	netsync_clock_free(c);
}

static void test_bound_of_conversion(void **state)
{
	const struct netsync_segment s = { EPOCH, EPOCH + SEC, 0, 1, 0 };
	const struct netsync_knot k[] = {
		{ EPOCH, 5000, 700 },
		{ EPOCH + SEC, 1000, 600 },
		{ EPOCH + 2 * SEC, 500, 2000 },
	};
	struct netsync_clock *c = make_test_clock(&s, 1, k, 3);

	(void)state;
	assert_int_equal(get_bound_of_time(c, EPOCH), 5000);
	assert_int_equal(get_bound_of_time(c, EPOCH + SEC / 4), 4000);
	assert_int_equal(get_bound_of_time(c, EPOCH + SEC), 1000);
	/* If the bound falls in one direction and rises in the other, the larger value is used. */
	assert_int_equal(get_bound_of_time(c, EPOCH + 3 * SEC / 2), 1300);
	/* The bound grows by 2 ppm before the first knot, and by 3 ppm after the last knot. */
	assert_int_equal(get_bound_of_time(c, EPOCH - SEC), 7000);
	assert_int_equal(get_bound_of_time(c, EPOCH + 3 * SEC), 5000);
	netsync_clock_free(c);
}

static void test_interval(void **state)
{
	const struct netsync_segment s = { EPOCH, EPOCH + SEC, 7, 1, 0 };
	const struct netsync_knot k[] = {
		{ EPOCH, 5000, 700 },
		{ EPOCH + SEC, 1000, 600 },
		{ EPOCH + 2 * SEC, 1000, NETSYNC_UNKNOWN },
	};
	struct netsync_clock *c = make_test_clock(&s, 1, k, 3), *d = make_test_clock(&s, 1, k, 0);
	int64_t lo, hi;

	(void)state;
	assert_int_equal(netsync_interval(c, EPOCH + SEC / 2, &lo, &hi), 0);
	assert_int_equal(lo, EPOCH + SEC / 2 + 7 - 3000);
	assert_int_equal(hi, EPOCH + SEC / 2 + 7 + 650);
	assert_int_equal(netsync_interval(c, EPOCH - SEC, &lo, &hi), 0);
	assert_int_equal(lo, EPOCH - SEC + 7 - 7000);
	assert_int_equal(hi, EPOCH - SEC + 7 + 2700);
	/*
	 * Next to a knot whose bound is unknown in one direction, the bound in this direction is
	 * unknown.
	 */
	assert_int_equal(netsync_interval(c, EPOCH + SEC + 1, &lo, &hi), 0);
	assert_int_equal(lo, EPOCH + SEC + 1 + 7 - 1000);
	assert_int_equal(hi, INT64_MAX);
	assert_int_equal(get_bound_of_time(c, EPOCH + SEC + 1), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_interval(d, EPOCH, &lo, &hi), 0);
	assert_true(lo == INT64_MIN && hi == INT64_MAX);
	assert_int_equal(netsync_interval(c, INT64_MAX, &lo, &hi), -ERANGE);
	netsync_clock_free(c);
	netsync_clock_free(d);
}

/* A clock without bounds, or with the bound @bound everywhere, if it is not negative. */
static struct netsync_clock *make_clock_with_deviations(const struct netsync_deviation_knot *d,
							uint32_t n, int64_t bound)
{
	const struct netsync_segment s = { EPOCH, EPOCH + SEC, 0, 1, 0 };
	const struct netsync_knot k = { EPOCH, bound, bound };
	const struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = 1,
		.segment_size = sizeof(s),
		.segments = &s,
		.num_knots = bound >= 0,
		.knot_size = sizeof(k),
		.knots = &k,
		.num_deviations = n,
		.deviation_size = sizeof(*d),
		.deviations = d,
	};
	struct netsync_clock *c = NULL;

	return netsync_clock_new(&m, &c) ? NULL : c;
}

/* Deviations are linear between knots, rounded up, at most the bound, and known only there. */
static void test_deviation(void **state)
{
	const struct netsync_deviation_knot d[] = {
		{ EPOCH, 100 },
		{ EPOCH + SEC, 201 },
		{ EPOCH + 2 * SEC, NETSYNC_UNKNOWN },
		{ EPOCH + 3 * SEC, 5 },
	};
	struct netsync_clock *c = make_clock_with_deviations(d, 4, -1);
	struct netsync_clock *bounded = make_clock_with_deviations(d, 4, 120);
	struct netsync_clock *unknown = make_clock_with_deviations(d, 4, NETSYNC_UNKNOWN);
	struct netsync_clock *one = make_clock_with_deviations(d, 1, -1);
	struct netsync_clock *none = make_clock_with_deviations(NULL, 0, 120);

	(void)state;
	assert_int_equal(netsync_deviation(c, EPOCH), 100);
	assert_int_equal(netsync_deviation(c, EPOCH + 1), 101);
	assert_int_equal(netsync_deviation(c, EPOCH + SEC / 2), 151);
	assert_int_equal(netsync_deviation(c, EPOCH + SEC), 201);
	assert_int_equal(netsync_deviation(c, EPOCH + SEC + 1), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(c, EPOCH + 2 * SEC), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(c, EPOCH + 3 * SEC - 1), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(c, EPOCH + 3 * SEC), 5);
	assert_int_equal(netsync_deviation(c, EPOCH + 3 * SEC + 1), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(c, EPOCH - 1), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(c, INT64_MIN), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(c, INT64_MAX), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(bounded, EPOCH + SEC / 10), 111);
	assert_int_equal(netsync_deviation(bounded, EPOCH + SEC / 2), 120);
	assert_int_equal(netsync_deviation(bounded, EPOCH + SEC + 1), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(unknown, EPOCH + SEC / 2), 151);
	assert_int_equal(netsync_deviation(one, EPOCH), 100);
	assert_int_equal(netsync_deviation(one, EPOCH + 1), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(none, EPOCH), NETSYNC_UNKNOWN);
	netsync_clock_free(c);
	netsync_clock_free(bounded);
	netsync_clock_free(unknown);
	netsync_clock_free(one);
	netsync_clock_free(none);
}

static void test_many_deviations(void **state)
{
	const struct netsync_deviation_knot d[] = { { EPOCH, 100 }, { EPOCH + SEC, 900 } };
	struct netsync_clock *c = make_clock_with_deviations(d, 2, -1);
	int64_t t[100], deviation[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		t[i] = EPOCH + (i * 37 % 100) * SEC / 90;
	netsync_deviation_many(c, 100, t, deviation);
	for (int i = 0; i < 100; i++)
		assert_int_equal(deviation[i], netsync_deviation(c, t[i]));
	netsync_deviation_many(c, 100, t, t);
	assert_memory_equal(t, deviation, sizeof(t));
	netsync_deviation_many(c, 0, NULL, NULL);
	netsync_clock_free(c);
}

/* Invalid deviations are refused; the extremes of times and deviations are not. */
static void test_refused_deviations(void **state)
{
	const struct netsync_deviation_knot bad[][2] = {
		{ { 5, -1 }, { 6, 1 } },
		{ { 5, 1 }, { 5, 1 } },
		{ { 6, 1 }, { 5, 1 } },
		{ { 5, 1 }, { 6, INT64_MIN } },
	};
	const struct netsync_deviation_knot wide[] = { { INT64_MIN, INT64_MAX - 1 },
						       { INT64_MAX, INT64_MAX - 1 } };
	struct netsync_clock *c = make_clock_with_deviations(wide, 2, -1);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_null(make_clock_with_deviations(bad[i], 2, -1));
	assert_null(make_clock_with_deviations(NULL, 1, -1));
	assert_non_null(c);
	assert_int_equal(netsync_deviation(c, 0), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_deviation(c, INT64_MIN), NETSYNC_UNKNOWN);
	netsync_clock_free(c);
}

/* A caller built with the first version has a shorter model, without deviations. */
static void test_shorter_model(void **state)
{
	const struct netsync_segment s = { EPOCH, EPOCH + SEC, 7, 1, 0 };
	struct netsync_model m = {
		.size = offsetof(struct netsync_model, num_deviations),
		.num_segments = 1,
		.segment_size = sizeof(s),
		.segments = &s,
		.num_deviations = 1000,
	};
	struct netsync_model out = { .size = offsetof(struct netsync_model, num_deviations),
				     .num_deviations = 1000 };
	struct netsync_clock *c = NULL;

	(void)state;
	assert_int_equal(netsync_clock_new(&m, &c), 0);
	assert_int_equal(netsync_deviation(c, EPOCH), NETSYNC_UNKNOWN);
	assert_int_equal(netsync_clock_model(c, &out), 0);
	assert_int_equal(out.num_segments, 1);
	assert_int_equal(out.num_deviations, 1000);
	netsync_clock_free(c);
	m.size--;
	assert_int_equal(netsync_clock_new(&m, &c), -EINVAL);
}

static void test_order_of_events(void **state)
{
	const struct netsync_segment s[] = { { EPOCH, EPOCH + SEC, 0, 1, 0 },
					     { EPOCH, EPOCH + SEC, 100, 1, 0 } };
	const struct netsync_knot k[] = { { EPOCH, 30, 50 }, { EPOCH, 20, 0 } };
	struct netsync_clock *a = make_test_clock(&s[0], 1, &k[0], 1);
	struct netsync_clock *b = make_test_clock(&s[1], 1, &k[1], 1);
	struct netsync_clock *c = make_test_clock(&s[1], 1, NULL, 0);

	(void)state;
	/* Compare the interval [-30, 50], which is 1 ns wider later, with [80, 100]. */
	assert_int_equal(netsync_order(a, EPOCH, b, EPOCH), NETSYNC_BEFORE);
	assert_int_equal(netsync_order(b, EPOCH, a, EPOCH), NETSYNC_AFTER);
	assert_int_equal(netsync_order(a, EPOCH + 28, b, EPOCH), NETSYNC_BEFORE);
	assert_int_equal(netsync_order(a, EPOCH + 30, b, EPOCH), NETSYNC_UNCERTAIN);
	assert_int_equal(netsync_order(a, EPOCH + 130, b, EPOCH), NETSYNC_UNCERTAIN);
	assert_int_equal(netsync_order(a, EPOCH + 132, b, EPOCH), NETSYNC_AFTER);
	/* Two times of one clock can be compared without bounds. */
	assert_int_equal(netsync_order(c, EPOCH, c, EPOCH + 1), NETSYNC_BEFORE);
	assert_int_equal(netsync_order(c, EPOCH + 1, c, EPOCH), NETSYNC_AFTER);
	assert_int_equal(netsync_order(c, EPOCH, c, EPOCH), NETSYNC_UNCERTAIN);
	assert_int_equal(netsync_order(a, EPOCH, c, EPOCH), NETSYNC_UNCERTAIN);
	netsync_clock_free(a);
	netsync_clock_free(b);
	netsync_clock_free(c);
}

static void test_extreme_times(void **state)
{
	const struct netsync_segment s = { EPOCH, EPOCH + SEC, -5, 1 + 500e-6, 0 };
	const struct netsync_knot k = { EPOCH, 10, 10 };
	struct netsync_clock *c = make_test_clock(&s, 1, &k, 1);
	int64_t r, b;

	(void)state;
	assert_int_equal(netsync_convert(c, INT64_MAX, &r, &b), -ERANGE);
	assert_int_equal(netsync_convert(c, INT64_MIN, &r, &b), -ERANGE);
	assert_int_equal(netsync_convert(c, 0, &r, &b), 0);
	assert_true(b > 0);
	netsync_clock_free(c);
}

static void test_refused_models(void **state)
{
	const struct netsync_knot k[] = {
		{ 5, 1, 1 }, { 5, 1, 1 }, { 6, -1, 1 }, { 6, 1, -1 }, { 6, 1, 1 }
	};
	const struct netsync_segment bad[] = {
		{ 10, 5, 0, 1, 0 },  { 0, 5, 0, 0, 0 },	       { 0, 5, 0, -1, 0 },
		{ 0, 5, 0, NAN, 0 }, { 0, 5, 0, INFINITY, 0 }, { 0, 5, 0, 1, -1 },
	};
	const struct netsync_segment gap[] = { { 0, 5, 0, 1, 0 }, { 6, 9, 0, 1, 0 } };
	const struct netsync_segment good = { 0, 5, 0, 1, 0 };
	struct netsync_model m = { .size = 8,
				   .num_segments = 1,
				   .segment_size = sizeof(good),
				   .knot_size = sizeof(*k),
				   .segments = &good };
	struct netsync_clock *c;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_null(make_test_clock(&bad[i], 1, NULL, 0));
	assert_null(make_test_clock(gap, 2, NULL, 0));
	assert_null(make_test_clock(NULL, 0, NULL, 0));
	assert_null(make_test_clock(&good, 1, k, 2));
	assert_null(make_test_clock(&good, 1, k + 2, 1));
	assert_null(make_test_clock(&good, 1, k + 3, 1));
	assert_int_equal(netsync_clock_new(&m, &c), -EINVAL);
	m.size = sizeof(m);
	m.segment_size--;
	assert_int_equal(netsync_clock_new(&m, &c), -EINVAL);
	m.segment_size++;
	m.num_knots = 1;
	m.knots = k + 4;
	m.knot_size = 0;
	assert_int_equal(netsync_clock_new(&m, &c), -EINVAL);
	m.knot_size = sizeof(*k);
	m.growth_ppm[1] = -1;
	assert_int_equal(netsync_clock_new(&m, &c), -EINVAL);
	m.growth_ppm[1] = 0;
	assert_int_equal(netsync_clock_new(&m, &c), 0);
	netsync_clock_free(c);
}

/* A caller that was built with a later version has larger elements. */
static void test_larger_elements(void **state)
{
	const struct {
		struct netsync_segment s;
		int64_t later[2];
	} s[] = {
		{ { EPOCH, EPOCH + SEC, 1000, 1 + 100e-6, 0 }, { -1, -1 } },
		{ { EPOCH + SEC, EPOCH + 2 * SEC, 101000, 1, 0 }, { -1, -1 } },
	};
	const struct {
		struct netsync_knot k;
		int64_t later;
	} k[] = {
		{ { EPOCH, 500, 700 }, -1 },
		{ { EPOCH + SEC, 1000, 600 }, -1 },
	};
	const struct {
		struct netsync_deviation_knot d;
		int64_t later[3];
	} d[] = {
		{ { EPOCH, 50 }, { -1, -1, -1 } },
		{ { EPOCH + SEC, 70 }, { -1, -1, -1 } },
	};
	const struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = 2,
		.segment_size = sizeof(*s),
		.segments = &s->s,
		.num_knots = 2,
		.knot_size = sizeof(*k),
		.knots = &k->k,
		.num_deviations = 2,
		.deviation_size = sizeof(*d),
		.deviations = &d->d,
	};
	struct netsync_model out = { .size = sizeof(out) };
	struct netsync_clock *c = NULL;

	(void)state;
	assert_int_equal(netsync_clock_new(&m, &c), 0);
	assert_int_equal(convert_or_fail(c, EPOCH + 3 * SEC / 2), EPOCH + 3 * SEC / 2 + 101000);
	assert_int_equal(get_bound_of_time(c, EPOCH + SEC), 1000);
	assert_ptr_equal(netsync_model_segment(&m, 1), &s[1].s);
	assert_ptr_equal(netsync_model_knot(&m, 1), &k[1].k);
	assert_ptr_equal(netsync_model_deviation(&m, 1), &d[1].d);
	assert_int_equal(netsync_deviation(c, EPOCH + SEC / 2), 60);
	assert_int_equal(netsync_clock_model(c, &out), 0);
	assert_int_equal(netsync_model_segment(&out, 1)->offset_ns, 101000);
	assert_int_equal(netsync_model_knot(&out, 1)->below_ns, 1000);
	assert_int_equal(out.num_deviations, 2);
	assert_int_equal(netsync_model_deviation(&out, 1)->deviation_ns, 70);
	netsync_clock_free(c);
}

/* Exporting and importing a model does not change it. */
static void test_round_trip(void **state)
{
	const struct netsync_segment s[] = {
		{ EPOCH, EPOCH + SEC, 77, 1.0000123456789012, 10 },
		{ EPOCH + SEC, EPOCH + SEC, 12422, 1, NETSYNC_UNKNOWN },
	};
	const struct netsync_knot k = { EPOCH, 10, 10 };
	struct netsync_clock *c = make_test_clock(s, 2, &k, 1), *d = NULL;
	struct netsync_model m = { .size = sizeof(m) };

	(void)state;
	assert_int_equal(netsync_clock_model(c, &m), 0);
	assert_int_equal(m.num_segments, 2);
	assert_memory_equal(m.segments, s, sizeof(s));
	assert_int_equal(netsync_clock_new(&m, &d), 0);
	for (int64_t t = -10; t < 10; t++)
		assert_int_equal(convert_or_fail(c, EPOCH + t * SEC / 3),
				 convert_or_fail(d, EPOCH + t * SEC / 3));
	m.size = 4;
	assert_int_equal(netsync_clock_model(c, &m), -EINVAL);
	netsync_clock_free(c);
	netsync_clock_free(d);
	netsync_clock_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_conversion),
		cmocka_unit_test(test_larger_elements),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_conversion_of_many_times),
		cmocka_unit_test(test_bound_of_conversion),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_order_of_events),
		cmocka_unit_test(test_extreme_times),
		cmocka_unit_test(test_refused_models),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_deviation),
		cmocka_unit_test(test_many_deviations),
		cmocka_unit_test(test_shorter_model),
		cmocka_unit_test(test_refused_deviations),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
