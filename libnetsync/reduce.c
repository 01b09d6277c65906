// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Hosts are the nodes of a graph, pairs its edges. Two shortest-path trees
 * (Dijkstra 1959) lead from the reference to every host:
 *
 * - the tree of smallest *expected error* gives the corrections. The expected
 *   error of a pair falls with the number of its messages, so that ten good
 *   links in a row beat one poor direct one;
 * - the tree of smallest *bound* gives the interval in which the truth is
 *   guaranteed to lie. It is dominated by the smallest delays (whose asymmetry
 *   nobody knows), and thus by the number of hops.
 *
 * The guarantee holds whichever tree the correction came from: what counts is
 * how far the interval reaches from the correction.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "reduce.h"
#include "track.h"

#define KNOTS 33
/* How often every host's curve is fitted against all others. */
#define SWEEPS 3
/* A pair with one direction only is taken where there is nothing better. */
#define INCOMPLETE_COST 1e17

struct heap_entry {
	double dist;
	uint32_t host;
};

struct tree {
	double *dist;
	uint32_t *via;		/* pair that leads towards the reference */
};

struct graph {
	struct host *host;
	const struct estimate *est;
	uint32_t num_hosts;
	uint32_t num_pairs;
	uint32_t reference;
	uint32_t *start;	/* pairs of host h: edge[start[h] .. start[h + 1]] */
	uint32_t *edge;
	double *bound_cost;
	double *noise_cost;
	struct heap_entry *heap;
	struct tree by_bound;
	struct tree by_noise;
	uint32_t *order;	/* hosts by their distance in the last tree */
	uint32_t num_order;
	struct course *course;	/* NULL: straight lines are wanted */
	bool bounds;		/* the lines have bounds */
};

static void set_costs(struct graph *g, uint32_t i)
{
	const struct estimate *e = &g->est[i];
	const struct host *a = &g->host[e->pair->host[0]];
	const struct host *b = &g->host[e->pair->host[1]];
	int64_t first = b->first, last = b->last;
	double bound = 0, stretch;
	struct margin m;

	if (e->quality == NETSYNC_INCOMPLETE) {
		g->bound_cost[i] = g->noise_cost[i] = INCOMPLETE_COST;
		return;
	}
	line_to_first(&e->line, &first);
	line_to_first(&e->line, &last);
	first = min64(first, a->first);
	last = max64(last, a->last);
	/* The margin is convex in time: it is largest at an end. */
	m = estimate_margin(e, first);
	bound = fmax(bound, fmax(m.below, m.above));
	m = estimate_margin(e, last);
	bound = fmax(bound, fmax(m.below, m.above));
	g->bound_cost[i] = bound;
	stretch = (double)(last - first) / (double)(e->both_to - e->both_from);
	if (e->both_to <= e->both_from)
		g->noise_cost[i] = bound;
	else
		g->noise_cost[i] = fmin(e->noise * fmax(stretch, 1), bound);
}

static uint32_t other_end(const struct graph *g, uint32_t pair, uint32_t host)
{
	const uint32_t *h = g->est[pair].pair->host;

	return h[0] == host ? h[1] : h[0];
}

static void set_edges(struct graph *g)
{
	for (uint32_t i = 0; i < g->num_pairs; i++) {
		g->start[g->est[i].pair->host[0] + 1]++;
		g->start[g->est[i].pair->host[1] + 1]++;
	}
	for (uint32_t h = 0; h < g->num_hosts; h++)
		g->start[h + 1] += g->start[h];
	/* Filling moves every start to its end, which is the next one's start. */
	for (uint32_t i = 0; i < g->num_pairs; i++) {
		g->edge[g->start[g->est[i].pair->host[0]]++] = i;
		g->edge[g->start[g->est[i].pair->host[1]]++] = i;
	}
	memmove(g->start + 1, g->start, g->num_hosts * sizeof(*g->start));
	g->start[0] = 0;
}

/* ---- shortest paths ---------------------------------------------------- */

static void heap_push(struct heap_entry *heap, size_t *n, double dist,
		      uint32_t host)
{
	size_t i = (*n)++;

	while (i && heap[(i - 1) / 2].dist > dist) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = (struct heap_entry){ dist, host };
}

static struct heap_entry heap_pop(struct heap_entry *heap, size_t *n)
{
	struct heap_entry top = heap[0], last = heap[--*n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < *n) {
		if (child + 1 < *n && heap[child + 1].dist < heap[child].dist)
			child++;
		if (last.dist <= heap[child].dist)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return top;
}

/* Shortest paths from a host; returns the sum of all distances. */
static double grow_tree(struct graph *g, struct tree *t, const double *cost,
			uint32_t from)
{
	size_t n = 0;
	double total = 0;

	for (uint32_t h = 0; h < g->num_hosts; h++)
		t->dist[h] = HUGE_VAL;
	g->num_order = 0;
	t->dist[from] = 0;
	heap_push(g->heap, &n, 0, from);
	while (n) {
		struct heap_entry at = heap_pop(g->heap, &n);

		if (at.dist > t->dist[at.host])
			continue;	/* reached on a shorter path before */
		total += at.dist;
		g->order[g->num_order++] = at.host;
		for (uint32_t i = g->start[at.host]; i < g->start[at.host + 1];
		     i++) {
			uint32_t to = other_end(g, g->edge[i], at.host);
			double d = at.dist + cost[g->edge[i]];

			if (d >= t->dist[to])
				continue;
			t->dist[to] = d;
			t->via[to] = g->edge[i];
			heap_push(g->heap, &n, d, to);
		}
	}
	return total;
}

static uint32_t find_islands(struct graph *g)
{
	uint32_t *size = g->by_bound.via;	/* free until the trees grow */
	uint32_t *todo = g->by_noise.via;
	uint32_t best = 0;

	for (uint32_t h = 0; h < g->num_hosts; h++) {
		g->host[h].island = NO_HOST;
		size[h] = 0;
	}
	for (uint32_t h = 0; h < g->num_hosts; h++) {
		uint32_t n = 0;

		if (g->host[h].island != NO_HOST)
			continue;
		g->host[h].island = h;
		todo[n++] = h;
		while (size[h] < n) {
			uint32_t at = todo[size[h]++];

			for (uint32_t i = g->start[at]; i < g->start[at + 1];
			     i++) {
				uint32_t to = other_end(g, g->edge[i], at);

				if (g->host[to].island != NO_HOST)
					continue;
				g->host[to].island = h;
				todo[n++] = to;
			}
		}
		if (size[h] > size[best])
			best = h;
	}
	return best;
}

/*
 * The host of the largest island with the smallest total bound. Where several
 * are as good (always, of two hosts) the names decide, so that the choice does
 * not depend on the order in which hosts were added.
 */
static uint32_t choose_reference(struct graph *g, uint32_t island)
{
	uint32_t best = NO_HOST;
	double least = 0;

	for (uint32_t h = 0; h < g->num_hosts; h++) {
		double total, tie;

		if (g->host[h].island != island)
			continue;
		total = grow_tree(g, &g->by_bound, g->bound_cost, h);
		tie = 1e-9 * fmax(total, 1);
		if (best == NO_HOST || total < least - tie ||
		    (total <= least + tie &&
		     strcmp(g->host[h].name, g->host[best].name) < 0)) {
			best = h;
			least = total;
		}
	}
	return best;
}

/* ---- clocks ------------------------------------------------------------ */

/* A host's time carried along a path to the reference. */
struct carried {
	int64_t t;		/* relative to the origin of the host where it */
	double frac;		/* has come to; and the rest of it */
	double skew;		/* rate of the whole path - 1 */
	struct margin margin;	/* how far the truth can be from t + frac */
	double growth;		/* of the margin, outside of all messages */
	enum netsync_quality quality;
};

static struct carried carry(const struct graph *g, const struct tree *tree,
			    uint32_t host, int64_t t)
{
	struct carried c = { .t = t, .quality = NETSYNC_ACCURATE };

	while (host != g->reference) {
		const struct estimate *e = &g->est[tree->via[host]];
		double s = e->line.slope, skew;
		struct margin m;

		if (host == e->pair->host[0]) {
			m = estimate_margin(e, c.t);
			c.frac += line_to_second(&e->line, &c.t);
			c.margin.below += m.below;
			c.margin.above += m.above;
			skew = s;
		} else {
			/* A higher line means an earlier time on host[0]. */
			c.frac += line_to_first(&e->line, &c.t);
			m = estimate_margin(e, c.t);
			c.margin.below += m.above;
			c.margin.above += m.below;
			skew = -s / (1 + s);
		}
		c.skew += skew + c.skew * skew;
		c.growth += fmax(e->slope_max - s, s - e->slope_min);
		if (e->quality < c.quality)
			c.quality = e->quality;
		host = other_end(g, tree->via[host], host);
	}
	return c;
}

/* How far the truth can be from @c, by the path that @by went. */
static double half_width(const struct carried *c, const struct carried *by)
{
	double d = (double)(by->t - c->t) + by->frac - c->frac;

	return fmax(by->margin.above + d, by->margin.below - d);
}

static int compare_bounds(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

/*
 * The bound of a host at evenly spread instants. It is convex in between, so
 * that drawing straight lines through them errs on the safe side.
 */
static uint32_t set_knots(const struct graph *g, uint32_t h,
			  const struct tree *by, struct netsync_knot *knot)
{
	const struct host *host = &g->host[h];
	uint64_t span = (uint64_t)(host->last - host->first);
	uint32_t n = span < KNOTS ? (uint32_t)span + 1 : KNOTS;

	for (uint32_t i = 0; i < n; i++) {
		int64_t t = host->first;
		struct carried c, alt;

		if (i)
			t += (int64_t)((__int128)span * i / (n - 1));
		c = carry(g, &g->by_noise, h, t);
		alt = carry(g, by, h, t);
		knot[i].time_ns = host->origin + t;
		/* One ns for rounding the offset and the corrected time. */
		knot[i].bound_ns =
			(int64_t)ceil(fmin(half_width(&c, &alt), 0x1p60)) + 1;
	}
	return n;
}

static int64_t largest(const struct netsync_knot *knot, uint32_t n)
{
	return max64(knot[0].bound_ns, knot[n - 1].bound_ns);
}

/* ---- curves ------------------------------------------------------------ */

static int track_host(struct graph *g, uint32_t h, struct link *link)
{
	size_t n = 0;

	for (uint32_t i = g->start[h]; i < g->start[h + 1]; i++) {
		uint32_t other = other_end(g, g->edge[i], h);
		const struct estimate *e = &g->est[g->edge[i]];

		if (!g->course[other].known)
			continue;
		link[n++] = (struct link){ .pair = e->pair,
					   .other = &g->course[other],
					   .first = e->pair->host[0] == h };
	}
	return track(&g->course[h], link, n);
}

/*
 * Every host in turn, against those whose clocks are known: first along the
 * tree, then against all that it talks with, so that what one pair got wrong
 * is put right by the others.
 */
static int track_hosts(struct graph *g)
{
	struct link *link = calloc(2 * (size_t)g->num_pairs + 1, sizeof(*link));
	int ret = link ? 0 : -ENOMEM;

	for (int sweep = 0; !ret && sweep < (g->num_order > 2 ? SWEEPS : 1);
	     sweep++) {
		for (uint32_t i = 0; !ret && i < g->num_order; i++) {
			uint32_t h = g->order[i];
			struct course *c = &g->course[h];
			struct carried k;

			if (sweep == 0) {
				k = carry(g, &g->by_noise, h, g->host[h].first);
				*c = (struct course){
					.from = g->host[h].first,
					.to = g->host[h].last,
					.offset = k.t - g->host[h].first +
						  (int64_t)floor(k.frac),
					.rest = k.frac - floor(k.frac),
					.skew = k.skew,
				};
			}
			if (h != g->reference)
				ret = track_host(g, h, link);
			c->known = true;
		}
	}
	free(link);
	return ret;
}

/* The clock of a host as its course says. Of its error nothing is known. */
static int make_curve(const struct graph *g, uint32_t h)
{
	struct host *host = &g->host[h];
	struct netsync_segment *segment;
	int64_t n = course_segments(&g->course[h], host->origin,
				    g->host[g->reference].origin, &segment);
	struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = (uint32_t)n,
		.segments = segment,
	};
	int ret;

	if (n < 0)
		return (int)n;
	host->quality = carry(g, &g->by_noise, h, host->first).quality;
	if (host->quality == NETSYNC_ACCURATE)
		host->quality = NETSYNC_APPROXIMATE;
	host->bound_median = host->bound_max = NETSYNC_UNKNOWN;
	ret = netsync_clock_new(&m, &host->clock);
	free(segment);
	return ret;
}

static int make_clock(const struct graph *g, uint32_t h)
{
	struct host *host = &g->host[h];
	struct carried c = carry(g, &g->by_noise, h, host->first);
	struct carried alt = carry(g, &g->by_bound, h, host->first);
	struct netsync_knot knot[KNOTS], knot2[KNOTS];
	int64_t sorted[KNOTS];
	struct netsync_segment seg = {
		.from_ns = host->origin + host->first,
		.to_ns = host->origin + host->last,
		.offset_ns = g->host[g->reference].origin - host->origin +
			     c.t - host->first + llround(c.frac),
		.rate = 1 + c.skew,
	};
	struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = 1,
		.segments = &seg,
		.knots = knot,
		.growth_ppm = { c.growth * 1e6, c.growth * 1e6 },
	};

	host->quality = c.quality;
	host->bound_median = host->bound_max = NETSYNC_UNKNOWN;
	if (c.quality == NETSYNC_INCOMPLETE || !g->bounds)
		return netsync_clock_new(&m, &host->clock);
	m.num_knots = set_knots(g, h, &g->by_noise, knot);
	set_knots(g, h, &g->by_bound, knot2);
	if (largest(knot2, m.num_knots) < largest(knot, m.num_knots)) {
		alt.growth += fabs(alt.skew - c.skew);
		m.growth_ppm[0] = m.growth_ppm[1] = alt.growth * 1e6;
		m.knots = knot2;
	}
	for (uint32_t i = 0; i < m.num_knots; i++)
		sorted[i] = m.knots[i].bound_ns;
	qsort(sorted, m.num_knots, sizeof(*sorted), compare_bounds);
	host->bound_median = sorted[m.num_knots / 2];
	host->bound_max = sorted[m.num_knots - 1];
	return netsync_clock_new(&m, &host->clock);
}

/* The reference's own clock is right by definition. */
static int make_reference(const struct graph *g)
{
	struct host *host = &g->host[g->reference];
	bool seen = host->first <= host->last;
	struct netsync_segment seg = {
		.from_ns = host->origin + (seen ? host->first : 0),
		.to_ns = host->origin + (seen ? host->last : 0),
		.rate = 1,
	};
	struct netsync_knot knot = { .time_ns = seg.from_ns };
	struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = 1,
		.segments = &seg,
		.num_knots = 1,
		.knots = &knot,
	};

	host->quality = NETSYNC_ACCURATE;
	host->bound_median = host->bound_max = 0;
	return netsync_clock_new(&m, &host->clock);
}

static int make_clocks(struct graph *g)
{
	int ret = make_reference(g);

	for (uint32_t h = 0; h < g->num_hosts && !ret; h++) {
		if (h == g->reference)
			continue;
		if (g->host[h].island == g->host[g->reference].island) {
			ret = g->course ? make_curve(g, h) : make_clock(g, h);
			continue;
		}
		g->host[h].quality = NETSYNC_ABSENT;
		g->host[h].bound_median = NETSYNC_UNKNOWN;
		g->host[h].bound_max = NETSYNC_UNKNOWN;
	}
	return ret;
}

int reduce(struct host *host, uint32_t num_hosts, const struct estimate *est,
	   uint32_t num_pairs, enum netsync_method method,
	   uint32_t *reference)
{
	bool curves = method == NETSYNC_METHOD_CURVE;
	struct graph g = {
		.host = host,
		.est = est,
		.num_hosts = num_hosts,
		.num_pairs = num_pairs,
		.start = calloc(num_hosts + 2, sizeof(uint32_t)),
		.edge = calloc(2 * (size_t)num_pairs + 1, sizeof(uint32_t)),
		.bound_cost = calloc(num_pairs + 1, sizeof(double)),
		.noise_cost = calloc(num_pairs + 1, sizeof(double)),
		/* A pair can be pushed from both of its ends. */
		.heap = calloc(2 * (size_t)num_pairs + 1,
			       sizeof(struct heap_entry)),
		.order = calloc(num_hosts + 1, sizeof(uint32_t)),
		.course = curves ? calloc(num_hosts + 1,
					  sizeof(struct course)) : NULL,
		.bounds = method == NETSYNC_METHOD_HULL,
		.by_bound = { calloc(num_hosts + 1, sizeof(double)),
			      calloc(num_hosts + 1, sizeof(uint32_t)) },
		.by_noise = { calloc(num_hosts + 1, sizeof(double)),
			      calloc(num_hosts + 1, sizeof(uint32_t)) },
	};
	int ret = -ENOMEM;

	if (g.start && g.edge && g.bound_cost && g.noise_cost && g.heap &&
	    g.by_bound.dist && g.by_bound.via && g.by_noise.dist &&
	    g.by_noise.via && g.order && (g.course || !curves)) {
		uint32_t island;

		for (uint32_t i = 0; i < num_pairs; i++)
			set_costs(&g, i);
		set_edges(&g);
		island = find_islands(&g);
		if (*reference == NO_HOST)
			*reference = choose_reference(&g, island);
		g.reference = *reference;
		grow_tree(&g, &g.by_bound, g.bound_cost, g.reference);
		grow_tree(&g, &g.by_noise, g.noise_cost, g.reference);
		ret = curves ? track_hosts(&g) : 0;
		if (!ret)
			ret = make_clocks(&g);
	}
	free(g.start);
	free(g.edge);
	free(g.bound_cost);
	free(g.noise_cost);
	free(g.heap);
	for (uint32_t h = 0; g.course && h < num_hosts; h++)
		course_release(&g.course[h]);
	free(g.course);
	free(g.order);
	free(g.by_bound.dist);
	free(g.by_bound.via);
	free(g.by_noise.dist);
	free(g.by_noise.via);
	return ret;
}
