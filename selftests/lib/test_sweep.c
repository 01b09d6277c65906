// SPDX-License-Identifier: GPL-2.0-only
/* Compute the corrections of all hosts along the tree, from the corrections of their neighbours. */
#include "reduction.h"

static void make_swept_chain(struct reduced *hosts, struct reduction *r, enum netsync_method method)
{
	reduced_init(hosts, method);
	for (uint32_t h = 0; h + 1 < REDUCED_HOSTS; h++)
		reduced_add_talk(hosts, h, h + 1, 100, 1000);
	reduced_estimate(hosts);
	hosts->task.reference = 0;
	reduction_init(r, hosts);
	tree_grow(&r->by_noise, &r->graph, r->bound_cost, 0);
	reduction_find_ways(r);
}

/* Corrections are added along three pairs. Each pair adds a second. */
static void test_corrections_along_path(void **state)
{
	struct reduced hosts;
	struct reduction r;

	(void)state;
	make_swept_chain(&hosts, &r, NETSYNC_METHOD_HULL);
	for (uint32_t h = 0; h < REDUCED_HOSTS; h++) {
		const struct carried c = reduction_carry(&r, h, (40 + h) * SEC);

		assert_true(llabs(c.t - 40 * SEC) <= h);
		assert_true(fabs(c.skew) < 1e-9);
		assert_true(c.complete);
		/* The uncertainties of the pairs' lines add up. */
		assert_true(h ? c.growth > 0 : c.growth == 0);
	}
	reduction_end(&r);
	reduced_release(&hosts);
}

/* If a link on a path has messages in one direction only, the path has, too. */
static void test_incomplete_path(void **state)
{
	struct reduced hosts;
	struct reduction r;

	(void)state;
	make_swept_chain(&hosts, &r, NETSYNC_METHOD_HULL);
	r.est[1].quality = NETSYNC_INCOMPLETE;
	reduction_find_ways(&r);
	for (uint32_t h = 0; h < REDUCED_HOSTS; h++)
		assert_int_equal(reduction_carry(&r, h, 0).complete, h < 2);
	reduction_end(&r);
	reduced_release(&hosts);
}

/* The skews of the links of a path are multiplied. */
static void test_skew_along_path(void **state)
{
	struct reduced hosts;
	struct reduction r;

	(void)state;
	make_swept_chain(&hosts, &r, NETSYNC_METHOD_HULL);
	for (uint32_t i = 0; i < 3; i++)
		r.est[i].line.slope = 1e-4;
	reduction_find_ways(&r);
	assert_true(fabs(reduction_carry(&r, 3, 0).skew - (pow(1 + 1e-4, -3) - 1)) < 1e-15);
	reduction_end(&r);
	reduced_release(&hosts);
}

/*
 * Computing all paths takes one step for each host, even in a long chain. If computing took a step
 * for each host on each host's path, 2 * 10^10 steps would exceed the test's time limit.
 */
static void test_long_chain(void **state)
{
	enum { HOSTS = 200000 };
	struct host *host = calloc(HOSTS, sizeof(*host));
	struct pair *pair = calloc(HOSTS, sizeof(*pair));
	struct reduction r = {
		.host = host,
		.est = calloc(HOSTS, sizeof(struct estimate)),
		.num_hosts = HOSTS,
		.num_pairs = HOSTS - 1,
		.bound_cost = calloc(HOSTS, sizeof(double)),
		.way = calloc(HOSTS, sizeof(struct carried)),
	};

	(void)state;
	for (uint32_t i = 0; i + 1 < HOSTS; i++) {
		pair[i].host[0] = i;
		pair[i].host[1] = i + 1;
		r.bound_cost[i] = 1;
		r.est[i] = (struct estimate){
			.pair = &pair[i],
			.line = { .y = SEC },
			.slope_max = 1e-6,
			.quality = NETSYNC_ACCURATE,
		};
	}
	assert_int_equal(graph_make(&r.graph, r.est, HOSTS, HOSTS - 1), 0);
	assert_int_equal(tree_make(&r.by_noise, &r.graph), 0);
	tree_grow(&r.by_noise, &r.graph, r.bound_cost, 0);
	reduction_find_ways(&r);
	for (uint32_t h = 0; h < HOSTS; h++) {
		assert_int_equal(r.way[h].t, -(int64_t)h * SEC);
		assert_true(fabs(r.way[h].growth - 1e-6 * h) < 1e-9);
	}
	tree_release(&r.by_noise);
	graph_release(&r.graph);
	free(r.way);
	free(r.bound_cost);
	free(r.est);
	free(pair);
	free(host);
}

static void test_fit_of_chain(void **state)
{
	struct reduced hosts;
	struct reduction r;

	(void)state;
	for (uint32_t method = 0; method_find(method); method++) {
		make_swept_chain(&hosts, &r, method);
		assert_int_equal(reduction_fit_hosts(&r), 0);
		for (uint32_t h = 0; h < REDUCED_HOSTS; h++) {
			const struct correction *c = &r.correction[h];
			int64_t ref;

			assert_true(c->known);
			assert_int_equal(c->from, hosts.host[h].span.lo);
			assert_int_equal(c->to, hosts.host[h].span.hi);
			correction_at(c, (40 + h) * SEC, &ref);
			assert_true(llabs(ref - 40 * SEC) <= 4);
		}
		reduction_end(&r);
		reduced_release(&hosts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corrections_along_path),
		cmocka_unit_test(test_incomplete_path),
		cmocka_unit_test(test_skew_along_path),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_fit_of_chain),
	};

	return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
