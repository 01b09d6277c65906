/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cubic splines as sums of B-splines over any rising sequence of knots (C. de
 * Boor, "A practical guide to splines", 1978). A knot that stands there once
 * leaves the curve smooth; three times, it leaves a rate step; four times, a
 * phase step.
 */
#ifndef NETSYNC_CURVE_SPLINE_H
#define NETSYNC_CURVE_SPLINE_H

#include <stdbool.h>
#include <stddef.h>

/* c[0] + c[1] u + c[2] u^2 + c[3] u^3, where u = (t - from) * rate is 0 to 1. */
struct cubic {
	double from; /* ns */
	double rate; /* 1 / ns; 0: the interval is empty */
	double c[4];
};

struct spline {
	double *knot; /* the first and the last four times each */
	size_t knots;
	double *coef; /* knots - 4 of them */
	size_t coefs;
	/* Of each interval, of which the first of four coefficients has the number: */
	struct cubic *cubic;   /* by the coefficients, see spline_set_cubics() */
	double (*basis)[4][4]; /* the four B-splines, as c[] above */
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

/* A value and a slope of a curve; two vertices at one time are a phase step. */
struct spline_vertex {
	double t;
	double value;
	double slope;
};

/*
 * Make the spline that is cubic between each two of @num vertices, at least two, in order of
 * time. Two at one time have others before and after. 0 or -ENOMEM.
 */
int spline_through(struct spline *s, const struct spline_vertex *v, size_t num);
int spline_copy(struct spline *to, const struct spline *s);
void spline_free(struct spline *s);

/* To be called when coefficients were changed, before a value is asked for. */
void spline_set_cubics(struct spline *s);

/* The same of other coefficients, which may be a change of its own: c[] of each @cubic. */
void spline_cubics(const struct spline *s, const double *coef, struct cubic *cubic);

/*
 * Set the coefficients so that a spline over the same span follows another one: to the
 * same curve where that has no knots besides those of @s (knot insertion by blossoms; L.
 * Ramshaw, "Blossoms are polar forms", Computer Aided Geometric Design 6(4), 1989).
 */
void spline_follow(struct spline *s, const struct spline *other);

/* Take no more space than values need: its coefficients stay as they are. */
void spline_compact(struct spline *s);

/* Times outside belong to the first or the last interval. */
struct place spline_place(const struct spline *s, double t);
struct place spline_place_in(const struct spline *s, double t, size_t interval);
double spline_at(const struct spline *s, double t);

/*
 * The place of a coefficient: a spline whose coefficients are a straight line
 * over these places is one itself.
 */
static inline double spline_abscissa(const struct spline *s, size_t coef)
{
	return (s->knot[coef + 1] + s->knot[coef + 2] + s->knot[coef + 3]) / 3;
}

/* The interval that a time falls in: the first of its four coefficients. */
size_t spline_interval(const struct spline *s, double t);

/* The same, where it is likely @near or the next one, as of times in order. */
static inline size_t spline_interval_near(const struct spline *s, double t, size_t near)
{
	/* The first three knots are those of the first interval, too. */
	const double *knot = &s->knot[near + 3];

	if (t >= knot[0] && t < knot[1])
		return near;
	if (t >= knot[1] && near + 5 <= s->coefs && t < knot[2])
		return near + 1;
	return spline_interval(s, t);
}

/* Second difference of three coefficients, over their abscissae. */
struct bend {
	double d[3];
	double size;
	double length; /* of time it stands for, ns; 0: a change point */
};

/* Of the coefficients from @i on. */
struct bend bend_at(const struct spline *c, size_t i);

/*
 * Add half of the square of a bend, @stiff times, to a gradient and to the band of a matrix of
 * second derivatives: both from the bend's first coefficient on.
 */
void bend_stiffen(const struct bend *b, double stiff, double *gradient, double *band);

/*
 * What is summed up in each interval, by powers of u, acts on the four coefficients there:
 * add derivatives * u^0 .. u^3 to a gradient by all coefficients, and weights * u^0 .. u^6 to
 * the @band (band.h) of a matrix of second derivatives.
 */
void spline_sum_forces(const struct spline *s, double (*force)[4], double *gradient);
void spline_sum_moments(const struct spline *s, double (*moment)[7], double *band);

/* The largest slope at the ends of intervals; HUGE_VAL where the curve is no number. */
double spline_steepest(const struct spline *s);

static inline double cubic_place(const struct cubic *p, double t)
{
	return (t - p->from) * p->rate;
}

/* The value of a cubic at a place u. */
static inline double cubic_at(const struct cubic *p, double u)
{
	return p->c[0] + u * (p->c[1] + u * (p->c[2] + u * p->c[3]));
}

#endif
