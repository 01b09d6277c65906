// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Starts inference for many hosts with the curve of each host relative to its parent in the
 * tree, inferred as if only these two hosts existed. A step of one host then cannot mislead the
 * curve of another host. The first states of all chains are taken from these curves.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/internal.h"
#include "util/number.h"

/*
 * Minimum time on either side of a knot over which the slope of a curve is computed, s. Chosen,
 * because a cell may be shorter.
 */
#define LEAST_HALF 1e-6

struct tree_host {
	size_t index;
	size_t depth; /* 0 for the first host */
};

/* Hosts at the same depth of the tree. */
struct tree_level {
	const struct infer_task *task;
	struct link_delays *delays; /* by host */
	const struct tree_host *host;
};

/*
 * Infer a host's curve relative to its parent, whose own curve is already known. Return 0 or
 * -ENOMEM.
 */
static int infer_relative_to_parent(void *level, size_t place)
{
	const struct tree_level *l = level;
	const struct infer_task *t = l->task;
	const size_t i = l->host[place].index;
	const struct infer_host *h = &t->host[i];
	const size_t own = h->via->host[1] == h->number;
	const struct infer_host host[2] = {
		{ .correction = t->host[h->parent].correction,
		  .number = t->host[h->parent].number },
		{ .correction = h->correction, .number = h->number, .via = h->via },
	};
	const struct infer_pair pair = { .pair = h->via, .host = { !own, own } };

	return infer_clocks_and_delays(
		&(struct infer_task){
			.host = host,
			.num = 2,
			.pair = &pair,
			.num_pairs = 1,
		},
		&l->delays[i]);
}

/* Take the curve out of a correction, which becomes straight. */
static struct correction move_first_curve(struct correction *c)
{
	const struct correction taken = *c;

	memset(&c->curve, 0, sizeof(c->curve));
	c->change = NULL;
	c->doubt = NULL;
	c->known_to = NULL;
	c->num_changes = c->num_doubts = c->num_known_to = 0;
	c->no_margin = false;
	return taken;
}

static int compare_depths(const void *a, const void *b)
{
	const struct tree_host *p = a, *q = b;

	return (p->depth > q->depth) - (p->depth < q->depth);
}

/* Infer all curves, at each depth in parallel. Return 0 or -ENOMEM. */
static int infer_all_levels(const struct infer_task *t, struct link_delays *delays)
{
	struct tree_host *host = calloc(t->num, sizeof(*host));
	int ret = host ? 0 : -ENOMEM;

	for (size_t i = 1; !ret && i < t->num; i++)
		host[i] = (struct tree_host){ i, host[t->host[i].parent].depth + 1 };
	if (!ret)
		qsort(host, t->num, sizeof(*host), compare_depths);
	for (size_t first = 1, next; !ret && first < t->num; first = next) {
		struct tree_level l = { t, delays, host + first };

		for (next = first + 1; next < t->num && host[next].depth == host[first].depth;)
			next++;
		ret = parallel_run(t->parallel, t->threads, (uint32_t)(next - first),
				   infer_relative_to_parent, &l);
	}
	free(host);
	return ret;
}

int tree_curves_infer(struct inference *n)
{
	const struct infer_task *t = n->task;
	int ret = -ENOMEM;

	n->delays = calloc(t->num, sizeof(*n->delays));
	if (n->delays)
		ret = infer_all_levels(t, n->delays);
	n->first = ret ? NULL : calloc(t->num, sizeof(*n->first));
	if (!n->first)
		return -ENOMEM;
	for (size_t h = 0; h < t->num; h++)
		n->first[h] = move_first_curve(t->host[h].correction);
	return 0;
}

void tree_curves_release(struct inference *n)
{
	for (size_t h = 0; n->first && h < n->task->num; h++)
		correction_release(&n->first[h]);
	free(n->first);
	free(n->delays);
	n->first = NULL;
	n->delays = NULL;
}

double tree_curves_find_next_step(const struct inference *n, size_t host, double t)
{
	const struct correction *c = n->task->host[host].correction;
	const struct correction *first = &n->first[host];
	const double own = infer_convert_to_own_time(n, c, t);

	for (size_t i = correction_changes_before(first, own); i < first->num_changes; i++)
		if (first->change[i].phase_step && first->change[i].t > own)
			return infer_convert_to_seconds(n, c, c->from) +
			       first->change[i].t * (1 + c->skew) / SECOND;
	return HUGE_VAL;
}

void tree_curves_set_delays(struct inference *n)
{
	for (size_t i = 0; i < n->num_links; i++) {
		struct infer_link *l = &n->link[i];

		for (int e = 0; e < 2; e++) {
			const struct link_delays *d = &n->delays[l->host[e]];

			if (n->task->host[l->host[e]].via != l->pair || !d->known)
				continue;
			l->delay = d->least;
			for (int way = 0; way < 2; way++)
				l->direction[way].law = d->law[way];
		}
	}
}

/* Return the phase of a host's first curve at a time. */
static double compute_first_phase(const struct inference *n, size_t host, double t)
{
	return spline_at(&n->first[host].curve,
			 infer_convert_to_own_time(n, n->task->host[host].correction, t));
}

/*
 * Set the first state of a knot from the host's first curve. Return false if the host has no
 * curve.
 */
static bool set_first_state(const struct inference *n, size_t host, struct knot *k)
{
	const struct correction *c = n->task->host[host].correction;
	const double half = fmax((k->to - k->from) / 2, LEAST_HALF);
	double deviation;

	if (!n->first[host].num_known_to)
		return false;
	k->state[STATE_PHASE] = compute_first_phase(n, host, k->t);
	k->state[STATE_FREQUENCY] = (compute_first_phase(n, host, k->t + half) -
				     compute_first_phase(n, host, k->t - half)) /
				    (2 * half);
	deviation = correction_deviation_at(
		&n->first[host], c->from + (int64_t)infer_convert_to_own_time(n, c, k->t));
	k->variance = deviation * deviation;
	return true;
}

void tree_curves_set_states(struct inference *n)
{
	double sum = 0, known = 0;

	for (size_t h = 1; h < n->task->num; h++) {
		struct chain *c = &n->chain[h];
		double least = 0, most = 0;

		for (size_t i = 0; i < c->num && set_first_state(n, h, &c->knot[i]); i++) {
			least = fmin(least, c->knot[i].state[STATE_PHASE]);
			most = fmax(most, c->knot[i].state[STATE_PHASE]);
			sum += c->knot[i].variance;
			known++;
		}
		c->range = most - least;
	}
	/*
	 * All curves are relative to the first host, so its phase is known as well as the curves
	 * on average.
	 */
	for (size_t i = 0; known > 0 && i < n->chain[0].num; i++)
		n->chain[0].knot[i].variance = sum / known;
}

/*
 * Return the square of the sum of all phase steps in a host's first curve since the previous
 * knot.
 */
static double compute_squared_steps(const struct inference *n, size_t host, const struct knot *k)
{
	const struct correction *c = n->task->host[host].correction;
	const struct correction *first = &n->first[host];
	const double to = infer_convert_to_own_time(n, c, k->t);
	double sum = 0;

	for (size_t i = correction_changes_before(first, infer_convert_to_own_time(n, c, k[-1].t));
	     i < first->num_changes && first->change[i].t < to; i++)
		if (first->change[i].phase_step)
			sum += fabs(first->change[i].offset);
	return sum * sum;
}

void tree_curves_set_increments(struct inference *n)
{
	/* All curves are relative to the first host, so its own clock starts without changes. */
	for (size_t i = 1; i < n->chain[0].num; i++)
		n->chain[0].knot[i].bend = n->chain[0].bends.variance[0];
	for (size_t h = 1; h < n->task->num; h++) {
		struct chain *c = &n->chain[h];

		if (!c->num || !n->first[h].num_known_to)
			continue;
		memcpy(c->first.mean, c->knot[0].state, sizeof(c->first.mean));
		for (size_t i = 1; i < c->num; i++) {
			struct knot *k = &c->knot[i];
			const double bend = k->state[STATE_FREQUENCY] -
					    k[-1].state[STATE_FREQUENCY];

			k->jump = compute_squared_steps(n, h, k);
			k->bend = bend * bend + c->bends.variance[0];
		}
	}
}
