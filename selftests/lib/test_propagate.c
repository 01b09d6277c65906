// SPDX-License-Identifier: GPL-2.0-only
/* Test the messages between factors, clocks and links, for one knot and two factors. */
#include <string.h>

#include "infer/internal.h"
#include "test.h"

#define MEAN 1e5 /* mean excess delay, ns */

struct small {
	struct inference n;
	struct infer_task task;
	struct chain chain[2];
	struct knot knot;
	struct infer_link link;
	struct factor factor[2];
};

/* Make one knot of host 1, whose neighbour is a reference, and a factor in each direction. */
static void make_small(struct small *s, double there, double back)
{
	const double delay[2] = { there, back };

	memset(s, 0, sizeof(*s));
	s->task = (struct infer_task){ .num = 2 };
	s->n = (struct inference){ .task = &s->task,
				   .chain = s->chain,
				   .link = &s->link,
				   .num_links = 1,
				   .damping = 0.4 };
	s->chain[1] = (struct chain){ .knot = &s->knot,
				      .num = 1,
				      .first = { .deviation = { 1e7, 1, 1, 1 } } };
	s->knot.variance = 1e14;
	s->link.host[1] = 1;
	s->link.first = (struct natural){ 1e-8, 3e4 * 1e-8 };
	s->link.delay = (struct moments){ 3e4, 1e8 };
	for (int way = 0; way < 2; way++) {
		struct link_direction *d = &s->link.direction[way];

		d->factor = &s->factor[way];
		d->num_factors = 1;
		s->factor[way].lowest = (struct lowest){
			.messages = 100,
			.num = 3,
			.delay = { delay[way], delay[way] + 1e3, delay[way] + 2e3 },
		};
		delay_law_begin(&d->law, MEAN, 0);
	}
}

static void run_small(struct small *s, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		s->n.alone = i < 2;
		assert_int_equal(propagate_messages(&s->n), 0);
		assert_int_equal(smooth_chain(&s->chain[1]), 0);
	}
}

/*
 * z is m - c in one direction and m + c in the other. Both values of z are about MEAN / 100 below
 * the lowest message, so that c is half of the difference.
 */
static void test_half_way(void **state)
{
	struct small s;

	(void)state;
	make_small(&s, 3e4 - 7e5, 3e4 + 7e5);
	for (int way = 0; way < 2; way++)
		for (int j = 1; j < DELAY_LIFTS; j++)
			s.link.direction[way].law.lift[j] = 0;
	run_small(&s, 100);
	assert_float_equal(s.knot.state[0], 7e5, 20);
	assert_float_equal(s.link.delay.mean, 3e4 - MEAN / 100, 500);
	/*
	 * Both edges have a deviation of MEAN / 100, so that half of their difference is more
	 * accurate by the root of 2. The link forms a loop with the clock. The variance is
	 * therefore too large while only the prior determines the minimum delay, but it is never
	 * too small.
	 */
	assert_true(sqrt(s.knot.variance) > 700 && sqrt(s.knot.variance) < 3000);
	assert_true(s.n.moved < 1e-3);
}

/* While factors use only their own messages, the minimum delay remains at its prior. */
static void test_factors_alone(void **state)
{
	struct small s;

	(void)state;
	make_small(&s, 9e5, -1e5);
	run_small(&s, 2);
	assert_float_equal(s.link.delay.mean, 3e4, 0);
	assert_float_equal(s.factor[0].site[TO_LINK].precision, 0, 0);
	assert_float_equal(s.knot.state[0], -5e5, 2e3);
}

/* A site never has a negative precision, and impossible input does not lead to NaN. */
static void test_impossible_factors(void **state)
{
	struct small s;

	(void)state;
	/* Both delays are minus one second. */
	make_small(&s, -1e9, -1e9);
	run_small(&s, 50);
	for (int way = 0; way < 2; way++)
		for (int e = 0; e < FACTOR_ENDS; e++)
			assert_true(s.factor[way].site[e].precision >= 0);
	assert_true(isfinite(s.knot.state[0]));
	assert_true(isfinite(s.link.delay.mean));
	assert_true(s.knot.variance > 0 && isfinite(s.knot.variance));
}

/*
 * Two sites that differ by minutes, as in a cell with a step, become independent in a few rounds.
 * The sites' common marginal lies between both, and is far from both.
 */
static void test_sites_minutes_apart(void **state)
{
	const double far = 3e11, precision = 1e-8;
	struct small s;

	(void)state;
	make_small(&s, 3e4 - 7e5, 3e4 + 7e5);
	s.factor[0].site[TO_RECEIVER] = (struct natural){ precision, -far * precision };
	s.factor[1].site[TO_SENDER] = (struct natural){ precision, far * precision };
	s.knot.variance = 1 / (2 * precision);
	s.link.delay.variance = 1e6;
	for (int i = 0; i < 400; i++) {
		assert_int_equal(propagate_messages(&s.n), 0);
		assert_int_equal(smooth_chain(&s.chain[1]), 0);
	}
	assert_float_equal(s.knot.state[0], 7e5, 2e3);
}

/*
 * If the cavity is narrow and below the edge, a factor pulls z upwards with almost no precision.
 * The maximum of its site must not be beyond the edge.
 */
static void test_cavity_below_edge(void **state)
{
	const struct lowest l = { .messages = 1, .num = 1, .delay = { 8e4 } };
	struct delay_law law;
	struct natural site;

	(void)state;
	delay_law_begin(&law, MEAN, 0);
	for (double mean = -2e5; mean < 7e4; mean += 1e4) {
		site = factor_tilt(&l, &law, (struct moments){ mean, 1e6 }, false);
		assert_true(site.weighted - site.precision * mean > 0);
		assert_true(site.weighted <= site.precision * l.delay[0] * (1 + 1e-9));
	}
}

/* A factor's new message to each of its ends combines the site of z with the other ends. */
static void test_messages_of_new_factor(void **state)
{
	struct small s;

	(void)state;
	make_small(&s, 3e4 - 7e5, 3e4 + 7e5);
	s.knot.state[0] = 7e5;
	s.knot.variance = 1e6;
	s.link.delay = (struct moments){ 3e4, 1e6 };
	factor_begin(&s.n, &s.link, 0, &s.factor[0]);
	/* Host 1 is the receiver, so its message is the site of m - z. */
	assert_true(s.factor[0].site[TO_RECEIVER].precision > 0);
	assert_float_equal(s.factor[0].site[TO_RECEIVER].weighted /
				   s.factor[0].site[TO_RECEIVER].precision,
			   7e5, 2e3);
	assert_float_equal(s.factor[0].site[TO_LINK].weighted / s.factor[0].site[TO_LINK].precision,
			   3e4, 2e3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_way),
		cmocka_unit_test(test_factors_alone),
		cmocka_unit_test(test_impossible_factors),
		cmocka_unit_test(test_sites_minutes_apart),
		cmocka_unit_test(test_cavity_below_edge),
		cmocka_unit_test(test_messages_of_new_factor),
	};

	return cmocka_run_group_tests_name("propagate", tests, NULL, NULL);
}
