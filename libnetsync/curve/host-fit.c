// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/host-fit.h"

#define WINDOWS 4096
#define PASSES 3
#define BINS_OF_WINDOW 8	/* at least, of the busiest link */
#define NEIGHBOURS 8		/* groups before, and groups after */
#define MANY 16			/* no more than one in so many is left out */
#define OUTLIER 8.0		/* median deviations inward */
#define SAMPLE 4		/* one in so many groups tells the deviation, */
#define SAMPLES 512		/* and about so many, if there are more */

/* Room for looking at one side after the other. */
struct desk {
	struct group *group;
	double *inward;
	double *buffer;
};

/* 0 or -ENOMEM; free it in any case. */
static int desk_new(struct desk *d, const struct points *p)
{
	size_t most = points_most(p) + 1;

	d->group = malloc(most * sizeof(*d->group));
	d->inward = malloc(most * sizeof(*d->inward));
	d->buffer = malloc(most * sizeof(*d->buffer));
	return d->group && d->inward && d->buffer ? 0 : -ENOMEM;
}

static void desk_free(struct desk *d)
{
	free(d->group);
	free(d->inward);
	free(d->buffer);
}

/* ---- middle line ------------------------------------------------------- */

double rough_at(void *rough, double t)
{
	struct rough *r = rough;
	size_t lo = 0, hi = r->num;

	if (hi < 2)
		return hi ? r->y[0] : 0;
	if (r->last + 1 < hi && r->t[r->last] <= t && t < r->t[r->last + 1]) {
		lo = r->last;
		hi = lo + 1;
	}
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->t[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	if (lo + 1 == r->num)
		lo--;
	r->last = lo;
	return r->y[lo] + (r->y[lo + 1] - r->y[lo]) * (t - r->t[lo]) /
	       (r->t[lo + 1] - r->t[lo]);
}

/* Half-way between the medians of both directions of the busiest link. */
static bool middle_of_window(const struct points *p, size_t *at, double end,
			     double *buffer, double *y)
{
	size_t busiest = 0;

	for (size_t i = 0; i < p->links; i++) {
		double m[2], t;
		size_t n[2];

		for (int s = 0; s < 2; s++) {
			const struct side *side = &p->side[2 * i + (size_t)s];
			size_t *a = &at[2 * i + (size_t)s];

			n[s] = 0;
			for (; *a < side->heaps && side->heap[*a].t < end; ++*a)
				if (side->heap[*a].samples)
					buffer[n[s]++] = points_inner(p,
						&side->heap[*a], s, &t);
			if (n[s])
				m[s] = median(buffer, n[s]);
		}
		if (n[0] && n[1] && (n[0] < n[1] ? n[0] : n[1]) > busiest) {
			busiest = n[0] < n[1] ? n[0] : n[1];
			*y = (m[ABOVE] - m[BELOW]) / 2;
		}
	}
	return busiest;
}

/* Find the middle line, looking at what is beyond an earlier one. */
static int middle(struct rough *r, struct rough *beyond, struct points *p)
{
	size_t *at = calloc(2 * p->links + 1, sizeof(*at));
	size_t most = points_most(p), windows = most / BINS_OF_WINDOW;
	double *buffer = malloc((most + 1) * sizeof(*buffer));

	windows = windows < 2 ? 2 : windows > WINDOWS ? WINDOWS : windows;
	r->t = malloc(windows * sizeof(*r->t));
	r->y = malloc(windows * sizeof(*r->y));
	if (!at || !buffer || !r->t || !r->y) {
		free(at);
		free(buffer);
		return -ENOMEM;
	}
	points_look(p, rough_at, beyond);
	for (size_t w = 0; w < windows; w++) {
		double width = p->span / (double)windows;
		double t = width * ((double)w + 0.5), y;

		if (!middle_of_window(p, at, width * (double)(w + 1), buffer,
				      &y))
			continue;
		r->t[r->num] = t;
		r->y[r->num++] = y + rough_at(beyond, t);
	}
	free(at);
	free(buffer);
	return 0;
}

/* Straight is what the medians of the slopes and of the middle line say. */
static int straighten(struct rough *r, struct points *p, struct course *c)
{
	size_t n = r->num, apart = n / 16 ? n / 16 : 1;
	double *v = malloc((n + 1) * sizeof(*v)), slope = 0, offset;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i + apart < n; i++)
		v[i] = (r->y[i + apart] - r->y[i]) / (r->t[i + apart] - r->t[i]);
	if (n > apart)
		slope = median(v, n - apart);
	for (size_t i = 0; i < n; i++)
		v[i] = r->y[i] - slope * r->t[i];
	offset = median(v, n);
	free(v);
	for (size_t i = 0; i < n; i++)
		r->y[i] -= offset + slope * r->t[i];
	points_tilt(p, offset, slope);
	c->skew += slope;
	c->offset += (int64_t)floor(offset);
	c->rest += offset - floor(offset);
	return 0;
}

int rough_find(struct rough *r, struct points *p, struct course *c)
{
	struct rough last = { 0 };
	int ret = 0;

	/* Again, as a window's median is blurred where the curve is steep. */
	for (int i = 0; i < PASSES && !ret; i++) {
		rough_release(&last);
		last = *r;
		*r = (struct rough){ 0 };
		ret = middle(r, &last, p);
		if (!ret)
			ret = straighten(r, p, c);
	}
	rough_release(&last);
	return ret;
}

void rough_release(struct rough *r)
{
	free(r->t);
	free(r->y);
	memset(r, 0, sizeof(*r));
}

/* ---- outliers ---------------------------------------------------------- */

/*
 * What @n groups say about the value at @t: the line of the median slope
 * (H. Theil, 1950; P. Sen, 1968). *reach: how far that is to be trusted less,
 * being outside of them.
 */
static double foretell(const struct group *g, size_t n, double t, double *reach)
{
	double v[NEIGHBOURS * (NEIGHBOURS - 1) / 2], slope, least, most;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (g[j].t > g[i].t)
				v[m++] = (g[j].y - g[i].y) / (g[j].t - g[i].t);
	slope = median(v, m);
	least = most = g[0].t;
	for (size_t i = 0; i < n; i++) {
		v[i] = g[i].y - slope * (g[i].t - t);
		least = fmin(least, g[i].t);
		most = fmax(most, g[i].t);
	}
	*reach = fmax(1, 2 * fmax(least - t, t - most) / fmax(most - least, 1));
	return median(v, n);
}

/* Drop what lies below a value. */
static size_t drop_below(struct points *p, struct side *side, int dir,
			 const struct group *g, double limit)
{
	size_t dropped = 0;

	for (size_t i = g->from; i < g->to; i++) {
		struct heap *h = &side->heap[i];

		for (uint32_t j = 0; j < h->samples;) {
			struct sample *s = &p->sample[h->first + j];

			if ((dir == ABOVE ? s->beyond : -s->beyond) >= limit) {
				j++;
				continue;
			}
			*s = p->sample[h->first + --h->samples];
			dropped++;
		}
	}
	return dropped;
}

/* Beside breaks that are not placed yet, curves are not to be judged by. */
static bool unsure(const struct course *c, const struct side *side,
		   const struct group *g)
{
	double from = side->heap[g->from].t, to = side->heap[g->to - 1].t;

	for (size_t i = 0; i < c->num_breaks; i++)
		if (c->breaks[i].t + c->breaks[i].within > from - side->width &&
		    c->breaks[i].t - c->breaks[i].within < to + side->width)
			return true;
	return false;
}

/* How far inward is a group of what is before, or after, if that is less? */
static double inward_of(const struct group *g, size_t n, size_t i)
{
	size_t before = i < NEIGHBOURS ? i : NEIGHBOURS;
	size_t after = n - 1 - i < NEIGHBOURS ? n - 1 - i : NEIGHBOURS;
	double reach = 1, least = HUGE_VAL;

	if (before >= NEIGHBOURS / 2)
		least = foretell(&g[i - before], before, g[i].t, &reach) -
			g[i].y;
	if (after >= NEIGHBOURS / 2) {
		double r, v = foretell(&g[i + 1], after, g[i].t, &r) - g[i].y;

		if (v < least) {
			least = v;
			reach = r;
		}
	}
	return least / reach;
}

/* A group that is not below its neighbours, but for two, need not be looked at. */
static bool inside(const struct group *g, size_t n, size_t i)
{
	size_t below[2] = { 0, 0 };

	if (i < NEIGHBOURS || n - 1 - i < NEIGHBOURS)
		return false;
	for (size_t k = 1; k <= NEIGHBOURS; k++) {
		below[0] += g[i - k].y <= g[i].y;
		below[1] += g[i + k].y <= g[i].y;
	}
	return below[0] > NEIGHBOURS / 4 || below[1] > NEIGHBOURS / 4;
}

/*
 * A clock that is set has one side to agree with; a wrong message has none.
 */
static size_t clean_side(struct points *p, const struct course *c,
			 struct side *side, int dir, double messages,
			 struct desk *d)
{
	struct group *g = d->group;
	size_t n = points_group(p, side, dir, messages, g);
	size_t every = n / SAMPLES > SAMPLE ? n / SAMPLES : SAMPLE;
	size_t dropped = 0, wrong = 0, looked = 0;
	double scatter;

	if (n < NEIGHBOURS + 1)
		return 0;
	for (size_t i = 0; i < n; i++) {
		bool sample = i % every == 0;

		d->inward[i] = 0;
		if (!sample && inside(g, n, i))
			continue;
		d->inward[i] = inward_of(g, n, i);
		if (sample)
			d->buffer[looked++] = fabs(d->inward[i]);
	}
	scatter = fmax(median(d->buffer, looked), 1);
	for (size_t i = 0; i < n; i++)
		wrong += d->inward[i] > OUTLIER * scatter;
	/* Where so many differ it is not that they are wrong. */
	for (size_t i = 0; i < n && wrong * MANY <= n + MANY; i++)
		if (d->inward[i] > OUTLIER * scatter &&
		    !unsure(c, side, &g[i]))
			dropped += drop_below(p, side, dir, &g[i], g[i].y +
					      d->inward[i] - OUTLIER * scatter);
	return dropped;
}

int rough_clean(struct points *p, const struct course *c, size_t parts,
		size_t *dropped)
{
	struct desk d;
	int ret = desk_new(&d, p);

	*dropped = 0;
	for (size_t i = 0; i < 2 * p->links && !ret; i++) {
		struct side *side = &p->side[i];
		double messages = parts ? (double)side->messages /
					  (double)parts : ROUGH_GROUP;
		size_t more = 1;

		/* Again: that look is not disturbed by what the first found. */
		for (int look = 0; look < 2 && more; look++) {
			more = clean_side(p, c, side, (int)(i & 1),
					  fmax(messages, ROUGH_GROUP), &d);
			*dropped += more;
		}
	}
	desk_free(&d);
	return ret;
}

/* ---- mean delays ------------------------------------------------------- */

/* That a median says something of; of few messages they are small. */
#define MANY_GROUPS 64

/*
 * The lowest of n exponential delays is itself exponential with a mean of 1/n
 * of theirs, and its median deviation 0.4812 of that.
 */
static double mean_delay(const struct points *p, const struct side *side,
			 int dir, struct desk *d)
{
	struct group *g = d->group;
	double *buffer = d->buffer;
	double size = fmin((double)side->messages / MANY_GROUPS, ROUGH_GROUP);
	size_t num = points_group(p, side, dir, fmax(size, 1), g);
	double middle, messages = 0;

	if (!num)
		return 1;
	for (size_t i = 0; i < num; i++) {
		buffer[i] = g[i].y;
		messages += g[i].messages;
	}
	middle = median(buffer, num);
	for (size_t i = 0; i < num; i++)
		buffer[i] = fabs(buffer[i] - middle);
	return fmax(median(buffer, num) * messages / (double)num / 0.4812, 1);
}

int rough_means(struct points *p)
{
	struct desk d;
	int ret = desk_new(&d, p);

	for (size_t i = 0; i < 2 * p->links && !ret; i++)
		p->side[i].mean = mean_delay(p, &p->side[i], (int)(i & 1), &d);
	desk_free(&d);
	return ret;
}
