// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The clock of a host: the correction as segments, and the interval in which the
 * truth is guaranteed to lie, over all neighbours whose clocks are made.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/knots.h"
#include "clock.h"
#include "reduce/internal.h"

/* Pairs that a bound is made of at most: more hardly narrow it. Chosen. */
#define MAX_NEIGHBOURS 8
/* Instants of a bound: of a straight clock; at most. Chosen. */
#define FEW_INSTANTS 33
#define MOST_INSTANTS 65536
/* How far limits may bend from one instant to the next, ns. Chosen. */
#define MAX_SAG 2.0
/* Instants that the median bound is of. Chosen. */
#define MEDIAN_OF 1025

/* The pairs that limit a host's time most, that of the tree first. */
struct neighbours {
	const struct reduction *r;
	uint32_t host;
	uint32_t via[MAX_NEIGHBOURS];
	uint32_t num;
};

/* How wide the bound over a pair is about to be, ns. */
static double width_over(const struct reduction *r, uint32_t host, uint32_t via)
{
	return r->bound_cost[via] +
	       (double)r->host[graph_other(&r->graph, via, host)].bound_median;
}

/* Those of the narrowest bounds. */
static void choose_neighbours(struct neighbours *a, const struct reduction *r,
			      uint32_t host)
{
	uint32_t i = r->graph.start[host];

	*a = (struct neighbours){
		.r = r, .host = host, .num = 1, .via = { r->by_bound.via[host] }
	};
	for (; i < r->graph.start[host + 1]; i++) {
		uint32_t pair = r->graph.edge[i], k;
		double width = width_over(r, host, pair);

		if (pair == a->via[0] ||
		    !r->host[graph_other(&r->graph, pair, host)].clock)
			continue;
		for (k = a->num;
		     k > 1 && width < width_over(r, host, a->via[k - 1]); k--)
			if (k < MAX_NEIGHBOURS)
				a->via[k] = a->via[k - 1];
		if (k < MAX_NEIGHBOURS) {
			a->via[k] = pair;
			a->num += a->num < MAX_NEIGHBOURS;
		}
	}
}

/* All that a host's time can be on the reference, over a neighbour. */
static struct range range_over(const struct reduction *r, uint32_t host,
			       uint32_t via, int64_t t)
{
	const struct rate_bound *b = &r->pair_bound[via].bound;
	uint32_t next = graph_other(&r->graph, via, host);
	const struct host *h = &r->host[next];
	struct range at = { t - r->host[host].origin,
			    t - r->host[host].origin };

	if (!r->pair_bound[via].usable)
		return (struct range){ INT64_MIN, INT64_MAX };
	at = r->est[via].pair->host[0] == host ? rate_bound_to_second(b, at)
					       : rate_bound_to_first(b, at);
	/* The messages that limit it may be off at both ends. */
	if (at.lo > INT64_MIN)
		at.lo += h->origin - h->time_error - r->host[host].time_error;
	if (at.hi < INT64_MAX)
		at.hi += h->origin + h->time_error + r->host[host].time_error;
	return next == r->reference ? at : clock_range(h->clock, at);
}

/*
 * The truth is inside the range over every neighbour whose clock is made: in
 * what they have in common. If they contradict each other, the one on the
 * shortest way is as good as any.
 */
static struct range range_of_host(const void *arg, int64_t t)
{
	const struct neighbours *a = arg;
	struct range best = range_over(a->r, a->host, a->via[0], t);
	struct range all = best;

	for (uint32_t i = 1; i < a->num; i++) {
		struct range other = range_over(a->r, a->host, a->via[i], t);

		all.lo = max64(all.lo, other.lo);
		all.hi = min64(all.hi, other.hi);
	}
	return all.lo <= all.hi ? all : best;
}

/*
 * So many that the limits change little from one to the next: they bend by
 * bend / 8 times the square of the time between. Of straight clocks, few.
 */
static size_t count_instants(const struct reduction *r, uint32_t h)
{
	struct netsync_model m = { .size = sizeof(m) };
	uint32_t via = r->by_bound.via[h];
	uint32_t next = graph_other(&r->graph, via, h);
	const struct direction *c = r->est[via].pair->direction;
	double span = (double)(r->host[h].span.hi - r->host[h].span.lo);
	double n = span * sqrt(r->task->limits.bend / (8 * MAX_SAG));

	netsync_clock_model(r->host[next].clock, &m);
	n = fmin(n, 2 * ((double)(c[0].num + c[1].num) + m.num_knots));
	return FEW_INSTANTS + (size_t)fmin(n, MOST_INSTANTS);
}

static int set_knots(const struct reduction *r, uint32_t h,
		     struct netsync_model *m)
{
	const struct host *host = &r->host[h];
	const struct correction *c = &r->correction[h];
	struct neighbours near;
	struct knots k = {
		.first = host->origin + host->span.lo,
		.last = host->origin + host->span.hi,
		.limits = r->task->limits,
		.at = range_of_host,
		.arg = &near,
		.instants = count_instants(r, h),
	};
	struct change_window *windows = calloc(c->num_changes + 1,
					       sizeof(*windows));
	struct netsync_clock *bare = NULL;
	int ret = windows ? netsync_clock_new(m, &bare) : -ENOMEM;

	choose_neighbours(&near, r, h);
	for (size_t i = 0; !ret && i < c->num_changes; i++) {
		struct clock_step s = correction_step(c, i);

		windows[i] = step_window(&s);
		windows[i].from += host->origin;
		windows[i].to += host->origin;
	}
	k.clock = bare;
	k.windows = windows;
	k.num_windows = c->num_changes;
	if (!ret)
		ret = knots_make(&k);
	netsync_clock_free(bare);
	free(windows);
	m->knots = k.knot;
	m->num_knots = k.num;
	return ret;
}

static int compare_bounds(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

void host_summarize(struct host *host)
{
	struct netsync_model m = { .size = sizeof(m) };
	int64_t sorted[MEDIAN_OF], first = host->span.lo, t;

	netsync_clock_model(host->clock, &m);
	for (int i = 0; i < MEDIAN_OF; i++) {
		int64_t at = host->origin + first +
			     (int64_t)((__int128)(host->span.hi - first) * i /
				       (MEDIAN_OF - 1));

		netsync_convert(host->clock, at, &t, &sorted[i]);
	}
	qsort(sorted, MEDIAN_OF, sizeof(*sorted), compare_bounds);
	host->bound_median = sorted[MEDIAN_OF / 2];
	host->bound_max = 0;
	for (uint32_t i = 0; i < m.num_segments; i++)
		host->bound_max = max64(host->bound_max,
					m.segments[i].bound_ns);
}

/* ---- the clock ---------------------------------------------------------- */

static int set_steps(const struct reduction *r, uint32_t h)
{
	const struct correction *c = &r->correction[h];
	struct host *host = &r->host[h];

	host->step = calloc(c->num_changes + 1, sizeof(*host->step));
	if (!host->step)
		return -ENOMEM;
	host->num_steps = (uint32_t)c->num_changes;
	for (size_t i = 0; i < c->num_changes; i++) {
		struct clock_step s = correction_step(c, i);

		/*
		 * A clock that is ahead is corrected by less. The step lies in
		 * the middle of the times that were skipped, or shown twice.
		 */
		host->step[i] = (struct netsync_step){
			.time_ns = host->origin + s.t + llround(s.offset / 2),
			.within_ns = s.uncertainty,
			.offset_ns = -llround(s.offset),
			.skew_ppm = -s.skew * 1e6,
		};
	}
	return 0;
}

/* The worst pair on the way of the bound. */
static enum netsync_quality quality_of(const struct reduction *r, uint32_t host)
{
	enum netsync_quality q = NETSYNC_ACCURATE;

	if (!reduction_carry(r, host, 0).complete)
		return NETSYNC_INCOMPLETE;
	for (uint32_t h = host; h != r->reference;) {
		uint32_t via = r->by_bound.via[h];

		if (r->est[via].quality < q)
			q = r->est[via].quality;
		h = graph_other(&r->graph, via, h);
	}
	/* There was a way with messages in both directions. */
	return q == NETSYNC_INCOMPLETE ? NETSYNC_APPROXIMATE : q;
}

int reduction_make_clock(const struct reduction *r, uint32_t h)
{
	struct host *host = &r->host[h];
	struct netsync_segment *segment;
	int64_t n = correction_segments(&r->correction[h],
					&r->correction[r->reference],
					host->origin,
					r->host[r->reference].origin, &segment);
	struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = (uint32_t)n,
		.segment_size = sizeof(*segment),
		.knot_size = sizeof(struct netsync_knot),
		.segments = segment,
	};
	double growth = r->task->limits.slope;
	int ret;

	if (n < 0)
		return (int)n;
	growth = growth / (1 - growth) + fabs(r->correction[h].skew);
	if (!r->task->limits.bend)
		growth = reduction_carry(r, h, 0).growth;
	m.growth_ppm[0] = m.growth_ppm[1] = growth * 1e6;
	host->quality = quality_of(r, h);
	ret = set_knots(r, h, &m);
	if (!ret)
		ret = set_steps(r, h);
	if (!ret)
		ret = netsync_clock_new(&m, &host->clock);
	free(segment);
	free((void *)m.knots);
	if (ret)
		return ret;
	clock_set_bounds(host->clock);
	host_summarize(host);
	return 0;
}
