// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The objective of curve/fit.c for all hosts: the penalties of all constraints, less the scores,
 * plus the cost of bends. A term of a pair depends on the difference between the changes of its
 * hosts' curves at the times of a message, and on one margin.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/softplus.h"
#include "joint/internal.h"
#include "util/number.h"

/* Number of constraints from which waking up other threads pays off. Chosen. */
#define MANY 20000

/* Data shared by the calls that each work on one block or one host. */
struct work {
	struct objective *o;
	const double *x;
	double *result; /* gradient or product */
};

/* ---- side by side ------------------------------------------------------ */

int objective_divide(struct objective *o)
{
	size_t most, sum = 0;

	for (uint32_t h = 0; h < o->num; h++)
		o->constraints += o->member[h].terms.num_constraints;
	most = o->constraints / BLOCK_CONSTRAINTS / (o->coefs + 1);
	most = most < 1 ? 1 : most < BLOCKS ? most : BLOCKS;
	for (uint32_t h = 0; h < o->num;) {
		struct block *b = &o->block[o->blocks++];

		b->first = h;
		do
			sum += o->member[h++].terms.num_constraints;
		while (h < o->num &&
		       (o->blocks == most || sum * most < o->constraints * o->blocks));
		b->end = h;
		b->force = calloc(o->coefs + 1, sizeof(*b->force));
		b->moment = calloc(o->coefs + 1, sizeof(*b->moment));
		if (!b->force || !b->moment)
			return -ENOMEM;
	}
	return 0;
}

void objective_free_blocks(struct objective *o)
{
	for (size_t i = 0; i < o->blocks; i++) {
		free(o->block[i].force);
		free(o->block[i].moment);
	}
}

static void run_for_each(struct work *w, uint32_t num, int (*call)(void *work, size_t i))
{
	struct objective *o = w->o;

	parallel_run(o->constraints < MANY ? NULL : o->parallel, o->threads, num, call, w);
}

static void add_to_vector(double *sum, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += v[i];
}

/* Add the sums of all blocks to those of the first block, for one curve. */
static void sum_forces(const struct objective *o, const struct member *m)
{
	for (size_t b = 1; b < o->blocks; b++)
		add_to_vector(o->block[0].force[m->coef], o->block[b].force[m->coef],
			      4 * m->terms.curve.coefs);
}

static void sum_moments(const struct objective *o, const struct member *m)
{
	for (size_t b = 1; b < o->blocks; b++)
		add_to_vector(o->block[0].moment[m->coef], o->block[b].moment[m->coef],
			      7 * m->terms.curve.coefs);
}

/* ---- the objective ------------------------------------------------------- */

/* Set the change of a curve in each interval. */
static int set_change(void *work, size_t host)
{
	struct work *w = work;
	const struct member *m = &w->o->member[host];

	if (m->in)
		spline_cubics(&m->terms.curve, &w->x[m->coef], m->change);
	return 0;
}

/* Return by how much a message's slack decreases, ns. */
static inline double slack_lost(const struct member *m, const struct member *other,
				const struct pair_constraint *w, double margin)
{
	double v = cubic_at(&m->change[w->interval[0]], w->u[0]) -
		   cubic_at(&other->change[w->interval[1]], w->u[1]);

	return (w->side == ABOVE ? v : -v) + margin;
}

/* Return bend @i of a changed curve. */
static struct bend bend_of_curve(const struct member *m, const double *x, size_t i)
{
	struct bend b = bend_at(&m->terms.curve, i);

	b.size += dot_product(b.d, &x[m->coef + i], 3);
	return b;
}

static double stiffness_of_bend(const struct member *m, const struct bend *b, size_t i)
{
	return m->terms.straight ? STRAIGHT * m->stiff : pair_terms_prior(&m->terms, b, i);
}

static double cost_of_bends(const struct member *m, const double *x)
{
	double cost = 0;

	for (size_t i = 0; i + 2 < m->terms.curve.coefs; i++) {
		struct bend b = bend_of_curve(m, x, i);

		if (b.length)
			cost += pair_terms_prior(&m->terms, &b, i) * b.size * b.size / 2;
	}
	return cost;
}

static double sum_penalties(const struct objective *o, const struct member *m, const double *x)
{
	const double *margin = &x[m->margin];
	double narrow = 1 / o->stretch, sum = 0, product = 1;

	for (size_t i = 0; i < m->terms.num_constraints; i++) {
		struct pair_constraint *w = &m->terms.constraint[i];
		double late = slack_lost(m, &o->member[w->other], w, margin[w->margin]) - w->room;
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

static int set_cost(void *work, size_t host)
{
	struct work *w = work;
	struct member *m = &w->o->member[host];

	if (!m->in)
		return 0;
	m->cost = sum_penalties(w->o, m, w->x);
	if (!m->terms.straight)
		m->cost += cost_of_bends(m, w->x);
	return 0;
}

double objective_at(struct objective *o, const double *x)
{
	struct work w = { .o = o, .x = x };
	double cost = 0;

	run_for_each(&w, o->num, set_change);
	run_for_each(&w, o->num, set_cost);
	for (uint32_t h = 0; h < o->num; h++)
		cost += o->member[h].cost;
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

		sum += fabs(w->room - slack_lost(m, &o->member[w->other], w, 0));
	}
	return sum;
}

/* ---- derivatives ------------------------------------------------------- */

static inline void add_powers_of_u(double *to, size_t num, double u, double value)
{
	for (size_t i = 0; i < num; i++, value *= u)
		to[i] += value;
}

/* Move far constraints, whose penalty is negligible, behind the near ones. */
static void choose_near_constraints(struct member *m)
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
 * Add far constraints, which only damp the steps, as if their terms of either curve and the margin
 * were independent.
 */
static void add_far_constraint(const struct objective *o, const struct block *b,
			       const struct member *m)
{
	double narrow = CAUTION / 2 / (o->stretch * o->stretch);

	for (size_t i = m->near; i < m->terms.num_constraints; i++) {
		const struct pair_constraint *w = &m->terms.constraint[i];
		const struct member *other = &o->member[w->other];
		double weight = narrow * w->sharp * w->sharp / -w->z;

		add_powers_of_u(b->moment[m->coef + w->interval[0]], 7, w->u[0], weight);
		add_powers_of_u(b->moment[other->coef + w->interval[1]], 7, w->u[1], weight);
		o->far[m->margin + w->margin - o->coefs] += weight;
	}
}

/* Set the weight of a constraint. Return the first derivative of its penalty, 1 / ns. */
static double derive_penalty(struct pair_constraint *w, double narrow)
{
	struct softplus_slopes d = softplus_slopes(w->z, w->tail, false);
	double sharp = narrow * w->sharp;

	w->weight = d.second * sharp * sharp;
	return d.first * sharp;
}

static void add_near_constraint(const struct objective *o, const struct block *b,
				const struct member *m, double *gradient)
{
	double narrow = 1 / o->stretch;

	for (size_t i = 0; i < m->near; i++) {
		struct pair_constraint *w = &m->terms.constraint[i];
		const struct member *other = &o->member[w->other];
		const size_t at[2] = { m->coef + w->interval[0], other->coef + w->interval[1] };
		double pull = derive_penalty(w, narrow);
		double force = w->side == ABOVE ? pull : -pull;

		add_powers_of_u(b->force[at[0]], 4, w->u[0], force);
		add_powers_of_u(b->force[at[1]], 4, w->u[1], -force);
		add_powers_of_u(b->moment[at[0]], 7, w->u[0], w->weight);
		add_powers_of_u(b->moment[at[1]], 7, w->u[1], w->weight);
		gradient[m->margin + w->margin] += pull;
		o->margins[m->margin + w->margin - o->coefs] += w->weight;
	}
}

/* Add the cost of bends to the gradient, and to the rest of the second derivatives. */
static void stiffen_bends(struct member *m, const double *x, double *gradient)
{
	size_t n = m->terms.curve.coefs;

	m->stiff = 0;
	for (size_t i = 0; i < n; i++)
		m->stiff += (m->factor[i][0] + m->rest[i][0]) / (double)n;
	for (size_t i = 0; i + 2 < n; i++) {
		struct bend b = bend_of_curve(m, x, i);

		if (b.length)
			bend_stiffen(&b, stiffness_of_bend(m, &b, i), &gradient[m->coef + i],
				     m->rest[i]);
	}
	for (size_t i = 0; i < n; i++)
		m->rest[i][0] += LOOSE * m->stiff;
}

/* Choose the near constraints of a block's pairs, and sum the far ones. */
static int sum_far(void *work, size_t block)
{
	struct work *w = work;
	const struct objective *o = w->o;
	const struct block *b = &o->block[block];

	memset(b->moment, 0, o->coefs * sizeof(*b->moment));
	for (uint32_t h = b->first; h < b->end; h++) {
		struct member *m = &o->member[h];

		choose_near_constraints(m);
		memset(&o->far[m->margin - o->coefs], 0, m->terms.margins * sizeof(*o->far));
		add_far_constraint(o, b, m);
	}
	return 0;
}

static int set_rest_of_host(void *work, size_t host)
{
	struct work *w = work;
	const struct member *m = &w->o->member[host];

	if (!m->in)
		return 0;
	memset(m->rest, 0, m->terms.curve.coefs * sizeof(*m->rest));
	sum_moments(w->o, m);
	spline_sum_moments(&m->terms.curve, w->o->block[0].moment + m->coef, *m->rest);
	return 0;
}

/* Sum the near constraints of a block's pairs. */
static int sum_near(void *work, size_t block)
{
	struct work *w = work;
	const struct objective *o = w->o;
	const struct block *b = &o->block[block];

	memset(b->force, 0, o->coefs * sizeof(*b->force));
	memset(b->moment, 0, o->coefs * sizeof(*b->moment));
	for (uint32_t h = b->first; h < b->end; h++) {
		const struct member *m = &o->member[h];

		memcpy(&o->margins[m->margin - o->coefs], &o->far[m->margin - o->coefs],
		       m->terms.margins * sizeof(*o->margins));
		add_near_constraint(o, b, m, w->result);
	}
	return 0;
}

static int finish_factor(void *work, size_t host)
{
	struct work *w = work;
	const struct objective *o = w->o;
	struct member *m = &o->member[host];
	size_t n = m->terms.curve.coefs;

	if (!m->in)
		return 0;
	sum_forces(o, m);
	sum_moments(o, m);
	memset(m->factor, 0, n * sizeof(*m->factor));
	spline_sum_forces(&m->terms.curve, o->block[0].force + m->coef, &w->result[m->coef]);
	spline_sum_moments(&m->terms.curve, o->block[0].moment + m->coef, *m->factor);
	stiffen_bends(m, w->x, w->result);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < BAND; k++)
			m->factor[i][k] += m->rest[i][k];
	band_factor(*m->factor, n);
	return 0;
}

void objective_differentiate(struct objective *o, const double *x, double *gradient)
{
	struct work w = { .o = o, .x = x, .result = gradient };

	for (size_t i = 0; i < o->unknowns; i++)
		gradient[i] = -o->score[i];
	run_for_each(&w, (uint32_t)o->blocks, sum_far);
	run_for_each(&w, o->num, set_rest_of_host);
	run_for_each(&w, (uint32_t)o->blocks, sum_near);
	run_for_each(&w, o->num, finish_factor);
}

/* ---- products ------------------------------------------------------------ */

/* Multiply the near constraints of a block's pairs by a vector. */
static int multiply_block(void *work, size_t block)
{
	struct work *w = work;
	const struct objective *o = w->o;
	const struct block *b = &o->block[block];

	memset(b->force, 0, o->coefs * sizeof(*b->force));
	for (uint32_t h = b->first; h < b->end; h++) {
		const struct member *m = &o->member[h];

		for (size_t i = 0; i < m->near; i++) {
			const struct pair_constraint *c = &m->terms.constraint[i];
			const struct member *other = &o->member[c->other];
			size_t margin = m->margin + c->margin;
			double pull = c->weight * slack_lost(m, other, c, w->x[margin]);
			double force = c->side == ABOVE ? pull : -pull;

			add_powers_of_u(b->force[m->coef + c->interval[0]], 4, c->u[0], force);
			add_powers_of_u(b->force[other->coef + c->interval[1]], 4, c->u[1], -force);
			w->result[margin] += pull;
		}
	}
	return 0;
}

static int multiply_rest(void *work, size_t host)
{
	struct work *w = work;
	const struct objective *o = w->o;
	const struct member *m = &o->member[host];

	if (!m->in)
		return 0;
	sum_forces(o, m);
	spline_sum_forces(&m->terms.curve, o->block[0].force + m->coef, &w->result[m->coef]);
	band_multiply(*m->rest, &w->x[m->coef], &w->result[m->coef], m->terms.curve.coefs);
	return 0;
}

void objective_product(struct objective *o, const double *x, double *product)
{
	struct work w = { .o = o, .x = x, .result = product };

	memset(product, 0, o->unknowns * sizeof(*product));
	run_for_each(&w, o->num, set_change);
	run_for_each(&w, (uint32_t)o->blocks, multiply_block);
	run_for_each(&w, o->num, multiply_rest);
	for (size_t i = o->coefs; i < o->unknowns; i++)
		product[i] += o->far[i - o->coefs] * x[i];
}

static int precondition_host(void *work, size_t host)
{
	struct work *w = work;
	const struct member *m = &w->o->member[host];
	double *part = &w->result[m->coef];

	if (!m->in)
		return 0;
	band_forward(*m->factor, part, m->terms.curve.coefs, 1);
	band_backward(*m->factor, part, m->terms.curve.coefs);
	return 0;
}

void objective_precondition(struct objective *o, const double *x, double *product)
{
	struct work w = { .o = o, .x = x, .result = product };

	memcpy(product, x, o->unknowns * sizeof(*product));
	run_for_each(&w, o->num, precondition_host);
	for (size_t i = o->coefs; i < o->unknowns; i++)
		if (o->margins[i - o->coefs] > 0)
			product[i] /= o->margins[i - o->coefs];
}
