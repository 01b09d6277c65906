// SPDX-License-Identifier: LGPL-2.1-or-later
/* The graph of pairs -> islands of connected hosts, and the reference host. */
#include <math.h>
#include <string.h>

#include "reduce/internal.h"
#include "util/hash.h"

/*
 * With more connected hosts than this, computing the distances from each to all takes too long: a
 * second with this many. Chosen.
 */
#define FEW_HOSTS 1024
/*
 * Number of sample hosts from which distances to all others are computed, and of candidates nearest
 * to these. Chosen.
 */
#define SAMPLES 32

/*
 * Return a hash in [0, 1), so that the choice of samples does not depend on the order in which
 * hosts were added.
 */
static double hash_of_name(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = hash_slot(hash ^ (uint8_t)*name);
	return (double)(hash >> 11) * 0x1p-53;
}

/* Did a host exchange messages with only one other? It is farther from all others than that one. */
static bool host_is_leaf(const struct reduction *r, uint32_t h)
{
	return r->graph.start[h + 1] - r->graph.start[h] < 2;
}

/* Compare a value of two hosts, and their names if it is equal. */
static bool precedes_host(const struct reduction *r, const double *value, uint32_t a, uint32_t b)
{
	if (value[a] != value[b])
		return value[a] < value[b];
	return strcmp(r->host[a].name, r->host[b].name) < 0;
}

/*
 * List the hosts of an island, except leaves, with the smallest values: at most @most. Return their
 * number.
 */
static size_t list_smallest(const struct reduction *r, uint32_t island, const double *value,
			    uint32_t *list, size_t most)
{
	size_t num = 0;

	for (uint32_t h = 0; h < r->num_hosts; h++) {
		size_t at = num;

		if (r->host[h].island != island || host_is_leaf(r, h))
			continue;
		for (; at && precedes_host(r, value, h, list[at - 1]); at--)
			if (at < most)
				list[at] = list[at - 1];
		if (at < most)
			list[at] = h;
		num += num < most;
	}
	return num;
}

/*
 * List the hosts whose sums of bounds may be the smallest, judged by samples. Return their number.
 */
static size_t list_candidates(struct reduction *r, uint32_t island, uint32_t *list)
{
	/* The array is free until the tree is grown. */
	double *value = r->by_noise.dist;
	uint32_t sample[SAMPLES];
	size_t num;

	for (uint32_t h = 0; h < r->num_hosts; h++)
		value[h] = hash_of_name(r->host[h].name);
	num = list_smallest(r, island, value, sample, SAMPLES);
	memset(value, 0, r->num_hosts * sizeof(*value));
	for (size_t i = 0; i < num; i++) {
		tree_grow(&r->by_bound, &r->graph, r->bound_cost, sample[i]);
		for (uint32_t h = 0; h < r->num_hosts; h++)
			value[h] += r->by_bound.dist[h];
	}
	return list_smallest(r, island, value, list, SAMPLES);
}

/*
 * Choose the host with the smallest sum of bounds from a list. If sums are equal (always with two
 * hosts), names decide, so that the choice does not depend on the order in which hosts were added.
 */
static uint32_t choose_nearest(struct reduction *r, const uint32_t *list, size_t num)
{
	uint32_t best = NO_HOST;
	double least = 0;

	for (size_t i = 0; i < num; i++) {
		const uint32_t h = list[i];
		const double total = tree_grow(&r->by_bound, &r->graph, r->bound_cost, h);
		const double tie = 1e-9 * fmax(total, 1);

		if (best == NO_HOST || total < least - tie ||
		    (total <= least + tie && strcmp(r->host[h].name, r->host[best].name) < 0)) {
			best = h;
			least = total;
		}
	}
	return best;
}

/* Choose the reference from all hosts of the largest island, or from its candidates. */
static uint32_t choose_reference(struct reduction *r, uint32_t island)
{
	uint32_t list[FEW_HOSTS];
	size_t num = 0, hosts = 0;

	for (uint32_t h = 0; h < r->num_hosts; h++) {
		if (r->host[h].island != island)
			continue;
		if (hosts++ < FEW_HOSTS)
			list[num++] = h;
	}
	if (hosts > FEW_HOSTS)
		num = list_candidates(r, island, list);
	return choose_nearest(r, list, num);
}

void reduction_find_islands(struct reduction *r)
{
	/* The arrays are free until the trees are grown. */
	uint32_t *island = r->by_bound.via;
	uint32_t largest = graph_islands(&r->graph, island, r->by_noise.via);

	for (uint32_t h = 0; h < r->num_hosts; h++)
		r->host[h].island = island[h];
	if (r->reference == NO_HOST)
		r->reference = choose_reference(r, largest);
}
