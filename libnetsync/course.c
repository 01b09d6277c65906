// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "course.h"

/* How far a curve may be from its straight segments, ns; plus rounding. */
#define TOLERANCE 1.5
/* Segments are not made shorter than that, ns. */
#define SHORTEST 1000

double course_at(const struct course *c, int64_t t, int64_t *ref)
{
	double d = (double)(t - c->from), v = c->rest + c->skew * d, whole;

	if (c->curve.coefs) {
		/* Beyond its ends the curve goes on straight. */
		double end = (double)(c->to - c->from);
		double in = fmin(fmax(d, 0), end);
		double h = end / 1024;

		v += spline_at(&c->curve, in);
		if (in < d)
			v += (d - in) * (spline_at(&c->curve, end) -
					 spline_at(&c->curve, end - h)) / h;
		else if (in > d)
			v += (d - in) * (spline_at(&c->curve, h) -
					 spline_at(&c->curve, 0)) / h;
	}
	whole = floor(v);
	*ref = t + c->offset + (int64_t)whole;
	return v - whole;
}

void course_release(struct course *c)
{
	spline_free(&c->curve);
	free(c->breaks);
	c->breaks = NULL;
	c->num_breaks = 0;
}

/* The correction of a host at a time, relative to the origins, times rounded. */
static int64_t correction(const struct course *c, int64_t t)
{
	int64_t ref;
	double rest = course_at(c, t, &ref);

	return ref - t + llround(rest);
}

static bool straight(const struct course *c, int64_t from, int64_t to)
{
	int64_t ref;
	double a = course_at(c, from, &ref) + (double)(ref - from - c->offset);
	double b = course_at(c, to, &ref) + (double)(ref - to - c->offset);

	for (int i = 1; i < 4; i++) {
		int64_t t = from + (to - from) / 4 * i;
		double part = (double)(t - from) / (double)(to - from);
		double v = course_at(c, t, &ref) + (double)(ref - t - c->offset);

		if (fabs(v - a - (b - a) * part) > TOLERANCE)
			return false;
	}
	return true;
}

/* The end of the straight segment that begins at @from, at most @most long. */
static int64_t straight_until(const struct course *c, int64_t from, int64_t most)
{
	int64_t to = c->to;

	for (size_t i = 0; i < c->num_breaks; i++) {
		int64_t b = c->from + (int64_t)c->breaks[i];

		if (b > from && b < to)
			to = b;
	}
	if (to - from > most)
		to = from + most;
	while (to - from > SHORTEST && !straight(c, from, to))
		to = from + (to - from) / 2;
	return to;
}

int64_t course_segments(const struct course *c, int64_t host, int64_t reference,
			struct netsync_segment **segment)
{
	int64_t from = c->from, length = c->to - c->from;
	size_t n = 0, room = 0;

	*segment = NULL;
	do {
		int64_t to = c->to, at = correction(c, from);
		double rate = 1 + c->skew;

		if (c->curve.coefs) {
			to = straight_until(c, from, 2 * length);
			rate = 1 + (double)(correction(c, to) - at) /
				       (double)(to - from);
		}
		if (array_grow(segment, &room, n, sizeof(**segment))) {
			free(*segment);
			return -ENOMEM;
		}
		(*segment)[n++] = (struct netsync_segment){
			.from_ns = host + from,
			.to_ns = host + to,
			.offset_ns = reference - host + at,
			.rate = rate,
		};
		length = to - from;
		from = to;
	} while (from < c->to);
	return (int64_t)n;
}
