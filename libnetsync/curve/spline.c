// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/band.h"
#include "curve/spline.h"
#include "util/number.h"

/* Cubic */
#define DEGREE 3
/* Regular knots keep this part of their distance from change points. Chosen. */
#define CLEARANCE 0.5

static void put_knot(struct spline *s, double t, int times)
{
	while (times--)
		s->knot[s->knots++] = t;
}

/* p += (a + b u) q */
static void add_product_of_cubics(double p[4], double a, double b, const double q[4])
{
	p[0] += a * q[0];
	for (size_t i = 1; i < 4; i++)
		p[i] += a * q[i] + b * q[i - 1];
}

/*
 * Set the B-splines of an interval as polynomials by the recursion of Cox and de Boor. @knot: the
 * knot at its beginning.
 */
static void set_basis(double basis[DEGREE + 1][4], const double *knot)
{
	double width = knot[1] - knot[0];

	memset(basis, 0, (DEGREE + 1) * sizeof(basis[0]));
	basis[0][0] = 1;
	for (int d = 1; d <= DEGREE; d++) {
		double carry[4] = { 0 };

		for (int k = 0; k < d; k++) {
			double left = knot[k + 1 - d], right = knot[k + 1];
			double part[4], next[4] = { 0 };

			for (size_t i = 0; i < 4; i++)
				part[i] = basis[k][i] / (right - left);
			memcpy(basis[k], carry, sizeof(carry));
			add_product_of_cubics(basis[k], right - knot[0], -width, part);
			add_product_of_cubics(next, knot[0] - left, width, part);
			memcpy(carry, next, sizeof(carry));
		}
		memcpy(basis[d], carry, sizeof(carry));
	}
}

static int set_intervals(struct spline *s)
{
	size_t num = s->coefs - DEGREE;

	s->cubic = calloc(num, sizeof(*s->cubic));
	s->basis = calloc(num, sizeof(*s->basis));
	if (!s->cubic || !s->basis)
		return -ENOMEM;
	for (size_t i = 0; i < num; i++) {
		const double *knot = &s->knot[i + DEGREE];

		s->cubic[i].from = knot[0];
		if (knot[1] == knot[0])
			continue;
		s->cubic[i].rate = 1 / (knot[1] - knot[0]);
		set_basis(s->basis[i], knot);
	}
	return 0;
}

int spline_new(struct spline *s, double from, double to, size_t intervals,
	       const struct spline_knot *change, size_t num_changes)
{
	size_t room = intervals + (2 + num_changes) * (DEGREE + 1);
	double step = (to - from) / (double)intervals;
	size_t b = 0;

	*s = (struct spline){
		.knot = malloc(room * sizeof(*s->knot)),
		.coef = calloc(room, sizeof(*s->coef)),
	};
	if (!s->knot || !s->coef) {
		spline_free(s);
		return -ENOMEM;
	}
	put_knot(s, from, DEGREE + 1);
	for (size_t i = 1; i < intervals; i++) {
		double t = from + step * (double)i;

		for (; b < num_changes && change[b].t < t + CLEARANCE * step; b++)
			put_knot(s, change[b].t, change[b].times);
		if (!b || t - change[b - 1].t > CLEARANCE * step)
			put_knot(s, t, 1);
	}
	for (; b < num_changes; b++)
		put_knot(s, change[b].t, change[b].times);
	put_knot(s, to, DEGREE + 1);
	s->coefs = s->knots - DEGREE - 1;
	if (set_intervals(s)) {
		spline_free(s);
		return -ENOMEM;
	}
	return 0;
}

int spline_through(struct spline *s, const struct spline_vertex *v, size_t num)
{
	const size_t room = 2 * num + 2 * (DEGREE + 1);
	size_t n = 0;

	*s = (struct spline){
		.knot = malloc(room * sizeof(*s->knot)),
		.coef = malloc(room * sizeof(*s->coef)),
	};
	if (!s->knot || !s->coef) {
		spline_free(s);
		return -ENOMEM;
	}
	/* Coefficients are the control points of each cubic; see de Boor, chapter IX. */
	for (size_t i = 0; i < num; i++) {
		const bool ends = i + 1 == num || v[i + 1].t == v[i].t;
		const bool begins = !i || v[i - 1].t == v[i].t;

		put_knot(s, v[i].t, i && i + 1 < num ? 2 : DEGREE + 1);
		s->coef[n++] = begins ? v[i].value :
					v[i].value - v[i].slope * (v[i].t - v[i - 1].t) / DEGREE;
		s->coef[n++] = ends ? v[i].value :
				      v[i].value + v[i].slope * (v[i + 1].t - v[i].t) / DEGREE;
	}
	s->coefs = n;
	if (set_intervals(s)) {
		spline_free(s);
		return -ENOMEM;
	}
	spline_set_cubics(s);
	return 0;
}

int spline_copy(struct spline *to, const struct spline *s)
{
	*to = (struct spline){ .knots = s->knots, .coefs = s->coefs };
	if (!s->coefs)
		return 0;
	to->knot = malloc(s->knots * sizeof(*s->knot));
	to->coef = malloc(s->coefs * sizeof(*s->coef));
	to->cubic = malloc((s->coefs - DEGREE) * sizeof(*s->cubic));
	if (!to->knot || !to->coef || !to->cubic) {
		spline_free(to);
		return -ENOMEM;
	}
	memcpy(to->knot, s->knot, s->knots * sizeof(*s->knot));
	memcpy(to->coef, s->coef, s->coefs * sizeof(*s->coef));
	memcpy(to->cubic, s->cubic, (s->coefs - DEGREE) * sizeof(*s->cubic));
	return 0;
}

void spline_compact(struct spline *s)
{
	free(s->basis);
	s->basis = NULL;
}

void spline_free(struct spline *s)
{
	free(s->knot);
	free(s->coef);
	free(s->cubic);
	free(s->basis);
	memset(s, 0, sizeof(*s));
}

void spline_cubics(const struct spline *s, const double *coef, struct cubic *cubic)
{
	for (size_t i = 0; i + DEGREE < s->coefs; i++, coef++)
		for (size_t k = 0; k < 4; k++)
			cubic[i].c[k] = coef[0] * s->basis[i][0][k] + coef[1] * s->basis[i][1][k] +
					coef[2] * s->basis[i][2][k] + coef[3] * s->basis[i][3][k];
}

void spline_set_cubics(struct spline *s)
{
	spline_cubics(s, s->coef, s->cubic);
}

/*
 * Return the blossom of a cubic at three places, which is the cubic's value if the places are
 * equal.
 */
static double blossom(const struct cubic *p, double a, double b, double c)
{
	return p->c[0] + p->c[1] * (a + b + c) / 3 + p->c[2] * (a * b + a * c + b * c) / 3 +
	       p->c[3] * a * b * c;
}

void spline_follow(struct spline *s, const struct spline *other)
{
	size_t interval = 0;

	for (size_t i = 0; i < s->coefs; i++) {
		const double *acts = &s->knot[i], *knot = acts + 1;
		size_t k = 2, looks = 1;
		const struct cubic *p;

		/* One of the four intervals in which it acts is not empty, */
		for (; acts[k] == acts[k + 1] && looks <= DEGREE; looks++)
			k = (k + 1) % (DEGREE + 1);
		/* unless several change points coincide: it does not act at all. */
		s->coef[i] = 0;
		if (acts[k] == acts[k + 1])
			continue;
		interval = spline_interval_near(other, (acts[k] + acts[k + 1]) / 2, interval);
		p = &other->cubic[interval];
		s->coef[i] = blossom(p, cubic_place(p, knot[0]), cubic_place(p, knot[1]),
				     cubic_place(p, knot[2]));
	}
}

/*
 * Find the knot before a time, searching from its place among equal intervals with growing steps:
 * most intervals are equal.
 */
size_t spline_interval(const struct spline *s, double t)
{
	size_t lo = DEGREE, hi = s->knots - DEGREE - 1, step = 1, at;
	double part = (t - s->knot[lo]) / (s->knot[hi] - s->knot[lo]);

	at = lo + (size_t)((double)(hi - lo) * fmin(fmax(part, 0), 1));
	if (at == hi)
		at--;
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
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->knot[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	/* A change point just before the end leaves an empty last interval. */
	while (lo > DEGREE && s->knot[lo] == s->knot[lo + 1])
		lo--;
	return lo - DEGREE;
}

struct place spline_place(const struct spline *s, double t)
{
	return spline_place_in(s, t, spline_interval(s, t));
}

struct place spline_place_in(const struct spline *s, double t, size_t interval)
{
	struct place p = { .first = interval };
	double u = cubic_place(&s->cubic[p.first], t);

	for (size_t k = 0; k < 4; k++) {
		const double *c = s->basis[p.first][k];

		p.basis[k] = c[0] + u * (c[1] + u * (c[2] + u * c[3]));
	}
	return p;
}

double spline_at(const struct spline *s, double t)
{
	const struct cubic *p = &s->cubic[spline_interval(s, t)];

	return cubic_at(p, cubic_place(p, t));
}

struct bend bend_at(const struct spline *c, size_t i)
{
	double at = spline_abscissa(c, i + 1);
	double left = at - spline_abscissa(c, i), right = spline_abscissa(c, i + 2) - at;
	struct bend b = { .length = (left + right) / 2 };

	if (left <= 0 || right <= 0 || c->knot[i + 2] == c->knot[i + 4])
		return (struct bend){ 0 };
	b.d[0] = b.length / left;
	b.d[2] = b.length / right;
	b.d[1] = -b.d[0] - b.d[2];
	for (size_t k = 0; k < 3; k++)
		b.size += b.d[k] * c->coef[i + k];
	return b;
}

void bend_stiffen(const struct bend *b, double stiff, double *gradient, double *band)
{
	for (size_t k = 0; k < 3; k++) {
		gradient[k] += stiff * b->d[k] * b->size;
		for (size_t l = 0; l <= k; l++)
			band[k * BAND + k - l] += stiff * b->d[k] * b->d[l];
	}
}

void spline_sum_forces(const struct spline *s, double (*force)[4], double *gradient)
{
	for (size_t first = 0; first + 3 < s->coefs; first++)
		for (size_t k = 0; k < 4; k++)
			gradient[first + k] += dot_product(force[first], s->basis[first][k], 4);
}

void spline_sum_moments(const struct spline *s, double (*moment)[7], double *band)
{
	for (size_t first = 0; first + 3 < s->coefs; first++) {
		for (size_t k = 0; k < 4; k++) {
			const double *b = s->basis[first][k];
			double part[4], *row = &band[(first + k) * BAND];

			for (size_t i = 0; i < 4; i++)
				part[i] = dot_product(b, &moment[first][i], 4);
			for (size_t l = 0; l <= k; l++)
				row[k - l] += dot_product(part, s->basis[first][l], 4);
		}
	}
}

double spline_steepest(const struct spline *s)
{
	double most = 0;

	for (size_t i = 0; i + DEGREE < s->coefs; i++) {
		const struct cubic *p = &s->cubic[i];
		double begin = p->c[1] * p->rate;
		double end = begin + (2 * p->c[2] + 3 * p->c[3]) * p->rate;

		if (!p->rate)
			continue;
		if (!isfinite(p->c[0]) || !isfinite(begin) || !isfinite(end))
			return HUGE_VAL;
		most = fmax(most, fmax(fabs(begin), fabs(end)));
	}
	return most;
}
