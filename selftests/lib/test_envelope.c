// SPDX-License-Identifier: GPL-2.0-only
/* Compare an envelope with its definition. Points are added in any order. */
#include <string.h>

#include "test.h"
#include "message/envelope.h"

static const struct budget ample = { 1 << 20, 1 << 20 };

static void shuffle_points(struct point *p, size_t n, uint64_t *seed)
{
	for (size_t i = n - 1; i; i--) {
		size_t j = (size_t)draw_integer_below(seed, (int64_t)i + 1);
		struct point t = p[i];

		p[i] = p[j];
		p[j] = t;
	}
}

static struct envelope make_envelope_of_points(const struct point *p, size_t n, int64_t origin,
					       const struct budget *room)
{
	struct envelope e = { .base = -origin };

	for (size_t i = 0; i < n; i++) {
		struct point buffer[50];
		size_t k = 0;

		/* Add a few points at a time, or one at a time. */
		do {
			buffer[k] = p[i];
			buffer[k++].x -= origin;
		} while (i % 7 && k < 50 && ++i < n);
		assert_int_equal(envelope_add(&e, buffer, k, room), k);
	}
	assert_int_equal(envelope_settle(&e, room), 0);
	return e;
}

/* Check that both envelopes have the same bins and points. The envelopes may have different time
 * origins. */
static void check_same_envelopes(const struct envelope *a, const struct envelope *b)
{
	int64_t shift = b->base - a->base;

	assert_int_equal(a->num, b->num);
	assert_int_equal(a->shift, b->shift);
	assert_int_equal(a->corners, b->corners);
	for (size_t i = 0; i < a->num; i++) {
		const struct bin *p = &a->bin[i], *q = &b->bin[i];

		assert_int_equal(p->index, q->index);
		assert_int_equal(p->messages, q->messages);
		assert_int_equal(p->corners, q->corners);
		assert_int_equal(bin_time(p) + shift, bin_time(q));
		for (uint32_t k = 0; k < p->corners; k++) {
			assert_int_equal(p->corner[k].x + shift, q->corner[k].x);
			assert_int_equal(p->corner[k].y, q->corner[k].y);
		}
	}
}

static void check_bin_order(const struct envelope *e, size_t messages)
{
	size_t corners = 0, n = 0;

	for (size_t i = 0; i < e->num; i++) {
		const struct bin *b = &e->bin[i];

		assert_true(b->corners && b->corners <= b->messages);
		corners += b->corners;
		n += b->messages;
		assert_true(!i || e->bin[i - 1].index < b->index);
		for (uint32_t k = 0; k < b->corners; k++) {
			assert_int_equal((b->corner[k].x - e->base) >> e->shift, b->index);
			assert_true(!k || b->corner[k - 1].x < b->corner[k].x);
		}
	}
	assert_int_equal(corners, e->corners);
	assert_int_equal(n, messages);
}

/* Return the height of a point above the parabola bend/2 (x - x0)^2 + slope (x - x0). */
static double compute_height_above(const struct point *p, int64_t x0, double slope, double bend)
{
	double d = (double)(p->x - x0);

	return (double)p->y - slope * d - bend / 2 * d * d;
}

/*
 * For curves that drift by at most 1 ppm/s, the envelope touches the curve wherever the points
 * touch it.
 */
static void test_envelope_touches_curves(void **state)
{
	enum { N = 60 };
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		/* All points are within 1 ms, or within up to a bin's width of 0.3 s. */
		int64_t width = INT64_C(1) << draw_integer_below(&seed, 29);
		double jitter = exp(draw_between_0_and_1(&seed) * 12);
		struct point p[N];
		struct envelope e;

		for (size_t i = 0; i < N; i++) {
			p[i].x = EPOCH + draw_integer_below(&seed, width);
			p[i].y = (int64_t)draw_from_exponential(&seed, jitter) -
				 (int64_t)(1e-5 * (double)(p[i].x - EPOCH));
		}
		e = make_envelope_of_points(p, N, EPOCH, &ample);
		check_bin_order(&e, N);
		for (int line = 0; line < 100; line++) {
			double slope = (draw_between_0_and_1(&seed) - 0.5) * 1e-2;
			double bend = (draw_between_0_and_1(&seed) * 2 - 1) * 1e-15;
			int64_t x0 = EPOCH + draw_integer_below(&seed, width);

			for (size_t i = 0; i < e.num; i++) {
				const struct bin *b = &e.bin[i];
				double all = HUGE_VAL, kept = HUGE_VAL;

				for (size_t k = 0; k < N; k++)
					if (p[k].x >> e.shift == b->index)
						all = fmin(all, compute_height_above(&p[k], x0,
										     slope, bend));
				for (uint32_t k = 0; k < b->corners; k++) {
					struct point q = b->corner[k];

					q.x -= e.base;
					kept = fmin(kept,
						    compute_height_above(&q, x0, slope, bend));
				}
				assert_true(kept <= all + 1e-6);
			}
		}
		envelope_release(&e);
	}
}

static int compare_shuffled_points_by_time(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return p->x < q->x ? -1 : p->x > q->x;
}

/*
 * Check that the result depends neither on the order of the points nor on the origin, with few
 * bins, few corners and many points.
 */
static void check_any_point_order(size_t n, int64_t span, double jitter, struct budget room,
				  uint64_t seed)
{
	struct point *p = calloc(n, sizeof(*p));
	struct envelope first, e;

	for (size_t i = 0; i < n; i++) {
		p[i].x = EPOCH + (int64_t)(draw_between_0_and_1(&seed) * (double)span);
		p[i].y = (int64_t)draw_from_exponential(&seed, jitter);
	}
	qsort(p, n, sizeof(*p), compare_shuffled_points_by_time);
	first = make_envelope_of_points(p, n, EPOCH, &room);
	check_bin_order(&first, n);
	assert_true(first.num <= room.bins && first.corners <= room.corners);
	for (int round = 0; round < 3; round++) {
		shuffle_points(p, n, &seed);
		e = make_envelope_of_points(p, n, EPOCH - 12345 * round, &room);
		check_same_envelopes(&first, &e);
		envelope_release(&e);
	}
	envelope_release(&first);
	free(p);
}

static void test_any_order(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		check_any_point_order(1, SEC, 1, ample, seed);
		check_any_point_order(20000, 3600 * SEC, 1e5, (struct budget){ 2048, 1 << 16 },
				      seed);
		/* There are fewer corners than the points have. */
		check_any_point_order(50000, 3600 * SEC, 1e5, (struct budget){ 4096, 2000 }, seed);
		check_any_point_order(20000, 86400 * SEC, 1e3, (struct budget){ 512, 4000 }, seed);
		/* Points within 36 years share four bins. */
		check_any_point_order(200, NETSYNC_MAX_SPAN, 1e5, (struct budget){ 4, 500 }, seed);
	}
}

/* All corners of the points' convex hull are stored. */
static void test_straight_hull(void **state)
{
	enum { N = 100000 };
	const struct budget room = { 1024, 8192 };
	struct point *p = calloc(N, sizeof(*p));
	struct hull all = { 0 }, kept = { 0 };
	struct envelope e = { 0 };
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		p[i].x = (int64_t)i * 36000000;
		p[i].y = (int64_t)draw_from_exponential(&seed, 1e5) + (int64_t)i * 500;
		assert_int_equal(hull_add(&all, &p[i]), 0);
	}
	shuffle_points(p, N, &seed);
	e = make_envelope_of_points(p, N, 0, &room);
	for (size_t i = 0; i < e.num; i++)
		for (uint32_t k = 0; k < e.bin[i].corners; k++)
			assert_int_equal(hull_add(&kept, &e.bin[i].corner[k]), 0);
	assert_int_equal(all.corners, kept.corners);
	assert_memory_equal(all.corner, kept.corner, all.corners * sizeof(*all.corner));
	hull_release(&all);
	hull_release(&kept);
	envelope_release(&e);
	free(p);
}

/* With constant delays, every point is a corner; the number of corners is nevertheless limited. */
static void test_constant_delays(void **state)
{
	enum { N = 1000000 };
	const struct budget room = { 1024, 8192 };
	struct envelope e = { 0 };

	(void)state;
	for (int64_t i = 0; i < N; i++) {
		const struct point p = { i * 3600000, 30000 };

		assert_int_equal(envelope_add(&e, &p, 1, &room), 1);
		assert_true(e.corners <= room.corners * 9 / 8);
	}
	assert_int_equal(envelope_settle(&e, &room), 0);
	check_bin_order(&e, N);
	assert_true(e.corners <= room.corners && e.num > 16);
	assert_int_equal(e.bin[0].corner[0].x, 0);
	envelope_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_envelope_touches_curves),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_straight_hull),
		cmocka_unit_test(test_constant_delays),
	};

	return cmocka_run_group_tests_name("envelope", tests, NULL, NULL);
}
