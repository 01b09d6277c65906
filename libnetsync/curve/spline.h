/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cubic splines as sums of B-splines over any increasing sequence of knots (C. de Boor, "A
 * practical guide to splines", 1978). At a single knot the curve is smooth; a triple knot allows a
 * rate step, a quadruple one a phase step.
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
	/* For each interval, indexed by the first of its four coefficients: */
	struct cubic *cubic;   /* by the coefficients, see spline_set_cubics() */
	double (*basis)[4][4]; /* the four B-splines, as c[] above */
};

/* The place of a time, and the four B-splines at it. */
struct place {
	size_t first; /* index of the first of the four coefficients */
	double basis[4];
};

/* A multiple knot, where the curve is less smooth. */
struct spline_knot {
	double t;
	int times; /* multiplicity */
};

/*
 * Make a spline over [from, to] with about @intervals equal intervals, and multiple knots
 * (increasing, inside): 0 or -ENOMEM.
 */
int spline_new(struct spline *s, double from, double to, size_t intervals,
	       const struct spline_knot *change, size_t num_changes);

/* Value and slope of a curve; two vertices at the same time make a phase step. */
struct spline_vertex {
	double t;
	double value;
	double slope;
};

/*
 * Make the spline that is cubic between successive vertices, of which there are at least two, in
 * order of time. Two vertices at the same time need others before and after them. 0 or -ENOMEM.
 */
int spline_through(struct spline *s, const struct spline_vertex *v, size_t num);
int spline_copy(struct spline *to, const struct spline *s);
void spline_free(struct spline *s);

/* Update the cubics: call this after changing coefficients, and before evaluating. */
void spline_set_cubics(struct spline *s);

/* Compute c[] of each @cubic from other coefficients, for example changes of the coefficients. */
void spline_cubics(const struct spline *s, const double *coef, struct cubic *cubic);

/*
 * Set the coefficients so that a spline over the same span follows another one: exactly, if the
 * other one has no knots besides those of @s (knot insertion by blossoms; L. Ramshaw, "Blossoms are
 * polar forms", Computer Aided Geometric Design 6(4), 1989).
 */
void spline_follow(struct spline *s, const struct spline *other);

/* Free the memory that evaluation does not need. Coefficients stay as they are. */
void spline_compact(struct spline *s);

/* Find the place of a time. Times outside belong to the first or the last interval. */
struct place spline_place(const struct spline *s, double t);
struct place spline_place_in(const struct spline *s, double t, size_t interval);
double spline_at(const struct spline *s, double t);

/*
 * Return the abscissa of a coefficient. If the coefficients are a straight line over their
 * abscissae, the spline is a straight line.
 */
static inline double spline_abscissa(const struct spline *s, size_t coef)
{
	return (s->knot[coef + 1] + s->knot[coef + 2] + s->knot[coef + 3]) / 3;
}

/* Return the interval of a time: the index of the first of its four coefficients. */
size_t spline_interval(const struct spline *s, double t);

/*
 * Return the interval of a time that is probably in @near or the next one, as in a sequence of
 * times.
 */
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

/* A second difference of three coefficients over their abscissae. */
struct bend {
	double d[3];
	double size;
	double length; /* time that it represents, ns; 0: a change point */
};

/* Return the bend of the coefficients from @i on. */
struct bend bend_at(const struct spline *c, size_t i);

/*
 * Add half of the square of a bend, times @stiff, to a gradient and to the band of a matrix of
 * second derivatives. Both start at the bend's first coefficient.
 */
void bend_stiffen(const struct bend *b, double stiff, double *gradient, double *band);

/*
 * Add the sums of each interval, by powers of u, to its four coefficients: derivatives * u^0 .. u^3
 * to a gradient by all coefficients, and weights * u^0 .. u^6 to the @band (band.h) of a matrix of
 * second derivatives.
 */
void spline_sum_forces(const struct spline *s, double (*force)[4], double *gradient);
void spline_sum_moments(const struct spline *s, double (*moment)[7], double *band);

/* Return the largest slope at the ends of intervals; HUGE_VAL if the curve is not finite. */
double spline_steepest(const struct spline *s);

static inline double cubic_place(const struct cubic *p, double t)
{
	return (t - p->from) * p->rate;
}

/* Evaluate a cubic at u. */
static inline double cubic_at(const struct cubic *p, double u)
{
	return p->c[0] + u * (p->c[1] + u * (p->c[2] + u * p->c[3]));
}

#endif
