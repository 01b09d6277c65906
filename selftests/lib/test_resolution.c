// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the resolution of stamps that are rounded down. Messages with such stamps must not become
 * inconsistent.
 */
#include <errno.h>
#include <string.h>

#include "message/resolution.h"
#include "messages.h"

static int64_t find_stamp_resolution(const int64_t *t, size_t n)
{
	struct resolution r = { 0 };

	for (size_t i = 0; i < n; i++)
		resolution_add(&r, t[i]);
	return resolution_compute(&r, 1);
}

static void test_found_resolution(void **state)
{
	static const int64_t resolutions[] = { 1, 10, 100, US, 10 * US, 4000 * US };
	int64_t t[64];

	(void)state;
	for (size_t k = 0; k < sizeof(resolutions) / sizeof(*resolutions); k++) {
		const int64_t by = resolutions[k];
		uint64_t seed = 7 + k;

		/* The resolution is found for any origin. */
		for (int i = 0; i < 64; i++)
			t[i] = draw_integer_below(&seed, 3600 * SEC / by) * by - 1800 * SEC + 1;
		assert_int_equal(find_stamp_resolution(t, 64), by);
		/* A single finer stamp reveals that the clock has a finer resolution. */
		t[50] = t[49] + 1;
		assert_int_equal(find_stamp_resolution(t, 64), 1);
	}
}

static void test_unknown_resolution(void **state)
{
	int64_t t[64];

	(void)state;
	assert_int_equal(find_stamp_resolution(t, 0), 1);
	for (int i = 0; i < 64; i++)
		t[i] = (i + i % 3) * 10 * US;
	assert_int_equal(find_stamp_resolution(t, 64), 10 * US);
	/* There are too few stamps, or most of them are equal. */
	assert_int_equal(find_stamp_resolution(t, 2), 1);
	for (int i = 0; i < 64; i++)
		t[i] = (i + i % 3) * 2;
	assert_int_equal(find_stamp_resolution(t, 64), 2);
	assert_int_equal(find_stamp_resolution(t, 12), 1);
	for (int i = 0; i < 64; i++)
		t[i] = i % 2 * US;
	assert_int_equal(find_stamp_resolution(t, 64), US);
	for (int i = 0; i < 64; i++)
		t[i] = 5;
	assert_int_equal(find_stamp_resolution(t, 64), 1);
	/* No clock has such a coarse resolution. */
	for (int i = 0; i < 64; i++)
		t[i] = (i + i % 3) * 60 * SEC;
	assert_int_equal(find_stamp_resolution(t, 64), SEC);
}

/* The coarser the resolution is, the fewer stamps suffice to find it. */
static void test_resolution_from_few_stamps(void **state)
{
	static const struct {
		int64_t resolution;
		int stamps;
	} row[] = { { 2, 17 }, { 10, 6 }, { US, 3 }, { 10 * US, 3 }, { 4000 * US, 2 }, { SEC, 2 } };

	(void)state;
	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		const int64_t by = row[k].resolution;
		/* The stamps are multiples by different primes, which have no common factor. */
		const int64_t prime[] = { 13, 3,  7,  11, 17, 19, 23, 29, 31,
					  37, 41, 43, 47, 53, 59, 61, 67 };
		int64_t t[17];

		for (int i = 0; i < row[k].stamps; i++)
			t[i] = 6 + (i ? prime[i] : 0) * by;
		assert_int_equal(find_stamp_resolution(t, (size_t)row[k].stamps), by);
		assert_int_equal(find_stamp_resolution(t, (size_t)row[k].stamps - 1), 1);
	}
}

/*
 * A stamp that counts from 1970 is far from its origin, so that a single stamp reveals its
 * resolution.
 */
static void test_from_epoch(void **state)
{
	struct resolution r = { 0 };

	(void)state;
	assert_int_equal(resolution_compute(&r, EPOCH), 1);
	resolution_add(&r, 3 * SEC);
	assert_int_equal(resolution_compute(&r, EPOCH / SEC * SEC), SEC);
	assert_int_equal(resolution_compute(&r, EPOCH / SEC * SEC + 5000 * US), 5000 * US);
	assert_int_equal(resolution_compute(&r, EPOCH / SEC * SEC + 5 * US), 1);
	assert_int_equal(resolution_compute(&r, -3 * SEC), 1);
	resolution_add(&r, 3 * SEC);
	assert_int_equal(resolution_compute(&r, EPOCH / SEC * SEC), SEC);
	resolution_add(&r, 3 * SEC + 20 * US);
	assert_int_equal(resolution_compute(&r, EPOCH / SEC * SEC + 10 * US), 10 * US);
}

/* A common factor that a few stamps have by chance is not taken for the resolution. */
static void test_common_factor_by_chance(void **state)
{
	static const int64_t t[] = { 0, 21 * SEC, 84 * SEC, 105 * SEC };
	static const int64_t ms[] = { 0, 21000 * US, 63000 * US, 105000 * US };
	int64_t many[20];

	(void)state;
	assert_int_equal(find_stamp_resolution(t, 4), SEC);
	assert_int_equal(find_stamp_resolution(ms, 4), 1000 * US);
	for (int i = 0; i < 20; i++)
		many[i] = (i + i % 3) * 30 * US;
	assert_int_equal(find_stamp_resolution(many, 8), 10 * US);
	assert_int_equal(find_stamp_resolution(many, 20), 30 * US);
}

/*
 * Merging parts with different origins gives the same result as adding all stamps, even with few
 * stamps.
 */
static void test_merged_resolutions(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int n = 1; n < 60; n++) {
		struct resolution all = { 0 }, part[3] = { { 0 } }, sum = { 0 };

		for (int i = 0; i < n; i++) {
			const int64_t t = draw_integer_below(&seed, 9) * 30 * US;
			const int k = (int)draw_integer_below(&seed, 3);

			resolution_add(&all, t);
			resolution_add(&part[k], t - k * SEC);
		}
		for (int k = 2; k >= 0; k--)
			resolution_merge(&sum, &part[k], k * SEC);
		assert_int_equal(resolution_compute(&sum, 1), resolution_compute(&all, 1));
		assert_int_equal(sum.stamps - sum.same, all.stamps - all.same);
		assert_int_equal(sum.divisor, all.divisor);
	}
}

/* Shift stamps as if the receiver's clock had already shown its next time, and shift them back. */
static void test_raised_stamps(void **state)
{
	const int64_t coarse[] = { 1001, 10001 }, fine[] = { 1, 1 };
	struct pairs ps = { 0 }, later = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		const int64_t t = i * SEC;

		add_message(&ps, 0, 1, t, t + 5 * SEC);
		add_message(&ps, 1, 0, t + 5 * SEC, t);
		add_message(&later, 0, 1, t, t + 5 * SEC + 10000);
		add_message(&later, 1, 0, t + 5 * SEC - 1000, t);
		if (i == 50)
			pairs_raise(&ps, coarse, 0);
	}
	assert_int_equal(pairs_settle(&ps), 0);
	assert_int_equal(pairs_settle(&later), 0);
	for (int d = 0; d < 2; d++) {
		const struct direction *a = &ps.pair[0]->direction[d];
		const struct direction *b = &later.pair[0]->direction[d];

		assert_int_equal(a->envelope.num, b->envelope.num);
		for (size_t i = 0; i < a->envelope.num; i++)
			assert_int_equal(a->envelope.bin[i].corner[0].y,
					 b->envelope.bin[i].corner[0].y);
		assert_true(a->sum_y == b->sum_y);
		assert_memory_equal(&a->sum_xy, &b->sum_xy, sizeof(a->sum_xy));
	}
	pairs_raise(&ps, fine, 0);
	assert_int_equal(pairs_settle(&ps), 0);
	assert_int_equal(ps.pair[0]->direction[0].hull.corner[0].y, 5 * SEC);
	assert_int_equal(ps.pair[0]->direction[1].hull.corner[0].y, -5 * SEC);
	/*
	 * Stamps shift by less than the resolution, because clocks continue to run in the meantime.
	 */
	pairs_raise(&ps, coarse, 1e-3);
	assert_int_equal(ps.pair[0]->direction[0].envelope.bin[0].corner[0].y,
			 5 * SEC + 10000 + 10);
	pairs_release(&ps);
	pairs_release(&later);
}

/* Clock 1 runs fast by 80 ppm. Delays are 30 us plus a mean excess delay of about 100 us. */
static void push_rounded_messages(struct netsync *ns, const int64_t resolution[2], bool rounded)
{
	uint64_t seed = 11;

	for (int i = 0; i < 20000; i++) {
		const int from = i & 1;
		const double sent = draw_between_0_and_1(&seed) * 1800e9;
		const double received = sent + 30e3 + draw_from_exponential(&seed, 100e3);
		double at[2] = { sent, received };
		int64_t t[2];

		for (int k = 0; k < 2; k++) {
			const int host = from ^ k;

			if (host)
				at[k] += 80e-6 * at[k] + 2e9;
			t[k] = (int64_t)at[k] + (rounded ? resolution[host] / 2 : 0);
			t[k] -= t[k] % resolution[host];
		}
		assert_int_equal(netsync_push_message(ns, (uint32_t)from, (uint32_t)!from,
						      EPOCH + t[0], EPOCH + t[1]),
				 0);
	}
}

static void solve_rounded(const int64_t resolution[2], bool rounded, double most)
{
	const struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	struct netsync_host_info info = { .size = sizeof(info) };
	struct netsync *ns = netsync_new();

	assert_int_equal(netsync_add_host(ns, "a"), 0);
	assert_int_equal(netsync_add_host(ns, "b"), 1);
	push_rounded_messages(ns, resolution, rounded);
	assert_int_equal(netsync_solve(ns, &opt), 0);
	assert_int_equal(netsync_get_host(ns, 1, &info), 0);
	assert_int_equal(info.quality, NETSYNC_ACCURATE);
	assert_true(info.bound_median_ns < 2 * (resolution[0] + resolution[1]) + 100 * US);
	for (double t = 0; t < 1800e9; t += 7e9) {
		const int64_t shown = EPOCH + (int64_t)(t + 80e-6 * t + 2e9);
		int64_t at, lo, hi;

		assert_int_equal(netsync_convert(netsync_host_clock(ns, 1), shown, &at, NULL), 0);
		assert_true(fabs((double)(at - EPOCH) - t) < most);
		netsync_interval(netsync_host_clock(ns, 1), shown, &lo, &hi);
		assert_in_range(EPOCH + (int64_t)t, lo, hi);
	}
	netsync_free(ns);
}

static void test_bounds_of_rounded_stamps(void **state)
{
	(void)state;
	solve_rounded((int64_t[]){ US, US }, false, 5e3);
	solve_rounded((int64_t[]){ 100 * US, 100 * US }, false, 50e3);
	solve_rounded((int64_t[]){ 4000 * US, 4000 * US }, false, 2000e3);
	solve_rounded((int64_t[]){ 1, 10 * US }, false, 10e3);
	/* Bounds also hold if stamps were rounded to the nearest multiple. */
	solve_rounded((int64_t[]){ 100 * US, 100 * US }, true, 100e3);
	solve_rounded((int64_t[]){ 1, 100 * US }, true, 100e3);
	solve_rounded((int64_t[]){ 100 * US, 1 }, true, 100e3);
}

/* Two clocks differ by 300 ms and tick every 40 ms. Each tick is read some ns late. */
static void test_given_resolution(void **state)
{
	struct netsync_options opt = { .size = sizeof(opt), .reference = "a" };
	struct netsync_host_info info = { .size = sizeof(info) };
	struct netsync *ns = netsync_new();
	const int64_t tick = 40000037;

	(void)state;
	assert_int_equal(netsync_add_host(ns, "a"), 0);
	assert_int_equal(netsync_add_host(ns, "b"), 1);
	for (int i = 0; i < 40; i++) {
		const int64_t t = i * (SEC + 234567891), at = t + 20000 * US;
		const int64_t offset = 300000 * US;
		const uint32_t from = i & 1;
		const int64_t send = EPOCH + (t + from * offset) / tick * tick;
		const int64_t recv = EPOCH + (at + !from * offset) / tick * tick;

		assert_int_equal(netsync_push_message(ns, from, !from, send + i % 3, recv + i % 5),
				 0);
	}
	opt.resolution_ns = -1;
	assert_int_equal(netsync_solve(ns, &opt), -EINVAL);
	assert_non_null(strstr(netsync_error(ns), "resolution"));
	opt.resolution_ns = NETSYNC_MAX_RESOLUTION + 1;
	assert_int_equal(netsync_solve(ns, &opt), -EINVAL);
	/* A caller that was built with an older version does not know this option. */
	opt.size = offsetof(struct netsync_options, resolution_ns);
	assert_int_equal(netsync_solve(ns, &opt), 0);
	opt.size = sizeof(opt);
	for (opt.resolution_ns = tick + 5; opt.resolution_ns < 10 * SEC; opt.resolution_ns *= 10) {
		int64_t lo, hi;

		assert_int_equal(netsync_solve(ns, &opt), 0);
		assert_int_equal(netsync_get_host(ns, 1, &info), 0);
		assert_int_equal(info.quality, NETSYNC_ACCURATE);
		netsync_interval(netsync_host_clock(ns, 1), EPOCH + 20 * SEC, &lo, &hi);
		assert_in_range(EPOCH + 20 * SEC - 300000 * US, lo, hi);
		assert_true(hi - lo < 3 * opt.resolution_ns);
	}
	netsync_free(ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_resolution),
		cmocka_unit_test(test_unknown_resolution),
		cmocka_unit_test(test_resolution_from_few_stamps),
		cmocka_unit_test(test_from_epoch),
		cmocka_unit_test(test_common_factor_by_chance),
		cmocka_unit_test(test_merged_resolutions),
		cmocka_unit_test(test_raised_stamps),
		cmocka_unit_test(test_bounds_of_rounded_stamps),
		cmocka_unit_test(test_given_resolution),
	};

	return cmocka_run_group_tests_name("resolution", tests, NULL, NULL);
}
