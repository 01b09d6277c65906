// SPDX-License-Identifier: GPL-2.0-only
/* Compare the convex hull with its definition. */
#include <string.h>

#include "test.h"
#include "message/hull.h"

/* Return whether p[k] is a corner, that is, strictly below every line between two other points. */
static bool is_hull_corner(const struct point *p, size_t n, size_t k)
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

static int compare_points_by_place(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return p->y < q->y ? -1 : p->y > q->y;
}

static void check_hull(struct point *p, size_t n)
{
	struct hull h = { 0 };
	size_t corners = 0;

	qsort(p, n, sizeof(*p), compare_points_by_place);
	for (size_t i = 0; i < n; i++)
		if (!i || p[i - 1].x != p[i].x)
			assert_int_equal(hull_add(&h, &p[i]), 0);
	for (size_t k = 0; k < n; k++) {
		bool first = true;
		size_t at;

		for (size_t i = 0; i < k; i++)
			if (!memcmp(&p[i], &p[k], sizeof(*p)))
				first = false;
		if (!first || !is_hull_corner(p, n, k))
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
		size_t n = 1 + (size_t)draw_integer_below(&seed, 24);
		int64_t range = 1 + draw_integer_below(&seed, 30);

		for (size_t i = 0; i < n; i++) {
			p[i].x = draw_integer_below(&seed, range) - range / 2;
			p[i].y = draw_integer_below(&seed, range) - range / 2;
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
			p[i].x = (int64_t)(draw_random64(&seed) >> 3) - (1LL << 60);
			p[i].y = (int64_t)(draw_random64(&seed) >> 2) - (1LL << 61);
		}
		check_hull(p, 12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_random),
		cmocka_unit_test(test_largest_coordinates),
	};

	return cmocka_run_group_tests_name("hull", tests, NULL, NULL);
}
