// SPDX-License-Identifier: GPL-2.0-only
/* Find intervals without messages, in one direction and on all links. */
#include "curve/silences.h"
#include "sample.h"

/* Two links: ABOVE at 10, 40 and 20 s; BELOW at 30 and 90 s. */
static struct observation obs[] = {
	{ .t = 10e9 },
	{ .t = 40e9 },
	{ .t = 30e9 },
	{ .t = 20e9 },
	{ .t = 90e9 },
	/* This observation is rejected. */
	{ .t = 60e9 },
};
static struct obs_bin bin[] = {
	{ .from = 0, .num = 2 }, { .from = 2, .num = 1 }, { .from = 3, .num = 1 },
	{ .from = 4, .num = 1 }, { .from = 5, .num = 0 },
};
static struct obs_direction direction[] = {
	{ .bin = &bin[0], .bins = 1 },
	{ .bin = &bin[1], .bins = 1 },
	{ .bin = &bin[2], .bins = 1 },
	{ .bin = &bin[3], .bins = 2 },
};
static const struct observations p = {
	.span = 100e9,
	.links = 2,
	.direction = direction,
	.obs = obs,
	.num = 6,
};

static void test_extended_interval(void **state)
{
	struct silences s;
	double from = 35e9, to = 36e9;

	(void)state;
	assert_int_equal(silences_find(&s, &p), 0);
	assert_int_equal(s.num[ABOVE], 3);
	assert_int_equal(s.num[BELOW], 2);
	assert_int_equal(silences_until(&s, ABOVE, 20e9), 2);
	assert_int_equal(silences_until(&s, ABOVE, 19e9), 1);
	silences_reach(&s, &from, &to);
	assert_true(from == 20e9 && to == 90e9);
	/* The interval lies between two messages of one direction and is not extended. */
	from = 20e9, to = 40e9;
	silences_reach(&s, &from, &to);
	assert_true(from == 0 && to == 90e9);
	/* The interval extends to times before or after all messages of one direction. */
	from = 50e9, to = 91e9;
	silences_reach(&s, &from, &to);
	assert_true(from == 30e9 && to == 100e9);
	silences_release(&s);
}

static void test_longest_silence(void **state)
{
	struct silences s;

	(void)state;
	assert_int_equal(silences_find(&s, &p), 0);
	/* Neither direction has messages from 30 to 90 s, or from 40 s to the end. */
	assert_true(silences_longest(&s) == 60e9);
	s.num[BELOW] = 1;
	assert_true(silences_longest(&s) == 70e9);
	s.num[ABOVE] = 0;
	assert_true(silences_longest(&s) == 100e9);
	silences_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extended_interval),
		cmocka_unit_test(test_longest_silence),
	};

	return cmocka_run_group_tests_name("silences", tests, NULL, NULL);
}
