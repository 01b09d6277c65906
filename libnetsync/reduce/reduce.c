// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Estimates of pairs -> the clocks of all hosts, along two trees of shortest paths from
 * the reference:
 *
 * - the tree of smallest *expected error* gives the corrections. The expected error of a
 * pair falls with the number of its messages, so that ten good links in a row beat a poor
 * direct one;
 *
 * - the tree of smallest *bound* gives the interval that is guaranteed to contain the
 * truth. Its width is dominated by the smallest delays (whose asymmetry is unknown), and therefore
 * by the number of hops.
 *
 * The guarantee does not depend on how the correction was found: the bound is the distance from the
 * correction to the far end of the interval.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "reduce/internal.h"
#include "util/parallel.h"

/*
 * Cost of a pair with messages in one direction only, ns: such pairs are the last choice. Chosen.
 */
#define INCOMPLETE_COST 1e17

/* Return the time during which a pair was traced, on its first host. */
static struct range span_of_pair(const struct reduction *r, size_t pair)
{
	const struct estimate *e = &r->est[pair];
	const struct host *a = &r->host[e->pair->host[0]];
	const struct host *b = &r->host[e->pair->host[1]];
	struct range s = b->span;

	line_convert_to_first(&e->line, &s.lo);
	line_convert_to_first(&e->line, &s.hi);
	s.lo = min64(s.lo, a->span.lo);
	s.hi = max64(s.hi, a->span.hi);
	return s;
}

/*
 * Set the cost of a pair's bound. If limits are inconsistent, they leave no width, and their
 * vertices cost as much as missing ones. Of two such pairs, the one with fewer of them is better.
 * Otherwise a host that is inconsistent with all others would be the cheapest.
 */
static void set_bound_cost(struct reduction *r, size_t i)
{
	const struct rate_bound *b = &r->pair_bound[i].bound;
	struct range s = span_of_pair(r, i);
	double width = pair_bound_width(&r->pair_bound[i], s.lo, s.hi);
	double wrong = b->infeasible ? (double)b->infeasible / (double)b->vertices : 0;

	r->bound_cost[i] = isinf(width) ? INCOMPLETE_COST :
					  fmax(width, 1) + wrong * INCOMPLETE_COST;
}

static void set_noise_cost(struct reduction *r, size_t i)
{
	const struct estimate *e = &r->est[i];
	struct range s = span_of_pair(r, i);
	double stretch = (double)(s.hi - s.lo) / (double)(e->overlap_to - e->overlap_from);

	if (e->quality == NETSYNC_INCOMPLETE)
		r->noise_cost[i] = INCOMPLETE_COST;
	else if (e->overlap_to <= e->overlap_from)
		r->noise_cost[i] = r->bound_cost[i];
	else
		r->noise_cost[i] = fmin(e->noise * fmax(stretch, 1), r->bound_cost[i]);
}

/*
 * Compute the costs of a pair by a bound without clocks. The bound is discarded, because bounds
 * take most of the memory while curves are fitted, and made again afterwards.
 */
static int compute_first_costs(void *arg, size_t i)
{
	struct reduction *r = arg;

	if (pair_bound_make(&r->pair_bound[i], r->est[i].pair, NULL, &r->task->limits))
		return -ENOMEM;
	r->short_by[i] = r->pair_bound[i].bound.short_by;
	set_bound_cost(r, i);
	set_noise_cost(r, i);
	if (r->task->method->curves)
		pair_bound_release(&r->pair_bound[i]);
	return 0;
}

/* Discard the bound of a pair, which may be false. */
static void forget_pair_bound(struct pair_bound *b)
{
	b->usable = false;
	if (b->quality == NETSYNC_ACCURATE)
		b->quality = NETSYNC_APPROXIMATE;
}

/*
 * Compute the bound and costs of a pair again, now that corrections show steps and wrong messages.
 */
static int compute_final_costs(void *arg, size_t i)
{
	struct reduction *r = arg;
	const uint32_t *h = r->est[i].pair->host;
	const struct correction *correction[] = { &r->correction[h[0]], &r->correction[h[1]] };
	struct pair_bound *reach = &r->pair_bound[i];
	bool known = correction[0]->known && correction[1]->known;

	if (r->task->method->curves) {
		if (pair_bound_make(reach, r->est[i].pair, known ? correction : NULL,
				    &r->task->limits))
			return -ENOMEM;
		if (known)
			set_bound_cost(r, i);
	}
	/* Only curves bend where the readings of a steered clock are unreported. */
	if (!r->task->method->curves &&
	    (r->host[h[0]].has_unreported || r->host[h[1]].has_unreported))
		forget_pair_bound(reach);
	/* Feasibility of lines matters only to methods of straight clocks. */
	if (!r->task->method->straight || reach->quality < r->est[i].quality)
		r->est[i].quality = reach->quality;
	/* If a pair has no usable bound, other paths are preferred. */
	if (!reach->usable)
		r->bound_cost[i] = INCOMPLETE_COST;
	return 0;
}

/* ---- the reduction ------------------------------------------------------ */

/* Make the clock of the reference, which is correct by definition. */
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
	const struct netsync_deviation_knot deviation[] = { { seg.from_ns, 0 }, { seg.to_ns, 0 } };
	struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = 1,
		.num_knots = 1,
		.segment_size = sizeof(seg),
		.knot_size = sizeof(knot),
		.segments = &seg,
		.knots = &knot,
		.num_deviations = !r->task->method->model ? 0 :
				  seg.from_ns < seg.to_ns ? 2 :
							    1,
		.deviation_size = sizeof(*deviation),
		.deviations = deviation,
	};

	/* A host that shares no message with any host is the reference of none. */
	host->quality = r->graph.start[r->reference] == r->graph.start[r->reference + 1] ?
				NETSYNC_ABSENT :
				NETSYNC_ACCURATE;
	host->bound_median = host->bound_max = 0;
	host->deviation_median = host->deviation_max = m.num_deviations ? 0 : NETSYNC_UNKNOWN;
	host->silent = 0;
	return netsync_clock_new(&m, &host->clock);
}

void host_clear(struct host *h)
{
	netsync_clock_free(h->clock);
	free(h->step);
	h->clock = NULL;
	h->step = NULL;
	h->num_steps = 0;
}

/*
 * If the bounds over its neighbours are inconsistent, no bound is claimed of a host. If this is so
 * for more than one host in this many, an assumption about all clocks is wrong, and the others are
 * consistent only by chance. Chosen.
 */
#define MAX_CONTRADICTED 8

/*
 * Release the bounds of pairs whose two clocks are made. Few remain at the end, when clocks take
 * most of the memory.
 */
static void release_bounds(struct reduction *r, uint32_t h)
{
	for (uint32_t i = r->graph.start[h]; i < r->graph.start[h + 1]; i++) {
		uint32_t pair = r->graph.edge[i];

		if (r->host[graph_other(&r->graph, pair, h)].clock)
			pair_bound_release(&r->pair_bound[pair]);
	}
}

/* Mark the hosts of pairs whose messages are inconsistent, either of which may be the cause. */
static void set_contradicted(struct reduction *r)
{
	for (uint32_t h = 0; h < r->num_hosts; h++)
		r->host[h].contradicted = false;
	for (uint32_t i = 0; i < r->num_pairs; i++)
		for (int k = 0; k < 2 && r->short_by[i]; k++)
			r->host[r->est[i].pair->host[k]].contradicted = true;
}

static int make_clocks(struct reduction *r)
{
	uint32_t contradicted = 0;
	int ret = make_reference(r);

	for (uint32_t h = 0; h < r->num_hosts; h++) {
		if (h == r->reference)
			continue;
		r->host[h].quality = NETSYNC_ABSENT;
		r->host[h].bound_median = NETSYNC_UNKNOWN;
		r->host[h].bound_max = NETSYNC_UNKNOWN;
		r->host[h].deviation_median = NETSYNC_UNKNOWN;
		r->host[h].deviation_max = NETSYNC_UNKNOWN;
		r->host[h].silent = 0;
	}
	reduction_set_qualities(r);
	r->reference_doubted = reduction_is_contradicted(r, r->reference);
	/* Nearer hosts first: a host's bound needs its neighbour's. */
	for (uint32_t i = 1; i < r->by_bound.num && ret >= 0; i++) {
		ret = reduction_make_clock(r, r->by_bound.order[i]);
		contradicted += ret > 0;
		release_bounds(r, r->by_bound.order[i]);
	}
	if (ret < 0 || r->distrusted || contradicted <= 1 ||
	    contradicted * MAX_CONTRADICTED <= r->by_bound.num)
		return ret < 0 ? ret : 0;
	/* Make all clocks again without bounds. */
	r->distrusted = true;
	for (uint32_t i = 0; i < r->by_bound.num; i++)
		host_clear(&r->host[r->by_bound.order[i]]);
	return make_clocks(r);
}

static int run_for_pairs(struct reduction *r, int (*run)(void *arg, size_t i))
{
	return parallel_run(r->task->parallel, r->task->threads, r->num_pairs, run, r);
}

/*
 * Maximum number of checks of bounds; the last one removes all bounds of hosts that messages still
 * contradict. Chosen.
 */
#define CHECKS 4

/*
 * Make clocks until no message contradicts their bounds. A bound over a neighbour whose own bound
 * was false may also be false, so all clocks are made again.
 */
static int make_checked_clocks(struct reduction *r)
{
	int ret = r->task->method->curves ? 0 : reduction_forget_unreported(r);
	int again = 1;

	set_contradicted(r);
	if (!ret)
		ret = make_clocks(r);
	for (int check = 1; !ret && again; check++) {
		again = reduction_check_messages(r, check >= CHECKS);
		if (again < 0)
			return again;
		again = again && check <= CHECKS;
		for (uint32_t i = 0; again && i < r->by_bound.num; i++)
			host_clear(&r->host[r->by_bound.order[i]]);
		if (again)
			ret = run_for_pairs(r, compute_final_costs);
		if (again && !ret)
			ret = make_clocks(r);
	}
	/* Checks may have lowered the qualities of pairs. */
	reduction_set_qualities(r);
	for (uint32_t i = 1; !ret && i < r->by_bound.num; i++) {
		uint32_t h = r->by_bound.order[i];

		r->host[h].quality = reduction_quality(r, h);
	}
	return ret ? ret : reduction_blame_hosts(r);
}

static int run_reduction(struct reduction *r)
{
	int ret = graph_make(&r->graph, r->est, r->num_hosts, r->num_pairs);

	if (ret || tree_make(&r->by_bound, &r->graph) || tree_make(&r->by_noise, &r->graph) ||
	    !r->bound_cost || !r->noise_cost || !r->pair_bound || !r->correction || !r->wander ||
	    !r->steep || !r->forgotten || !r->path || !r->way || !r->short_by || !r->disputed ||
	    !r->outvoted)
		return -ENOMEM;
	ret = run_for_pairs(r, compute_first_costs);
	if (ret)
		return ret;
	reduction_find_islands(r);
	tree_grow(&r->by_noise, &r->graph, r->noise_cost, r->reference);
	reduction_find_ways(r);
	ret = reduction_fit_hosts(r);
	/* Other methods do not check whether messages are inverted. */
	if (!ret && (r->task->method->curves || r->task->method->straight))
		ret = reduction_make_feasible(r);
	if (!ret)
		ret = run_for_pairs(r, compute_final_costs);
	if (ret)
		return ret;
	tree_grow(&r->by_bound, &r->graph, r->bound_cost, r->reference);
	return make_checked_clocks(r);
}

int reduce(struct host *host, uint32_t num_hosts, struct estimate *est, uint32_t num_pairs,
	   struct task *task)
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
		.pair_bound = calloc(num_pairs + 1, sizeof(struct pair_bound)),
		.correction = calloc(num_hosts + 1, sizeof(struct correction)),
		.wander = calloc(num_hosts + 1, sizeof(struct wander)),
		.steep = calloc(num_hosts + 1, sizeof(struct windows)),
		.forgotten = calloc(num_hosts + 1, sizeof(struct windows)),
		.path = calloc(num_hosts + 1, sizeof(struct path)),
		.way = calloc(num_hosts + 1, sizeof(struct carried)),
		.short_by = calloc(num_pairs + 1, sizeof(int64_t)),
		.disputed = calloc(num_pairs + 1, sizeof(bool)),
		.outvoted = calloc(num_pairs + 1, sizeof(bool)),
	};
	int ret = run_reduction(&r);

	task->reference = r.reference;
	for (uint32_t i = 0; r.pair_bound && i < num_pairs; i++)
		pair_bound_release(&r.pair_bound[i]);
	for (uint32_t h = 0; r.correction && h < num_hosts; h++)
		correction_release(&r.correction[h]);
	for (uint32_t h = 0; r.wander && h < num_hosts; h++)
		wander_release(&r.wander[h]);
	for (uint32_t h = 0; r.steep && h < num_hosts; h++)
		windows_release(&r.steep[h]);
	for (uint32_t h = 0; r.forgotten && h < num_hosts; h++)
		windows_release(&r.forgotten[h]);
	free(r.bound_cost);
	free(r.noise_cost);
	free(r.pair_bound);
	free(r.correction);
	free(r.wander);
	free(r.steep);
	free(r.forgotten);
	free(r.path);
	free(r.way);
	free(r.short_by);
	free(r.disputed);
	free(r.outvoted);
	tree_release(&r.by_bound);
	tree_release(&r.by_noise);
	graph_release(&r.graph);
	return ret;
}
