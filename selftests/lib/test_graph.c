// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare islands and trees of shortest paths with an enumeration of all paths through small
 * graphs.
 */
#include "reduce/graph.h"
#include "test.h"

enum { HOSTS = 9 };

struct sample {
	struct pair pair[HOSTS * HOSTS];
	struct estimate est[HOSTS * HOSTS];
	double cost[HOSTS * HOSTS];
	uint32_t num;
	double distance[HOSTS][HOSTS]; /* lengths of the shortest paths */
};

/* Connect any two hosts by a pair with probability @share. */
static void draw_random_graph(struct sample *s, uint64_t *seed, double share)
{
	*s = (struct sample){ .num = 0 };
	for (uint32_t a = 0; a < HOSTS; a++)
		for (uint32_t b = 0; b < HOSTS; b++)
			s->distance[a][b] = a == b ? 0 : HUGE_VAL;
	for (uint32_t a = 0; a < HOSTS; a++)
		for (uint32_t b = a + 1; b < HOSTS; b++) {
			if (draw_between_0_and_1(seed) > share)
				continue;
			s->pair[s->num] = (struct pair){ .host = { a, b } };
			s->est[s->num].pair = &s->pair[s->num];
			/* Costs are integers, so their sums are exact. Some costs are 0. */
			s->cost[s->num] = (double)draw_integer_below(seed, 6);
			s->distance[a][b] = s->distance[b][a] = s->cost[s->num++];
		}
	for (int k = 0; k < HOSTS; k++)
		for (int a = 0; a < HOSTS; a++)
			for (int b = 0; b < HOSTS; b++)
				s->distance[a][b] = fmin(s->distance[a][b],
							 s->distance[a][k] + s->distance[k][b]);
}

static void check_tree(const struct sample *s, const struct graph *g, struct tree *t, uint32_t root)
{
	double sum = 0, last = 0;

	assert_true(tree_grow(t, g, s->cost, root) >= 0);
	assert_int_equal(t->order[0], root);
	for (uint32_t i = 0; i < t->num; i++) {
		const uint32_t h = t->order[i];

		assert_true(t->dist[h] >= last);
		last = t->dist[h];
		sum += last;
	}
	assert_true(tree_grow(t, g, s->cost, root) == sum);
	for (uint32_t h = 0; h < HOSTS; h++) {
		uint32_t nearer;

		assert_true(t->dist[h] == s->distance[root][h]);
		if (h == root || t->dist[h] == HUGE_VAL)
			continue;
		nearer = graph_other(g, t->via[h], h);
		assert_true(t->dist[nearer] + s->cost[t->via[h]] == t->dist[h]);
	}
}

static void check_islands(const struct sample *s, const struct graph *g)
{
	uint32_t island[HOSTS], todo[HOSTS], size[HOSTS] = { 0 };
	const uint32_t largest = graph_islands(g, island, todo);

	for (uint32_t h = 0; h < HOSTS; h++) {
		uint32_t smallest = h;

		for (uint32_t a = HOSTS; a-- > 0;)
			if (s->distance[h][a] < HUGE_VAL)
				smallest = a;
		assert_int_equal(island[h], smallest);
		size[island[h]]++;
	}
	for (uint32_t h = 0; h < HOSTS; h++)
		assert_true(size[h] <= size[largest]);
}

static void test_random_graphs(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct sample s;
		struct graph g;
		struct tree t;

		draw_random_graph(&s, &seed, (double)(round % 10) / 10);
		assert_int_equal(graph_make(&g, s.est, HOSTS, s.num), 0);
		assert_int_equal(tree_make(&t, &g), 0);
		check_islands(&s, &g);
		for (uint32_t root = 0; root < HOSTS; root++)
			check_tree(&s, &g, &t, root);
		tree_release(&t);
		graph_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs),
	};

	return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
