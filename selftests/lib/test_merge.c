// SPDX-License-Identifier: GPL-2.0-only
/*
 * Divide all messages into parts. Merging the parts in any order must give the same result as
 * adding all messages.
 */
#include <string.h>

#include "message/message.h"
#include "test.h"

#define HOSTS 4
#define PARTS 5
#define MESSAGES 60000

static const int64_t origin[HOSTS] = { EPOCH, EPOCH - 7 * SEC, EPOCH + SEC, EPOCH };

/* Draw the time origin of a part. The times of its messages are relative to this origin. */
static void draw_part_origins(uint64_t *seed, int64_t *from)
{
	for (int h = 0; h < HOSTS; h++)
		from[h] = origin[h] + draw_integer_below(seed, 100 * SEC) - 50 * SEC;
}

static void add_part_message(struct pairs *ps, const int64_t *from, const uint32_t *host,
			     const int64_t *time)
{
	const struct endpoint a = { host[0], from[host[0]], time[0] - from[host[0]] };
	const struct endpoint b = { host[1], from[host[1]], time[1] - from[host[1]] };

	assert_int_equal(pairs_add(ps, &a, &b), 0);
}

/* All messages, as a whole and in parts. @span determines the width of bins. */
struct parts {
	struct pairs all;
	struct pairs part[PARTS];
	int64_t from[PARTS][HOSTS];
};

/* Part 0 has half of the messages and none of host 3, whose first message is in part 4. */
static void fill_parts(struct parts *p, uint64_t seed, int64_t span)
{
	memset(p, 0, sizeof(*p));
	for (int i = 0; i < PARTS; i++)
		draw_part_origins(&seed, p->from[i]);
	for (int i = 0; i < MESSAGES; i++) {
		const int64_t t = i * (span / MESSAGES) + draw_integer_below(&seed, 1000);
		uint32_t host[2] = { (uint32_t)draw_integer_below(&seed, HOSTS), 0 };
		int64_t time[2];
		size_t n = (size_t)draw_integer_below(&seed, 2 * PARTS);

		host[1] = (host[0] + 1 + (uint32_t)draw_integer_below(&seed, HOSTS - 1)) % HOSTS;
		time[0] = EPOCH + host[0] * SEC + t;
		time[1] = EPOCH + host[1] * SEC + t + 30000 +
			  (int64_t)draw_from_exponential(&seed, 100e3);
		if (host[0] == HOSTS - 1 || host[1] == HOSTS - 1)
			n = PARTS - 1;
		else if (n >= PARTS)
			n = 0;
		add_part_message(&p->all, origin, host, time);
		add_part_message(&p->part[n], p->from[n], host, time);
	}
}

static void release_parts(struct parts *p)
{
	pairs_release(&p->all);
	for (int i = 0; i < PARTS; i++)
		pairs_release(&p->part[i]);
}

static void assert_same_wide(struct wide a, struct wide b)
{
	assert_int_equal(a.low, b.low);
	assert_true(a.high == b.high);
}

static void assert_same_direction(const struct direction *a, const struct direction *b)
{
	assert_int_equal(a->num, b->num);
	assert_int_equal(a->inversions, b->inversions);
	assert_int_equal(a->raised, b->raised);
	assert_true(a->sum_x == b->sum_x && a->sum_y == b->sum_y);
	assert_same_wide(a->sum_xx, b->sum_xx);
	assert_same_wide(a->sum_xy, b->sum_xy);
	assert_int_equal(a->envelope.shift, b->envelope.shift);
	assert_int_equal(a->envelope.base, b->envelope.base);
	assert_int_equal(a->envelope.num, b->envelope.num);
	assert_int_equal(a->envelope.corners, b->envelope.corners);
	for (size_t i = 0; i < a->envelope.num; i++) {
		const struct bin *p = &a->envelope.bin[i];
		const struct bin *q = &b->envelope.bin[i];

		assert_int_equal(p->index, q->index);
		assert_int_equal(p->messages, q->messages);
		assert_true(p->sum_x == q->sum_x);
		assert_int_equal(p->corners, q->corners);
		assert_memory_equal(p->corner, q->corner, p->corners * sizeof(*p->corner));
	}
	assert_int_equal(a->hull.corners, b->hull.corners);
}

static void assert_same(const struct pairs *a, const struct pairs *b)
{
	assert_int_equal(a->num, b->num);
	for (size_t i = 0; i < a->num; i++) {
		assert_memory_equal(a->pair[i]->host, b->pair[i]->host, sizeof(a->pair[i]->host));
		for (int d = 0; d < 2; d++)
			assert_same_direction(&a->pair[i]->direction[d], &b->pair[i]->direction[d]);
	}
}

/* Merge in orders that begin with different parts. Some of the parts were already settled. */
static void test_any_order(void **state)
{
	static const int64_t resolution[HOSTS] = { 1, 1000, 1, 1 };
	static const int64_t spans[] = { 20 * SEC, 600 * SEC, 86400 * SEC };
	struct parts p;

	(void)state;
	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		fill_parts(&p, 5 + i, spans[i]);
		pairs_raise(&p.all, resolution, 5e-4);
		assert_int_equal(pairs_settle(&p.all), 0);
		assert_int_equal(p.all.num, HOSTS * (HOSTS - 1) / 2);
		pairs_raise(&p.part[2], resolution, 5e-4);
		assert_int_equal(pairs_settle(&p.part[2]), 0);
		for (int first = 0; first < PARTS; first++) {
			const int step = 1 + first % (PARTS - 1);
			struct pairs sum = { 0 };

			for (int k = 0; k < PARTS; k++) {
				const int n = (first + k * step) % PARTS;

				assert_int_equal(pairs_merge(&sum, origin, &p.part[n], p.from[n]),
						 0);
			}
			pairs_raise(&sum, resolution, 5e-4);
			assert_int_equal(pairs_settle(&sum), 0);
			assert_same(&p.all, &sum);
			pairs_release(&sum);
		}
		release_parts(&p);
	}
}

/* The bins of one part are already wider than the bins of the others, because it has more bins. */
static void test_other_width(void **state)
{
	struct pairs sum = { 0 }, all = { 0 }, wide = { 0 }, narrow = { 0 };
	static const uint32_t host[2] = { 0, 1 };

	(void)state;
	for (int i = 0; i < 300000; i++) {
		const int64_t t = EPOCH + i * (SEC / 100), times[2] = { t, t + i % 1000 };

		add_part_message(i < 1000 ? &narrow : &wide, origin, host, times);
		add_part_message(&all, origin, host, times);
	}
	assert_int_equal(pairs_settle(&all), 0);
	assert_int_equal(pairs_settle(&wide), 0);
	assert_int_equal(pairs_settle(&narrow), 0);
	assert_true(narrow.pair[0]->direction[0].envelope.shift <
		    wide.pair[0]->direction[0].envelope.shift);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(pairs_merge(&sum, origin, turn ? &wide : &narrow, origin), 0);
		assert_int_equal(pairs_merge(&sum, origin, turn ? &narrow : &wide, origin), 0);
		assert_int_equal(pairs_settle(&sum), 0);
		assert_same(&all, &sum);
		pairs_release(&sum);
	}
	pairs_release(&all);
	pairs_release(&wide);
	pairs_release(&narrow);
}

/*
 * If a hundred hosts all exchange messages, each pair has enough bins to reveal the curvature of
 * its clocks. If there are more pairs, no pair has more bins than others, because otherwise the
 * order of pairs would affect the stored data.
 */
static void test_many_pairs(void **state)
{
	struct pairs ps = { 0 };
	size_t last = SIZE_MAX;

	(void)state;
	for (uint32_t b = 1; b < 100; b++)
		for (uint32_t a = 0; a < b; a++) {
			const struct endpoint from = { a, EPOCH, a * SEC };
			const struct endpoint to = { b, EPOCH, a * SEC + 1000 };

			assert_int_equal(pairs_add(&ps, &from, &to), 0);
			assert_true(ps.budget.bins <= last);
			last = ps.budget.bins;
			if (ps.sharing == 4000)
				assert_int_equal(last, 32);
		}
	assert_in_range(last, 20, 31);
	pairs_release(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_other_width),
		cmocka_unit_test(test_many_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
