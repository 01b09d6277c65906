// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check which machines exchange beacons: each machine has few neighbours, each link is used in both
 * directions, and the links connect all machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "remote/beacon.h"

#define MOST 300

static uint16_t joined[MOST][BEACON_NEIGHBOURS];
static unsigned int num_joined[MOST];

static void join_machines(unsigned int num)
{
	for (unsigned int i = 0; i < num; i++)
		num_joined[i] = beacon_choose_neighbours(num, i, joined[i]);
}

static bool are_joined(unsigned int a, unsigned int b)
{
	for (unsigned int i = 0; i < num_joined[a]; i++)
		if (joined[a][i] == b)
			return true;
	return false;
}

/*
 * Return the largest number of links on the shortest path from machine 0 to any other existing
 * machine, or -1 if a machine is not connected.
 */
static int count_most_steps(unsigned int num, unsigned int missing)
{
	const unsigned int start = missing == 0;
	unsigned int queue[MOST], head = 0, tail = 0, found = 1;
	int far[MOST];

	memset(far, -1, sizeof(far));
	far[start] = 0;
	queue[tail++] = start;
	while (head < tail) {
		unsigned int at = queue[head++];

		for (unsigned int i = 0; i < num_joined[at]; i++) {
			unsigned int to = joined[at][i];

			if (to == missing || far[to] >= 0)
				continue;
			far[to] = far[at] + 1;
			queue[tail++] = to;
			found++;
		}
	}
	return found == num - (missing < num) ? far[queue[tail - 1]] : -1;
}

static void test_joined_both_ways(void **state)
{
	(void)state;
	for (unsigned int num = 1; num <= MOST; num++) {
		join_machines(num);
		for (unsigned int i = 0; i < num; i++)
			for (unsigned int j = 0; j < num_joined[i]; j++) {
				assert_int_not_equal(joined[i][j], i);
				assert_in_range(joined[i][j], 0, num - 1);
				assert_true(are_joined(joined[i][j], i));
			}
	}
}

static void test_links_of_few_machines(void **state)
{
	(void)state;
	for (unsigned int num = 1; num <= 5; num++) {
		join_machines(num);
		for (unsigned int i = 0; i < num; i++)
			assert_int_equal(num_joined[i], num - 1);
	}
}

static void test_few_steps(void **state)
{
	(void)state;
	for (unsigned int num = 2; num <= MOST; num++) {
		int k = 0;

		/*
		 * A path of k links leads from one machine to at most 2 k (k + 1) other machines.
		 */
		while (2 * k * (k + 1) + 1 < (int)num)
			k++;
		join_machines(num);
		assert_in_range(count_most_steps(num, num), 1, k);
	}
}

static void test_ring_without_one_machine(void **state)
{
	(void)state;
	for (unsigned int num = 3; num <= 100; num++) {
		join_machines(num);
		for (unsigned int i = 0; i < num; i++)
			assert_int_not_equal(count_most_steps(num, i), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined_both_ways),
		cmocka_unit_test(test_links_of_few_machines),
		cmocka_unit_test(test_few_steps),
		cmocka_unit_test(test_ring_without_one_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
