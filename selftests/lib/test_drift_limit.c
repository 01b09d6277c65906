// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test whether the bound of a pair assumes a drift limit: not if the messages leave less to a clock
 * than their delays, however unequal these are, and not if that makes the bound hardly wider.
 */
#include <string.h>

#include "bound/drift-limit.h"
#include "test.h"

#define NUM 60
#define RATE_LIMIT 500e-6
#define SLEW 500e-6 /* of each clock, by adjtime(3) */
#define MORE 40e3   /* mean excess delay, ns */

/* Return the offset of f at time x, ns. */
typedef int64_t (*ahead_fn)(int64_t x);

static int64_t keep_even(int64_t x)
{
	(void)x;
	return 0;
}

/* A slew forth by 2 ms, and another one back. */
static int64_t slew_and_slew_back(int64_t x)
{
	const int64_t on = min64(max64(x - 20 * SEC, 0), 4 * SEC);
	const int64_t back = min64(max64(x - 30 * SEC, 0), 4 * SEC);

	return -llround(SLEW * (double)(on - back));
}

struct talk_of_two {
	struct point point[2][NUM];
	struct windows windows;
	struct drift_evidence evidence;
	struct rate_bound bound;
	ahead_fn ahead;
	int64_t end;
};

/* Requests of host 0, and their responses. */
static void make_talk(struct talk_of_two *t, ahead_fn ahead, int64_t apart, int64_t there,
		      int64_t back, uint64_t seed)
{
	const struct limits limits = { .slope = RATE_LIMIT, .bend = 2e-16, .slew = 2 * SLEW };

	memset(t, 0, sizeof(*t));
	t->ahead = ahead;
	t->end = NUM * apart;
	for (int i = 0; i < NUM; i++) {
		const int64_t sent = i * apart;
		const int64_t received = sent + there + (int64_t)draw_from_exponential(&seed, MORE);
		const int64_t answered = received + back +
					 (int64_t)draw_from_exponential(&seed, MORE);

		t->point[0][i] = (struct point){ sent, received + ahead(received) - sent };
		t->point[1][i] = (struct point){ answered, answered - received - ahead(received) };
	}
	t->evidence = (struct drift_evidence){
		.limits = limits,
		.point = { t->point[0], t->point[1] },
		.num = { NUM, NUM },
		.windows = &t->windows,
	};
	assert_int_equal(rate_bound_make(&t->bound, &limits, t->point[0], NUM, t->point[1], NUM,
					 NULL, 0),
			 0);
}

static bool is_true(const struct talk_of_two *t)
{
	for (int64_t x = 0; x < t->end; x += t->end / 999) {
		const struct range y = rate_bound_at(&t->bound, x);

		if (t->ahead(x) < y.lo || t->ahead(x) > y.hi)
			return false;
	}
	return true;
}

static int check_talk(struct talk_of_two *t)
{
	struct change_window all;

	return drift_limit_check(&t->bound, &t->evidence, &all);
}

/*
 * The clock moves by less than half of the round trip, but by more than the delay of one direction:
 * no message is inconsistent with the drift limit, whose bound is false.
 */
static void test_slewed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct talk_of_two t;

		make_talk(&t, slew_and_slew_back, SEC, 6000 * US, 300 * US, seed);
		assert_int_equal(t.bound.infeasible, 0);
		assert_false(is_true(&t));
		assert_int_equal(check_talk(&t), 1);
		assert_true(is_true(&t));
		rate_bound_release(&t.bound);
	}
}

/* The bound of a clock that nobody steers keeps its drift limit. */
static void test_steady(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct talk_of_two t;

		make_talk(&t, keep_even, SEC, 6000 * US, 300 * US, seed);
		assert_int_equal(check_talk(&t), 0);
		assert_true(is_true(&t));
		rate_bound_release(&t.bound);
	}
}

/* Messages that are seldom do not show how much their delays leave to a clock. */
static void test_far_apart(void **state)
{
	struct talk_of_two t;

	(void)state;
	make_talk(&t, keep_even, SEC, 300 * US, 300 * US, 1);
	for (int i = 0; i < NUM; i++)
		t.point[1][i].x += SEC / 2;
	rate_bound_release(&t.bound);
	assert_int_equal(rate_bound_make(&t.bound, &t.evidence.limits, t.point[0], NUM, t.point[1],
					 NUM, NULL, 0),
			 0);
	assert_int_equal(check_talk(&t), 0);
	rate_bound_release(&t.bound);
}

/* If messages are dense, a bound without a drift limit is hardly wider, and takes its place. */
static void test_dense(void **state)
{
	struct talk_of_two t;
	double width;

	(void)state;
	make_talk(&t, keep_even, SEC / 100, 6000 * US, 6000 * US, 1);
	width = (double)(rate_bound_at(&t.bound, t.end / 2).hi -
			 rate_bound_at(&t.bound, t.end / 2).lo);
	assert_int_equal(check_talk(&t), 1);
	assert_true((double)(rate_bound_at(&t.bound, t.end / 2).hi -
			     rate_bound_at(&t.bound, t.end / 2).lo) < 1.06 * width);
	rate_bound_release(&t.bound);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slewed),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_dense),
	};

	return cmocka_run_group_tests_name("drift-limit", tests, NULL, NULL);
}
