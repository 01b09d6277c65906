// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/observations.h"

/*
 * A message (x, y) of a link puts the host's correction below (or above) this,
 * as far as it goes beyond the straight course.
 */
static struct sample bear(const struct course *c, const struct link *l,
			  int64_t x, int64_t y)
{
	int64_t own = l->first ? x : x + y, other = l->first ? x + y : x, ref;
	double d = (double)(own - c->from), rest;

	rest = course_at(l->other, other, &ref);
	return (struct sample){
		.t = d,
		.y = (double)(ref - own - c->offset) + rest - c->rest -
		     c->skew * d,
	};
}

int64_t points_level(const struct link *l)
{
	const struct envelope *e = &l->pair->cloud[0].envelope;
	int64_t x = bin_time(&e->bin[e->num / 2]), ref;
	int64_t y = envelope_usual_y(e, e->num / 2);
	int64_t own = l->first ? x : x + y, other = l->first ? x + y : x;

	course_at(l->other, other, &ref);
	return ref - own;
}

static void gather_side(struct points *p, const struct course *c,
			const struct link *l, int cloud, struct side *side)
{
	const struct envelope *e = &l->pair->cloud[cloud].envelope;
	const struct course *first = l->first ? c : l->other;

	side->noise = l->other->noise;
	side->width = (double)(INT64_C(1) << e->shift);
	for (size_t i = 0; i < e->num; i++) {
		const struct bin *b = &e->bin[i];
		/* Of the mean only the time matters, not to the ns. */
		int64_t mean = bin_time(b), y;
		struct heap *h;

		if (!course_covers(first, mean))
			continue;
		h = &side->heap[side->heaps++];
		y = l->first ? 0 : envelope_usual_y(e, i);
		y = cloud ? -y : y;
		*h = (struct heap){ .messages = (uint32_t)b->messages,
				    .first = (uint32_t)p->samples,
				    .samples = b->corners,
				    .t = (double)(mean + y - c->from) };
		for (uint32_t n = 0; n < b->corners; n++) {
			struct sample *s = &p->sample[p->samples];

			y = b->corner[n].y;
			*s = bear(c, l, b->corner[n].x, cloud ? -y : y);
			/* A false timestamp led there. */
			if (s->t < 0 || s->t > p->span)
				h->samples--;
			else
				p->samples++;
		}
		side->messages += b->messages;
	}
}

int points_gather(struct points *p, const struct course *c,
		  const struct link *links, size_t num_links)
{
	size_t samples = 0, heaps = 0;
	struct heap *heap;

	*p = (struct points){ .span = (double)(c->to - c->from),
			      .links = num_links };
	for (size_t i = 0; i < num_links; i++) {
		for (int d = 0; d < 2; d++) {
			const struct envelope *e =
				&links[i].pair->cloud[d].envelope;

			heaps += e->num;
			for (size_t b = 0; b < e->num; b++)
				samples += e->bin[b].corners;
		}
	}
	p->side = calloc(2 * num_links + 1, sizeof(*p->side));
	p->sample = malloc((samples + 1) * sizeof(*p->sample));
	heap = malloc((heaps + 1) * sizeof(*heap));
	if (!p->side || !p->sample || !heap) {
		free(heap);
		return -ENOMEM;
	}
	p->side[0].heap = heap;
	for (size_t i = 0; i < num_links; i++) {
		for (int s = 0; s < 2; s++) {
			/* What host[0] sent is above the clock of host[0] .. */
			int cloud = links[i].first ? s : !s;
			struct side *side = &p->side[2 * i + (size_t)s];

			side->heap = heap;
			gather_side(p, c, &links[i], cloud, side);
			heap += side->heaps;
			p->messages[s] += side->messages;
		}
	}
	return 0;
}

void points_release(struct points *p)
{
	if (p->side)
		free(p->side[0].heap);
	free(p->side);
	free(p->sample);
}

void points_tilt(struct points *p, double offset, double slope)
{
	for (size_t i = 0; i < p->samples; i++)
		p->sample[i].y -= offset + slope * p->sample[i].t;
}

void points_look(struct points *p, curve_fn curve, void *arg)
{
	for (size_t i = 0; i < p->samples; i++) {
		struct sample *s = &p->sample[i];

		s->beyond = s->y - (curve ? curve(arg, s->t) : 0);
	}
}

double points_inner(const struct points *p, const struct heap *h, int side,
		    double *t)
{
	double least = HUGE_VAL;

	for (uint32_t i = 0; i < h->samples; i++) {
		const struct sample *s = &p->sample[h->first + i];
		double y = side == BELOW ? -s->beyond : s->beyond;

		if (y < least) {
			least = y;
			*t = s->t;
		}
	}
	return least;
}

size_t points_group(const struct points *p, const struct side *side, int dir,
		    double messages, struct group *group)
{
	size_t n = 0;

	for (size_t i = 0; i < side->heaps;) {
		struct group g = { .y = HUGE_VAL, .from = i };

		for (; i < side->heaps && g.messages < messages; i++) {
			const struct heap *h = &side->heap[i];
			double t, y;

			if (!h->samples)
				continue;
			y = points_inner(p, h, dir, &t);
			g.messages += h->messages;
			if (y < g.y) {
				g.y = y;
				/* That of a wrong message may be anywhere. */
				g.t = fmin(fmax(t, h->t - side->width),
					   h->t + side->width);
			}
		}
		g.to = i;
		if (g.messages >= messages) {
			group[n++] = g;
		} else if (n && g.messages) {
			/* What is left at the end belongs to the last. */
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

size_t points_most(const struct points *p)
{
	size_t most = 0;

	for (size_t i = 0; i < 2 * p->links; i++)
		if (p->side[i].heaps > most)
			most = p->side[i].heaps;
	return most;
}

/* C. A. R. Hoare, "Algorithm 65: find", Communications of the ACM 4(7), 1961 */
double nth(double *v, size_t n, size_t k)
{
	size_t from = 0, to = n ? n - 1 : 0;

	while (from < to) {
		size_t i = from, j = to;
		double pivot = v[k];

		for (;;) {
			double x;

			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			x = v[i];
			v[i++] = v[j];
			v[j--] = x;
		}
		/* What is before i is not above the pivot, nor below it after j. */
		if (k <= j)
			to = j;
		if (k >= i)
			from = i;
		if (j < k && k < i)
			break;
	}
	return n ? v[k] : 0;
}

double median(double *v, size_t n)
{
	return nth(v, n, n / 2);
}
