// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The corrections of all hosts: first along the tree, then each against all neighbours.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/host-fit.h"
#include "curve/pair-terms.h"
#include "curve/wander.h"
#include "joint/joint.h"
#include "reduce/internal.h"
#include "util/parallel.h"
#include "util/statistics.h"

/*
 * Number of fits of each host against all neighbours: in total, and with a free number of
 * intervals. With one such fit, a host with a wrong curve leads all others astray in the joint
 * fits.
 */
#define FITS 2
#define SEARCHES 1
/*
 * Number of joint fits at the end. The lowest observations and the excess of the mean delay are
 * relative to the earlier curves: with one joint fit, maximal errors are up to 1.3 times as large.
 */
#define JOINT_FITS 2
/*
 * If the fits leave no margin (the first hosts bend, and have too few messages with each other to
 * show it), start again up to this many times from the middles of all messages, whose errors are
 * the mean of all neighbours' errors. Chosen by the same cases.
 */
#define STARTS 4
/*
 * Hosts are fitted at the same time if at most one in this many of each one's neighbours is fitted
 * at that time. With 8, the maximal errors of ten hosts (bench-truth's all10-bend-1e6) are up to
 * 1.7 times as large.
 */
#define BESIDE 16
/*
 * In the last sweep, fit a host again if its last move exceeds this number of expected errors of
 * its curve. Chosen by make bench-truth and bench-worlds.
 */
#define OWN_MOVE 16.0
/*
 * Or if its neighbours' accumulated moves since then exceed this number of its expected errors.
 * Chosen in the same way.
 */
#define NEIGHBOURS_MOVE 1.0
/*
 * Keep the earlier, steered curve if messages are further apart relative to the new, smooth curve
 * by this factor. Chosen.
 */
#define FURTHER 2.0
/* Number of instants at which a move is measured. Chosen. */
#define MOVE_INSTANTS 256

struct carried reduction_carry(const struct reduction *r, uint32_t host, int64_t t)
{
	struct carried c = { .t = t, .complete = true };
	const struct carried *next;
	const struct estimate *e;
	double s, ahead;

	if (host == r->reference)
		return c;
	e = &r->est[r->by_noise.via[host]];
	s = e->line.slope;
	if (host == e->pair->host[0]) {
		c.frac = line_convert_to_second(&e->line, &c.t);
	} else {
		c.frac = line_convert_to_first(&e->line, &c.t);
		s = -s / (1 + s);
	}
	/* The path from the next host on is a line, known at the start of the next host's span. */
	host = graph_other(&r->graph, r->by_noise.via[host], host);
	next = &r->way[host];
	ahead = next->frac + next->skew * ((double)(c.t - r->host[host].span.lo) + c.frac);
	c.t += next->t - r->host[host].span.lo + (int64_t)floor(ahead);
	c.frac += ahead - floor(ahead);
	c.skew = next->skew + s + s * next->skew;
	c.growth = next->growth + fmax(e->slope_max - e->line.slope, e->line.slope - e->slope_min);
	c.complete = next->complete && e->quality != NETSYNC_INCOMPLETE;
	return c;
}

void reduction_find_ways(struct reduction *r)
{
	/* Nearer hosts first. */
	for (uint32_t i = 0; i < r->by_noise.num; i++) {
		uint32_t h = r->by_noise.order[i];

		r->way[h] = reduction_carry(r, h, r->host[h].span.lo);
	}
}

/* The kind of fit in a sweep. */
enum stage { ALONG_TREE, START, FIT };

/* Was the clock stepped, as far as known? */
static bool was_stepped(const struct correction *c)
{
	for (size_t i = 0; i < c->num_changes; i++)
		if (c->change[i].phase_step)
			return true;
	return false;
}

/*
 * Has a fit to this many links lost the result of the earlier one? A clock that seemed steered
 * relative to one neighbour may not seem so relative to all, unless messages are then further
 * apart.
 */
static bool fit_is_worse(const struct correction *c, const struct correction *before, size_t links)
{
	return (c->no_margin && !before->no_margin && was_stepped(before)) ||
	       (before->steered && !c->steered &&
		(links == 1 || c->mean_delay > FURTHER * before->mean_delay));
}

/*
 * Fit a host to all neighbours. If the fit leaves no margin, but the one @before did and found that
 * the clock was stepped, keep the earlier one. Also keep it if it found that the clock is steered.
 * 0 or -ENOMEM.
 */
static int fit_host_to_all(struct correction *c, const struct correction *before,
			   const struct link *link, size_t num, double drift)
{
	const bool pooled = c->pooled;
	int ret = host_fit(c, link, num, drift);

	if (ret || !fit_is_worse(c, before, num))
		return ret;
	correction_release(c);
	ret = correction_copy(c, before);
	c->pooled = pooled;
	return ret;
}

/* *c: a copy of the host's correction, to be fitted. */
static int fit_host(const struct reduction *r, uint32_t h, enum stage stage, struct correction *c)
{
	struct link *link;
	size_t n = 0;
	int ret = reduction_find_links(r, h, &link, &n);

	if (ret)
		return ret;
	c->pooled = n && link[n - 1].thin;
	if (stage != START)
		ret = fit_host_to_all(c, &r->correction[h], link, n, r->task->drift);
	else if (c->pooled)
		ret = host_fit_start(c, link, n);
	free(link);
	return ret;
}

/* Set a straight correction by the lines of pairs. */
void reduction_set_straight(struct reduction *r, uint32_t h)
{
	const struct carried k = r->way[h];

	r->correction[h] = (struct correction){
		.from = r->host[h].span.lo,
		.to = r->host[h].span.hi,
		.offset = k.t - r->host[h].span.lo + (int64_t)floor(k.frac),
		.frac = k.frac - floor(k.frac),
		.skew = k.skew,
	};
}

/* ---- side by side ------------------------------------------------------ */

/* Hosts that are fitted at the same time, relative to the earlier corrections. */
struct group {
	struct reduction *r;
	const uint32_t *host;
	size_t num;
	enum stage stage;
	bool fit;
	bool may_settle;	 /* stale[] is known for all hosts */
	bool steered;		 /* keep the curves of steered clocks */
	size_t others;		 /* knot intervals of most hosts, see below */
	struct correction *next; /* new correction of each host in the group */
	/* For every host: */
	uint32_t *known;  /* neighbours whose corrections are known */
	uint32_t *beside; /* number of neighbours in the group */
	double *stale;	  /* squared moves of neighbours since the host was fitted, ns^2 */
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
	return g->next && g->known && g->beside && g->stale && g->member ? 0 : -ENOMEM;
}

/* Would the host, or one in the group, lack too many of its neighbours? */
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

/* Choose the hosts of a sweep's order, from @first on, that make a group. */
static void group_choose(struct group *g, size_t first)
{
	const struct tree *tree = &g->r->by_noise;

	g->host = &tree->order[first];
	g->num = 0;
	while (first + g->num < tree->num && (!g->num || group_takes(g, g->host[g->num])))
		group_add(g, g->host[g->num]);
	for (size_t i = 0; i < g->num; i++)
		g->member[g->host[i]] = false;
}

/*
 * Return the root mean square move of a correction, ns. It is infinite if the change points differ,
 * or if only one of both leaves no margin.
 */
static double distance_moved(const struct correction *from, const struct correction *to)
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

/* Would a fit of a host have the same result as the last one? */
static bool host_is_settled(const struct group *g, uint32_t h)
{
	const struct graph *graph = &g->r->graph;
	const struct correction *c = &g->r->correction[h];
	double links = graph->start[h + 1] - graph->start[h];

	if (g->steered && c->steered)
		return true;
	return sqrt(g->stale[h]) / links <= NEIGHBOURS_MOVE * c->expected_error;
}

static int fit_member_of_group(void *arg, size_t i)
{
	struct group *g = arg;
	uint32_t h = g->host[i];
	int ret = correction_copy(&g->next[i], &g->r->correction[h]);

	if (!ret && g->fit && !(g->may_settle && host_is_settled(g, h)))
		ret = fit_host(g->r, h, g->stage, &g->next[i]);
	return ret;
}

/* Add the moves of fitted hosts to the accumulated moves of their neighbours. */
static void group_note_moves(struct group *g)
{
	const struct graph *graph = &g->r->graph;

	for (size_t k = 0; k < g->num; k++)
		g->stale[g->host[k]] = 0;
	for (size_t k = 0; k < g->num; k++) {
		uint32_t h = g->host[k];
		double by = distance_moved(&g->r->correction[h], &g->next[k]);

		if (by > OWN_MOVE * g->next[k].expected_error)
			g->stale[h] = HUGE_VAL;
		for (uint32_t i = graph->start[h]; i < graph->start[h + 1]; i++)
			g->stale[graph_other(graph, graph->edge[i], h)] += by * by;
	}
}

/* Publish the corrections of a group, which others are fitted to from now on. */
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
		for (uint32_t i = graph->start[h]; !known && i < graph->start[h + 1]; i++)
			g->known[graph_other(graph, graph->edge[i], h)]++;
	}
}

/* Fit the hosts of a group in a stage's @sweep. */
static int group_fit(struct group *g, int sweep)
{
	struct reduction *r = g->r;
	int ret;

	for (size_t i = 0; i < g->num; i++) {
		uint32_t h = g->host[i];
		struct correction *c = &r->correction[h];

		if (g->stage == ALONG_TREE) {
			reduction_set_straight(r, h);
			c->others = g->others;
			c->many = r->by_noise.num > 2;
		}
		if (g->stage != FIT)
			continue;
		if (sweep == 0 && h == r->reference)
			c->intervals = g->others;
		c->settled = sweep >= SEARCHES && (h == r->reference || g->others <= c->tried);
		if (h != r->reference)
			c->others = g->others;
	}
	g->fit = r->task->method->curves && (g->stage != ALONG_TREE || g->host[0] != r->reference);
	ret = parallel_run(r->task->parallel, r->task->threads, (uint32_t)g->num,
			   fit_member_of_group, g);
	if (!ret && g->stage == FIT)
		group_note_moves(g);
	if (!ret)
		group_publish(g);
	for (size_t i = 0; i < g->num; i++)
		correction_release(&g->next[i]);
	return ret;
}

/* Run sweep @number of a stage. */
static int run_sweep(struct group *g, enum stage stage, int number)
{
	uint32_t num = g->r->by_noise.num;
	int ret = 0;

	g->stage = stage;
	if (stage == FIT)
		ret = reduction_intervals_of_others(g->r, num, &g->others);
	for (size_t first = 0; !ret && first < num; first += g->num) {
		if (stage == ALONG_TREE)
			ret = reduction_intervals_of_others(g->r, first, &g->others);
		group_choose(g, first);
		if (!ret)
			ret = group_fit(g, number);
	}
	return ret;
}

/* ---- all stages --------------------------------------------------------- */

/* Find the untrusted intervals of one host. */
static int find_untrusted_intervals_of_host(void *reduction, size_t i)
{
	struct reduction *r = reduction;
	uint32_t h = r->by_noise.order[i];
	struct correction *c = &r->correction[h];
	struct link *link;
	size_t n;
	int ret;

	/* The intervals of a steered clock are already known. */
	if (!c->curve.coefs || c->steered)
		return 0;
	ret = reduction_find_links(r, h, &link, &n);
	if (!ret && n)
		ret = pair_terms_doubt(c, link, n, r->task->drift, c->intervals);
	free(link);
	return ret;
}

/* Find the untrusted intervals of all hosts' curves: 0 or -ENOMEM. */
static int reduction_doubt_hosts(struct reduction *r)
{
	return parallel_run(r->task->parallel, r->task->threads, r->by_noise.num,
			    find_untrusted_intervals_of_host, r);
}

/* Do readings report how the clocks of a host and of all its neighbours were steered? */
static bool readings_report_steering(const struct reduction *r, uint32_t h)
{
	const struct graph *g = &r->graph;
	bool raw = r->host[h].raw;

	for (uint32_t i = g->start[h]; raw && i < g->start[h + 1]; i++)
		raw = r->host[graph_other(g, g->edge[i], h)].raw;
	return raw;
}

/* Set the intervals in which the readings of a host are unreported. */
static int set_unreported_intervals(struct wander *w, const struct host *host)
{
	w->unreported = malloc((host->num_unreported + 1) * sizeof(*w->unreported));
	if (!w->unreported)
		return -ENOMEM;
	for (size_t i = 0; i < host->num_unreported; i++) {
		const struct range *all = &host->unreported[i];
		struct range u = host->span;

		if (all->lo > host->origin + u.lo)
			u.lo = all->lo - host->origin;
		if (all->hi < host->origin + u.hi)
			u.hi = all->hi - host->origin;
		if (u.lo < u.hi)
			w->unreported[w->num_unreported++] = u;
	}
	return 0;
}

/* Measure the stability of one host when all curves are final. */
static int measure_stability(void *reduction, size_t i)
{
	struct reduction *r = reduction;
	uint32_t h = r->by_noise.order[i];
	struct wander *w = &r->wander[h];
	struct link *link;
	size_t n;
	int ret = 0;

	r->correction[h].wander = w;
	w->left_alone = r->task->left_alone || readings_report_steering(r, h);
	if (!w->left_alone) {
		ret = reduction_find_links(r, h, &link, &n);
		if (!ret && n)
			ret = wander_measure(w, &r->correction[h], link, n, r->task->drift);
		free(link);
	}
	/* The assumptions apply to the raw clock, except in unreported intervals. */
	return ret ? ret : set_unreported_intervals(w, &r->host[h]);
}

/* Are half of the hosts fitted to thin links, and do half of these have no margin? */
static void judge_thin_fits(const struct reduction *r, bool *pooled, bool *no_margin)
{
	uint32_t num = r->by_noise.num, thin = 0, without = 0;

	for (uint32_t i = 1; i < num; i++) {
		const struct correction *c = &r->correction[r->by_noise.order[i]];

		thin += c->pooled;
		without += c->pooled && c->no_margin;
	}
	*pooled = 2 * thin >= num;
	*no_margin = *pooled && 2 * without >= thin;
}

/*
 * Fit hosts as steered by daemons if that explains more than smooth curves do; then fit the others
 * again, which were fitted to wrong curves.
 */
static int fit_steered_hosts(struct group *g)
{
	struct reduction *r = g->r;
	bool explains;
	int ret = reduction_fit_steered(r, &explains);

	if (ret || !explains)
		return ret;
	for (uint32_t h = 0; h < r->num_hosts; h++)
		g->stale[h] = r->correction[h].steered ? 0 : HUGE_VAL;
	g->may_settle = true;
	g->steered = true;
	return run_sweep(g, FIT, FITS);
}

/* Has a host a single neighbour, whose curve the joint fit changes? */
static bool has_single_smooth_neighbour(const struct reduction *r, uint32_t h)
{
	const struct graph *graph = &r->graph;
	const uint32_t first = graph->start[h];

	return graph->start[h + 1] == first + 1 &&
	       !r->correction[graph_other(graph, graph->edge[first], h)].steered;
}

/*
 * Fit hosts again that seem to be steered relative to their only neighbour, whose curve the joint
 * fit has changed since. Results from several neighbours, or from all together, are kept.
 */
static int refit_after_joint_fit(struct group *g)
{
	struct reduction *r = g->r;
	int ret = 0;

	for (uint32_t i = 0; !ret && !g->steered && i < r->by_noise.num; i++) {
		uint32_t h = r->by_noise.order[i];
		struct correction next;

		if (!r->correction[h].steered || !has_single_smooth_neighbour(r, h))
			continue;
		/* Decide again whether the host is steered. */
		r->correction[h].steered = false;
		ret = correction_copy(&next, &r->correction[h]);
		if (!ret)
			ret = fit_host(r, h, FIT, &next);
		correction_release(&r->correction[h]);
		r->correction[h] = next;
	}
	return ret;
}

/*
 * With more than two hosts, fit each against all others, then all jointly. With many messages, a
 * joint fit does not come first: change points and numbers of intervals are found less accurately
 * from joint curves, which spread the errors of one host over all.
 */
static int fit_hosts_to_all(struct group *g)
{
	struct reduction *r = g->r;
	bool pooled, no_margin;
	int ret = 0;

	judge_thin_fits(r, &pooled, &no_margin);
	for (int i = 0; !ret && no_margin && i < STARTS; i++)
		ret = run_sweep(g, START, i);
	for (int i = 0; !ret && i < FITS; i++) {
		/* Hosts with few messages have correlated errors. */
		if (pooled)
			ret = reduction_fit_jointly(r);
		g->may_settle = i && !pooled;
		if (!ret)
			ret = run_sweep(g, FIT, i);
	}
	if (!ret && !pooled)
		ret = fit_steered_hosts(g);
	for (int i = 0; !ret && i < JOINT_FITS; i++)
		ret = reduction_fit_jointly(r);
	if (!ret)
		ret = refit_after_joint_fit(g);
	if (!ret)
		ret = reduction_doubt_hosts(r);
	return ret;
}

/*
 * Fit each host in turn to hosts whose corrections are known: first along the tree, then to all
 * neighbours, so that errors of one pair are averaged out. These fits barely reduce errors that
 * hosts have in common. The joint fit does, but does not change change points and numbers of
 * intervals. The reference is fitted as well: if its own time remained the common time, all others
 * would have to move together towards it. Its curve is the error that all others share; its number
 * of intervals is theirs.
 *
 * The choice of hosts that are fitted at the same time does not depend on the number of threads, so
 * the result does not either. In the first sweep the reference is alone.
 */
static int fit_hosts_in_turn(struct reduction *r)
{
	struct group g;
	int ret = group_new(&g, r);

	if (!ret)
		ret = run_sweep(&g, ALONG_TREE, 0);
	if (!ret && r->task->method->curves && r->by_noise.num > 2)
		ret = fit_hosts_to_all(&g);
	group_free(&g);
	return ret;
}

int reduction_fit_hosts(struct reduction *r)
{
	int ret = r->task->method->model ? reduction_fit_model(r) : fit_hosts_in_turn(r);

	if (!ret && r->task->method->curves)
		ret = parallel_run(r->task->parallel, r->task->threads, r->by_noise.num,
				   measure_stability, r);
	return ret;
}
