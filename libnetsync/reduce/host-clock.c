// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The correction of a host, and bounds of pairs -> the host's clock: segments, and the
 * interval that is guaranteed to contain the true time, over all neighbours whose clocks
 * are made.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/windows.h"
#include "clock.h"
#include "reduce/internal.h"
#include "util/array.h"
#include "util/search.h"

/* Maximum number of neighbours that contribute to a bound: more would narrow it little. Chosen. */
#define MAX_NEIGHBOURS 8
/* Number of instants of a bound: for straight clocks, and maximum. Chosen. */
#define FEW_INSTANTS 33
#define MOST_INSTANTS 65536
/*
 * Largest distance of limits from a straight line between two instants, ns: this part of the
 * bound's width, which is a quarter of the tolerance in knots.c, at least and at most. Chosen.
 */
#define SAG_OF_WIDTH (1.0 / 8192)
#define LEAST_SAG 2.0
#define MOST_SAG 1000.0
/* Number of instants over which the median bound is taken. Chosen. */
#define MEDIAN_OF 1025

/* Number of windows after which to check whether they include the whole span. Chosen. */
#define MANY_WINDOWS 64

/* The unbounded range. */
#define UNKNOWN ((struct range){ INT64_MIN, INT64_MAX })

/* The pairs that limit a host's time most, the tree's pair first. */
struct neighbours {
	const struct reduction *r;
	uint32_t host;
	uint32_t via[MAX_NEIGHBOURS];
	uint32_t num;
	bool contradict; /* at some instant the intervals have no time in common */
};

/* Estimate the width of a bound over a pair, ns. */
static double bound_width_over(const struct reduction *r, uint32_t host, uint32_t via)
{
	return r->bound_cost[via] + (double)r->host[graph_other(&r->graph, via, host)].bound_median;
}

/* Choose the neighbours over which bounds are narrowest. */
static void choose_neighbours(struct neighbours *a, const struct reduction *r, uint32_t host)
{
	uint32_t i = r->graph.start[host];

	*a = (struct neighbours){ .r = r, .host = host, .num = 1, .via = { r->by_bound.via[host] } };
	for (; i < r->graph.start[host + 1]; i++) {
		uint32_t pair = r->graph.edge[i], k;
		double width = bound_width_over(r, host, pair);

		if (pair == a->via[0] || !r->host[graph_other(&r->graph, pair, host)].clock)
			continue;
		for (k = a->num; k > 1 && width < bound_width_over(r, host, a->via[k - 1]); k--)
			if (k < MAX_NEIGHBOURS)
				a->via[k] = a->via[k - 1];
		if (k < MAX_NEIGHBOURS) {
			a->via[k] = pair;
			a->num += a->num < MAX_NEIGHBOURS;
		}
	}
}

/*
 * Return the largest error of the messages that limit two hosts' times. If stamps were rounded and
 * not cut off, all stamps of a host would be early by half of its resolution.
 */
static int64_t time_error_of_hosts(const struct host *a, const struct host *b)
{
	int64_t coarser = a->resolution_ns - b->resolution_ns;

	return a->time_error + b->time_error + (llabs(coarser) + 1) / 2;
}

/* Convert a host's time to the range of a neighbour's times that messages of the pair allow. */
static struct range range_over(const struct reduction *r, uint32_t host, uint32_t via, int64_t t,
			       struct bound_place *near)
{
	const struct rate_bound *b = &r->pair_bound[via].bound;
	const struct host *h = &r->host[graph_other(&r->graph, via, host)];
	int64_t x = t - r->host[host].origin;
	/* Times of the limiting messages have errors at both hosts. */
	int64_t off = time_error_of_hosts(h, &r->host[host]);
	struct range at = { x, x };

	at = r->est[via].pair->host[0] == host ? rate_bound_to_second(b, at, near) :
						 rate_bound_to_first(b, at, near);
	/* The pair has no limits for a time that the host's clock skipped. */
	if (at.lo == INT64_MAX)
		return UNKNOWN;
	if (at.lo > INT64_MIN)
		at.lo += h->origin - off;
	if (at.hi < INT64_MAX)
		at.hi += h->origin + off;
	return at;
}

/* Narrow the intervals of a host's times on the reference by those over one neighbour. */
static void narrow_ranges_over(const struct reduction *r, uint32_t host, uint32_t via,
			       const int64_t *t, size_t num, struct range *range)
{
	uint32_t next = graph_other(&r->graph, via, host);
	struct bound_place in_bound = { 0 };
	struct clock_place in_clock = { 0 };

	if (!r->pair_bound[via].usable)
		return;
	for (size_t i = 0; i < num; i++) {
		struct range at = range_over(r, host, via, t[i], &in_bound);

		if (next != r->reference)
			at = clock_convert_range(r->host[next].clock, at, &in_clock);
		range[i].lo = max64(range[i].lo, at.lo);
		range[i].hi = min64(range[i].hi, at.hi);
	}
}

static void unknown_ranges(void *arg, const int64_t *t, size_t num, struct range *range)
{
	(void)arg;
	(void)t;
	for (size_t i = 0; i < num; i++)
		range[i] = UNKNOWN;
}

/* Do messages contradict the bound of a host at @t? */
static bool is_forgotten(const struct windows *w, int64_t t)
{
	size_t i = NUM_BEFORE(w->window, w->num, to, t);

	return i < w->num && w->window[i].from <= t;
}

/*
 * Intersect the intervals over all neighbours, each of which contains the truth. If the
 * intersection is empty, one of them is false, and none is trusted.
 */
static void ranges_of_host(void *arg, const int64_t *t, size_t num, struct range *range)
{
	struct neighbours *a = arg;

	unknown_ranges(arg, t, num, range);
	for (uint32_t i = 0; i < a->num; i++)
		narrow_ranges_over(a->r, a->host, a->via[i], t, num, range);
	for (size_t i = 0; i < num; i++) {
		if (is_forgotten(&a->r->forgotten[a->host], t[i] - a->r->host[a->host].origin)) {
			range[i] = UNKNOWN;
			continue;
		}
		if (range[i].lo <= range[i].hi)
			continue;
		/* Several threads may set this. */
		__atomic_store_n(&a->contradict, true, __ATOMIC_RELAXED);
		range[i] = UNKNOWN;
	}
}

/*
 * Intersect the intervals, and narrow them to times with which no message is inverted by the
 * neighbours' corrected times. If there are none, use the times by the nearest neighbours.
 */
static void ranges_without_inversions(void *arg, const int64_t *t, size_t num, struct range *range)
{
	struct neighbours *a = arg;

	ranges_of_host(arg, t, num, range);
	for (uint32_t k = 0; k < a->num; k++) {
		uint32_t next = graph_other(&a->r->graph, a->via[k], a->host);
		const struct netsync_clock *clock = a->r->host[next].clock;
		struct bound_place near = { 0 };

		if (!a->r->pair_bound[a->via[k]].usable || next == a->r->reference)
			continue;
		for (size_t i = 0; i < num; i++) {
			struct range at = range_over(a->r, a->host, a->via[k], t[i], &near);

			/* Cannot fail near the host's span. */
			if (at.lo > INT64_MIN)
				netsync_convert(clock, at.lo, &at.lo, NULL);
			if (at.hi < INT64_MAX)
				netsync_convert(clock, at.hi, &at.hi, NULL);
			at.lo = max64(at.lo, range[i].lo);
			at.hi = min64(at.hi, range[i].hi);
			if (at.lo <= at.hi)
				range[i] = at;
		}
	}
}

/*
 * Return the number of instants with which limits bend little between two: by bend / 8 times the
 * square of the time between them. Straight clocks need few.
 */
static size_t count_instants(const struct reduction *r, uint32_t h)
{
	struct netsync_model m = { .size = sizeof(m) };
	uint32_t via = r->by_bound.via[h];
	uint32_t next = graph_other(&r->graph, via, h);
	const struct direction *c = r->est[via].pair->direction;
	double span = (double)(r->host[h].span.hi - r->host[h].span.lo);
	double sag = SAG_OF_WIDTH * r->by_bound.dist[h];
	double n;

	sag = fmin(fmax(sag, LEAST_SAG), MOST_SAG);
	n = span * sqrt(r->task->limits.bend / (8 * sag));
	netsync_clock_model(r->host[next].clock, &m);
	n = fmin(n, 2 * ((double)(c[0].num + c[1].num) + m.num_knots));
	return FEW_INSTANTS + (size_t)fmin(n, MOST_INSTANTS);
}

static int add_window_edge(struct windows *to, const struct range *span, int64_t from,
			   int64_t until)
{
	const struct change_window w = { .from = max64(from, span->lo),
					 .to = min64(until, span->hi),
					 .phase_step = true };

	return w.from <= w.to ? windows_add_one(to, &w) : 0;
}

/*
 * Add the times at which the limits of a pair change from those of one side of a phase step to
 * those of both. A pair's windows may extend beyond those of the corrections. If the truth steps at
 * the end of such a window, it is not between lines that join instants on either side. On the
 * second host's clock, the end extends from the first possible time of f to its last.
 */
static int add_window_edges(struct windows *to, const struct reduction *r, uint32_t h, uint32_t via)
{
	const struct rate_bound *b = &r->pair_bound[via].bound;
	bool is_first = r->est[via].pair->host[0] == h;
	const struct range *span = &r->host[h].span;
	int ret = 0;

	for (size_t i = 1; !ret && i < b->parts; i++) {
		const struct bound_part *after = &b->part[i], *before = after - 1;

		ret = is_first ? add_window_edge(to, span, after->x.lo, after->x.lo) :
				 add_window_edge(to, span, after->other.lo, after->other_inner.lo);
		if (!ret)
			ret = is_first ? add_window_edge(to, span, before->x.hi, before->x.hi) :
					 add_window_edge(to, span, before->other_inner.hi,
							 before->other.hi);
	}
	return ret;
}

/* Add a time of the pair's first host, on a host's clock. */
static int add_window_between(struct windows *to, int64_t from, int64_t until,
			      const struct correction *first, const struct correction *own)
{
	const struct change_window w = { .from = from, .to = until };

	return windows_add_range(to, &w, first, own);
}

/*
 * Add the windows in which a pair's bound assumes no drift limit or a phase step, on the host's
 * clock.
 */
static int add_steep_windows(struct windows *to, const struct reduction *r, uint32_t h,
			     uint32_t via)
{
	const struct rate_bound *b = &r->pair_bound[via].bound;
	const struct correction *first = &r->correction[r->est[via].pair->host[0]];
	const struct correction *own = &r->correction[h];
	int ret = 0;

	for (size_t i = 0; !ret && i < b->parts; i++) {
		const struct bound_part *p = &b->part[i];

		for (size_t j = 0; !ret && j < p->num_segments; j++)
			if (isinf(p->segment[j].bend))
				ret = add_window_between(to, p->segment[j].from, p->segment[j].to,
							 first, own);
		if (!ret && i + 1 < b->parts)
			ret = add_window_between(to, p[1].x.lo, p->x.hi, first, own);
	}
	return ret;
}

/*
 * Add the kept windows of the next pair on the path from @at to the reference, whose bound is
 * already released.
 */
static int add_kept_windows(struct windows *to, const struct reduction *r, uint32_t h, uint32_t at)
{
	const struct windows *kept = &r->steep[at];
	int ret = 0;

	for (size_t i = 0; !ret && i < kept->num; i++)
		ret = windows_add_range(to, &kept->window[i], &r->correction[at],
					&r->correction[h]);
	return ret;
}

static int keep_steep_windows(const struct reduction *r, uint32_t h)
{
	struct windows *to = &r->steep[h];
	int ret;

	to->num = 0;
	ret = add_steep_windows(to, r, h, r->by_bound.via[h]);
	windows_join(to);
	return ret;
}

/*
 * Does one window without a phase step include all of a host's span? Join windows without a phase
 * step.
 */
static bool covers_span(struct windows *w, const struct range *span)
{
	windows_join(w);
	for (size_t i = 0; i < w->num; i++)
		if (!w->window[i].phase_step && w->window[i].from < span->lo &&
		    w->window[i].to > span->hi)
			return true;
	return false;
}

/* Has a host windows of its own clock, which must be added one by one? */
static bool has_own_windows(const struct correction *c)
{
	return c->num_changes || c->num_doubts || (c->wander && c->wander->num_unreported);
}

/*
 * Add the windows of all hosts on the path: the truth may bend in any of them. Once they include
 * the whole span, further windows without a phase step change nothing.
 */
static int add_windows_of_path(struct windows *w, const struct reduction *r, uint32_t h)
{
	const struct correction *c = &r->correction[h];
	size_t next = MANY_WINDOWS;
	bool covered = false;
	int ret = windows_add(w, c, c);

	for (uint32_t at = h; !ret && at != r->reference;) {
		at = graph_other(&r->graph, r->by_bound.via[at], at);
		at = covered ? r->path[at].stepped : r->path[at].windowed;
		ret = windows_add(w, &r->correction[at], c);
		if (ret || covered || at == r->reference)
			continue;
		ret = add_kept_windows(w, r, h, at);
		if (!ret && w->num >= next) {
			covered = covers_span(w, &r->host[h].span);
			next = 2 * w->num + MANY_WINDOWS;
		}
	}
	return ret;
}

/* Set the path of a host whose windows are known, from which paths through it continue. */
static void set_path_of_host(const struct reduction *r, uint32_t h)
{
	const uint32_t next = graph_other(&r->graph, r->by_bound.via[h], h);
	const bool stepped = has_own_windows(&r->correction[h]);

	r->path[h].stepped = stepped ? h : r->path[next].stepped;
	r->path[h].windowed = stepped || r->steep[h].num ? h : r->path[next].windowed;
}

/* Times of a host at which messages limit its bound. */
struct vertex_times {
	int64_t *t;
	size_t num;
	size_t room;
};

static int add_vertices(struct vertex_times *to, const struct bound_segment *z, int64_t origin,
			bool is_first)
{
	for (int side = 0; side < 2; side++) {
		const struct bound_vertex *v = z->vertex[side];

		for (size_t i = 0; i < z->num_vertices[side]; i++) {
			int64_t y = side ? -v[i].y : v[i].y;

			if (array_grow(&to->t, &to->room, to->num, sizeof(*to->t)))
				return -ENOMEM;
			to->t[to->num++] = origin + v[i].x + (is_first ? 0 : y);
		}
	}
	return 0;
}

/* Add the times over one pair. 0 or -ENOMEM. */
static int add_vertex_times(struct vertex_times *to, const struct reduction *r, uint32_t h,
			    uint32_t via)
{
	const struct rate_bound *b = &r->pair_bound[via].bound;
	bool is_first = r->est[via].pair->host[0] == h;
	int ret = 0;

	for (size_t i = 0; !ret && i < b->parts; i++)
		for (size_t j = 0; !ret && j < b->part[i].num_segments; j++)
			ret = add_vertices(to, &b->part[i].segment[j], r->host[h].origin, is_first);
	return ret;
}

/*
 * Return the largest rate less 1 that a correction may have: no two clocks differ by more, whatever
 * hosts are between them. Without a bound, this is not certain.
 */
static double max_rate_of_correction(const struct reduction *r, uint32_t h, bool sound)
{
	const struct limits *l = &r->task->limits;
	const double steepest = l->slope + l->slew;

	return sound ? steepest : fmax(steepest, 2 * fabs(r->correction[h].skew));
}

/*
 * Move the correction inside its bound, whose knots are in *k. Replace segments and knots if it was
 * outside.
 */
static int move_correction_inside(const struct reduction *r, uint32_t h, bool sound,
				  struct knots *k, struct netsync_model *m,
				  struct netsync_segment **segment)
{
	struct netsync_segment *new = NULL;
	struct netsync_clock *clock = NULL;
	uint32_t via = r->by_bound.via[h];
	const struct direction *d = r->est[via].pair->direction;
	const struct inside_limits limits = {
		.steepest = max_rate_of_correction(r, h, sound),
		.coarse = max64(d[0].raised, d[1].raised) +
			  2 * time_error_of_hosts(&r->host[r->est[via].pair->host[0]],
						  &r->host[r->est[via].pair->host[1]]),
	};
	struct vertex_times at = { 0 };
	const struct neighbours *near = k->arg;
	struct knots wanted = *k;
	int ret = 0;

	if (k->at == ranges_of_host)
		wanted.at = ranges_without_inversions;
	for (uint32_t i = 0; !ret && i < near->num; i++)
		ret = add_vertex_times(&at, r, h, near->via[i]);
	if (!ret)
		ret = inside_keep(&wanted, m, at.t, at.num, &limits, &new);
	free(at.t);
	if (ret <= 0)
		return ret;
	m->num_segments = (uint32_t)ret;
	m->segments = new;
	free(*segment);
	*segment = new;
	free(k->knot);
	k->knot = NULL;
	ret = netsync_clock_new(m, &clock);
	k->clock = clock;
	if (!ret)
		ret = knots_make(k);
	netsync_clock_free(clock);
	return ret;
}

/* Is a time in one of the windows? */
static bool is_in_windows(const struct windows *w, int64_t t)
{
	for (size_t i = 0; i < w->num && w->window[i].from <= t; i++)
		if (w->window[i].to >= t)
			return true;
	return false;
}

/*
 * Set the knots. @sound: may a bound be claimed? Clear @sound if neighbours are inconsistent.
 * @steered: may clocks be steered at the beginning of the span, and at its end?
 */
static int set_knots(const struct reduction *r, uint32_t h, struct netsync_model *m,
		     struct netsync_segment **segment, bool *sound, bool steered[2])
{
	const struct host *host = &r->host[h];
	struct neighbours near;
	struct knots k = {
		.first = host->origin + host->span.lo,
		.last = host->origin + host->span.hi,
		.limits = r->task->limits,
		.at = ranges_of_host,
		.arg = &near,
		.instants = count_instants(r, h),
		.width = 2 * r->by_bound.dist[h],
		.parallel = r->task->parallel,
		.threads = r->task->threads,
	};
	struct windows w = { 0 };
	struct netsync_clock *bare = NULL;
	int ret = netsync_clock_new(m, &bare);

	choose_neighbours(&near, r, h);
	if (!ret)
		ret = add_windows_of_path(&w, r, h);
	for (uint32_t i = 0; !ret && i < near.num; i++)
		ret = add_window_edges(&w, r, h, near.via[i]) ||
				      add_steep_windows(&w, r, h, near.via[i]) ?
			      -ENOMEM :
			      0;
	for (size_t i = 0; !ret && i < r->forgotten[h].num; i++)
		ret = windows_add_one(&w, &r->forgotten[h].window[i]);
	for (size_t i = 0; i < w.num; i++) {
		w.window[i].from += host->origin;
		w.window[i].to += host->origin;
	}
	if (!ret)
		ret = keep_steep_windows(r, h);
	set_path_of_host(r, h);
	windows_join(&w);
	steered[0] = is_in_windows(&w, k.first);
	steered[1] = is_in_windows(&w, k.last);
	k.clock = bare;
	k.windows = w.window;
	k.num_windows = w.num;
	if (!ret && !*sound)
		k.at = unknown_ranges;
	if (!ret)
		ret = knots_make(&k);
	r->host[h].contradicted |= near.contradict;
	if (!ret && near.contradict) {
		*sound = false;
		k.at = unknown_ranges;
		free(k.knot);
		ret = knots_make(&k);
	}
	if (!ret && r->task->method->curves)
		ret = move_correction_inside(r, h, *sound, &k, m, segment);
	netsync_clock_free(bare);
	windows_release(&w);
	m->knots = k.knot;
	m->num_knots = k.num;
	return ret;
}

static int compare_bounds(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

/* List the times at which the medians of a host's span are computed. */
static void list_span_instants(const struct host *host, int64_t t[MEDIAN_OF])
{
	for (int i = 0; i < MEDIAN_OF; i++)
		t[i] = host->origin + host->span.lo +
		       (int64_t)((__int128)(host->span.hi - host->span.lo) * i / (MEDIAN_OF - 1));
}

static bool is_in_span(const struct host *host, int64_t t)
{
	return t - host->origin >= host->span.lo && t - host->origin <= host->span.hi;
}

static void summarize_bounds(struct host *host, const struct netsync_model *m,
			     const int64_t at[MEDIAN_OF])
{
	int64_t sorted[MEDIAN_OF], ends[2], t;

	for (int i = 0; i < MEDIAN_OF; i++)
		if (netsync_convert(host->clock, at[i], &t, &sorted[i]))
			sorted[i] = NETSYNC_UNKNOWN;
	ends[0] = sorted[0];
	ends[1] = sorted[MEDIAN_OF - 1];
	qsort(sorted, MEDIAN_OF, sizeof(*sorted), compare_bounds);
	host->bound_median = sorted[MEDIAN_OF / 2];
	/* Bounds are straight lines between knots, which may also lie outside of the span. */
	host->bound_max = max64(ends[0], ends[1]);
	for (uint32_t i = 0; i < m->num_knots; i++)
		if (is_in_span(host, m->knots[i].time_ns))
			host->bound_max = max64(host->bound_max,
						max64(m->knots[i].below_ns, m->knots[i].above_ns));
}

static void summarize_deviations(struct host *host, const struct netsync_model *m,
				 const int64_t at[MEDIAN_OF])
{
	int64_t sorted[MEDIAN_OF];

	netsync_deviation_many(host->clock, MEDIAN_OF, at, sorted);
	qsort(sorted, MEDIAN_OF, sizeof(*sorted), compare_bounds);
	host->deviation_median = sorted[MEDIAN_OF / 2];
	host->deviation_max = sorted[MEDIAN_OF - 1];
	for (uint32_t i = 0; i < m->num_deviations; i++)
		if (is_in_span(host, m->deviations[i].time_ns))
			host->deviation_max = max64(host->deviation_max,
						    netsync_deviation(host->clock,
								      m->deviations[i].time_ns));
}

void host_summarize(struct host *host)
{
	struct netsync_model m = { .size = sizeof(m) };
	int64_t at[MEDIAN_OF];

	netsync_clock_model(host->clock, &m);
	list_span_instants(host, at);
	summarize_bounds(host, &m, at);
	summarize_deviations(host, &m, at);
	/* A clock is accurate if its bound holds: it has a bound at least half of the time. */
	if (host->bound_median == NETSYNC_UNKNOWN && host->quality == NETSYNC_ACCURATE)
		host->quality = NETSYNC_APPROXIMATE;
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
		 * A clock that is ahead is corrected by less, hence the signs. A step is placed in
		 * the middle of the times that were skipped or shown twice, unless the clock stood
		 * still.
		 */
		host->step[i] = (struct netsync_step){
			.time_ns = host->origin + s.t + (s.stood_still ? 0 : llround(s.offset / 2)),
			.within_ns = s.uncertainty,
			.offset_ns = -llround(s.offset),
			.skew_ppm = -s.skew * 1e6,
		};
	}
	return 0;
}

void reduction_set_qualities(struct reduction *r)
{
	struct path *path = r->path;

	path[r->reference] = (struct path){ r->reference, r->reference, NETSYNC_ACCURATE, true };
	/* Nearer hosts first, because a path continues as that of the next host. */
	for (uint32_t i = 1; i < r->by_noise.num; i++) {
		uint32_t h = r->by_noise.order[i], via = r->by_noise.via[h];

		path[h].complete = path[graph_other(&r->graph, via, h)].complete &&
				   r->est[via].quality != NETSYNC_INCOMPLETE;
	}
	for (uint32_t i = 1; i < r->by_bound.num; i++) {
		uint32_t h = r->by_bound.order[i], via = r->by_bound.via[h];

		path[h].quality = path[graph_other(&r->graph, via, h)].quality;
		if (r->est[via].quality < path[h].quality &&
		    r->est[via].quality != NETSYNC_INCOMPLETE)
			path[h].quality = r->est[via].quality;
	}
}

/*
 * Return the worst quality of the pairs on the bound's path. If pairs on the correction's path have
 * messages in one direction only, others may nevertheless limit the host's time on both sides, as in
 * a ring.
 */
static enum netsync_quality path_quality(const struct reduction *r, uint32_t host)
{
	const struct path *path = &r->path[host];

	if (!path->complete && r->host[host].bound_median == NETSYNC_UNKNOWN)
		return NETSYNC_INCOMPLETE;
	return path->quality;
}

enum netsync_quality reduction_quality(const struct reduction *r, uint32_t h)
{
	const enum netsync_quality path = path_quality(r, h);

	return path < r->host[h].quality ? path : r->host[h].quality;
}

/*
 * Set the growth of the bound before the first segment and after the last, which continue without
 * end: the largest skew (and slew, if clocks are steered there) plus the deviation of the segment's
 * own rate.
 */
static void set_growth(const struct reduction *r, uint32_t h, const bool steered[2],
		       struct netsync_model *m)
{
	const struct limits *l = &r->task->limits;
	const uint32_t end[] = { 0, m->num_segments - 1 };

	for (int i = 0; i < 2; i++) {
		const double slope = l->slope + (steered[i] ? l->slew : 0);
		double growth = slope / (1 - slope) + fabs(m->segments[end[i]].rate - 1);

		/* A clock with readings is straight only where these report how it was steered. */
		if (!r->task->limits.bend && !r->host[h].raw && !r->host[r->reference].raw)
			growth = r->way[h].growth;
		m->growth_ppm[i] = growth * 1e6;
	}
}

/*
 * Return the longest time (ns) in which a daemon may have steered the host or the next one. Only
 * part of the next host's time may be in the host's span.
 */
static int64_t silence_of_pair(const struct reduction *r, uint32_t h)
{
	const uint32_t via = r->by_bound.via[h], next = graph_other(&r->graph, via, h);
	const struct range *span = &r->host[h].span, *of_next = &r->host[next].span;
	const int64_t length = span->hi - span->lo, longer = of_next->hi - of_next->lo - length;
	const int which = r->graph.est[via].pair->host[1] == h;

	return min64(max64(r->pair_bound[via].silent[which],
			   r->host[next].silent - max64(longer, 0)),
		     length);
}

int reduction_make_clock(const struct reduction *r, uint32_t h)
{
	struct host *host = &r->host[h];
	struct netsync_deviation_knot *deviation = NULL;
	struct netsync_segment *segment;
	int64_t n = correction_segments(&r->correction[h], &r->correction[r->reference],
					host->origin, r->host[r->reference].origin, &segment);
	struct netsync_model m = {
		.size = sizeof(m),
		.num_segments = (uint32_t)n,
		.segment_size = sizeof(*segment),
		.knot_size = sizeof(struct netsync_knot),
		.segments = segment,
	};
	bool trusted = !r->distrusted && !r->reference_doubted && !reduction_is_contradicted(r, h);
	bool sound = trusted, steered[2] = { false, false };
	int ret;

	if (n < 0)
		return (int)n;
	host->quality = path_quality(r, h);
	host->silent = silence_of_pair(r, h);
	ret = set_knots(r, h, &m, &segment, &sound, steered);
	/* The growth depends on the segments inside the bound. */
	set_growth(r, h, steered, &m);
	if ((!sound || r->forgotten[h].num) && host->quality == NETSYNC_ACCURATE)
		host->quality = NETSYNC_APPROXIMATE;
	if (!ret)
		ret = set_steps(r, h);
	if (!ret)
		ret = reduction_set_deviations(r, h, &m, &deviation);
	if (!ret)
		ret = netsync_clock_new(&m, &host->clock);
	free(segment);
	free(deviation);
	free((void *)m.knots);
	if (ret)
		return ret;
	clock_set_bounds(host->clock);
	host_summarize(host);
	if (host->quality == NETSYNC_INCOMPLETE)
		host->quality = path_quality(r, h);
	return trusted && !sound;
}
