// SPDX-License-Identifier: GPL-2.0-only
/* Compare helper functions that all folders of the library use with simple loops. */
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/bytes.h"
#include "util/pair-table.h"
#include "util/search.h"
#include "util/statistics.h"
#include "util/time-heap.h"
#include "util/whole.h"
#include "util/wide.h"
#include "test.h"

/* ---- search.h -------------------------------------------------------------- */

struct item {
	double other;
	int64_t ns;
	double t;
};

static void check_search(const struct item *v, size_t n, int64_t t)
{
	size_t before = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		before += v[i].ns < t;
		if (v[i].ns <= t)
			last = i;
	}
	assert_int_equal(NUM_BEFORE(v, n, ns, t), before);
	assert_int_equal(LAST_UNTIL(v, n, ns, t), last);
	assert_int_equal(NUM_BEFORE(v, n, t, (double)t), before);
	assert_int_equal(LAST_UNTIL(v, n, t, (double)t), last);
}

static void test_binary_search(void **state)
{
	enum { N = 40 };
	struct item v[N] = { { 0 } };
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 50; round++) {
		int64_t at = -20;

		/* Some times are equal. */
		for (int i = 0; i < N; i++) {
			at += draw_integer_below(&seed, 3);
			v[i].ns = at;
			v[i].t = (double)at;
		}
		for (size_t n = 0; n <= N; n++)
			for (int64_t t = -22; t <= at + 2; t++)
				check_search(v, n, t);
	}
	v[0].ns = INT64_MIN;
	v[1].ns = INT64_MAX;
	assert_int_equal(NUM_BEFORE(v, 2, ns, INT64_MIN), 0);
	assert_int_equal(LAST_UNTIL(v, 2, ns, INT64_MAX), 1);
	assert_int_equal(LAST_UNTIL((struct item *)NULL, 0, ns, 0), 0);
}

/* ---- statistics.h ----------------------------------------------------------- */

static int compare_doubles_by_value(const void *a, const void *b)
{
	const double *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static void test_order_statistics(void **state)
{
	double v[60], sorted[60];
	uint64_t seed = 2;

	(void)state;
	assert_true(compute_order_statistic(v, 0, 0) == 0);
	for (size_t n = 1; n <= 60; n++) {
		/*
		 * Draw from few different values, so that many are equal, or from many different
		 * values.
		 */
		for (size_t i = 0; i < n; i++)
			v[i] = n & 1 ? (double)draw_integer_below(&seed, 5) :
				       draw_between_0_and_1(&seed) - 0.5;
		memcpy(sorted, v, sizeof(v));
		qsort(sorted, n, sizeof(*sorted), compare_doubles_by_value);
		for (size_t k = 0; k < n; k++)
			assert_true(compute_order_statistic(v, n, k) == sorted[k]);
		assert_true(statistics_median(v, n) == sorted[n / 2]);
		/* The function may move values, but must not change them. */
		qsort(v, n, sizeof(*v), compare_doubles_by_value);
		assert_memory_equal(v, sorted, n * sizeof(*v));
	}
}

/* ---- pair-table.h ------------------------------------------------------------- */

static void test_pair_table(void **state)
{
	enum { HOSTS = 60 };
	static uint32_t number[HOSTS][HOSTS];
	struct pair_table t = { 0 };
	uint64_t seed = 3;

	(void)state;
	assert_int_equal(pair_table_find(&t, 1, 2), 0);
	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t a = (uint32_t)draw_integer_below(&seed, HOSTS);
		uint32_t b = (uint32_t)draw_integer_below(&seed, HOSTS);

		/* Some pairs are set a second time. */
		assert_int_equal(pair_table_set(&t, a, b, i), 0);
		number[a][b] = i + 1;
	}
	for (uint32_t a = 0; a < HOSTS; a++)
		for (uint32_t b = 0; b < HOSTS; b++)
			assert_int_equal(pair_table_find(&t, a, b), number[a][b]);
	assert_true(2 * t.num <= t.slots);
	pair_table_release(&t);
}

/* ---- array.h, whole.h, wide.h -------------------------------------------------- */

static void test_growing_array(void **state)
{
	int *v = NULL;
	size_t room = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(array_grow(&v, &room, (size_t)i, sizeof(*v)), 0);
		assert_true(room > (size_t)i);
		v[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v[i], i);
	assert_int_equal(array_grow(&v, &room, room, SIZE_MAX), -ENOMEM);
	assert_int_equal(v[999], 999);
	free(v);
}

static void test_whole_ns(void **state)
{
	int64_t t = 5;

	(void)state;
	assert_true(add_whole_ns(&t, 2.25) == 0.25);
	assert_int_equal(t, 7);
	assert_true(add_whole_ns(&t, -0.25) == 0.75);
	assert_int_equal(t, 6);
	t = EPOCH;
	assert_true(add_whole_ns(&t, 0.5) == 0.5);
	assert_int_equal(t, EPOCH);
	assert_true(add_whole_ns(&t, 1e300) == 0);
	assert_true(t == FARTHEST);
	assert_true(add_whole_ns(&t, -1e300) == 0);
	assert_true(t == -FARTHEST);
	assert_true(add_whole_ns(&t, NAN) == 0);
}

static void test_wide_integers(void **state)
{
	static const int64_t small[] = { INT64_MIN, INT64_MIN + 1, -3, -1, 0, 1, 3, INT64_MAX };
	const __int128 big = (__int128)1 << 100;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < 8; k++) {
			const struct wide p = wide_multiply(small[i], small[k]);
			const struct wide q = make_wide((__int128)small[i] * small[k]);

			assert_true(p.low == q.low && p.high == q.high);
		}
	/* The sum has more than 128 bits: (2^100 + 5) 2^60 - 2^160 = 5 * 2^60 */
	for (int sign = -1; sign <= 1; sign += 2) {
		const struct wide sum = wide_add(wide_multiply(sign * (big + 5), INT64_C(1) << 60),
						 wide_multiply(-sign * big, INT64_C(1) << 60));

		assert_true(wide_to_double(sum) == sign * 5 * 0x1p60);
	}
	for (int a = -9; a <= 9; a++)
		for (int b = 1; b <= 4; b++)
			assert_true((double)floor_div(a, b) == floor((double)a / b));
}

/* Four streams have the times 4 i + stream. One stream is longer than the others. */
static void test_time_heap(void **state)
{
	int64_t streams[] = { 3, 0, 2, 1 };
	struct time_heap_item items[4];
	struct time_heap heap = { items, 4 };
	int64_t last = INT64_MIN;
	int num = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		items[i] = (struct time_heap_item){ streams[i], &streams[i], 0 };
	time_heap_restore_order(&heap);
	for (; heap.num; num++) {
		int64_t *stream = heap.items[0].stream;

		assert_int_equal(heap.items[0].time_ns, *stream);
		assert_true(*stream >= last);
		last = *stream;
		*stream += 4;
		if (*stream >= (*stream % 4 ? 40 : 80))
			time_heap_end_first(&heap);
		else
			time_heap_advance_first(&heap, *stream);
	}
	assert_int_equal(num, 3 * 10 + 20);
}

/*
 * Many items have few different times. Items come out in order of time, and then in order of rank.
 */
static void test_time_heap_ranks(void **state)
{
	struct time_heap_item items[100];
	struct time_heap heap = { items, 0 };

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t rank = i * 37 % 100;

		time_heap_add(&heap, (struct time_heap_item){ (int64_t)rank / 10, NULL, rank });
	}
	for (uint64_t rank = 0; rank < 100; rank++, time_heap_end_first(&heap))
		assert_int_equal(heap.items[0].rank, rank);
	assert_int_equal(heap.num, 0);
}

/* ---- bytes.h --------------------------------------------------------------- */

static void check_leb128_number(uint64_t v, size_t bytes)
{
	uint8_t room[LEB128_MAX];
	const size_t n = leb128_put(room, v);
	uint64_t back;

	assert_int_equal(n, bytes);
	assert_int_equal(leb128_take(room, sizeof(room), &back), n);
	assert_true(back == v);
	/* This number has no last byte. */
	assert_int_equal(leb128_take(room, n - 1, &back), 0);
	assert_true(back == 0);
}

static void test_leb128_numbers(void **state)
{
	static const int64_t by_length[] = { 0, -1, 1, -2, 2, INT64_MAX, INT64_MIN };
	static const uint64_t number[] = { 0, 1, 2, 3, 4, UINT64_MAX - 1, UINT64_MAX };
	/* These numbers have 65 bits or one byte too many. */
	static const uint8_t long_one[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 2 },
			     longer[] = { 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0 };
	uint64_t v;

	(void)state;
	for (unsigned int bits = 1; bits <= 64; bits++) {
		check_leb128_number(UINT64_MAX >> (64 - bits), (bits + 6) / 7);
		check_leb128_number((uint64_t)1 << (bits - 1), (bits + 6) / 7);
	}
	check_leb128_number(0, 1);
	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++) {
		assert_true(fold_signed_number(by_length[i]) == number[i]);
		assert_true(leb128_to_signed(number[i]) == by_length[i]);
	}
	assert_int_equal(leb128_take(long_one, sizeof(long_one), &v), 0);
	assert_int_equal(leb128_take(longer, sizeof(longer), &v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binary_search),  cmocka_unit_test(test_order_statistics),
		cmocka_unit_test(test_pair_table),     cmocka_unit_test(test_growing_array),
		cmocka_unit_test(test_whole_ns),       cmocka_unit_test(test_wide_integers),
		cmocka_unit_test(test_time_heap),      cmocka_unit_test(test_time_heap_ranks),
		cmocka_unit_test(test_leb128_numbers),
	};

	return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
