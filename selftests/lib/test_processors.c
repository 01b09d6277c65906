// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stamps come from processors whose clocks differ. The difference makes stamps uncertain, but not
 * inconsistent.
 */
#include "test.h"

#define SPAN (600 * SEC)
#define MESSAGES 300000
#define PROCESSORS 4
/* Largest difference between the processors' clocks, ns. */
#define APART 200.0
/* Maximum allowed error of the mean of a host's processors, ns. */
#define WORST 60.0

/* Return the offset of the mean of host 1's processors from host 0. */
static int64_t compute_processor_mean(int64_t t)
{
	return 5 * SEC + llround(30e-6 * (double)t);
}

static int64_t draw_processor_offset(uint64_t *seed)
{
	return llround(APART *
		       ((double)draw_integer_below(seed, PROCESSORS) / (PROCESSORS - 1) - 0.5));
}

/* Excess delays over @least (ns) are exponentially distributed with mean @mean. */
static struct netsync *talk_across_processors(double least, double mean)
{
	struct netsync *ns = netsync_new();
	uint64_t seed = 5;

	assert_int_equal(netsync_add_host(ns, "a"), 0);
	assert_int_equal(netsync_add_host(ns, "b"), 1);
	for (long i = 0; i < MESSAGES; i++) {
		const uint32_t from = draw_random64(&seed) & 1;
		int64_t sent = draw_integer_below(&seed, SPAN);
		int64_t received = sent + llround(least + draw_from_exponential(&seed, mean));

		sent += (from ? compute_processor_mean(sent) : 0) + draw_processor_offset(&seed);
		received += (from ? 0 : compute_processor_mean(received)) +
			    draw_processor_offset(&seed);
		assert_int_equal(
			netsync_push_message(ns, from, !from, EPOCH + sent, EPOCH + received), 0);
	}
	assert_int_equal(
		netsync_solve(ns, &(struct netsync_options){ .size = sizeof(struct netsync_options),
							     .reference = "a" }),
		0);
	return ns;
}

/* Return the largest error, and check that the truth is within every bound. */
static double find_worst_processor_error(const struct netsync *ns)
{
	const struct netsync_clock *clock = netsync_host_clock(ns, 1);
	double most = 0;

	assert_non_null(clock);
	for (int64_t t = SEC; t < SPAN; t += SEC / 3) {
		const int64_t shown = t + compute_processor_mean(t);
		int64_t time, bound;

		assert_true(netsync_convert(clock, EPOCH + shown, &time, &bound) >= 0);
		most = fmax(most, fabs((double)(time - EPOCH - t)));
		assert_true(fabs((double)(time - EPOCH - t)) <= (double)bound);
	}
	return most;
}

static struct netsync_host_info get_processor_host_info(const struct netsync *ns)
{
	struct netsync_host_info info = { .size = sizeof(info) };

	assert_int_equal(netsync_get_host(ns, 1, &info), 0);
	return info;
}

/* No curve follows single processors, and results are accurate, as in a network. */
static void test_accurate_processors(void **state)
{
	struct netsync *ns = talk_across_processors(30e3, 20e3);

	(void)state;
	assert_int_equal(get_processor_host_info(ns).quality, NETSYNC_ACCURATE);
	assert_true(find_worst_processor_error(ns) < WORST);
	netsync_free(ns);
}

/* Messages seem to be received before they are sent, but the truth is never outside of a bound. */
static void test_quicker_than_apart(void **state)
{
	(void)state;
	for (double least = 50; least < 2 * APART; least *= 2) {
		struct netsync *ns = talk_across_processors(least, 20 * least);

		assert_true(find_worst_processor_error(ns) < WORST);
		netsync_free(ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accurate_processors),
		cmocka_unit_test(test_quicker_than_apart),
	};

	return cmocka_run_group_tests_name("processors", tests, NULL, NULL);
}
