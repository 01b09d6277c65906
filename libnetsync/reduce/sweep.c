// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The corrections of all hosts: first along the tree, then each against all neighbours.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/host-fit.h"
#include "curve/pair-terms.h"
#include "joint/joint.h"
#include "reduce/internal.h"
#include "util/parallel.h"
#include "util/statistics.h"

/*
 * Fits of each host against all neighbours: in all, and of these with any number of
 * intervals. With one, a host that was led astray leads all others astray in the joint fits.
 */
#define FITS 2
#define SEARCHES 1
/*
 * Joint fits in the end. What is the lowest observation, and by how much the mean delay exceeds
 * it, is of the curves before: with one, maximal errors are up to 1.3 times as large.
 */
#define JOINT_FITS 2
/*
 * If these have left no margin (the first hosts bend, and have too few messages with each
 * other to show it), it is begun anew so many times from the middles of all messages,
 * which err by what is left of the errors of all neighbours. Chosen, by the same cases.
 */
#define STARTS 4
/*
 * Hosts are fitted side by side if, of those that one talks with, at most one in
 * so many is fitted at the same time. With 8, the maximal errors of ten hosts (of
 * bench-truth's all10-bend-1e6) are up to 1.7 times as large.
 */
#define BESIDE 16
/*
 * Bins of all pairs of a host below which they are few, and the part of its span that they are
 * wide at least, as room was short. Chosen, by make bench-scale, where a host has up to 512:
 * without, errors are hundreds of times as large.
 */
#define FEW_BINS 640
#define WIDE (1.0 / 128)

/*
 * In the last sweep a host is fitted if it moved far when it was last, in expected errors of its
 * curve. Chosen, by make bench-truth and bench-worlds.
 */
#define OWN_MOVE 16.0
/* Or if what its neighbours have moved by since moves it by so many of these. Chosen alike. */
#define NEIGHBOURS_MOVE 1.0
/* Sweeps in which rates may change at once. Chosen: later ones change little. */
#define STEERED_FITS 3
/*
 * Part of the mean delays of before that each of these leaves at most: what a curve this pliant
 * explains else is not the clock's. Chosen, by make bench-truth and bench-worlds: of ten steered
 * clocks 0.5 to 0.7 are left, and 0.1; of others, whose errors are then larger, 0.5 at least.
 */
static const double steered_leaves[STEERED_FITS] = { 0.8, 0.25, 1 };
/*
 * Factor by which messages are further from each other beyond a smooth curve than beyond a
 * steered one before, for that to stay. Chosen.
 */
#define FURTHER 2.0
/* Instants that a move is known by. Chosen. */
#define MOVE_INSTANTS 256

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

/*
 * Has a host so few bins, of both directions of all pairs and so wide, that a curve may have an
 * interval for each of them? Whether its neighbours are known does not matter.
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
	return bins < FEW_BINS &&
	       ldexp(1, shift) >= WIDE * ((double)span->hi - (double)span->lo);
}

/* What is done with a host in a sweep. */
enum stage { ALONG_TREE, START, FIT };

/* The links to neighbours whose corrections are known: *link, to be freed. 0 or -ENOMEM. */
static int find_links(const struct reduction *r, uint32_t h, struct link **link,
		      size_t *num)
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

		if (!r->correction[other].known || !p->direction[0].num ||
		    !p->direction[1].num)
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

/* Was the clock set, as far as is known? */
static bool was_set(const struct correction *c)
{
	for (size_t i = 0; i < c->num_changes; i++)
		if (c->change[i].phase_step)
			return true;
	return false;
}

/*
 * Has a fit of so many links lost what the one before found? A clock that is steered beside one
 * of its neighbours may not be beside all, unless messages are further from each other then.
 */
static bool is_worse(const struct correction *c,
		     const struct correction *before, size_t links)
{
	return (c->no_margin && !before->no_margin && was_set(before)) ||
	       (before->steered && !c->steered &&
		(before->may_be_steered || links == 1 ||
		 c->mean_delay > FURTHER * before->mean_delay));
}

/*
 * A fit is led astray that leaves no margin, where one @before left one and said that the clock
 * was set: that one stays. So does one that said that the clock is steered. 0 or -ENOMEM.
 */
static int fit_by_all(struct correction *c, const struct correction *before,
		      const struct link *link, size_t num, double drift)
{
	const bool pooled = c->pooled;
	int ret = host_fit(c, link, num, drift);

	if (ret || !is_worse(c, before, num))
		return ret;
	correction_release(c);
	ret = correction_copy(c, before);
	c->pooled = pooled;
	return ret;
}

/* *c: a copy of the host's correction, to be fitted. */
static int fit_host(const struct reduction *r, uint32_t h, enum stage stage,
		    struct correction *c)
{
	struct link *link;
	size_t n = 0;
	int ret = find_links(r, h, &link, &n);

	if (ret)
		return ret;
	c->pooled = n && link[n - 1].thin;
	if (stage != START)
		ret = fit_by_all(c, &r->correction[h], link, n, r->task->drift);
	else if (c->pooled)
		ret = host_fit_start(c, link, n);
	free(link);
	return ret;
}

/* Set a straight correction by the lines of pairs. */
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
 * The number of spline intervals that three of four of the first @num hosts, other than the
 * reference, have at most: if the reference bends, all others seem to; intervals of a few
 * hosts, perhaps by mistake, do not count. And if others bend, a host that seemed straight
 * beside the few known at first may bend, too.
 */
static int intervals_of_others(const struct reduction *r, size_t num,
			       size_t *intervals)
{
	size_t *all = malloc((num + 1) * sizeof(*all)), n = 0;

	*intervals = 0;
	if (!all)
		return -ENOMEM;
	for (; n + 1 < num; n++)
		all[n] = r->correction[r->by_noise.order[n + 1]].intervals;
	if (n) {
		qsort(all, n, sizeof(*all), by_number);
		*intervals = all[n * 3 / 4];
	}
	free(all);
	return 0;
}

/* ---- side by side ------------------------------------------------------ */

/* Hosts that are fitted at the same time, by the corrections from before. */
struct group {
	struct reduction *r;
	const uint32_t *host;
	size_t num;
	enum stage stage;
	bool fit;
	bool may_settle;	 /* stale[] of all is known */
	size_t others;		 /* intervals of most hosts, see below */
	struct correction *next; /* of each */
	/* Of every host: */
	uint32_t *known;  /* neighbours whose corrections are known */
	uint32_t *beside; /* neighbours in the group */
	double *stale; /* moves of neighbours since it was fitted: squares, ns^2 */
	bool *member;
};

static void group_free(struct group *g)
{
	free(g->next);
	free(g->known);
	free(g->beside);
	free(g->stale);
	free(g->member);
}

static int group_new(struct group *g, struct reduction *r)
{
	*g = (struct group){
		.r = r,
		.next = calloc(r->num_hosts + 1, sizeof(*g->next)),
		.known = calloc(r->num_hosts + 1, sizeof(*g->known)),
		.beside = calloc(r->num_hosts + 1, sizeof(*g->beside)),
		.stale = calloc(r->num_hosts + 1, sizeof(*g->stale)),
		.member = calloc(r->num_hosts + 1, sizeof(*g->member)),
	};
	return g->next && g->known && g->beside && g->stale && g->member
		       ? 0
		       : -ENOMEM;
}

/* Would it, or one that is in the group, miss too many of its neighbours? */
static bool group_takes(const struct group *g, uint32_t h)
{
	const struct graph *graph = &g->r->graph;
	size_t beside = 0;

	for (uint32_t i = graph->start[h]; i < graph->start[h + 1]; i++) {
		uint32_t other = graph_other(graph, graph->edge[i], h);

		if (!g->member[other])
			continue;
		beside++;
		if ((g->beside[other] + 1) * BESIDE > g->known[other])
			return false;
	}
	return beside * BESIDE <= g->known[h];
}

static void group_add(struct group *g, uint32_t h)
{
	const struct graph *graph = &g->r->graph;

	g->member[h] = true;
	g->beside[h] = 0;
	for (uint32_t i = graph->start[h]; i < graph->start[h + 1]; i++) {
		uint32_t other = graph_other(graph, graph->edge[i], h);

		g->beside[h] += g->member[other];
		g->beside[other] += g->member[other];
	}
	g->num++;
}

/* The hosts from the @first of a sweep's order on that make a group. */
static void group_choose(struct group *g, size_t first)
{
	const struct tree *tree = &g->r->by_noise;

	g->host = &tree->order[first];
	g->num = 0;
	while (first + g->num < tree->num &&
	       (!g->num || group_takes(g, g->host[g->num])))
		group_add(g, g->host[g->num]);
	for (size_t i = 0; i < g->num; i++)
		g->member[g->host[i]] = false;
}

/*
 * By how much a correction has moved, ns: the root mean square. Infinite where one has other
 * change points, or leaves no margin, and the other one not.
 */
static double move(const struct correction *from, const struct correction *to)
{
	const double length = (double)(to->to - to->from);
	double sum = 0;

	if (!from->known || from->num_changes != to->num_changes ||
	    from->no_margin != to->no_margin)
		return HUGE_VAL;
	for (int i = 0; i <= MOVE_INSTANTS; i++) {
		int64_t t = to->from + (int64_t)(length * i / MOVE_INSTANTS);
		int64_t before, now;
		double rest = correction_at(to, t, &now);
		double by;

		rest -= correction_at(from, t, &before);
		by = (double)(now - before) + rest;
		sum += by * by / (MOVE_INSTANTS + 1);
	}
	return sqrt(sum);
}

/* Would a fit of a host find what the last one found? */
static bool is_settled(const struct group *g, uint32_t h)
{
	const struct graph *graph = &g->r->graph;
	const struct correction *c = &g->r->correction[h];
	double links = graph->start[h + 1] - graph->start[h];

	return sqrt(g->stale[h]) / links <= NEIGHBOURS_MOVE * c->expected_error;
}

static int fit_member(void *arg, size_t i)
{
	struct group *g = arg;
	uint32_t h = g->host[i];
	int ret = correction_copy(&g->next[i], &g->r->correction[h]);

	if (!ret && g->fit && !(g->may_settle && is_settled(g, h)))
		ret = fit_host(g->r, h, g->stage, &g->next[i]);
	return ret;
}

/* What the neighbours of hosts that were fitted should know of how far these have moved. */
static void group_note_moves(struct group *g)
{
	const struct graph *graph = &g->r->graph;

	for (size_t k = 0; k < g->num; k++)
		g->stale[g->host[k]] = 0;
	for (size_t k = 0; k < g->num; k++) {
		uint32_t h = g->host[k];
		double by = move(&g->r->correction[h], &g->next[k]);

		if (by > OWN_MOVE * g->next[k].expected_error)
			g->stale[h] = HUGE_VAL;
		for (uint32_t i = graph->start[h]; i < graph->start[h + 1]; i++)
			g->stale[graph_other(graph, graph->edge[i], h)] += by *
									   by;
	}
}

/* From now on, others are fitted against these. */
static void group_publish(struct group *g)
{
	const struct graph *graph = &g->r->graph;

	for (size_t k = 0; k < g->num; k++) {
		uint32_t h = g->host[k];
		struct correction *c = &g->r->correction[h];
		bool known = c->known;

		correction_release(c);
		*c = g->next[k];
		c->known = true;
		g->next[k] = (struct correction){ 0 };
		for (uint32_t i = graph->start[h];
		     !known && i < graph->start[h + 1]; i++)
			g->known[graph_other(graph, graph->edge[i], h)]++;
	}
}

/* In a stage's @sweep. */
static int group_fit(struct group *g, int sweep)
{
	struct reduction *r = g->r;
	int ret;

	for (size_t i = 0; i < g->num; i++) {
		uint32_t h = g->host[i];
		struct correction *c = &r->correction[h];

		if (g->stage == ALONG_TREE) {
			set_straight_correction(r, h);
			c->others = g->others;
			c->many = r->by_noise.num > 2;
		}
		if (g->stage != FIT)
			continue;
		if (sweep == 0 && h == r->reference)
			c->intervals = g->others;
		c->settled = sweep >= SEARCHES &&
			     (h == r->reference || g->others <= c->tried);
		if (h != r->reference)
			c->others = g->others;
	}
	g->fit = r->task->method->curves &&
		 (g->stage != ALONG_TREE || g->host[0] != r->reference);
	ret = parallel_run(r->task->parallel, r->task->threads,
			   (uint32_t)g->num, fit_member, g);
	if (!ret && g->stage == FIT)
		group_note_moves(g);
	if (!ret)
		group_publish(g);
	for (size_t i = 0; i < g->num; i++)
		correction_release(&g->next[i]);
	return ret;
}

/* The @number-th sweep of a stage. */
static int sweep(struct group *g, enum stage stage, int number)
{
	uint32_t num = g->r->by_noise.num;
	int ret = 0;

	g->stage = stage;
	if (stage == FIT)
		ret = intervals_of_others(g->r, num, &g->others);
	for (size_t first = 0; !ret && first < num; first += g->num) {
		if (stage == ALONG_TREE)
			ret = intervals_of_others(g->r, first, &g->others);
		group_choose(g, first);
		if (!ret)
			ret = group_fit(g, number);
	}
	return ret;
}

/* ---- all at once ------------------------------------------------------- */

/*
 * The oscillator of the reference: as those of most others. By itself it cannot be told: all the
 * others' curves have the bends of its time, and its own has none.
 */
static int set_walk_of_reference(struct reduction *r)
{
	double *walk = malloc((r->num_hosts + 1) * sizeof(*walk));
	size_t n = 0;

	if (!walk)
		return -ENOMEM;
	for (uint32_t h = 0; h < r->num_hosts; h++)
		if (h != r->reference && r->correction[h].skew_walk > 0)
			walk[n++] = r->correction[h].skew_walk;
	r->correction[r->reference].skew_walk = n ? median(walk, n) : 0;
	free(walk);
	return 0;
}

/* The joint fit of all hosts. 0 or -ENOMEM. */
static int fit_jointly(struct reduction *r)
{
	struct joint_host *host = calloc(r->num_hosts + 1, sizeof(*host));
	size_t intervals = 0;
	int ret = host ? intervals_of_others(r, r->by_noise.num, &intervals)
		       : -ENOMEM;

	for (uint32_t h = 0; !ret && h < r->num_hosts; h++) {
		struct correction *c = &r->correction[h];

		if (!c->known)
			continue;
		host[h].correction = c;
		ret = find_links(r, h, &host[h].link, &host[h].num_links);
	}
	if (!ret)
		ret = set_walk_of_reference(r);
	if (!ret)
		ret = joint_fit(host, r->num_hosts, intervals, r->task->drift,
				r->task->parallel, r->task->threads);
	for (uint32_t h = 0; host && h < r->num_hosts; h++)
		free(host[h].link);
	free(host);
	return ret;
}

/* A call for each host of the tree. */
static int doubt_host(void *reduction, size_t i)
{
	struct reduction *r = reduction;
	uint32_t h = r->by_noise.order[i];
	struct correction *c = &r->correction[h];
	struct link *link;
	size_t n;
	int ret;

	/* Of a steered one all is known already. */
	if (!c->curve.coefs || c->steered)
		return 0;
	ret = find_links(r, h, &link, &n);
	if (!ret && n)
		ret = pair_terms_doubt(c, link, n, r->task->drift);
	free(link);
	return ret;
}

/* Are half of the hosts fitted by thin links; have half of these no margin? */
static void look_at_pooled(const struct reduction *r, bool *pooled,
			   bool *no_margin)
{
	uint32_t num = r->by_noise.num, thin = 0, without = 0;

	for (uint32_t i = 1; i < num; i++) {
		const struct correction *c =
			&r->correction[r->by_noise.order[i]];

		thin += c->pooled;
		without += c->pooled && c->no_margin;
	}
	*pooled = 2 * thin >= num;
	*no_margin = *pooled && 2 * without >= thin;
}

/* ---- steered clocks ------------------------------------------------------ */

static bool is_doubtful(const struct correction *c)
{
	return c->num_doubts || c->no_margin;
}

/* Of so many doubts others are no explanation. */
static bool most_are_doubtful(const struct reduction *r)
{
	uint32_t num = r->by_noise.num, doubtful = 0;

	for (uint32_t i = 0; i < num; i++)
		doubtful += is_doubtful(&r->correction[r->by_noise.order[i]]);
	return 2 * doubtful >= num;
}

static void release_all(struct correction *c, uint32_t num)
{
	for (uint32_t h = 0; c && h < num; h++)
		correction_release(&c[h]);
	free(c);
}

/* 0 or -ENOMEM; *copy: to be given to release_all(). */
static int copy_all(struct correction **copy, const struct correction *c,
		    uint32_t num)
{
	int ret = 0;

	*copy = calloc(num + 1, sizeof(**copy));
	if (!*copy)
		return -ENOMEM;
	for (uint32_t h = 0; !ret && h < num; h++)
		ret = correction_copy(&(*copy)[h], &c[h]);
	return ret;
}

/* What is left of the mean delays of before: the geometric mean of all hosts. */
static double delays_left(const struct reduction *r,
			  const struct correction *before)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t h = 0; h < r->num_hosts; h++) {
		double was = before[h].mean_delay;
		double is = r->correction[h].mean_delay;

		if (!(was > 0 && is > 0))
			continue;
		sum += log(is / was);
		n++;
	}
	return n ? exp(sum / n) : 1;
}

/* If clocks seem to be steered, which sweeps before did not allow: once more, so that they are. */
static int fit_steered(struct group *g)
{
	struct reduction *r = g->r;
	struct correction *before;
	bool explains = true;
	int ret = copy_all(&before, r->correction, r->num_hosts);

	for (uint32_t h = 0; h < r->num_hosts; h++) {
		r->correction[h].may_be_steered = is_doubtful(
			&r->correction[h]);
		if (r->correction[h].may_be_steered)
			g->stale[h] = HUGE_VAL;
	}
	g->may_settle = true;
	for (int i = 0; !ret && explains && i < STEERED_FITS; i++) {
		ret = sweep(g, FIT, FITS + i);
		explains = delays_left(r, before) <= steered_leaves[i];
	}
	if (!ret && !explains) {
		struct correction *after = r->correction;

		r->correction = before;
		before = after;
	}
	release_all(before, r->num_hosts);
	return ret;
}

/*
 * With more than two hosts: each against all others, then all at once. Not before, but with
 * few messages: change points and intervals are found less well beyond joint curves, as what
 * is wrong with one host is spread over all.
 */
static int fit_all(struct group *g)
{
	struct reduction *r = g->r;
	bool pooled, no_margin;
	int ret = 0;

	look_at_pooled(r, &pooled, &no_margin);
	for (int i = 0; !ret && no_margin && i < STARTS; i++)
		ret = sweep(g, START, i);
	for (int i = 0; !ret && i < FITS; i++) {
		/* What was fitted by few messages has much wrong together. */
		if (pooled)
			ret = fit_jointly(r);
		g->may_settle = i && !pooled;
		if (!ret)
			ret = sweep(g, FIT, i);
	}
	if (!ret && !pooled && most_are_doubtful(r))
		ret = fit_steered(g);
	for (int i = 0; !ret && i < JOINT_FITS; i++)
		ret = fit_jointly(r);
	if (!ret)
		ret = parallel_run(r->task->parallel, r->task->threads,
				   r->by_noise.num, doubt_host, r);
	return ret;
}

/*
 * Fit each host in turn, against hosts whose corrections are known: first along the tree,
 * then against all neighbours, so that errors of one pair are averaged out. What hosts have
 * wrong together, these fits hardly see; the joint fit does, but takes change points and
 * numbers of intervals as they are. The reference is fitted, too: if its own time stayed the
 * common one, all others would have to move together towards it. Its curve is what all others
 * have wrong in the same way; its number of intervals comes from theirs.
 *
 * Which hosts are fitted side by side does not depend on the number of threads, and so
 * the result does not. In the first sweep the reference is alone.
 */
int reduction_fit_hosts(struct reduction *r)
{
	uint32_t num = r->by_noise.num;
	struct group g;
	int ret = group_new(&g, r);

	if (!ret)
		ret = sweep(&g, ALONG_TREE, 0);
	if (!ret && r->task->method->curves && num > 2)
		ret = fit_all(&g);
	group_free(&g);
	return ret;
}
