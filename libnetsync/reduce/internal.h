/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the files of reduction:
 *
 *	reduce.c	the steps, in order; what pairs cost in either tree
 *	reference.c	islands, and the reference host
 *	sweep.c		straight corrections along the tree, then curves
 *	host-clock.c	the clock of a host: segments, bounds, steps, quality
 *	graph.c		the graph of pairs, and its trees of shortest paths
 *	span.c		in what time hosts were traced
 *	pair-info.c	what is told of a pair
 */
#ifndef NETSYNC_REDUCE_INTERNAL_H
#define NETSYNC_REDUCE_INTERNAL_H

#include "bound/pair-bound.h"
#include "curve/correction.h"
#include "reduce/graph.h"
#include "reduce/reduce.h"

/* Of two trees of shortest paths, see reduce.c. */
struct reduction {
	struct host *host;
	struct estimate *est;
	uint32_t num_hosts;
	uint32_t num_pairs;
	const struct task *task;
	uint32_t reference;
	struct graph graph;
	struct tree by_bound;
	struct tree by_noise;
	double *bound_cost;
	double *noise_cost;
	struct pair_bound *pair_bound; /* of each pair */
	struct correction *correction; /* of each host */
};

/* A host's time, carried along the lines of pairs to the reference. */
struct carried {
	int64_t t;     /* relative to the origin of the host that it has */
	double frac;   /* come to; and the rest of it, ns */
	double skew;   /* rate of the whole path - 1 */
	double growth; /* how far straight clocks can differ from that */
	bool complete; /* messages both ways all along */
};

struct carried reduction_carry(const struct reduction *r, uint32_t host,
			       int64_t t);

/* Set the islands of all hosts, and the reference if none is given. */
void reduction_find_islands(struct reduction *r);

/* Estimate the corrections of all hosts that are connected: 0 or -ENOMEM. */
int reduction_fit_hosts(struct reduction *r);

/*
 * Make the clock of a host that is not the reference, those nearer to it being
 * made: 0 or -ENOMEM.
 */
int reduction_make_clock(const struct reduction *r, uint32_t h);

#endif
