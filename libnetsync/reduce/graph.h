/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hosts as the nodes of a graph, pairs as its edges; ways from one to all. */
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
	uint32_t *start; /* pairs of host h: edge[start[h] .. start[h + 1]] */
	uint32_t *edge;
	struct heap_entry *heap;
};

/* The shortest ways from one host to all that can be reached. */
struct tree {
	double *dist;
	uint32_t *via;	 /* pair that leads towards the root */
	uint32_t *order; /* hosts by their distance, the root first */
	uint32_t num;
};

/* 0 or -ENOMEM. */
int graph_make(struct graph *g, const struct estimate *est, uint32_t num_hosts,
	       uint32_t num_pairs);
void graph_release(struct graph *g);

/* The other host of a pair. */
uint32_t graph_other(const struct graph *g, uint32_t pair, uint32_t host);

/*
 * Set for every host the smallest host number that it is connected with.
 * @todo: room for all hosts. Return: the number that most hosts have.
 */
uint32_t graph_islands(const struct graph *g, uint32_t *island, uint32_t *todo);

/* 0 or -ENOMEM. */
int tree_make(struct tree *t, const struct graph *g);
void tree_release(struct tree *t);

/* Grow anew; @cost: of each pair. Return: the sum of all distances. */
double tree_grow(struct tree *t, const struct graph *g, const double *cost,
		 uint32_t from);

#endif
