// SPDX-License-Identifier: GPL-2.0-only
/* A search must find the same element as a binary search, wherever it starts. */
#include "test.h"
#include "util/search.h"

#define MOST 40

struct element {
	int other;
	int64_t t;
};

static void test_search_from_any_place(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct element e[MOST];
		size_t num = (size_t)draw_integer_below(&seed, MOST + 1);
		int64_t t = draw_integer_below(&seed, 10);

		for (size_t i = 0; i < num; i++) {
			e[i].t = t;
			/* Some times are equal. */
			t += draw_integer_below(&seed, 4);
		}
		for (int i = 0; i < 20; i++) {
			int64_t at = draw_integer_below(&seed, t + 3) - 1;
			size_t near = (size_t)draw_integer_below(&seed, MOST + 5);

			assert_int_equal(LAST_NEAR(e, num, t, at, near), LAST_UNTIL(e, num, t, at));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search_from_any_place),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
