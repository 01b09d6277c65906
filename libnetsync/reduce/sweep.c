// SPDX-License-Identifier: LGPL-2.1-or-later
/* The corrections of all hosts: along the tree, then each against all others. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/host-fit.h"
#include "reduce/internal.h"

/*
 * Fits of every host, the first one along the tree. With two, the maximal errors
 * of bench-truth are up to 1.3 times as large.
 */
#define SWEEPS 3

struct carried reduction_carry(const struct reduction *r, uint32_t host,
			       int64_t t)
{
	struct carried c = { .t = t, .complete = true };

	while (host != r->reference) {
		uint32_t via = r->by_noise.via[host];
		const struct estimate *e = &r->est[via];
		double s = e->line.slope;

		if (host == e->pair->host[0]) {
			c.frac += line_to_second(&e->line, &c.t);
		} else {
			c.frac += line_to_first(&e->line, &c.t);
			s = -s / (1 + s);
		}
		c.skew += s + c.skew * s;
		c.growth += fmax(e->slope_max - e->line.slope,
				 e->line.slope - e->slope_min);
		c.complete &= e->quality != NETSYNC_INCOMPLETE;
		host = graph_other(&r->graph, via, host);
	}
	return c;
}

static int fit_host(struct reduction *r, uint32_t h, struct link *link)
{
	size_t n = 0;

	for (uint32_t i = r->graph.start[h]; i < r->graph.start[h + 1]; i++) {
		uint32_t pair = r->graph.edge[i];
		uint32_t other = graph_other(&r->graph, pair, h);
		const struct pair *p = r->est[pair].pair;

		if (!r->correction[other].known || !host_fit_useful(p))
			continue;
		link[n++] = (struct link){
			.pair = p,
			.other = &r->correction[other],
			.first = p->host[0] == h,
			.straight = !r->est[pair].relaxation
		};
	}
	return host_fit(&r->correction[h], link, n, r->task->drift);
}

/* Straight, as the lines of the pairs say. */
static void set_straight_correction(struct reduction *r, uint32_t h)
{
	struct carried k = reduction_carry(r, h, r->host[h].span.lo);

	r->correction[h] = (struct correction){
		.from = r->host[h].span.lo,
		.to = r->host[h].span.hi,
		.offset = k.t - r->host[h].span.lo + (int64_t)floor(k.frac),
		.frac = k.frac - floor(k.frac),
		.skew = k.skew,
	};
}

static int by_number(const void *a, const void *b)
{
	const size_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

/*
 * What three of four hosts but the reference have at most: where it bends itself,
 * all others seem to; what a few have, be it by mistake, is theirs.
 */
static int intervals_of_others(const struct reduction *r, size_t *intervals)
{
	uint32_t num = r->by_noise.num - 1;
	size_t *all = malloc((num + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < num; i++)
		all[i] = r->correction[r->by_noise.order[i + 1]].intervals;
	qsort(all, num, sizeof(*all), by_number);
	*intervals = all[num * 3 / 4];
	free(all);
	return 0;
}

/*
 * Every host in turn, against those whose clocks are known: first along the
 * tree, then against all that it talks with, so that what one pair got wrong
 * is put right by the others. The reference is no exception: were its own time
 * the common one for good, all others would have to move together to come
 * nearer to it, which takes them many turns. Its curve is what they all have
 * wrong in the same way, and need not be asked whether it bends at all.
 */
int reduction_fit_hosts(struct reduction *r)
{
	struct link *link = calloc(2 * (size_t)r->num_pairs + 1, sizeof(*link));
	uint32_t num = r->by_noise.num;
	bool curves = r->task->method->curves;
	int sweeps = !curves || num <= 2 ? 1 : SWEEPS;
	int ret = link ? 0 : -ENOMEM;

	for (int sweep = 0; sweep < sweeps; sweep++) {
		for (uint32_t i = 0; !ret && i < num; i++) {
			uint32_t h = r->by_noise.order[i];

			if (sweep == 0)
				set_straight_correction(r, h);
			else if (sweep == 1 && h == r->reference)
				ret = intervals_of_others(
					r, &r->correction[h].intervals);
			if (!ret && (h != r->reference || sweep) && curves)
				ret = fit_host(r, h, link);
			r->correction[h].known = true;
		}
	}
	free(link);
	return ret;
}
