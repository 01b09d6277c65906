/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hosts as nodes of a graph, pairs as its edges -> shortest paths from one host to all.
 */
#ifndef NETSYNC_REDUCE_GRAPH_H
#define NETSYNC_REDUCE_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "pair/estimate.h"

struct heap_entry {
	double dist;
	uint32_t host;
};

struct graph {
	const struct estimate *est;
	uint32_t num_hosts;
	uint32_t num_pairs;
	uint32_t *start; /* pairs of host h: edge[start[h]] up to edge[start[h + 1]] */
	uint32_t *edge;
	struct heap_entry *heap;
};

/* The shortest paths from one host to all reachable hosts. */
struct tree {
	double *dist;
	uint32_t *via;	 /* pair on the path to the root */
	uint32_t *order; /* hosts by distance, the root first */
	uint32_t num;
};

/* Make a graph: 0 or -ENOMEM. */
int graph_make(struct graph *g, const struct estimate *est, uint32_t num_hosts, uint32_t num_pairs);
void graph_release(struct graph *g);

/* Return the other host of a pair. */
uint32_t graph_other(const struct graph *g, uint32_t pair, uint32_t host);

/*
 * Set the island of each host: the smallest number of its connected hosts. @todo: scratch space for
 * all hosts. Return the island with the most hosts.
 */
uint32_t graph_islands(const struct graph *g, uint32_t *island, uint32_t *todo);

/* Allocate a tree: 0 or -ENOMEM. */
int tree_make(struct tree *t, const struct graph *g);
void tree_release(struct tree *t);

/* Compute the tree again; @cost: by pair. Return the sum of all distances. */
double tree_grow(struct tree *t, const struct graph *g, const double *cost, uint32_t from);

#endif
