// SPDX-License-Identifier: GPL-2.0-only
/*
 * If curves invert messages in the window of a phase step, the window is extended up to the
 * messages that reveal on which side of the step they are. Otherwise, the window does not change.
 */
#include <string.h>

#include "bound/reach.h"
#include "test.h"

#define NUM 100
#define APART 1000000 /* interval between messages, ns */
#define STEP 50e3     /* size of the step, ns */
#define QUICK 20e3    /* delay of a fast message, which is smaller than the step, ns */
#define SLOW 80e3     /* delay of a slow message, which is larger than the step, ns */
#define FROM (50 * APART)
#define TO (52 * APART)

struct world {
	struct limit limit[2][NUM];
	struct limits_of_way way[2];
	struct change_window window;
	struct windows windows;
};

/* Make slow messages, and one message in the window that is inverted and therefore rejected. */
static void make_reach_world(struct world *w, double offset)
{
	memset(w, 0, sizeof(*w));
	for (int way = 0; way < 2; way++) {
		w->way[way] = (struct limits_of_way){ .limit = w->limit[way], .num = NUM };
		for (size_t i = 0; i < NUM; i++)
			w->limit[way][i] = (struct limit){ .point.x = (int64_t)i * APART,
							   .delay = SLOW };
	}
	w->limit[0][51].left_out = true;
	w->window = (struct change_window){ FROM, TO, offset != 0, 0, offset, 0, false };
	w->windows = (struct windows){ &w->window, 1, 1 };
}

static void check_reached_window(struct world *w, int64_t from, int64_t to)
{
	reach_phase_steps(&w->windows, w->way);
	assert_int_equal(w->window.from, from);
	assert_int_equal(w->window.to, to);
}

/*
 * One direction has a message that is clearly before the step, and the other direction has a
 * message that is clearly after the step. Each of these messages is faster than would be possible
 * on the other side of the step.
 */
static void test_to_those_that_tell(void **state)
{
	struct world w;

	(void)state;
	for (int down = 0; down < 2; down++) {
		make_reach_world(&w, down ? -STEP : STEP);
		w.limit[down][40].delay = QUICK;
		w.limit[!down][45].delay = QUICK;
		w.limit[down][55].delay = QUICK;
		w.limit[!down][60].delay = QUICK;
		check_reached_window(&w, 40 * APART, 60 * APART);
	}
}

/*
 * Rejected messages and slow messages reveal nothing, so the window is extended to the last
 * message.
 */
static void test_to_the_ends(void **state)
{
	struct world w;

	(void)state;
	make_reach_world(&w, STEP);
	w.limit[0][40].delay = QUICK;
	w.limit[0][40].left_out = true;
	check_reached_window(&w, 0, (NUM - 1) * APART);
}

/*
 * The window is not extended if all messages are consistent with the curves or if no step is known.
 */
static void test_as_it_was(void **state)
{
	struct world w;

	(void)state;
	make_reach_world(&w, STEP);
	w.limit[0][51].left_out = false;
	w.limit[1][80].left_out = true;
	check_reached_window(&w, FROM, TO);
	make_reach_world(&w, 0);
	check_reached_window(&w, FROM, TO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_those_that_tell),
		cmocka_unit_test(test_to_the_ends),
		cmocka_unit_test(test_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
