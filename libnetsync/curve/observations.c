// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/observations.h"

/* Least number of groups of a direction that determine a margin. Chosen. */
#define MIN_GROUPS 8

/*
 * Return the limit of a host's correction, from below or above, that a message (x, y) of a link
 * implies, less the straight correction.
 */
static struct observation observation_of_message(const struct correction *c, const struct link *l,
						 int64_t x, int64_t y)
{
	int64_t own = l->first ? x : x + y, other = l->first ? x + y : x, ref;
	double d = (double)(own - c->from), rest;

	rest = correction_at(l->other, other, &ref);
	return (struct observation){
		.t = d,
		.y = (double)(ref - own - c->offset) + rest - c->frac - c->skew * d,
	};
}

int64_t observations_level(const struct link *l)
{
	const struct envelope *e = &l->pair->direction[0].envelope;
	int64_t x = bin_time(&e->bin[e->num / 2]), ref;
	int64_t y = envelope_compute_usual_y(e, e->num / 2);
	int64_t own = l->first ? x : x + y, other = l->first ? x + y : x;

	correction_at(l->other, other, &ref);
	return ref - own;
}

/* Append the corners of a bin as observations. Return their number. */
static uint32_t gather_corners(struct observations *p, const struct correction *c,
			       const struct link *l, int cloud, const struct bin *b)
{
	size_t before = p->num;

	for (uint32_t n = 0; n < b->corners; n++) {
		struct observation *s = &p->obs[p->num];
		int64_t y = b->corner[n].y;

		*s = observation_of_message(c, l, b->corner[n].x, cloud ? -y : y);
		/* Skip times that a false timestamp caused. */
		if (s->t >= 0 && s->t <= p->span)
			p->num++;
	}
	return (uint32_t)(p->num - before);
}

/*
 * Make each observation a bin of its own, which represents an equal share of the messages. With
 * many pairs or few messages, bins are so wide that the spline may have a knot interval for each.
 * The score at the mean time of a bin and the constraints that balance it could then fall into
 * different intervals.
 */
static void make_bins_of_observations(struct observations *p, struct obs_direction *dir,
				      const struct obs_bin *h)
{
	uint32_t left = h->messages;

	for (uint32_t n = 0; n < h->num; n++) {
		uint32_t share = left / (h->num - n);

		dir->bin[dir->bins++] = (struct obs_bin){
			.t = p->obs[h->from + n].t,
			.messages = share,
			.from = h->from + n,
			.num = 1,
			.gathered = 1,
			.link = h->link,
		};
		left -= share;
	}
}

static void gather_side(struct observations *p, const struct correction *c,
			const struct link *links, size_t link, int cloud, struct obs_direction *dir)
{
	const struct link *l = &links[link];
	const struct envelope *e = &l->pair->direction[cloud].envelope;
	const struct correction *first = l->first ? c : l->other;

	dir->other_error = fmax(dir->other_error, l->other->expected_error);
	dir->width = fmax(dir->width, (double)(INT64_C(1) << e->shift));
	for (size_t i = 0; i < e->num; i++) {
		const struct bin *b = &e->bin[i];
		/* Only the time of the mean matters, and not to the ns. */
		int64_t mean = bin_time(b), y;
		struct obs_bin h;

		if (!correction_covers(first, mean))
			continue;
		y = l->first ? 0 : envelope_compute_usual_y(e, i);
		y = cloud ? -y : y;
		h = (struct obs_bin){ .messages = (uint32_t)b->messages,
				      .from = (uint32_t)p->num,
				      .link = (uint32_t)link,
				      .t = (double)(mean + y - c->from) };
		h.num = gather_corners(p, c, l, cloud, b);
		h.gathered = h.num;
		dir->messages += b->messages;
		if (l->thin || l->few_bins)
			make_bins_of_observations(p, dir, &h);
		else
			dir->bin[dir->bins++] = h;
	}
}

static int compare_bins_by_time(const void *a, const void *b)
{
	const struct obs_bin *p = a, *q = b;

	if (p->t != q->t)
		return (p->t > q->t) - (p->t < q->t);
	return (p->from > q->from) - (p->from < q->from);
}

/* Gather one direction of the links from @from to before @to as one link. */
static void gather_direction(struct observations *p, const struct correction *c,
			     const struct link *links, size_t from, size_t to, int side,
			     struct obs_direction *dir)
{
	for (size_t i = from; i < to; i++) {
		/* Messages from host[0] are above the clock of host[0] .. */
		int cloud = links[i].first ? side : !side;

		if (!links[i].idle)
			gather_side(p, c, links, i, cloud, dir);
	}
	if (dir->bins && (to > from + 1 || links[from].few_bins))
		qsort(dir->bin, dir->bins, sizeof(*dir->bin), compare_bins_by_time);
	p->messages[side] += dir->messages;
}

size_t observations_link(const struct observations *p, const struct link *links, size_t i)
{
	return links[i].thin ? p->links - 1 : i;
}

int observations_gather(struct observations *p, const struct correction *c,
			const struct link *links, size_t num_links)
{
	size_t samples = 0, bins = 0;
	struct obs_bin *bin;

	*p = (struct observations){
		.span = (double)(c->to - c->from),
		.softness = 1,
	};
	while (p->links < num_links && !links[p->links].thin)
		p->links++;
	p->pooled = p->links < num_links;
	p->links += p->pooled;
	for (size_t i = 0; i < num_links; i++) {
		for (int d = 0; d < 2; d++) {
			const struct envelope *e = &links[i].pair->direction[d].envelope;

			p->resolution = fmax(p->resolution,
					     (double)links[i].pair->direction[d].raised);
			for (size_t b = 0; b < e->num && !links[i].idle; b++) {
				samples += e->bin[b].corners;
				bins += links[i].thin || links[i].few_bins ? e->bin[b].corners : 1;
			}
		}
	}
	p->direction = calloc(2 * p->links + 1, sizeof(*p->direction));
	p->obs = malloc((samples + 1) * sizeof(*p->obs));
	bin = malloc((bins + 1) * sizeof(*bin));
	if (!p->direction || !p->obs || !bin) {
		free(bin);
		return -ENOMEM;
	}
	p->direction[0].bin = bin;
	for (size_t i = 0; i < p->links; i++) {
		bool last = i + 1 == p->links;

		for (int s = 0; s < 2; s++) {
			struct obs_direction *dir = &p->direction[2 * i + (size_t)s];

			dir->bin = bin;
			gather_direction(p, c, links, i, last ? num_links : i + 1, s, dir);
			bin += dir->bins;
		}
	}
	return 0;
}

void observations_release(struct observations *p)
{
	if (p->direction)
		free(p->direction[0].bin);
	free(p->direction);
	free(p->obs);
}

void observations_detrend(struct observations *p, double offset, double slope)
{
	for (size_t i = 0; i < p->num; i++)
		p->obs[i].y -= offset + slope * p->obs[i].t;
}

void observations_set_residuals(struct observations *p, curve_fn curve, void *arg)
{
	for (size_t i = 0; i < p->num; i++) {
		struct observation *s = &p->obs[i];

		s->residual = s->y - (curve ? curve(arg, s->t) : 0);
	}
}

bool observations_strayed(const struct observations *p)
{
	double curve = 0, line = 0;

	for (size_t d = 0; d < 2 * p->links; d++) {
		const struct obs_direction *dir = &p->direction[d];

		for (size_t b = 0; b < dir->bins; b++) {
			const struct obs_bin *h = &dir->bin[b];

			for (uint32_t i = 0; i < h->num; i++) {
				curve += fabs(p->obs[h->from + i].residual);
				line += fabs(p->obs[h->from + i].y);
			}
		}
	}
	/* A curve that is not finite has also strayed. */
	return !(curve <= STRAYED * line);
}

double observations_innermost(const struct observations *p, const struct obs_bin *h, int dir,
			      double *t)
{
	double least = HUGE_VAL;

	for (uint32_t i = 0; i < h->num; i++) {
		const struct observation *s = &p->obs[h->from + i];
		double y = observation_outward(s, dir);

		if (y < least) {
			least = y;
			*t = s->t;
		}
	}
	return least;
}

size_t observations_group(const struct observations *p, const struct obs_direction *dir, int side,
			  double messages, struct bin_group *group)
{
	size_t n = 0;

	for (size_t i = 0; i < dir->bins;) {
		struct bin_group g = { .y = HUGE_VAL, .from = i };

		for (; i < dir->bins && g.messages < messages; i++) {
			const struct obs_bin *h = &dir->bin[i];
			double t, y;

			if (!h->num)
				continue;
			y = observations_innermost(p, h, side, &t);
			g.messages += h->messages;
			if (y < g.y) {
				g.y = y;
				/* The time of a wrong message may be anywhere. */
				g.t = fmin(fmax(t, h->t - dir->width), h->t + dir->width);
			}
		}
		g.to = i;
		if (g.messages >= messages) {
			group[n++] = g;
		} else if (n && g.messages) {
			/* Add the remaining bins at the end to the last group. */
			group[n - 1].to = i;
			group[n - 1].messages += g.messages;
			if (g.y < group[n - 1].y) {
				group[n - 1].y = g.y;
				group[n - 1].t = g.t;
			}
		}
	}
	return n;
}

size_t bin_group_margins(const struct bin_group *group, size_t num, const struct bin_group *other,
			 size_t num_other, double *margin)
{
	size_t next = 0;

	if (num < MIN_GROUPS || num_other < MIN_GROUPS)
		return 0;
	for (size_t i = 0; i < num; i++) {
		while (next + 1 < num_other && other[next].t < group[i].t)
			next++;
		margin[i] = (group[i].y + other[next].y) / 2;
	}
	return num;
}

size_t observations_rejected(const struct observations *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < 2 * p->links; i++)
		for (size_t j = 0; j < p->direction[i].bins; j++)
			kept += p->direction[i].bin[j].num;
	return p->num - kept;
}

size_t observations_most_bins(const struct observations *p)
{
	size_t most = 0;

	for (size_t i = 0; i < 2 * p->links; i++)
		if (p->direction[i].bins > most)
			most = p->direction[i].bins;
	return most;
}
