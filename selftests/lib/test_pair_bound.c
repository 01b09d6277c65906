// SPDX-License-Identifier: GPL-2.0-only
/* The guarantee that the messages of a pair give, and when it can be reported. */
#include "bound/pair-bound.h"
#include "messages.h"

#define AHEAD (3 * SEC)
#define DELAY (100 * US)

static const struct limits limits = { .slope = 500e-6, .bend = 1e-16 };
static const struct correction reference = { .known = true, .to = 1000 * SEC };
static const struct correction ahead = {
	.known = true, .to = 1000 * SEC, .offset = -AHEAD,
};
static const struct correction *const both[2] = { &reference, &ahead };

static void make(struct pair_bound *r, const struct pairs *ps)
{
	const struct correction *correction[2] = { both[0], both[1] };

	assert_int_equal(pair_bound_make(r, ps->pair[0], correction, &limits), 0);
}

static void test_accurate(void **state)
{
	struct pairs ps = { 0 };
	struct pair_bound r;

	(void)state;
	add_talk(&ps, 100, AHEAD, DELAY);
	make(&r, &ps);
	assert_true(r.usable);
	assert_int_equal(r.quality, NETSYNC_ACCURATE);
	for (int64_t x = SEC; x < 99 * SEC; x += SEC / 7) {
		const struct range f = rate_bound_at(&r.bound, x);

		/* Wider by 1 ns, because times are in whole ns. */
		assert_in_range(AHEAD, f.lo, f.hi);
		/* At most 0.75 s from the nearest message, at 500 ppm each. */
		assert_true(f.hi - f.lo <= 4 * DELAY + 750 * US);
	}
	/* At least the minimum delays in each direction. */
	assert_true(pair_bound_width(&r, SEC, 99 * SEC) >= (double)DELAY);
	assert_true(pair_bound_width(&r, SEC, 99 * SEC) < 5e5);
	pair_bound_release(&r);
	pairs_release(&ps);
}

static void test_incomplete(void **state)
{
	struct pairs ps = { 0 };
	struct pair_bound r;

	(void)state;
	for (int i = 0; i < 50; i++)
		add_message(&ps, 0, 1, i * SEC, i * SEC + AHEAD + DELAY);
	assert_int_equal(pairs_settle(&ps), 0);
	make(&r, &ps);
	assert_int_equal(r.quality, NETSYNC_INCOMPLETE);
	assert_true(pair_bound_width(&r, 0, 49 * SEC) == HUGE_VAL);
	assert_true(rate_bound_at(&r.bound, 10 * SEC).lo == INT64_MIN);
	pair_bound_release(&r);
	pairs_release(&ps);
}

/* A message received before it was sent is rejected, and the bound is not exact. */
static void test_wrong_message(void **state)
{
	struct pairs ps = { 0 };
	struct pair_bound r;

	(void)state;
	add_message(&ps, 0, 1, 50 * SEC, 50 * SEC + AHEAD - 10 * DELAY);
	add_talk(&ps, 100, AHEAD, DELAY);
	make(&r, &ps);
	assert_int_equal(r.quality, NETSYNC_APPROXIMATE);
	assert_true(r.usable);
	assert_in_range(AHEAD, rate_bound_at(&r.bound, 50 * SEC).lo,
			rate_bound_at(&r.bound, 50 * SEC).hi);
	pair_bound_release(&r);
	pairs_release(&ps);
}

/* If a host's curve inverts messages, it cannot identify the wrong ones. */
static void test_blind(void **state)
{
	struct correction blind = reference;
	const struct correction *correction[2] = { &blind, &ahead };
	struct pairs ps = { 0 };
	struct pair_bound r;

	(void)state;
	blind.no_margin = true;
	add_message(&ps, 0, 1, 50 * SEC, 50 * SEC + AHEAD - 10 * DELAY);
	add_talk(&ps, 100, AHEAD, DELAY);
	assert_int_equal(pair_bound_make(&r, ps.pair[0], correction, &limits), 0);
	assert_false(r.usable);
	assert_int_equal(r.quality, NETSYNC_APPROXIMATE);
	pair_bound_release(&r);
	pairs_release(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accurate),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_wrong_message),
		cmocka_unit_test(test_blind),
	};

	return cmocka_run_group_tests_name("pair-bound", tests, NULL, NULL);
}
