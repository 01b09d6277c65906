// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Newton's method, whose steps are found by preconditioned conjugate gradients, only as precisely
 * as useful (R. Dembo, S. Eisenstat, T. Steihaug, "Inexact Newton methods", SIAM Journal on
 * Numerical Analysis 19, 1982). The objective is convex.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint/internal.h"
#include "util/number.h"

/* Ratio of successive scales. Chosen. */
#define NARROWER 4.0
/* Maximum number of products for a step, and the part of the gradient to reach. Chosen. */
#define PRODUCTS 30
/* Maximum number of halvings of a step until it gains (Armijo's rule). */
#define HALVINGS 12

struct newton {
	double *x; /* the unknowns */
	double *gradient;
	double *step;
	double *residual; /* of the step's equations */
	double *direction;
	double *product;
	double *before; /* preconditioned residual; unknowns before a step */
};

/* Find the step by conjugate gradients. */
static void newton_find_step(struct objective *o, struct newton *s, double precision)
{
	size_t n = o->unknowns;
	double square, least;

	memset(s->step, 0, n * sizeof(double));
	for (size_t i = 0; i < n; i++)
		s->residual[i] = -s->gradient[i];
	objective_precondition(o, s->residual, s->direction);
	square = dot_product(s->residual, s->direction, n);
	least = precision * precision * square;
	for (int k = 0; k < PRODUCTS && square > least; k++) {
		double curvature, length, next;

		objective_product(o, s->direction, s->product);
		curvature = dot_product(s->direction, s->product, n);
		if (!(curvature > 0))
			break;
		length = square / curvature;
		for (size_t i = 0; i < n; i++) {
			s->step[i] += length * s->direction[i];
			s->residual[i] -= length * s->product[i];
		}
		objective_precondition(o, s->residual, s->before);
		next = dot_product(s->residual, s->before, n);
		for (size_t i = 0; i < n; i++)
			s->direction[i] = s->before[i] + next / square * s->direction[i];
		square = next;
	}
}

/* Take the step. Return its gain; 0: no gain, and the unknowns are unchanged. */
static double newton_take_step(struct objective *o, struct newton *s, double cost)
{
	size_t n = o->unknowns;
	double slope = -dot_product(s->gradient, s->step, n), length = 1;

	memcpy(s->before, s->x, n * sizeof(double));
	for (int k = 0; k < HALVINGS; k++, length /= 2) {
		double gain;

		for (size_t i = 0; i < n; i++)
			s->x[i] = s->before[i] + length * s->step[i];
		gain = cost - objective_at(o, s->x);
		if (gain >= 1e-4 * length * slope && gain > 0)
			return gain;
	}
	memcpy(s->x, s->before, n * sizeof(double));
	return 0;
}

/* Minimize with one scale. Return whether the required minimum was found. */
static bool newton_minimize_with_scale(struct objective *o, struct newton *s,
				       const struct effort *effort)
{
	double cost = objective_at(o, s->x), gain = HUGE_VAL;
	double enough = o->stretch > 1 ? effort->enough_wide : effort->enough;

	for (int i = 0; i < effort->steps && gain > enough * o->in; i++) {
		objective_differentiate(o, s->x, s->gradient);
		newton_find_step(o, s, effort->precision);
		gain = newton_take_step(o, s, cost);
		cost -= gain;
	}
	return gain <= enough * o->in || !effort->required;
}

int newton_minimize(struct objective *o, double *x, const struct effort *effort, bool *found)
{
	size_t n = o->unknowns;
	double *room = malloc((6 * n + 1) * sizeof(*room));
	struct newton s = { .x = x };

	if (!room)
		return -ENOMEM;
	s.gradient = room;
	s.step = s.gradient + n;
	s.residual = s.step + n;
	s.direction = s.residual + n;
	s.product = s.direction + n;
	s.before = s.product + n;
	*found = true;
	for (o->stretch = effort->widest; *found && o->stretch > 1; o->stretch /= NARROWER)
		*found = newton_minimize_with_scale(o, &s, effort);
	o->stretch = 1;
	*found = *found && newton_minimize_with_scale(o, &s, effort);
	free(room);
	return 0;
}
