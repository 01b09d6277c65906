// SPDX-License-Identifier: GPL-2.0-only
/* Compare corrections of linear clocks with numbers computed by hand. */
#include "curve/correction.h"
#include "test.h"

/* A clock that runs for 1000 s, and is 5 ms behind and 10 ppm slow. */
static const struct correction slow = {
	.known = true,
	.to = 1000 * SEC,
	.offset = 5000000,
	.skew = 10e-6,
};
/* A clock that is the reference. */
static const struct correction reference = { .known = true, .to = 1000 * SEC };

static void test_changes_before(void **state)
{
	struct change_point at[] = { { .t = 10 }, { .t = 20 }, { .t = 20 }, { .t = 30 } };
	const struct correction c = { .change = at, .num_changes = 4 };

	(void)state;
	assert_int_equal(correction_changes_before(&reference, 5), 0);
	assert_int_equal(correction_changes_before(&c, -1), 0);
	assert_int_equal(correction_changes_before(&c, 10), 0);
	assert_int_equal(correction_changes_before(&c, 10.5), 1);
	assert_int_equal(correction_changes_before(&c, 20), 1);
	assert_int_equal(correction_changes_before(&c, 21), 3);
	assert_int_equal(correction_changes_before(&c, 1e18), 4);
}

static void test_linear_correction(void **state)
{
	int64_t ref;

	(void)state;
	assert_true(correction_covers(&slow, 0));
	assert_true(correction_covers(&slow, 1000 * SEC));
	assert_false(correction_covers(&slow, -1));
	assert_false(correction_covers(&slow, 1000 * SEC + 1));
	assert_true(correction_at(&reference, 77, &ref) == 0);
	assert_int_equal(ref, 77);
	/* After 100 s, 10 ppm have added 1 ms to the initial offset. */
	assert_true(fabs(correction_at(&slow, 100 * SEC, &ref)) < 1);
	assert_in_range(ref - 100 * SEC, 5999999, 6000000);
}

/* Converting a time to the reference and back gives the same time. */
static void test_conversion_and_back(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		const int64_t t = draw_integer_below(&seed, 1000 * SEC);
		int64_t at, back;
		double rest = correction_between(&slow, t, &reference, &at);

		assert_true(fabs((double)(at - t) + rest - (5e6 + 10e-6 * (double)t)) < 0.01);
		rest = correction_between(&reference, at, &slow, &back);
		assert_true(fabs((double)(back - t) + rest) < 1.01);
	}
}

static void test_segments(void **state)
{
	struct netsync_segment *segment = NULL;
	int64_t num = correction_segments(&slow, &reference, EPOCH, EPOCH + SEC, &segment);

	(void)state;
	assert_true(num >= 1);
	/* The segments describe a linear clock, so that each segment is valid at all times. */
	for (int64_t i = 0; i < num; i++) {
		const double t = (double)(segment[i].from_ns - EPOCH);

		assert_true(fabs((double)(segment[i].offset_ns - SEC) - (5e6 + 10e-6 * t)) < 2);
		assert_true(fabs(segment[i].rate - 1 - 10e-6) < 1e-12);
		assert_true(!i || segment[i].from_ns > segment[i - 1].from_ns);
	}
	free(segment);
}

/* Return the value of the segments at a time. */
static double evaluate_segments(const struct netsync_segment *s, int64_t num, int64_t t)
{
	int64_t i = 0;

	while (i + 1 < num && s[i + 1].from_ns <= t)
		i++;
	return (double)s[i].offset_ns + (s[i].rate - 1) * (double)(t - s[i].from_ns);
}

/* A curve whose own error exceeds 1 ns is split into longer segments. */
static void test_expected_error(void **state)
{
	struct correction c = { .to = 1000 * SEC };
	int64_t before = 0;

	(void)state;
	assert_int_equal(spline_new(&c.curve, 0, 1000e9, 20, NULL, 0), 0);
	for (size_t i = 0; i < c.curve.coefs; i++)
		c.curve.coef[i] = i % 2 ? 1e6 : -1e6;
	spline_set_cubics(&c.curve);
	for (c.expected_error = 16; c.expected_error < 1e5; c.expected_error *= 64) {
		struct netsync_segment *segment = NULL;
		int64_t num = correction_segments(&c, &reference, 0, 0, &segment);

		assert_true(num > 1);
		for (int64_t t = 0; t < 1000 * SEC; t += SEC / 3) {
			int64_t at;
			double rest = correction_between(&c, t, &reference, &at);

			assert_true(
				fabs((double)(at - t) + rest - evaluate_segments(segment, num, t)) <
				fmax(2, c.expected_error / 16) + 1);
		}
		assert_true(!before || num * 6 < before);
		before = num;
		free(segment);
	}
	correction_release(&c);
}

/* A clock is stepped forward by 1 s at 49.5 s, and so skips its readings up to 50.5 s. */
static void test_set_forward(void **state)
{
	struct change_point change = { .t = 50e9, .phase_step = true, .offset = -1e9 };
	const struct spline_knot knot = { .t = 50e9, .times = 4 };
	struct correction set = {
		.known = true,
		.to = 100 * SEC,
		.change = &change,
		.num_changes = 1,
	};
	const struct correction right = { .known = true, .to = 100 * SEC };
	struct netsync_segment *segment = NULL;
	int64_t num;

	(void)state;
	assert_int_equal(spline_new(&set.curve, 0, 100e9, 2, &knot, 1), 0);
	for (size_t i = 0; i < set.curve.coefs; i++)
		set.curve.coef[i] = i < set.curve.coefs / 2 ? 0 : -1e9;
	spline_set_cubics(&set.curve);
	num = correction_segments(&set, &right, 0, 0, &segment);
	assert_true(num > 0);
	for (int64_t t = 0; t < 100 * SEC; t += SEC / 8) {
		/* For readings that the clock skipped, the true time does not advance. */
		int64_t skipped = t < 49 * SEC + SEC / 2 ? 0 :
				  t > 50 * SEC + SEC / 2 ? SEC :
							   t - (49 * SEC + SEC / 2);

		assert_float_equal(evaluate_segments(segment, num, t), -(double)skipped, 4);
	}
	for (int64_t i = 1; i < num; i++)
		assert_int_equal(segment[i].from_ns, segment[i - 1].to_ns);
	free(segment);
	spline_free(&set.curve);
}

/* The clocks are as far apart as the limit for times permits, which is more than 64 bits. */
static void test_far_apart(void **state)
{
	static const int64_t host[] = { -NETSYNC_MAX_TIME, NETSYNC_MAX_TIME };
	const int64_t offset[] = { INT64_MAX, INT64_MIN + slow.offset };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct netsync_segment *segment = NULL;

		assert_true(correction_segments(&slow, &reference, host[i], -host[i], &segment) >=
			    1);
		assert_int_equal(segment->offset_ns, offset[i]);
		free(segment);
	}
}

/* For a pair of consistent clocks, count the messages that are received before they are sent. */
static void test_count_of_inversions(void **state)
{
	const struct correction *both[2] = { &reference, &reference };

	(void)state;
	/*
	 * Points of the first direction are (x, y), and points of the second direction are (x, -y),
	 * where y is the delay.
	 */
	for (int way = 0; way < 2; way++) {
		const struct point takes = { SEC, 100 }, inverted = { SEC, -100 };
		const struct point outside = { 5000 * SEC, -100 };

		assert_false(correction_inverts(both, way, &takes));
		assert_true(correction_inverts(both, way, &inverted));
		assert_false(correction_excludes(both, way, &takes, 0));
		assert_true(correction_excludes(both, way, &outside, 0));
	}
}

/* A copy shares no memory with the original, so that either can be released first. */
static void test_copy_of_correction(void **state)
{
	struct correction c = slow, copy;

	(void)state;
	c.num_changes = c.num_doubts = 2;
	c.change = calloc(2, sizeof(*c.change));
	c.doubt = calloc(2, sizeof(*c.doubt));
	assert_non_null(c.change);
	assert_non_null(c.doubt);
	c.change[1].t = 20;
	c.doubt[1].to = 30;
	assert_int_equal(correction_copy(&copy, &c), 0);
	assert_ptr_not_equal(copy.change, c.change);
	assert_ptr_not_equal(copy.doubt, c.doubt);
	correction_release(&c);
	assert_int_equal(copy.num_changes, 2);
	assert_int_equal(copy.num_doubts, 2);
	assert_true(copy.change[1].t == 20 && copy.doubt[1].to == 30);
	correction_release(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes_before),
		cmocka_unit_test(test_copy_of_correction),
		cmocka_unit_test(test_linear_correction),
		cmocka_unit_test(test_conversion_and_back),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_expected_error),
		cmocka_unit_test(test_set_forward),
		cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_count_of_inversions),
	};

	return cmocka_run_group_tests_name("correction", tests, NULL, NULL);
}
