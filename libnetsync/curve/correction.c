// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/array.h"
#include "curve/correction.h"
#include "pair/estimate.h"
#include "util/whole.h"

/* How far a curve may be from its straight segments, ns; plus rounding. */
#define TOLERANCE 1.5
/* And this part of the span, which is about what doubles hold of it. */
#define PRECISION 0x1p-51
/* Segments are not made shorter than that, ns; nor than 1 in so many of all. */
#define SHORTEST 1000
#define MOST_SEGMENTS (1 << 20)
#define ROUNDS 8
/* Rates are above zero. */
#define SLOWEST 1e-12

double course_at(const struct course *c, int64_t t, int64_t *ref)
{
	double d = (double)(t - c->from), v = c->rest + c->skew * d;

	if (c->curve.coefs) {
		/* Beyond its ends the curve goes on straight. */
		double end = (double)(c->to - c->from);
		double in = fmin(fmax(d, 0), end);
		double h = end / 1024;

		/* Where it read last is no part of what a course is. */
		v += spline_read_at((void *)&c->reader, in);
		if (in < d)
			v += (d - in) * (spline_at(&c->curve, end) -
					 spline_at(&c->curve, end - h)) / h;
		else if (in > d)
			v += (d - in) * (spline_at(&c->curve, h) -
					 spline_at(&c->curve, 0)) / h;
	}
	*ref = t + c->offset;
	return add_whole(ref, v);
}

size_t course_breaks_before(const struct course *c, double t)
{
	size_t lo = 0, hi = c->num_breaks;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->breaks[mid].t < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void course_release(struct course *c)
{
	spline_free(&c->curve);
	free(c->breaks);
	c->breaks = NULL;
	c->num_breaks = 0;
}

double course_between(const struct course *from, int64_t t,
		      const struct course *to, int64_t *at)
{
	int64_t common, now, x;
	double rest = course_at(from, t, &common), left = 0;

	/* Rates differ so little that every round is thousands of times nearer. */
	x = common;
	for (int i = 0; i < ROUNDS; i++) {
		left = rest - course_at(to, x, &now);
		if (now == common)
			break;
		x = max64(min64(x + common - now, FARTHEST), -FARTHEST);
	}
	*at = x;
	return add_whole(at, left + (double)(common - now));
}

/* From a host to the reference. */
struct way {
	const struct course *from;
	const struct course *to;
	double tolerance;
	int64_t shortest;
};

/* The correction of a host at a time, relative to the origins. */
static double exact_correction(const struct way *w, int64_t t, int64_t *whole)
{
	int64_t at;
	double rest = course_between(w->from, t, w->to, &at);

	*whole = at - t;
	return rest;
}

static int64_t correction(const struct way *w, int64_t t)
{
	int64_t whole;
	double rest = exact_correction(w, t, &whole);

	return whole + llround(rest);
}

static bool straight(const struct way *w, int64_t from, int64_t to)
{
	int64_t base, v;
	double a = exact_correction(w, from, &base);
	double b = exact_correction(w, to, &v) + (double)(v - base);

	for (int i = 1; i < 4; i++) {
		int64_t t = from + (to - from) / 4 * i;
		double part = (double)(t - from) / (double)(to - from);
		double y = exact_correction(w, t, &v) + (double)(v - base);

		if (fabs(y - a - (b - a) * part) > w->tolerance)
			return false;
	}
	return true;
}

/* The first break after @from; NULL: none. */
static const struct brk *next_break(const struct course *c, int64_t from)
{
	for (size_t i = 0; i < c->num_breaks; i++)
		if (c->from + (int64_t)c->breaks[i].t > from)
			return &c->breaks[i];
	return NULL;
}

/* The end of the straight segment that begins at @from, at most @most long. */
static int64_t straight_until(const struct way *w, int64_t from, int64_t to,
			      int64_t most)
{
	if (to - from > most)
		to = from + most;
	while (to - from > w->shortest && !straight(w, from, to))
		to = from + (to - from) / 2;
	return to;
}

struct segments {
	struct netsync_segment *segment;
	size_t num;
	size_t room;
	int64_t host;		/* origins */
	int64_t reference;
};

/* From one correction to another. */
static int add_segment(struct segments *s, int64_t from, int64_t to,
		       int64_t at, double rate)
{
	if (array_grow(&s->segment, &s->room, s->num, sizeof(*s->segment)))
		return -ENOMEM;
	s->segment[s->num++] = (struct netsync_segment){
		.from_ns = s->host + from,
		.to_ns = s->host + to,
		.offset_ns = s->reference - s->host + at,
		.rate = fmax(rate, SLOWEST),
	};
	return 0;
}

/*
 * A clock that was set forward showed none of the times that it skipped: the
 * reference stands still meanwhile, lest it run backward.
 */
static int bridge(struct segments *s, const struct way *w, int64_t *from,
		  int64_t before)
{
	int64_t back = before - correction(w, *from);
	int64_t to = min64(*from + back, w->from->to);

	if (back <= 0 || to <= *from)
		return 0;
	if (add_segment(s, *from, to, before, SLOWEST))
		return -ENOMEM;
	*from = to;
	return 0;
}

static int add_smooth(struct segments *s, const struct way *w, int64_t from,
		      int64_t to, int64_t *end)
{
	int64_t length = to - from;

	while (from < to) {
		int64_t next = straight_until(w, from, to, 2 * length);
		int64_t at, last;
		double rest[2], rise = 0;

		/* Of what is too short, the rate would be that of rounding. */
		if (to - next < w->shortest)
			next = to;
		/* Just before a break, the curve is still the one before it. */
		last = next < to ? next : max64(next - 1, from);
		rest[0] = exact_correction(w, from, &at);
		rest[1] = exact_correction(w, last, end);
		if (last > from)
			rise = ((double)(*end - at) + rest[1] - rest[0]) /
			       (double)(last - from);
		*end += llround(rest[1]);
		if (add_segment(s, from, next, at + llround(rest[0]), 1 + rise))
			return -ENOMEM;
		length = next - from;
		from = next;
	}
	return 0;
}

int64_t course_segments(const struct course *c, const struct course *to_course,
			int64_t host, int64_t reference,
			struct netsync_segment **segment)
{
	struct segments s = { .host = host, .reference = reference };
	int64_t span = max64(c->to - c->from, to_course->to - to_course->from);
	const struct way w = {
		.from = c,
		.to = to_course,
		.tolerance = TOLERANCE + PRECISION * (double)span,
		.shortest = max64(SHORTEST, span / MOST_SEGMENTS),
	};
	int64_t from = c->from, end = correction(&w, from);
	bool bends = c->curve.coefs || to_course->curve.coefs;
	int ret = 0;

	if (!bends || from == c->to)
		ret = add_segment(&s, from, c->to, end, 1 + c->skew);
	while (!ret && bends && from < c->to) {
		const struct brk *b = next_break(c, from);
		int64_t to = b ? min64(c->from + (int64_t)b->t, c->to) : c->to;

		ret = add_smooth(&s, &w, from, to, &end);
		from = to;
		if (!ret && b && b->jump)
			ret = bridge(&s, &w, &from, end);
	}
	if (ret)
		free(s.segment);
	*segment = ret ? NULL : s.segment;
	return ret ? ret : (int64_t)s.num;
}
