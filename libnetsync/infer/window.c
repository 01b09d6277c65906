// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The evidence of a window, by one pass of a filter (assumed density filtering: P. Maybeck,
 * "Stochastic models, estimation, and control", volume 2, 1982). The evidence of each factor is
 * the integral of its likelihood over the prediction from the factors before it. The evidence is
 * therefore independent of a wrong state to which expectation propagation may have converged.
 * The variances of increments contribute the log shares of their scales.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/window.h"

/* ---- the factors of a clock ---------------------------------------------- */

/* Count the factors of each knot of a host. If @place is not NULL, list them. */
static void count_factors(const struct inference *n, size_t host, uint32_t *count,
			  struct factor_place *place)
{
	for (uint32_t i = 0; i < n->num_links; i++) {
		const struct infer_link *l = &n->link[i];
		const int which = l->host[1] == host;

		if (l->host[which] != host)
			continue;
		for (uint8_t way = 0; way < 2; way++) {
			const struct link_direction *d = &l->direction[way];

			for (uint32_t k = 0; k < d->num_factors; k++) {
				const uint32_t at = count[d->factor[k].knot[which]]++;

				if (place)
					place[at] = (struct factor_place){
						i, k, way, which == way ? TO_SENDER : TO_RECEIVER
					};
			}
		}
	}
}

int factor_index_make(struct factor_index *x, const struct inference *n, size_t host)
{
	const size_t num = n->chain[host].num;
	uint32_t all = 0, *next = calloc(num + 1, sizeof(*next));

	x->first = calloc(num + 1, sizeof(*x->first));
	x->place = NULL;
	if (next && x->first) {
		count_factors(n, host, next, NULL);
		for (size_t i = 0; i < num; i++) {
			x->first[i] = all;
			all += next[i];
			next[i] = x->first[i];
		}
		x->first[num] = all;
		x->place = malloc(((size_t)all + 1) * sizeof(*x->place));
		if (x->place)
			count_factors(n, host, next, x->place);
	}
	free(next);
	return x->place ? 0 : -ENOMEM;
}

void factor_index_release(struct factor_index *x)
{
	free(x->place);
	free(x->first);
}

/* ---- windows ------------------------------------------------------------- */

static void fill_window_factor(struct window_factor *to, const struct inference *n,
			       const struct factor_place *p)
{
	struct infer_link *l = &n->link[p->link];
	struct link_direction *d = &l->direction[p->way];
	const struct factor *f = &d->factor[p->factor];

	to->lowest = &f->lowest;
	to->law = &d->law;
	to->site = f->site[p->end];
	to->others = factor_others(n, l, p->way, f, p->end, &to->sign);
}

int window_open(struct chain_window *w, const struct inference *n, size_t host,
		const struct factor_index *x, size_t from, size_t to)
{
	const struct chain *c = &n->chain[host];

	*w = (struct chain_window){ .chain = *c, .num = x->first[to] - x->first[from] };
	w->chain.num = to - from;
	w->chain.knot = malloc((to - from) * sizeof(*w->chain.knot));
	w->factor = malloc((w->num + 1) * sizeof(*w->factor));
	if (!w->chain.knot || !w->factor)
		return -ENOMEM;
	memcpy(w->chain.knot, c->knot + from, (to - from) * sizeof(*w->chain.knot));
	for (size_t i = from, k = 0; i < to; i++)
		for (uint32_t p = x->first[i]; p < x->first[i + 1]; p++, k++) {
			fill_window_factor(&w->factor[k], n, &x->place[p]);
			w->factor[k].knot = (uint32_t)(i - from);
		}
	memcpy(w->chain.first.mean, c->knot[from].state, sizeof(w->chain.first.mean));
	memcpy(w->chain.first.deviation, c->unknown, sizeof(c->unknown));
	return 0;
}

int window_copy(struct chain_window *to, const struct chain_window *from)
{
	const size_t knots = from->chain.num * sizeof(*from->chain.knot);

	*to = *from;
	to->chain.knot = malloc(knots);
	to->factor = malloc((from->num + 1) * sizeof(*to->factor));
	if (!to->chain.knot || !to->factor)
		return -ENOMEM;
	memcpy(to->chain.knot, from->chain.knot, knots);
	memcpy(to->factor, from->factor, from->num * sizeof(*to->factor));
	return 0;
}

void window_close(struct chain_window *w)
{
	free(w->chain.knot);
	free(w->factor);
	*w = (struct chain_window){ 0 };
}

/* ---- the filter ---------------------------------------------------------- */

/* Update the filter by a factor. Set its site, and return its evidence. */
static double filter_factor(struct filtered *f, struct window_factor *w)
{
	const struct moments z = { w->others.mean + w->sign * f->mean[STATE_PHASE],
				   w->others.variance + f->cov[STATE_PHASE][STATE_PHASE] };
	double evidence;

	w->site = factor_get_end_site(factor_weigh(w->lowest, w->law, z, &evidence), w->sign,
				      w->others);
	filter_update(f, w->site);
	return evidence;
}

void window_filter(struct chain_window *w)
{
	const struct chain *c = &w->chain;
	struct filtered f;

	filter_begin(&f, &c->first);
	w->likelihood = w->evidence = 0;
	for (size_t i = 0, k = 0; i < c->num; i++) {
		const struct knot *at = &c->knot[i];

		if (i) {
			filter_predict(&f, c, at);
			w->evidence += mixture_compute_log_share(&c->bends, at->length, at->bend) +
				       mixture_compute_log_share(&c->jumps, at->length, at->jump);
		}
		for (; k < w->num && w->factor[k].knot == i; k++)
			w->likelihood += filter_factor(&f, &w->factor[k]);
	}
	w->evidence += w->likelihood;
}

/* Replace the sites of a window's factors, and their sums at its knots. */
static void apply_window_sites(const struct chain_window *w, struct inference *n, size_t host,
			       const struct factor_index *x, size_t from)
{
	struct knot *knot = n->chain[host].knot + from;

	for (size_t i = 0; i < w->chain.num; i++)
		knot[i].site = knot[i].opposed = (struct natural){ 0, 0 };
	for (size_t k = 0; k < w->num; k++) {
		const struct window_factor *f = &w->factor[k];
		const struct factor_place *p = &x->place[x->first[from] + k];
		struct link_direction *d = &n->link[p->link].direction[p->way];

		knot_add_site(&knot[f->knot], f->site, f->sign);
		d->factor[p->factor].site[p->end] = f->site;
		if (n->chain[host].delay)
			d->factor[p->factor].site[TO_LINK] = factor_get_end_site(
				f->site, f->sign, (struct moments){ -f->sign * f->others.mean, 0 });
	}
}

void window_apply(const struct chain_window *w, struct inference *n, size_t host,
		  const struct factor_index *x, size_t from, bool sites)
{
	for (size_t i = 1; i < w->chain.num; i++) {
		n->chain[host].knot[from + i].bend = w->chain.knot[i].bend;
		n->chain[host].knot[from + i].jump = w->chain.knot[i].jump;
	}
	if (sites)
		apply_window_sites(w, n, host, x, from);
}
