// SPDX-License-Identifier: LGPL-2.1-or-later
/* The graph of pairs -> islands of connected hosts, and the reference host. */
#include <math.h>
#include <string.h>

#include "reduce/internal.h"

/*
 * Choose the host with the smallest sum of bounds in the largest island. Between equal
 * hosts (always, of two hosts) names decide, so that the choice does not depend on the
 * order in which hosts were added.
 */
static uint32_t choose_reference(struct reduction *r, uint32_t island)
{
	uint32_t best = NO_HOST;
	double least = 0;

	for (uint32_t h = 0; h < r->num_hosts; h++) {
		double total, tie;

		if (r->host[h].island != island)
			continue;
		total = tree_grow(&r->by_bound, &r->graph, r->bound_cost, h);
		tie = 1e-9 * fmax(total, 1);
		if (best == NO_HOST || total < least - tie ||
		    (total <= least + tie &&
		     strcmp(r->host[h].name, r->host[best].name) < 0)) {
			best = h;
			least = total;
		}
	}
	return best;
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
