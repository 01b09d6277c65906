// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find phase steps smaller than the sum of both directions' delays, where messages leave less slack
 * across the step than elsewhere. Without a step, none may be found.
 */
#include <string.h>

#include "bound/hidden-step.h"
#include "test.h"

#define NUM 300
#define APART (10000 * US) /* interval between messages of a direction */
#define DELAY (1000 * US)
#define MORE 50e3 /* mean excess delay, ns */
#define LEAST (0.75 * DELAY)
#define STEEPEST 1500e-6

struct exchange {
	struct limit limit[2][NUM];
	struct limits_of_way way[2];
	struct windows found;
};

/* Return the offset of f at time x, ns. */
typedef int64_t (*ahead_fn)(int64_t x);

static int64_t keep_even(int64_t x)
{
	(void)x;
	return 0;
}

static int64_t step_in_middle(int64_t x)
{
	return x > 150 * APART + APART / 3 ? 1200 * US : 0;
}

/* The clock is stepped, and is stepped back after as many messages as are compared. */
static int64_t step_back_in_middle(int64_t x)
{
	return x > 100 * APART && x < 120 * APART ? -1100 * US : 0;
}

static int64_t slew_forth_and_back(int64_t x)
{
	return llround(480e-6 * (double)(x < 150 * APART ? x : 300 * APART - x));
}

/* Messages of one direction are sent half-way between messages of the other direction. */
static void make_hidden_exchange(struct exchange *e, ahead_fn ahead, uint64_t seed)
{
	memset(e, 0, sizeof(*e));
	for (int way = 0; way < 2; way++) {
		e->way[way] = (struct limits_of_way){ .limit = e->limit[way], .num = NUM };
		for (int64_t i = 0; i < NUM; i++) {
			const int64_t x = i * APART + way * APART / 2;
			const int64_t d = DELAY + (int64_t)draw_from_exponential(&seed, MORE);

			e->limit[way][i].point = (struct point){
				x, EPOCH / 2 * (way ? -1 : 1) + (way ? -ahead(x) : ahead(x)) + d
			};
		}
	}
}

static void find_hidden_steps(struct exchange *e)
{
	assert_int_equal(hidden_steps_find(&e->found, e->way, STEEPEST, LEAST, 0), 0);
}

static void test_clocks_without_step(void **state)
{
	static const ahead_fn ahead[] = { keep_even, slew_forth_and_back };

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct exchange e;

		make_hidden_exchange(&e, ahead[seed % 2], seed);
		find_hidden_steps(&e);
		assert_int_equal(e.found.num, 0);
		windows_release(&e.found);
	}
}

static void test_one_hidden_step(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct exchange e;

		make_hidden_exchange(&e, step_in_middle, seed);
		find_hidden_steps(&e);
		assert_int_equal(e.found.num, 1);
		assert_true(e.found.window[0].phase_step);
		/* The window contains the step and some of the compared messages. */
		assert_in_range(e.found.window[0].from, 142 * APART, 150 * APART + APART / 3);
		assert_in_range(e.found.window[0].to, 150 * APART + APART / 3, 158 * APART);
		windows_release(&e.found);
	}
}

static void test_step_away_and_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct exchange e;

		make_hidden_exchange(&e, step_back_in_middle, seed);
		find_hidden_steps(&e);
		assert_int_equal(e.found.num, 2);
		assert_in_range(100 * APART, e.found.window[0].from, e.found.window[0].to);
		assert_in_range(120 * APART, e.found.window[1].from, e.found.window[1].to);
		windows_release(&e.found);
	}
}

/* A step within a known window is not found a second time. */
static void test_known_step(void **state)
{
	const struct change_window known = { .from = 149 * APART,
					     .to = 152 * APART,
					     .phase_step = true };
	struct exchange e;

	(void)state;
	make_hidden_exchange(&e, step_in_middle, 1);
	assert_int_equal(windows_add_one(&e.found, &known), 0);
	find_hidden_steps(&e);
	assert_int_equal(e.found.num, 1);
	windows_release(&e.found);
}

/*
 * A known window next to the step does not explain the step, although some messages in the window
 * do.
 */
static void test_misplaced_window(void **state)
{
	const struct change_window known = { .from = 120 * APART,
					     .to = 149 * APART,
					     .phase_step = true };

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct exchange e;

		make_hidden_exchange(&e, step_in_middle, seed);
		assert_int_equal(windows_add_one(&e.found, &known), 0);
		find_hidden_steps(&e);
		assert_int_equal(e.found.num, 2);
		assert_in_range(150 * APART + APART / 3, e.found.window[1].from,
				e.found.window[1].to);
		windows_release(&e.found);
	}
}

/* If messages of one or both directions are faster for a while, no step is found. */
static void test_messages_faster_for_a_while(void **state)
{
	(void)state;
	for (int ways = 1; ways <= 2; ways++) {
		struct exchange e;

		make_hidden_exchange(&e, keep_even, 3);
		for (int way = 0; way < ways; way++)
			for (size_t i = 100; i < 140; i++)
				e.limit[way][i].point.y -= DELAY / 3 * 2;
		find_hidden_steps(&e);
		assert_int_equal(e.found.num, 0);
		windows_release(&e.found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks_without_step),
		cmocka_unit_test(test_one_hidden_step),
		cmocka_unit_test(test_step_away_and_back),
		cmocka_unit_test(test_known_step),
		cmocka_unit_test(test_misplaced_window),
		cmocka_unit_test(test_messages_faster_for_a_while),
	};

	return cmocka_run_group_tests_name("hidden-step", tests, NULL, NULL);
}
