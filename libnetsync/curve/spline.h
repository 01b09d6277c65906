/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cubic splines as sums of B-splines over any rising sequence of knots (C. de
 * Boor, "A practical guide to splines", 1978). A knot that stands there once
 * leaves the curve smooth; three times, it leaves a rate step; four times, a
 * phase step.
 */
#ifndef NETSYNC_CURVE_SPLINE_H
#define NETSYNC_CURVE_SPLINE_H

#include <stddef.h>

struct spline {
	double *knot; /* the first and the last four times each */
	size_t knots;
	double *coef; /* knots - 4 of them */
	size_t coefs;
	size_t last; /* interval that was asked for last: a guess */
};

/* Where a time falls and what the four B-splines there are at it. */
struct place {
	size_t first; /* coefficient of the first of the four */
	double basis[4];
};

/* A multiple knot, where the curve is less smooth. */
struct spline_knot {
	double t;
	int times; /* multiplicity */
};

/*
 * Make a spline over [from, to] with about @intervals equal intervals, and
 * multiple knots (rising, inside): 0 or -ENOMEM.
 */
int spline_new(struct spline *s, double from, double to, size_t intervals,
	       const struct spline_knot *change, size_t num_changes);
int spline_copy(struct spline *to, const struct spline *s);
void spline_free(struct spline *s);

/* Times outside belong to the first or the last interval. */
struct place spline_place(const struct spline *s, double t);
double spline_at(const struct spline *s, double t);

/* The interval that a time falls in: the first of its four coefficients. */
size_t spline_interval(const struct spline *s, double t);

/* For many times, mostly in order. Coefficients may not change meanwhile. */
struct spline_reader {
	const struct spline *spline;
	double from; /* of the interval that was read last */
	double to;
	double c[4]; /* of that: powers of (t - from) */
};

void spline_read(struct spline_reader *r, const struct spline *s);

/* The value; @reader: a struct spline_reader. */
double spline_read_at(void *reader, double t);

/* The value at a place. */
static inline double spline_sum(const struct spline *s, const struct place *p)
{
	const double *c = s->coef + p->first;

	return p->basis[0] * c[0] + p->basis[1] * c[1] + p->basis[2] * c[2] +
	       p->basis[3] * c[3];
}

#endif
