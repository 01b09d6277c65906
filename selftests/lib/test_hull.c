// SPDX-License-Identifier: GPL-2.0-only
/* The incremental hull against its definition, in any order of the points. */
#include <string.h>

#include "test.h"
#include "hull.h"

/* p is a corner iff it is strictly below every line between two others. */
static bool is_corner(const struct point *p, size_t n, size_t k)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i].x == p[k].x && p[i].y < p[k].y)
			return false;
		for (size_t j = 0; j < n; j++) {
			if (p[i].x >= p[k].x || p[j].x <= p[k].x)
				continue;
			if ((__int128)(p[k].y - p[i].y) * (p[j].x - p[i].x) >=
			    (__int128)(p[j].y - p[i].y) * (p[k].x - p[i].x))
				return false;
		}
	}
	return true;
}

static void check_hull(const struct point *p, size_t n)
{
	struct hull h = { 0 };
	size_t corners = 0;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(hull_add(&h, p[i].x, p[i].y), 0);
	assert_int_equal(hull_settle(&h), 0);
	for (size_t k = 0; k < n; k++) {
		bool first = true;
		size_t at;

		for (size_t i = 0; i < k; i++)
			if (!memcmp(&p[i], &p[k], sizeof(*p)))
				first = false;
		if (!first || !is_corner(p, n, k))
			continue;
		corners++;
		at = hull_find(&h, p[k].x);
		assert_int_equal(h.corner[at].x, p[k].x);
		assert_int_equal(h.corner[at].y, p[k].y);
	}
	assert_int_equal(h.corners, corners);
	hull_release(&h);
}

static void test_small_random(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct point p[24];
		size_t n = 1 + (size_t)below(&seed, 24);
		int64_t range = 1 + below(&seed, 30);

		for (size_t i = 0; i < n; i++) {
			p[i].x = below(&seed, range) - range / 2;
			p[i].y = below(&seed, range) - range / 2;
		}
		check_hull(p, n);
	}
}

static void test_largest_coordinates(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct point p[12];

		for (size_t i = 0; i < 12; i++) {
			p[i].x = (int64_t)(random64(&seed) >> 3) - (1LL << 60);
			p[i].y = (int64_t)(random64(&seed) >> 2) - (1LL << 61);
		}
		check_hull(p, 12);
	}
}

static void test_any_order(void **state)
{
	enum { N = 20000 };
	struct point *p = calloc(N, sizeof(*p));
	struct hull a = { 0 }, b = { 0 };
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		p[i].x = (int64_t)i * 1000;
		p[i].y = (int64_t)exponential(&seed, 1e5);
		assert_int_equal(hull_add(&a, p[i].x, p[i].y), 0);
	}
	for (size_t i = N - 1; i; i--) {
		size_t j = (size_t)below(&seed, (int64_t)i + 1);
		struct point t = p[i];

		p[i] = p[j];
		p[j] = t;
	}
	for (size_t i = 0; i < N; i++)
		assert_int_equal(hull_add(&b, p[i].x, p[i].y), 0);
	assert_int_equal(hull_settle(&a), 0);
	assert_int_equal(hull_settle(&b), 0);
	assert_int_equal(a.corners, b.corners);
	assert_memory_equal(a.corner, b.corner, a.corners * sizeof(*a.corner));
	hull_release(&a);
	hull_release(&b);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_random),
		cmocka_unit_test(test_largest_coordinates),
		cmocka_unit_test(test_any_order),
	};

	return cmocka_run_group_tests_name("hull", tests, NULL, NULL);
}
