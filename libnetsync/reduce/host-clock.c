// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two trees of shortest paths lead from the reference to every host:
 *
 * - the tree of smallest *expected error* gives the corrections. The expected
 *   error of a pair falls with the number of its messages, so that ten good
 *   links in a row beat one poor direct one;
 * - the tree of smallest *bound* gives the interval in which the truth is
 *   guaranteed to lie. It is dominated by the smallest delays (whose asymmetry
 *   nobody knows), and thus by the number of hops.
 *
 * The guarantee holds however the correction was found: what counts is how far
 * the interval reaches from the correction.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "bound/knots.h"
#include "bound/pair-bound.h"
#include "reduce/reduce.h"
#include "curve/state.h"
#include "reduce/graph.h"

/* How often every host's curve is fitted against all others. */
#define SWEEPS 3
#define MOST_VIAS 8		/* pairs that bounds are made of */
/* A pair with one direction only is taken where there is nothing better. */
#define INCOMPLETE_COST 1e17
/* Instants at which bounds are looked at: of a straight clock; at most. */
#define FEW_INSTANTS 33
#define MOST_INSTANTS 65536
/* Between two of them limits may bend by that much, ns. */
#define NARROW 2.0
/* Instants of which the median bound is. */
#define MEDIAN_OF 1025

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
	struct reach *reach;	/* of each pair */
	struct course *course;	/* of each host */
};

/* ---- pairs ------------------------------------------------------------- */

/* The time during which a pair was traced, on its first host. */
static struct range span_of(const struct reduction *r, uint32_t pair)
{
	const struct estimate *e = &r->est[pair];
	const struct host *a = &r->host[e->pair->host[0]];
	const struct host *b = &r->host[e->pair->host[1]];
	struct range s = b->span;

	line_to_first(&e->line, &s.lo);
	line_to_first(&e->line, &s.hi);
	s.lo = min64(s.lo, a->span.lo);
	s.hi = max64(s.hi, a->span.hi);
	return s;
}

static void set_bound_cost(struct reduction *r, uint32_t i)
{
	struct range s = span_of(r, i);
	double width = reach_width(&r->reach[i], s.lo, s.hi);

	r->bound_cost[i] = isinf(width) ? INCOMPLETE_COST : fmax(width, 1);
}

static void set_noise_cost(struct reduction *r, uint32_t i)
{
	const struct estimate *e = &r->est[i];
	struct range s = span_of(r, i);
	double stretch = (double)(s.hi - s.lo) /
			 (double)(e->both_to - e->both_from);

	if (e->quality == NETSYNC_INCOMPLETE)
		r->noise_cost[i] = INCOMPLETE_COST;
	else if (e->both_to <= e->both_from)
		r->noise_cost[i] = r->bound_cost[i];
	else
		r->noise_cost[i] = fmin(e->noise * fmax(stretch, 1),
					r->bound_cost[i]);
}

/* Bounds as they are before clocks are known. */
static int first_costs(struct reduction *r)
{
	for (uint32_t i = 0; i < r->num_pairs; i++) {
		if (reach_make(&r->reach[i], r->est[i].pair, NULL,
			       &r->task->limits))
			return -ENOMEM;
		set_bound_cost(r, i);
		set_noise_cost(r, i);
	}
	return 0;
}

/* With courses, steps and wrong messages are known. */
static int final_costs(struct reduction *r)
{
	bool curves = r->task->method == NETSYNC_METHOD_AUTO;

	for (uint32_t i = 0; i < r->num_pairs; i++) {
		const uint32_t *h = r->est[i].pair->host;
		const struct course *course[] = { &r->course[h[0]],
						  &r->course[h[1]] };
		struct reach *reach = &r->reach[i];

		if (curves && course[0]->known && course[1]->known) {
			reach_release(reach);
			if (reach_make(reach, r->est[i].pair, course,
				       &r->task->limits))
				return -ENOMEM;
			set_bound_cost(r, i);
		}
		/* Only of straight clocks, lines say whether they can be so. */
		if (r->task->method != NETSYNC_METHOD_HULL ||
		    reach->quality < r->est[i].quality)
			r->est[i].quality = reach->quality;
		/* Where no bound can be claimed, other ways are tried. */
		if (!reach->usable)
			r->bound_cost[i] = INCOMPLETE_COST;
	}
	return 0;
}

/*
 * The host of the largest island with the smallest total bound. Where several
 * are as good (always, of two hosts) the names decide, so that the choice does
 * not depend on the order in which hosts were added.
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

static void find_islands(struct reduction *r)
{
	/* The trees grow later. */
	uint32_t *island = r->by_bound.via;
	uint32_t largest = graph_islands(&r->graph, island, r->by_noise.via);

	for (uint32_t h = 0; h < r->num_hosts; h++)
		r->host[h].island = island[h];
	if (r->reference == NO_HOST)
		r->reference = choose_reference(r, largest);
}

/* ---- courses ----------------------------------------------------------- */

/* A host's time carried along lines to the reference. */
struct carried {
	int64_t t;		/* relative to the origin of the host where it */
	double frac;		/* has come to; and the rest of it */
	double skew;		/* rate of the whole path - 1 */
	double growth;		/* how far straight clocks can differ from that */
	bool complete;		/* messages both ways all along */
};

static struct carried carry(const struct reduction *r, uint32_t host, int64_t t)
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

static int track_host(struct reduction *r, uint32_t h, struct link *link)
{
	size_t n = 0;

	for (uint32_t i = r->graph.start[h]; i < r->graph.start[h + 1]; i++) {
		uint32_t pair = r->graph.edge[i];
		uint32_t other = graph_other(&r->graph, pair, h);
		const struct pair *p = r->est[pair].pair;

		if (!r->course[other].known || !track_useful(p))
			continue;
		link[n++] = (struct link){ .pair = p,
					   .other = &r->course[other],
					   .first = p->host[0] == h,
					   .straight = !r->est[pair].lift };
	}
	return track(&r->course[h], link, n);
}

/* Straight, as the lines of the pairs say. */
static void set_course(struct reduction *r, uint32_t h)
{
	struct carried k = carry(r, h, r->host[h].span.lo);

	r->course[h] = (struct course){
		.from = r->host[h].span.lo,
		.to = r->host[h].span.hi,
		.offset = k.t - r->host[h].span.lo + (int64_t)floor(k.frac),
		.rest = k.frac - floor(k.frac),
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
static int pieces_of_others(const struct reduction *r, size_t *pieces)
{
	uint32_t num = r->by_noise.num - 1;
	size_t *all = malloc((num + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < num; i++)
		all[i] = r->course[r->by_noise.order[i + 1]].pieces;
	qsort(all, num, sizeof(*all), by_number);
	*pieces = all[num * 3 / 4];
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
static int track_hosts(struct reduction *r)
{
	struct link *link = calloc(2 * (size_t)r->num_pairs + 1, sizeof(*link));
	uint32_t num = r->by_noise.num;
	bool curves = r->task->method == NETSYNC_METHOD_AUTO;
	int sweeps = !curves || num <= 2 ? 1 : SWEEPS;
	int ret = link ? 0 : -ENOMEM;

	for (int sweep = 0; sweep < sweeps; sweep++) {
		for (uint32_t i = 0; !ret && i < num; i++) {
			uint32_t h = r->by_noise.order[i];

			if (sweep == 0)
				set_course(r, h);
			else if (sweep == 1 && h == r->reference)
				ret = pieces_of_others(r, &r->course[h].pieces);
			if (!ret && (h != r->reference || sweep) && curves)
				ret = track_host(r, h, link);
			r->course[h].known = true;
		}
	}
	free(link);
	return ret;
}

/* ---- bounds ------------------------------------------------------------ */

/* The pairs that tell most of a host's time, on the shortest way first. */
struct asked {
	const struct reduction *r;
	uint32_t host;
	uint32_t via[MOST_VIAS];
	uint32_t num;
};

/* How wide the bound over a pair is about to be, ns. */
static double width_over(const struct reduction *r, uint32_t host, uint32_t via)
{
	return r->bound_cost[via] +
	       (double)r->host[graph_other(&r->graph, via, host)].bound_median;
}

/* More pairs than these would hardly narrow it further. */
static void ask(struct asked *a, const struct reduction *r, uint32_t host)
{
	uint32_t i = r->graph.start[host];

	*a = (struct asked){ .r = r, .host = host, .num = 1,
			     .via = { r->by_bound.via[host] } };
	for (; i < r->graph.start[host + 1]; i++) {
		uint32_t pair = r->graph.edge[i], k;
		double width = width_over(r, host, pair);

		if (pair == a->via[0] ||
		    !r->host[graph_other(&r->graph, pair, host)].clock)
			continue;
		for (k = a->num; k > 1 &&
		     width < width_over(r, host, a->via[k - 1]); k--)
			if (k < MOST_VIAS)
				a->via[k] = a->via[k - 1];
		if (k < MOST_VIAS) {
			a->via[k] = pair;
			a->num += a->num < MOST_VIAS;
		}
	}
}

/* All that a host's time can be on the reference, over a neighbour. */
static struct range reach_over(const struct reduction *r, uint32_t host,
			       uint32_t via, int64_t t)
{
	const struct bound *b = &r->reach[via].bound;
	uint32_t next = graph_other(&r->graph, via, host);
	const struct host *h = &r->host[next];
	struct range at = { t - r->host[host].origin,
			    t - r->host[host].origin };

	if (!r->reach[via].usable)
		return (struct range){ INT64_MIN, INT64_MAX };
	at = r->est[via].pair->host[0] == host ? bound_to_second(b, at) :
						 bound_to_first(b, at);
	if (at.lo > INT64_MIN)
		at.lo += h->origin;
	if (at.hi < INT64_MAX)
		at.hi += h->origin;
	return next == r->reference ? at : clock_range(h->clock, at);
}

/*
 * The truth is inside the range over every neighbour whose clock is made: in
 * what they have in common. If they contradict each other, the one on the
 * shortest way is as good as any.
 */
static struct range reach_of_host(const void *arg, int64_t t)
{
	const struct asked *a = arg;
	struct range best = reach_over(a->r, a->host, a->via[0], t);
	struct range all = best;

	for (uint32_t i = 1; i < a->num; i++) {
		struct range other = reach_over(a->r, a->host, a->via[i], t);

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
	const struct cloud *c = r->est[via].pair->cloud;
	double span = (double)(r->host[h].span.hi - r->host[h].span.lo);
	double n = span * sqrt(r->task->limits.bend / (8 * NARROW));

	netsync_clock_model(r->host[next].clock, &m);
	n = fmin(n, 2 * ((double)(c[0].num + c[1].num) + m.num_knots));
	return FEW_INSTANTS + (size_t)fmin(n, MOST_INSTANTS);
}

static int set_knots(const struct reduction *r, uint32_t h,
		     struct netsync_model *m)
{
	const struct host *host = &r->host[h];
	const struct course *c = &r->course[h];
	struct asked asked;
	struct knots k = {
		.first = host->origin + host->span.lo,
		.last = host->origin + host->span.hi,
		.limits = r->task->limits,
		.at = reach_of_host,
		.arg = &asked,
		.instants = count_instants(r, h),
	};
	struct jolt *jolts = calloc(c->num_breaks + 1, sizeof(*jolts));
	struct netsync_clock *bare = NULL;
	int ret = jolts ? netsync_clock_new(m, &bare) : -ENOMEM;

	ask(&asked, r, h);
	for (size_t i = 0; !ret && i < c->num_breaks; i++) {
		struct step s = course_step(c, i);

		jolts[i] = step_window(&s);
		jolts[i].from += host->origin;
		jolts[i].to += host->origin;
	}
	k.clock = bare;
	k.jolts = jolts;
	k.num_jolts = c->num_breaks;
	if (!ret)
		ret = knots_make(&k);
	netsync_clock_free(bare);
	free(jolts);
	m->knots = k.knot;
	m->num_knots = k.num;
	return ret;
}

static int compare_bounds(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

static void summarize(struct host *host)
{
	struct netsync_model m = { .size = sizeof(m) };
	int64_t sorted[MEDIAN_OF], first = host->span.lo, t;

	netsync_clock_model(host->clock, &m);
	for (int i = 0; i < MEDIAN_OF; i++) {
		int64_t at = host->origin + first + (int64_t)
			((__int128)(host->span.hi - first) * i / (MEDIAN_OF - 1));

		netsync_convert(host->clock, at, &t, &sorted[i]);
	}
	qsort(sorted, MEDIAN_OF, sizeof(*sorted), compare_bounds);
	host->bound_median = sorted[MEDIAN_OF / 2];
	host->bound_max = 0;
	for (uint32_t i = 0; i < m.num_segments; i++)
		host->bound_max = max64(host->bound_max, m.segments[i].bound_ns);
}

/* ---- clocks ------------------------------------------------------------ */

static int set_steps(const struct reduction *r, uint32_t h)
{
	const struct course *c = &r->course[h];
	struct host *host = &r->host[h];

	host->step = calloc(c->num_breaks + 1, sizeof(*host->step));
	if (!host->step)
		return -ENOMEM;
	host->num_steps = (uint32_t)c->num_breaks;
	for (size_t i = 0; i < c->num_breaks; i++) {
		struct step s = course_step(c, i);

		/*
		 * A clock that is ahead is corrected by less. The break lies in
		 * the middle of the times that were skipped, or shown twice.
		 */
		host->step[i] = (struct netsync_step){
			.time_ns = host->origin + s.t + llround(s.offset / 2),
			.within_ns = s.within,
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

	if (!carry(r, host, 0).complete)
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

static int make_clock(const struct reduction *r, uint32_t h)
{
	struct host *host = &r->host[h];
	struct netsync_segment *segment;
	int64_t n = course_segments(&r->course[h], &r->course[r->reference],
				    host->origin, r->host[r->reference].origin, &segment);
	struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = (uint32_t)n,
		.segments = segment,
	};
	double growth = r->task->limits.slope;
	int ret;

	if (n < 0)
		return (int)n;
	growth = growth / (1 - growth) + fabs(r->course[h].skew);
	if (!r->task->limits.bend)
		growth = carry(r, h, 0).growth;
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
	summarize(host);
	return 0;
}

/* The reference's own clock is right by definition. */
static int make_reference(const struct reduction *r)
{
	struct host *host = &r->host[r->reference];
	bool seen = host->span.lo <= host->span.hi;
	struct netsync_segment seg = {
		.from_ns = host->origin + (seen ? host->span.lo : 0),
		.to_ns = host->origin + (seen ? host->span.hi : 0),
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

static int make_clocks(struct reduction *r)
{
	int ret = make_reference(r);

	for (uint32_t h = 0; h < r->num_hosts; h++) {
		if (h == r->reference)
			continue;
		r->host[h].quality = NETSYNC_ABSENT;
		r->host[h].bound_median = NETSYNC_UNKNOWN;
		r->host[h].bound_max = NETSYNC_UNKNOWN;
	}
	/* Nearer ones first: a host's bound is made of its neighbour's. */
	for (uint32_t i = 1; i < r->by_bound.num && !ret; i++)
		ret = make_clock(r, r->by_bound.order[i]);
	return ret;
}

void host_clear(struct host *h)
{
	netsync_clock_free(h->clock);
	free(h->step);
	h->clock = NULL;
	h->step = NULL;
	h->num_steps = 0;
}

static int run(struct reduction *r)
{
	int ret = graph_make(&r->graph, r->est, r->num_hosts, r->num_pairs);

	if (ret || tree_make(&r->by_bound, &r->graph) ||
	    tree_make(&r->by_noise, &r->graph) || !r->bound_cost ||
	    !r->noise_cost || !r->reach || !r->course)
		return -ENOMEM;
	ret = first_costs(r);
	if (ret)
		return ret;
	find_islands(r);
	tree_grow(&r->by_noise, &r->graph, r->noise_cost, r->reference);
	ret = track_hosts(r);
	if (!ret)
		ret = final_costs(r);
	if (ret)
		return ret;
	tree_grow(&r->by_bound, &r->graph, r->bound_cost, r->reference);
	return make_clocks(r);
}

int reduce(struct host *host, uint32_t num_hosts, struct estimate *est,
	   uint32_t num_pairs, struct task *task)
{
	struct reduction r = {
		.host = host,
		.est = est,
		.num_hosts = num_hosts,
		.num_pairs = num_pairs,
		.task = task,
		.reference = task->reference,
		.bound_cost = calloc(num_pairs + 1, sizeof(double)),
		.noise_cost = calloc(num_pairs + 1, sizeof(double)),
		.reach = calloc(num_pairs + 1, sizeof(struct reach)),
		.course = calloc(num_hosts + 1, sizeof(struct course)),
	};
	int ret = run(&r);

	task->reference = r.reference;
	for (uint32_t i = 0; r.reach && i < num_pairs; i++)
		reach_release(&r.reach[i]);
	for (uint32_t h = 0; r.course && h < num_hosts; h++)
		course_release(&r.course[h]);
	free(r.bound_cost);
	free(r.noise_cost);
	free(r.reach);
	free(r.course);
	tree_release(&r.by_bound);
	tree_release(&r.by_noise);
	graph_release(&r.graph);
	return ret;
}
