// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Breaks, where the clock did not run on smoothly, are looked for before there
 * is a curve, and again in what the curve leaves over; their instants are the
 * meeting points of the curves on either side.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/change-point.h"
#include "curve/delays.h"
#include "curve/initial-fit.h"
#include "bound/pair-bound.h"
#include "curve/state.h"

#define HEAPS 3			/* between two breaks */
#define LAST_HEAPS 8		/* between one and the end, where it is alone */
#define ROUNDS 4
#define WORSE 1.1		/* mean delays */
#define VISIBLE 1000.0		/* ns */
#define SECOND 1e9
/* How fast a rate changes by itself, at most: 0.1 ppm/s. */
#define DRIFT (0.1e-6 / SECOND)

/* ---- where are breaks? ------------------------------------------------- */

static struct ends ends_at(const struct spline *s, double t, double h)
{
	struct ends e;

	for (int i = 0; i < 2; i++) {
		double way = i ? 1 : -1, near = t + way * h * 1e-3;

		e.level[i] = spline_at(s, near);
		e.slope[i] = way * (spline_at(s, near + way * h) - e.level[i]) / h;
	}
	return e;
}

/*
 * Where the rate changed at once, the curves from both sides meet. What the
 * clock could have done by itself in the window that showed it is no break:
 * false.
 */
static bool place_break(struct track *k, struct brk *b, const struct spline *s,
			double noise)
{
	double h = k->points.span / (double)s->coefs / 100, late;
	struct ends e = ends_at(s, b->t, h);
	double offset = e.level[1] - e.level[0];
	double drift = k->drift * b->window;

	if (b->settled)
		return true;
	b->skew = e.slope[1] - e.slope[0];
	late = -offset / b->skew;
	if (!b->jump && fabs(late) < 3 * b->within) {
		b->t += late;
		b->within = fmin(b->within, 4 * noise / fabs(b->skew));
		return fabs(b->skew) > drift;
	}
	/* They do not meet. */
	b->jump = true;
	b->offset = offset;
	breaks_place_jump(b, &k->points, (e.level[0] + e.level[1]) / 2,
			  (e.slope[0] + e.slope[1]) / 2);
	return fabs(offset) > fmax(6 * noise, drift * b->window);
}

static int by_time(const void *a, const void *b)
{
	const struct brk *p = a, *q = b;

	return p->t < q->t ? -1 : p->t > q->t;
}

/* Between breaks, and at the ends, there are messages enough for a curve. */
static void thin_breaks(struct track *k)
{
	const struct points *p = &k->points;
	struct course *c = k->course;
	double heap = p->span / (double)pieces_heaps(k);
	double least = HEAPS * heap, last = LAST_HEAPS * heap;
	size_t n = 0;

	for (size_t i = 0; i < c->num_breaks; i++) {
		struct brk *b = &c->breaks[i];

		if (b->t < last || b->t > p->span - last)
			continue;
		if (!n || b->t - c->breaks[n - 1].t >= least ||
		    (b->settled && c->breaks[n - 1].settled))
			c->breaks[n++] = *b;
		else if (b->jump ||
			 (!c->breaks[n - 1].jump &&
			  fabs(b->skew) > fabs(c->breaks[n - 1].skew)))
			c->breaks[n - 1] = *b;
	}
	c->num_breaks = n;
	for (size_t i = 0; i + 1 < n; i++) {
		struct brk *b = &c->breaks[i];
		double most = (b[1].t - b[0].t) / 4;

		if (!b[0].jump)
			b[0].within = fmin(b[0].within, most);
		if (!b[1].jump)
			b[1].within = fmin(b[1].within, most);
	}
}

/* Breaks that are too close to each other for any window. */
static int split_breaks(struct track *k)
{
	struct course *c = k->course;
	struct brk *more = malloc((2 * c->num_breaks + 1) * sizeof(*more));
	double h = k->points.span / (double)k->best.coefs / 100;
	size_t n = 0;
	int ret = 0;

	if (!more)
		return -ENOMEM;
	for (size_t i = 0; ret >= 0 && i < c->num_breaks; i++) {
		struct ends e = ends_at(&k->best, c->breaks[i].t, h);

		more[n] = c->breaks[i];
		if (more[n].settled) {
			n++;
			continue;
		}
		ret = breaks_split(&more[n], &k->points, k->margin, &e,
				   2 * c->breaks[i].within);
		n += ret > 0 ? 2 : 1;
	}
	if (ret < 0) {
		free(more);
		return ret;
	}
	free(c->breaks);
	c->breaks = more;
	c->num_breaks = n;
	return 0;
}

/* The expected error of a curve, in the middle of a piece. */
static double noise_of(const struct track *k, const struct spline *s)
{
	return k->points.side[0].mean * (double)s->coefs /
	       (double)(k->points.messages[0] + k->points.messages[1]);
}

/* See where the curves on either side of all breaks meet. */
static void place_breaks(struct track *k, const struct spline *s)
{
	struct course *c = k->course;
	double noise = 4 * noise_of(k, s);
	size_t n = 0;

	for (size_t i = 0; i < c->num_breaks; i++)
		if (place_break(k, &c->breaks[i], s, noise))
			c->breaks[n++] = c->breaks[i];
	c->num_breaks = n;
	qsort(c->breaks, c->num_breaks, sizeof(*c->breaks), by_time);
	thin_breaks(k);
}

/*
 * The curves on either side know nothing of each other; the messages at the
 * break belong to neither until it is known better where it is.
 */
static int settle_breaks(struct track *k)
{
	int ret;

	k->apart = true;
	thin_breaks(k);
	ret = pieces_choose(k);
	if (!ret)
		ret = split_breaks(k);
	for (int i = 0; !ret && i < 2; i++) {
		double cost;
		struct fit f;

		place_breaks(k, &k->best);
		ret = pieces_fit(k, &f, k->pieces, &cost);
		if (!ret && isfinite(cost))
			pieces_keep(k, &f, k->pieces, cost);
		pieces_free(&f);
	}
	k->apart = false;
	return ret;
}

/* Mean delays; and where they are lifted: whether they are somewhere. */
static int look_at_delays(struct track *k)
{
	int ret;

	pieces_look(k, &k->best);
	ret = rough_means(&k->points);
	return ret || !k->best.coefs ? ret : floors_find(&k->points, k->drift);
}

/* What lies far inward is dropped, and the mean delays are found. */
static int prepare(struct track *k)
{
	size_t dropped;
	int ret = 0;

	if (k->best.coefs) {
		pieces_look(k, &k->best);
	} else {
		ret = rough_find(&k->rough, &k->points, k->course);
		points_look(&k->points, NULL, NULL);
	}
	if (!ret)
		ret = rough_clean(&k->points, k->course, 0, &dropped);
	if (!ret)
		ret = look_at_delays(k);
	return ret < 0 ? ret : 0;
}

/* ---- is it better than before? ----------------------------------------- */

/* All that a further round changes. */
struct memory {
	struct spline best;
	struct brk *breaks;
	size_t num_breaks;
	size_t pieces;
	double *margin;
	uint32_t *samples;	/* of each heap */
	double delay;
};

/* Of all directions together, beyond the smallest. */
static double mean_delay(const struct track *k)
{
	double sum = 0;

	for (size_t i = 0; i < 2 * k->points.links; i++)
		sum += k->points.side[i].mean;
	return sum;
}

static size_t count_heaps(const struct points *p)
{
	size_t n = 0;

	for (size_t i = 0; i < 2 * p->links; i++)
		n += p->side[i].heaps;
	return n;
}

static void forget(struct memory *m)
{
	spline_free(&m->best);
	free(m->breaks);
	free(m->margin);
	free(m->samples);
	memset(m, 0, sizeof(*m));
}

static int remember(struct memory *m, const struct track *k)
{
	const struct course *c = k->course;
	size_t links = k->points.links, heaps = count_heaps(&k->points);

	*m = (struct memory){
		.breaks = malloc((c->num_breaks + 1) * sizeof(*m->breaks)),
		.num_breaks = c->num_breaks,
		.pieces = k->pieces,
		.margin = malloc((links + 1) * sizeof(*m->margin)),
		.samples = malloc((heaps + 1) * sizeof(*m->samples)),
		.delay = mean_delay(k),
	};
	if (spline_copy(&m->best, &k->best) || !m->breaks || !m->margin ||
	    !m->samples)
		return -ENOMEM;
	memcpy(m->margin, k->margin, links * sizeof(*m->margin));
	if (c->num_breaks)
		memcpy(m->breaks, c->breaks,
		       c->num_breaks * sizeof(*m->breaks));
	/* All heaps are in one array. */
	for (size_t i = 0; i < heaps; i++)
		m->samples[i] = k->points.side[0].heap[i].samples;
	return 0;
}

static void go_back(struct track *k, struct memory *m)
{
	struct course *c = k->course;
	size_t heaps = count_heaps(&k->points);

	free(c->breaks);
	c->breaks = m->breaks;
	c->num_breaks = m->num_breaks;
	m->breaks = NULL;
	spline_free(&k->best);
	k->best = m->best;
	m->best = (struct spline){ 0 };
	k->pieces = m->pieces;
	memcpy(k->margin, m->margin, k->points.links * sizeof(*m->margin));
	for (size_t i = 0; i < heaps; i++)
		k->points.side[0].heap[i].samples = m->samples[i];
}

/* Look for breaks, and find the curve with these. 1: look again; 0: enough. */
static int one_round(struct track *k, bool first)
{
	double before = mean_delay(k);
	int ret = breaks_find(k->course, &k->points, k->drift, !first,
			      pieces_best_at, k);

	if (ret < 0 || (!ret && !first && !k->clearer))
		return ret;
	if (k->course->num_breaks)
		ret = settle_breaks(k);
	else
		ret = pieces_choose(k);
	/* With a curve at hand, the delays are known better. */
	if (!ret)
		ret = look_at_delays(k);
	if (ret < 0)
		return ret;
	k->clearer = mean_delay(k) < 0.8 * before || (ret && first);
	return 1;
}

/* A round that does not bring messages nearer together was led astray. */
static int follow(struct track *k)
{
	int ret = prepare(k), more = 1;

	for (int round = 0; !ret && more && round < ROUNDS; round++) {
		struct memory before;

		ret = remember(&before, k);
		if (!ret)
			more = one_round(k, !round);
		if (more < 0)
			ret = more;
		if (!ret && round && mean_delay(k) > WORSE * before.delay) {
			go_back(k, &before);
			ret = look_at_delays(k);
			ret = ret < 0 ? ret : 0;
			more = 0;
		}
		forget(&before);
	}
	if (!ret && k->course->num_breaks)
		ret = pieces_choose(k);
	return ret;
}

bool track_useful(const struct pair *p)
{
	return p->cloud[0].num >= MIN_MESSAGES &&
	       p->cloud[1].num >= MIN_MESSAGES;
}

/* Of all points that are kept: how many arrive before they are sent? */
static size_t count_inverted(const struct course *c, const struct link *links,
			     size_t num_links)
{
	size_t n = 0;

	for (size_t i = 0; i < num_links; i++) {
		const struct link *l = &links[i];
		const struct course *course[2] = { l->first ? c : l->other,
						   l->first ? l->other : c };

		n += reach_inverted(l->pair, course);
	}
	return n;
}

static bool all_straight(const struct link *links, size_t num_links)
{
	size_t n = 0;

	while (n < num_links && links[n].straight)
		n++;
	return n == num_links;
}

static size_t inverted_by(struct course *c, const struct spline *curve,
			  const struct link *links, size_t num_links)
{
	size_t n;

	c->curve = *curve;
	spline_read(&c->reader, &c->curve);
	n = count_inverted(c, links, num_links);
	c->curve = (struct spline){ 0 };
	return n;
}

/*
 * Without the breaks from @from to before @to: is there a curve with so many
 * pieces that contradicts at most @most messages? If not, all stays as it is.
 */
static int doubt_breaks(struct track *k, const struct link *links,
			size_t num_links, size_t from, size_t to, size_t pieces,
			size_t most)
{
	struct course *c = k->course;
	struct memory before;
	double cost;
	struct fit f = { 0 };
	int ret = remember(&before, k);
	bool fits = false;

	if (!ret) {
		memmove(&c->breaks[from], &c->breaks[to],
			(c->num_breaks - to) * sizeof(*c->breaks));
		c->num_breaks -= to - from;
		ret = pieces_fit(k, &f, pieces, &cost);
	}
	if (!ret && isfinite(cost))
		fits = inverted_by(c, &f.curve, links, num_links) <= most;
	if (fits) {
		pieces_keep(k, &f, pieces, cost);
		ret = pieces_choose(k);
	} else if (!ret) {
		go_back(k, &before);
	}
	pieces_free(&f);
	forget(&before);
	return ret;
}

/*
 * A straight line, for all of the time, that contradicts no message puts breaks
 * in doubt: it was the delays that changed. So does a curve without the first
 * break, or the last one, that contradicts fewer: beyond those nothing but a few
 * seconds says what they are.
 */
static int check_breaks(struct track *k, const struct link *links,
			size_t num_links)
{
	struct course *c = k->course;
	int ret = 0;

	if (c->num_breaks && all_straight(links, num_links))
		ret = doubt_breaks(k, links, num_links, 0, c->num_breaks, 0, 0);
	for (int last = 1; !ret && last >= 0; last--) {
		size_t at = last ? c->num_breaks - 1 : 0, n;

		if (!c->num_breaks)
			break;
		n = inverted_by(c, &k->best, links, num_links);
		if (n)
			ret = doubt_breaks(k, links, num_links, at, at + 1,
					   k->pieces, n - 1);
	}
	return ret;
}

/* A line that contradicts no message is better than a curve that does. */
static void prefer_line(struct course *c, const struct course *line,
			const struct link *links, size_t num_links)
{
	if (!count_inverted(c, links, num_links) ||
	    count_inverted(line, links, num_links))
		return;
	course_release(c);
	*c = *line;
}

int track(struct course *c, const struct link *links, size_t num_links)
{
	struct track k = {
		.course = c, .drift = DRIFT,
		.best = c->curve, .pieces = c->pieces,
	};
	struct course line = *c;
	double span = (double)(c->to - c->from);
	bool had_curve = c->curve.coefs;
	int ret;

	if (c->to <= c->from || !num_links)
		return 0;
	/* In so short a time no clock bends visibly. */
	if (!had_curve && DRIFT * span * span / 8 < VISIBLE &&
	    !count_inverted(c, links, num_links))
		return 0;
	c->curve = (struct spline){ 0 };
	course_release(c);
	if (!had_curve) {
		/* Hulls are at the mercy of one wrong message: begin anew. */
		c->offset = points_level(&links[0]);
		c->rest = 0;
		c->skew = 0;
	}
	ret = points_gather(&k.points, c, links, num_links);
	k.margin = calloc(num_links, sizeof(*k.margin));
	if (!k.margin)
		ret = -ENOMEM;
	if (!ret)
		ret = follow(&k);
	if (!ret)
		ret = check_breaks(&k, links, num_links);
	if (!ret) {
		c->curve = k.best;
		spline_read(&c->reader, &c->curve);
		c->pieces = k.pieces;
		c->noise = noise_of(&k, &c->curve);
		k.best = (struct spline){ 0 };
	}
	/* Later, there is a curve already, and no line. */
	if (!ret && !had_curve)
		prefer_line(c, &line, links, num_links);
	points_release(&k.points);
	rough_release(&k.rough);
	spline_free(&k.best);
	free(k.margin);
	return ret;
}
