// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The objective of curve/fit.c, of all hosts: the penalties of all constraints, less the
 * scores, and what bends cost. A term of a pair depends on the difference between the
 * changes of its hosts' curves at the times of a message, and on one margin.
 */
#include <math.h>
#include <string.h>

#include "curve/softplus.h"
#include "joint/internal.h"
#include "util/number.h"

/* Set what the curves change by, in each interval. */
static void set_changes(struct objective *o, const double *x)
{
	for (uint32_t h = 0; h < o->num; h++) {
		const struct member *m = &o->member[h];

		if (m->in)
			spline_cubics(&m->terms.curve, &x[m->coef], m->change);
	}
}

/* By how much less slack a message has, ns. */
static inline double closer(const struct member *m, const struct member *other,
			    const struct pair_constraint *w, double margin)
{
	double v = cubic_at(&m->change[w->interval[0]], w->u[0]) -
		   cubic_at(&other->change[w->interval[1]], w->u[1]);

	return (w->side == ABOVE ? v : -v) + margin;
}

/* Bend @i of a curve that has changed. */
static struct bend bend_of(const struct member *m, const double *x, size_t i)
{
	struct bend b = bend_at(&m->terms.curve, i);

	b.size += dot(b.d, &x[m->coef + i], 3);
	return b;
}

static double stiffness(const struct member *m, const struct bend *b)
{
	return m->terms.straight ? STRAIGHT * m->stiff
				 : pair_terms_prior(&m->terms, b);
}

static double cost_of_bends(const struct member *m, const double *x)
{
	double cost = 0;

	for (size_t i = 0; i + 2 < m->terms.curve.coefs; i++) {
		struct bend b = bend_of(m, x, i);

		if (b.length)
			cost += pair_terms_prior(&m->terms, &b) * b.size *
				b.size / 2;
	}
	return cost;
}

static double penalties(const struct objective *o, const struct member *m,
			const double *x)
{
	const double *margin = &x[m->margin];
	double narrow = 1 / o->stretch, sum = 0, product = 1;

	for (size_t i = 0; i < m->terms.num_constraints; i++) {
		struct pair_constraint *w = &m->terms.constraint[i];
		double late = closer(m, &o->member[w->other], w,
				     margin[w->margin]) -
			      w->room;
		double z = late * narrow * w->sharp, size = fabs(z);

		w->z = z;
		w->tail = size > NEGLIGIBLE ? 0 : exp(-size);
		sum += z > 0 ? z : 0;
		product *= 1 + w->tail;
		/* One logarithm for many factors of at most 2: below 2^1024. */
		if (product > 0x1p500) {
			sum += log(product);
			product = 1;
		}
	}
	return sum + log(product);
}

double objective_at(struct objective *o, const double *x)
{
	double cost = 0;

	set_changes(o, x);
	for (uint32_t h = 0; h < o->num; h++) {
		const struct member *m = &o->member[h];

		if (!m->in)
			continue;
		cost += penalties(o, m, x);
		if (!m->terms.straight)
			cost += cost_of_bends(m, x);
	}
	for (size_t i = 0; i < o->unknowns; i++)
		cost -= o->score[i] * x[i];
	return cost;
}

double objective_slacks(const struct objective *o, uint32_t host)
{
	const struct member *m = &o->member[host];
	double sum = 0;

	for (size_t i = 0; i < m->terms.num_constraints; i++) {
		const struct pair_constraint *w = &m->terms.constraint[i];

		sum += fabs(w->room - closer(m, &o->member[w->other], w, 0));
	}
	return sum;
}

/* ---- derivatives ------------------------------------------------------- */

static inline void add_powers(double *to, size_t num, double u, double value)
{
	for (size_t i = 0; i < num; i++, value *= u)
		to[i] += value;
}

/* Far constraints, whose penalty is nothing, to the end of the others. */
static void choose_near(struct member *m)
{
	struct pair_constraint *w = m->terms.constraint;

	m->near = m->terms.num_constraints;
	for (size_t i = 0; i < m->near;) {
		struct pair_constraint far = w[i];

		if (far.z > -NEGLIGIBLE) {
			i++;
			continue;
		}
		w[i] = w[--m->near];
		w[m->near] = far;
	}
}

/*
 * Far constraints are there for caution only: as if what they say of either curve and of the
 * margin were not of all three.
 */
static void add_far(const struct objective *o, struct member *m)
{
	double narrow = CAUTION / 2 / (o->stretch * o->stretch);

	for (size_t i = m->near; i < m->terms.num_constraints; i++) {
		const struct pair_constraint *w = &m->terms.constraint[i];
		struct member *other = &o->member[w->other];
		double weight = narrow * w->sharp * w->sharp / -w->z;

		add_powers(m->moment[w->interval[0]], 7, w->u[0], weight);
		add_powers(other->moment[w->interval[1]], 7, w->u[1], weight);
		o->far[m->margin + w->margin - o->coefs] += weight;
	}
}

/* Set the weight of a constraint. Return: the first derivative of its penalty, 1 / ns. */
static double derive(struct pair_constraint *w, double narrow)
{
	struct softplus_slopes d = softplus_slopes(w->z, w->tail, false);
	double sharp = narrow * w->sharp;

	w->weight = d.second * sharp * sharp;
	return d.first * sharp;
}

static void add_near(const struct objective *o, struct member *m,
		     double *gradient)
{
	double narrow = 1 / o->stretch;

	for (size_t i = 0; i < m->near; i++) {
		struct pair_constraint *w = &m->terms.constraint[i];
		struct member *other = &o->member[w->other];
		double pull = derive(w, narrow);
		double force = w->side == ABOVE ? pull : -pull;

		add_powers(m->force[w->interval[0]], 4, w->u[0], force);
		add_powers(other->force[w->interval[1]], 4, w->u[1], -force);
		add_powers(m->moment[w->interval[0]], 7, w->u[0], w->weight);
		add_powers(other->moment[w->interval[1]], 7, w->u[1],
			   w->weight);
		gradient[m->margin + w->margin] += pull;
		o->margins[m->margin + w->margin - o->coefs] += w->weight;
	}
}

/* Add what bends cost to the gradient, and to the rest of the second derivatives. */
static void stiffen(struct member *m, const double *x, double *gradient)
{
	size_t n = m->terms.curve.coefs;

	m->stiff = 0;
	for (size_t i = 0; i < n; i++)
		m->stiff += (m->factor[i][0] + m->rest[i][0]) / (double)n;
	for (size_t i = 0; i + 2 < n; i++) {
		struct bend b = bend_of(m, x, i);

		if (b.length)
			bend_stiffen(&b, stiffness(m, &b),
				     &gradient[m->coef + i], m->rest[i]);
	}
	for (size_t i = 0; i < n; i++)
		m->rest[i][0] += LOOSE * m->stiff;
}

/* What far constraints make, and room for what near ones do. */
static void begin(struct objective *o)
{
	size_t margins = o->unknowns - o->coefs;

	memset(o->far, 0, margins * sizeof(*o->far));
	for (uint32_t h = 0; h < o->num; h++) {
		struct member *m = &o->member[h];
		size_t n = m->terms.curve.coefs;

		if (!m->in)
			continue;
		choose_near(m);
		memset(m->force, 0, n * sizeof(*m->force));
		memset(m->moment, 0, n * sizeof(*m->moment));
		memset(m->rest, 0, n * sizeof(*m->rest));
		memset(m->factor, 0, n * sizeof(*m->factor));
	}
	for (uint32_t h = 0; h < o->num; h++)
		add_far(o, &o->member[h]);
	for (uint32_t h = 0; h < o->num; h++) {
		struct member *m = &o->member[h];

		if (!m->in)
			continue;
		spline_sum_moments(&m->terms.curve, m->moment, *m->rest);
		memset(m->moment, 0, m->terms.curve.coefs * sizeof(*m->moment));
	}
	memcpy(o->margins, o->far, margins * sizeof(*o->margins));
}

void objective_differentiate(struct objective *o, const double *x,
			     double *gradient)
{
	for (size_t i = 0; i < o->unknowns; i++)
		gradient[i] = -o->score[i];
	begin(o);
	for (uint32_t h = 0; h < o->num; h++)
		add_near(o, &o->member[h], gradient);
	for (uint32_t h = 0; h < o->num; h++) {
		struct member *m = &o->member[h];
		size_t n = m->terms.curve.coefs;

		if (!m->in)
			continue;
		spline_sum_forces(&m->terms.curve, m->force,
				  &gradient[m->coef]);
		spline_sum_moments(&m->terms.curve, m->moment, *m->factor);
		stiffen(m, x, gradient);
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < BAND; k++)
				m->factor[i][k] += m->rest[i][k];
		band_factor(*m->factor, n);
	}
}

void objective_product(struct objective *o, const double *x, double *product)
{
	memset(product, 0, o->unknowns * sizeof(*product));
	set_changes(o, x);
	for (uint32_t h = 0; h < o->num; h++) {
		const struct member *m = &o->member[h];

		if (m->in)
			memset(m->force, 0,
			       m->terms.curve.coefs * sizeof(*m->force));
	}
	for (uint32_t h = 0; h < o->num; h++) {
		const struct member *m = &o->member[h];

		for (size_t i = 0; i < m->near; i++) {
			const struct pair_constraint *w =
				&m->terms.constraint[i];
			const struct member *other = &o->member[w->other];
			size_t margin = m->margin + w->margin;
			double pull = w->weight *
				      closer(m, other, w, x[margin]);
			double force = w->side == ABOVE ? pull : -pull;

			add_powers(m->force[w->interval[0]], 4, w->u[0], force);
			add_powers(other->force[w->interval[1]], 4, w->u[1],
				   -force);
			product[margin] += pull;
		}
	}
	for (uint32_t h = 0; h < o->num; h++) {
		const struct member *m = &o->member[h];

		if (!m->in)
			continue;
		spline_sum_forces(&m->terms.curve, m->force, &product[m->coef]);
		band_multiply(*m->rest, &x[m->coef], &product[m->coef],
			      m->terms.curve.coefs);
	}
	for (size_t i = o->coefs; i < o->unknowns; i++)
		product[i] += o->far[i - o->coefs] * x[i];
}

void objective_precondition(const struct objective *o, const double *x,
			    double *product)
{
	memcpy(product, x, o->unknowns * sizeof(*product));
	for (uint32_t h = 0; h < o->num; h++) {
		const struct member *m = &o->member[h];
		size_t n = m->terms.curve.coefs;

		if (!m->in)
			continue;
		band_forward(*m->factor, &product[m->coef], n, 1);
		band_backward(*m->factor, &product[m->coef], n);
	}
	for (size_t i = o->coefs; i < o->unknowns; i++)
		if (o->margins[i - o->coefs] > 0)
			product[i] /= o->margins[i - o->coefs];
}
