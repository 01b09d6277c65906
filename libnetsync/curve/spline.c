// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/spline.h"

/* Cubic */
#define DEGREE 3
/* Regular knots keep this part of their distance from change points. Chosen. */
#define CLEARANCE 0.5

static void put(struct spline *s, double t, int times)
{
	while (times--)
		s->knot[s->knots++] = t;
}

int spline_new(struct spline *s, double from, double to, size_t intervals,
	       const struct spline_knot *change, size_t num_changes)
{
	size_t room = intervals + (2 + num_changes) * (DEGREE + 1);
	double step = (to - from) / (double)intervals;
	size_t b = 0;

	s->knots = 0;
	s->knot = malloc(room * sizeof(*s->knot));
	s->coef = calloc(room, sizeof(*s->coef));
	if (!s->knot || !s->coef) {
		spline_free(s);
		return -ENOMEM;
	}
	put(s, from, DEGREE + 1);
	for (size_t i = 1; i < intervals; i++) {
		double t = from + step * (double)i;

		for (; b < num_changes && change[b].t < t + CLEARANCE * step;
		     b++)
			put(s, change[b].t, change[b].times);
		if (!b || t - change[b - 1].t > CLEARANCE * step)
			put(s, t, 1);
	}
	for (; b < num_changes; b++)
		put(s, change[b].t, change[b].times);
	put(s, to, DEGREE + 1);
	s->coefs = s->knots - DEGREE - 1;
	return 0;
}

int spline_copy(struct spline *to, const struct spline *s)
{
	*to = *s;
	to->knot = malloc((s->knots + 1) * sizeof(*s->knot));
	to->coef = malloc((s->coefs + 1) * sizeof(*s->coef));
	if (!to->knot || !to->coef) {
		spline_free(to);
		return -ENOMEM;
	}
	if (s->coefs) {
		memcpy(to->knot, s->knot, s->knots * sizeof(*s->knot));
		memcpy(to->coef, s->coef, s->coefs * sizeof(*s->coef));
	}
	return 0;
}

void spline_free(struct spline *s)
{
	free(s->knot);
	free(s->coef);
	memset(s, 0, sizeof(*s));
}

/* The knot before a time. Mostly it is the one found last, or near it. */
static size_t find_interval(const struct spline *s, double t)
{
	size_t lo = DEGREE, hi = s->knots - DEGREE - 1, step = 1;

	if (s->last >= lo && s->last < hi) {
		size_t at = s->last;

		if (s->knot[at] <= t) {
			for (lo = at; at + step < hi; step *= 2) {
				if (s->knot[at + step] > t) {
					hi = at + step;
					break;
				}
				lo = at + step;
			}
		} else {
			for (hi = at; at >= DEGREE + step; step *= 2) {
				if (s->knot[at - step] <= t) {
					lo = at - step;
					break;
				}
				hi = at - step;
			}
		}
	}
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->knot[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	/* A guess is no part of the value of a spline. */
	((struct spline *)s)->last = lo;
	return lo;
}

static size_t filled_interval(const struct spline *s, double t)
{
	size_t lo = find_interval(s, t);

	/* A change point just before the end leaves an empty last interval. */
	while (lo > DEGREE && s->knot[lo] == s->knot[lo + 1])
		lo--;
	return lo;
}

size_t spline_interval(const struct spline *s, double t)
{
	return filled_interval(s, t) - DEGREE;
}

static struct place place_in(const struct spline *s, size_t lo, double t)
{
	double left[DEGREE + 1], right[DEGREE + 1];
	struct place p;

	p.first = lo - DEGREE;
	p.basis[0] = 1;
	for (int d = 1; d <= DEGREE; d++) {
		double carry = 0;

		left[d] = t - s->knot[lo + 1 - (size_t)d];
		right[d] = s->knot[lo + (size_t)d] - t;
		for (int k = 0; k < d; k++) {
			double part = p.basis[k] / (right[k + 1] + left[d - k]);

			p.basis[k] = carry + right[k + 1] * part;
			carry = left[d - k] * part;
		}
		p.basis[d] = carry;
	}
	return p;
}

struct place spline_place(const struct spline *s, double t)
{
	return place_in(s, filled_interval(s, t), t);
}

double spline_at(const struct spline *s, double t)
{
	struct place p = spline_place(s, t);

	return spline_sum(s, &p);
}

void spline_read(struct spline_reader *r, const struct spline *s)
{
	*r = (struct spline_reader){ .spline = s, .from = HUGE_VAL };
}

/* The cubic through four of its values, by Newton's divided differences. */
static void read_interval(struct spline_reader *r, double t)
{
	const struct spline *s = r->spline;
	size_t lo = filled_interval(s, t);
	double x[4], d[4], h;

	r->from = s->knot[lo];
	r->to = s->knot[lo + 1];
	h = (r->to - r->from) / 4;
	for (size_t i = 0; i < 4; i++) {
		struct place p;

		x[i] = h * (double)i;
		p = place_in(s, lo, r->from + x[i]);
		d[i] = spline_sum(s, &p);
	}
	for (size_t k = 1; k < 4; k++)
		for (size_t i = 3; i >= k; i--)
			d[i] = (d[i] - d[i - 1]) / (x[i] - x[i - k]);
	/* From Newton's form to powers. */
	for (size_t i = 0; i < 4; i++)
		r->c[i] = d[i];
	for (size_t k = 3; k-- > 0;)
		for (size_t i = k; i < 3; i++)
			r->c[i] -= x[k] * r->c[i + 1];
}

double spline_read_at(void *reader, double t)
{
	struct spline_reader *r = reader;

	if (!(t >= r->from && t < r->to))
		read_interval(r, t);
	t -= r->from;
	return r->c[0] + t * (r->c[1] + t * (r->c[2] + t * r->c[3]));
}
