// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The links to a host's neighbours, to which it is fitted, and the number of intervals of all other
 * hosts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/host-fit.h"
#include "reduce/internal.h"

/*
 * A host's bins are few if there are fewer than this on all pairs together, and each is at least
 * this part of its span wide, because memory was limited. Chosen by make bench-scale, where a host
 * has up to 512: otherwise errors are hundreds of times as large.
 */
#define FEW_BINS 640
#define WIDE (1.0 / 128)

/*
 * Has a host so few and wide bins, over both directions of all pairs, that a curve may have a knot
 * interval for each of them? Neighbours count even if they are unknown.
 */
static bool has_few_bins(const struct reduction *r, uint32_t h)
{
	const struct range *span = &r->host[h].span;
	size_t bins = 0;
	int shift = 0;

	for (uint32_t i = r->graph.start[h]; i < r->graph.start[h + 1]; i++) {
		const struct pair *p = r->est[r->graph.edge[i]].pair;

		for (int d = 0; d < 2; d++) {
			const struct envelope *e = &p->direction[d].envelope;

			bins += e->num;
			shift = e->shift > shift ? e->shift : shift;
		}
	}
	return bins < FEW_BINS && ldexp(1, shift) >= WIDE * ((double)span->hi - (double)span->lo);
}

int reduction_find_links(const struct reduction *r, uint32_t h, struct link **link, size_t *num)
{
	size_t n = 0, most = r->graph.start[h + 1] - r->graph.start[h];
	const bool few_bins = has_few_bins(r, h);

	*link = calloc(most + 1, sizeof(**link));
	if (!*link)
		return -ENOMEM;
	for (uint32_t i = r->graph.start[h]; i < r->graph.start[h + 1]; i++) {
		uint32_t pair = r->graph.edge[i];
		uint32_t other = graph_other(&r->graph, pair, h);
		const struct pair *p = r->est[pair].pair;

		if (!r->correction[other].known || !p->direction[0].num || !p->direction[1].num)
			continue;
		(*link)[n++] = (struct link){
			.pair = p,
			.other = &r->correction[other],
			.first = p->host[0] == h,
			.straight = !r->est[pair].relaxation,
			.thin = !host_fit_useful(p),
			.few_bins = few_bins,
		};
	}
	*num = host_fit_choose(*link, n);
	return 0;
}

static int compare_sizes(const void *a, const void *b)
{
	const size_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

int reduction_intervals_of_others(const struct reduction *r, size_t num, size_t *intervals)
{
	size_t *all = malloc((num + 1) * sizeof(*all)), n = 0;

	*intervals = 0;
	if (!all)
		return -ENOMEM;
	for (; n + 1 < num; n++)
		all[n] = r->correction[r->by_noise.order[n + 1]].intervals;
	if (n) {
		qsort(all, n, sizeof(*all), compare_sizes);
		*intervals = all[n * 3 / 4];
	}
	free(all);
	return 0;
}
