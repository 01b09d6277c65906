/* SPDX-License-Identifier: GPL-2.0-only */
/* The graph and the trees of hosts with known messages, as reduce() creates them. */
#ifndef SELFTESTS_REDUCTION_H
#define SELFTESTS_REDUCTION_H

#include "reduce/internal.h"
#include "reduced.h"

/* Use all pairs of reduced_estimate(). Each pair has a cost of 1. */
static inline void reduction_init(struct reduction *r, struct reduced *from)
{
	*r = (struct reduction){
		.host = from->host,
		.est = from->est,
		.task = &from->task,
		.num_hosts = REDUCED_HOSTS,
		.num_pairs = (uint32_t)from->ps.num,
		.reference = from->task.reference,
		.bound_cost = calloc(from->ps.num + 1, sizeof(double)),
		.correction = calloc(REDUCED_HOSTS, sizeof(struct correction)),
		.wander = calloc(REDUCED_HOSTS, sizeof(struct wander)),
		.steep = calloc(REDUCED_HOSTS, sizeof(struct windows)),
		.forgotten = calloc(REDUCED_HOSTS, sizeof(struct windows)),
		.path = calloc(REDUCED_HOSTS, sizeof(struct path)),
		.way = calloc(REDUCED_HOSTS, sizeof(struct carried)),
		.short_by = calloc(from->ps.num + 1, sizeof(int64_t)),
		.disputed = calloc(from->ps.num + 1, sizeof(bool)),
		.outvoted = calloc(from->ps.num + 1, sizeof(bool)),
	};
	for (size_t i = 0; i < from->ps.num; i++)
		r->bound_cost[i] = 1;
	assert_int_equal(graph_make(&r->graph, r->est, r->num_hosts, r->num_pairs), 0);
	assert_int_equal(tree_make(&r->by_bound, &r->graph), 0);
	assert_int_equal(tree_make(&r->by_noise, &r->graph), 0);
}

static inline void reduction_end(struct reduction *r)
{
	for (uint32_t h = 0; h < r->num_hosts; h++) {
		correction_release(&r->correction[h]);
		wander_release(&r->wander[h]);
		windows_release(&r->steep[h]);
		windows_release(&r->forgotten[h]);
	}
	free(r->bound_cost);
	free(r->correction);
	free(r->wander);
	free(r->steep);
	free(r->forgotten);
	free(r->path);
	free(r->way);
	free(r->short_by);
	free(r->disputed);
	free(r->outvoted);
	tree_release(&r->by_bound);
	tree_release(&r->by_noise);
	graph_release(&r->graph);
}

#endif
