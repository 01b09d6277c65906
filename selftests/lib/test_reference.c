// SPDX-License-Identifier: GPL-2.0-only
/* Check which host becomes the reference, and which hosts are connected to each other. */
#include "reduction.h"

/* Return the reference of hosts that are connected by these pairs, all of which have cost 1. */
static uint32_t choose_reference_of(const uint32_t pair[][2], int pairs, uint32_t given,
				    uint32_t *island)
{
	struct reduced hosts;
	struct reduction r;
	uint32_t reference;

	reduced_init(&hosts, NETSYNC_METHOD_AUTO);
	for (int i = 0; i < pairs; i++)
		reduced_add_talk(&hosts, pair[i][0], pair[i][1], 10, 1000);
	reduced_estimate(&hosts);
	hosts.task.reference = given;
	reduction_init(&r, &hosts);
	reduction_find_islands(&r);
	for (uint32_t h = 0; h < REDUCED_HOSTS; h++)
		island[h] = hosts.host[h].island;
	reference = r.reference;
	reduction_end(&r);
	reduced_release(&hosts);
	return reference;
}

/* The host in the middle is nearest to all others. */
static void test_host_in_middle(void **state)
{
	const uint32_t star[][2] = { { 0, 1 }, { 1, 2 }, { 1, 3 } };
	uint32_t island[REDUCED_HOSTS];

	(void)state;
	assert_int_equal(choose_reference_of(star, 3, NO_HOST, island), 1);
	for (int h = 0; h < REDUCED_HOSTS; h++)
		assert_int_equal(island[h], 0);
}

/*
 * Among equally good hosts, the first name in alphabetical order is chosen, not the lowest number.
 * Host 3 is called "a".
 */
static void test_choice_by_name(void **state)
{
	const uint32_t all[][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } };
	const uint32_t two[][2] = { { 0, 1 } };
	uint32_t island[REDUCED_HOSTS];

	(void)state;
	assert_int_equal(choose_reference_of(all, 6, NO_HOST, island), 3);
	assert_int_equal(choose_reference_of(two, 1, NO_HOST, island), 1);
}

/* The reference is in the largest island, regardless of the order of hosts. */
static void test_largest_island(void **state)
{
	const uint32_t some[][2] = { { 1, 2 }, { 2, 3 } };
	uint32_t island[REDUCED_HOSTS];

	(void)state;
	assert_int_equal(choose_reference_of(some, 2, NO_HOST, island), 2);
	assert_int_equal(island[0], 0);
	assert_int_equal(island[1], 1);
	assert_int_equal(island[3], 1);
}

/* A given reference is used, whether it is connected or not. */
static void test_given_reference(void **state)
{
	const uint32_t some[][2] = { { 1, 2 }, { 2, 3 } };
	uint32_t island[REDUCED_HOSTS];

	(void)state;
	assert_int_equal(choose_reference_of(some, 2, 0, island), 0);
	assert_int_equal(choose_reference_of(some, 2, 3, island), 3);
}

static void test_nobody_talks(void **state)
{
	uint32_t island[REDUCED_HOSTS];

	(void)state;
	assert_true(choose_reference_of(NULL, 0, NO_HOST, island) < REDUCED_HOSTS);
	for (uint32_t h = 0; h < REDUCED_HOSTS; h++)
		assert_int_equal(island[h], h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_in_middle), cmocka_unit_test(test_choice_by_name),
		cmocka_unit_test(test_largest_island), cmocka_unit_test(test_given_reference),
		cmocka_unit_test(test_nobody_talks),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
