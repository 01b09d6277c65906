// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Penalised maximum likelihood by Newton's method.
 *
 * The slack s of a message is its delay less the margin m of its link. With
 * exponential delays of mean mu above the margin, the negative logarithm of
 * the likelihood is the sum of s / mu over all messages, under the constraint
 * that no slack is negative. The gradient of that sum (the score) drives curve
 * and margins against the constraints.
 *
 * Hard constraints would put the curve where single messages touch it. Each is replaced by the
 * logistic penalty log(1 + exp(-s / scale)), where the scale is about as large as the distance of
 * the lowest message of a spline interval from the true edge: mu / n. The minimum is then near the
 * centre of all likely curves and not at their edge, and inconsistent messages need no special
 * treatment.
 *
 * The skew of an oscillator is a random walk, so that the integral of the square of the curve's
 * second derivative is part of the objective (G. Wahba, "Improper priors, spline smoothing and the
 * problem of guarding against model errors in regression", JRSS B 40(3), 1978). This prior matters
 * only where messages are few.
 *
 * The objective is convex. Far from the minimum, where Newton's quadratic model is misleading, the
 * quadratic upper bound of T. Jaakkola and M. Jordan ("Bayesian parameter estimation via
 * variational methods", Statistics and Computing 10, 2000) replaces it. The matrix of the curve has
 * bandwidth 4 and is bordered by the few margins: the cost of a step is proportional to the number
 * of constraints.
 *
 * Most constraints are far: their slack is so many scales that their penalty is negligible, and
 * stays negligible while the curve moves by less than the rest of the slack. Each step examines
 * near constraints only. For far ones it tracks how far the curve has moved since they were last
 * examined (no further than its coefficients, by the hull property of B-splines).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/band.h"
#include "curve/fit.h"
#include "curve/softplus.h"
#include "util/number.h"

/* Maximum number of constraints whose penalties are multiplied: 2^n must be a double. */
#define MAX_RUN 512
/*
 * Choose near constraints again once steps are smaller than at the last choice by this factor.
 * Chosen: 0.5 to 0.05 cost the same.
 */
#define SMALLER 0.125
/*
 * Stop when a step gains less than this, in log likelihood: a hundredth of the difference that
 * distinguishes two models (3 for a coefficient, see order.c).
 */
#define ENOUGH 0.01
/* Maximum number of steps to a margin; halving alone takes as many to reach 1e-12 of the start. */
#define MARGIN_STEPS 40

/*
 * The normal equations of n coefficients and m margins. The contributions of constraints are summed
 * by powers of u in each knot interval, where their B-splines are cubics.
 */
struct system {
	double (*moment)[7];  /* weights * u^0 .. u^6 of each interval */
	double (*force)[4];   /* gradients * u^0 .. u^3 */
	double *band;	      /* n x BAND: diagonal and elements to the left of it */
	double *rhs;	      /* n: gradient */
	double *border;	      /* n x m: cross terms of curve and margins */
	double *corner;	      /* m x m */
	double *rhs_margin;   /* m */
	double *step;	      /* n */
	double *step_margin;  /* m */
	double *trial;	      /* n */
	double *trial_margin; /* m */
	double *column;	      /* m: for the factors of the corner */
	double *diagonal;     /* m: of the corner */
	/* Damping on account of far constraints: */
	double (*far_moment)[7]; /* as moment[] */
	double *far_corner;	 /* m: diagonal of the corner */
};

static int system_new(struct system *s, size_t n, size_t m)
{
	s->moment = malloc((n * (7 + 4 + BAND + 3 + m + 7) + m * (m + 6)) * sizeof(double));
	if (!s->moment)
		return -ENOMEM;
	s->force = (double(*)[4])(s->moment + n);
	s->band = (double *)(s->force + n);
	s->rhs = s->band + n * BAND;
	s->step = s->rhs + n;
	s->trial = s->step + n;
	s->border = s->trial + n;
	s->corner = s->border + n * m;
	s->rhs_margin = s->corner + m * m;
	s->step_margin = s->rhs_margin + m;
	s->trial_margin = s->step_margin + m;
	s->column = s->trial_margin + m;
	s->diagonal = s->column + m;
	s->far_corner = s->diagonal + m;
	s->far_moment = (double(*)[7])(s->far_corner + m);
	return 0;
}

static void system_free(struct system *s)
{
	free(s->moment);
}

static void system_clear(struct system *s, size_t n, size_t m)
{
	memset(s->moment, 0, n * sizeof(*s->moment));
	memset(s->force, 0, n * sizeof(*s->force));
	memset(s->band, 0, n * BAND * sizeof(double));
	memset(s->border, 0, n * m * sizeof(double));
	memset(s->corner, 0, m * m * sizeof(double));
}

/* Consecutive constraints of one link and side in one knot interval. */
struct run {
	struct soft_constraint *first;
	struct soft_constraint *near; /* after the last near one */
	struct soft_constraint *end;
};

/* Return the run that begins with constraint @w and ends before @end. */
static struct run run_at(struct soft_constraint *w, const struct soft_constraint *end)
{
	struct run r = { .first = w, .end = w + 1 };

	while (r.end < end && r.end->interval == w->interval && r.end->link == w->link &&
	       r.end->side == w->side)
		r.end++;
	r.near = r.end;
	return r;
}

/* Contribution of a run's constraints: sums of powers of u times derivatives. */
struct run_sums {
	double weight[7]; /* second derivatives of the penalties */
	double pull[4];	  /* first ones */
};

static inline void run_add(struct run_sums *r, double u, double weight, double pull)
{
	for (size_t i = 0; i < 7; i++, weight *= u)
		r->weight[i] += weight;
	for (size_t i = 0; i < 4; i++, pull *= u)
		r->pull[i] += pull;
}

static void system_add(struct system *s, const struct spline *c, size_t m,
		       const struct soft_constraint *w, const struct run_sums *r)
{
	double sign = w->side == ABOVE ? -1 : 1;
	double *moment = s->moment[w->interval];
	double *force = s->force[w->interval];

	for (size_t i = 0; i < 7; i++)
		moment[i] += r->weight[i];
	for (size_t i = 0; i < 4; i++)
		force[i] -= sign * r->pull[i];
	for (size_t k = 0; k < 4; k++) {
		const double *b = c->basis[w->interval][k];

		s->border[(w->interval + k) * m + w->link] -= sign * (b[0] * r->weight[0] +
								      b[1] * r->weight[1] +
								      b[2] * r->weight[2] +
								      b[3] * r->weight[3]);
	}
	s->rhs_margin[w->link] += r->pull[0];
	s->corner[w->link * m + w->link] += r->weight[0];
}

double fit_prior(double length, double skew_walk)
{
	return SECOND / (length * length * length * skew_walk * skew_walk);
}

/* Return twice the weight of the square of bend @i in the prior. */
static double prior_weight_of_bend(const struct fit *f, const struct bend *b, size_t i)
{
	double h = b->length;

	if (f->change_variance)
		return 1 / (h * h * f->change_variance[i]);
	return fit_prior(h, f->skew_walk);
}

/* Add the prior, which does not apply to change points. */
static void system_stiffen(struct system *s, const struct fit *f, double scale)
{
	const struct spline *c = &f->curve;
	double mean = 0;

	for (size_t i = 0; i < c->coefs; i++)
		mean += s->band[i * BAND];
	mean /= (double)c->coefs;
	for (size_t i = 0; i + 2 < c->coefs; i++) {
		struct bend b = bend_at(c, i);
		double stiff;

		if (!b.length)
			continue;
		stiff = f->straight ? STRAIGHT * mean : scale * prior_weight_of_bend(f, &b, i);
		bend_stiffen(&b, stiff, &s->rhs[i], &s->band[i * BAND]);
	}

	for (size_t i = 0; i < c->coefs; i++)
		s->band[i * BAND] += LOOSE * mean;
}

/*
 * Solve a x = x by Cholesky factors of a, of which the lower half is given. @column, @diagonal:
 * scratch space for m values.
 * @diagonal: room for m.
 */
static void solve_full(double *a, double *x, size_t m, double *column, double *diagonal)
{
	for (size_t k = 0; k < m; k++)
		diagonal[k] = a[k * m + k];
	for (size_t k = 0; k < m; k++) {
		double *last = &a[k * m + k];

		*last = band_pivot(*last, diagonal[k]);
		for (size_t i = k + 1; i < m; i++)
			column[i] = a[i * m + k] /= *last;
		for (size_t i = k + 1; i < m; i++)
			for (size_t j = k + 1; j <= i; j++)
				a[i * m + j] -= column[i] * column[j];
	}
	for (size_t i = 0; i < m; i++) {
		for (size_t k = 0; k < i; k++)
			x[i] -= a[i * m + k] * x[k];
		x[i] /= a[i * m + i];
	}
	for (size_t i = m; i-- > 0;) {
		x[i] /= a[i * m + i];
		for (size_t k = 0; k < i; k++)
			x[k] -= a[i * m + k] * x[i];
	}
}

/* Compute the lower half of corner = corner - border' border. */
static void subtract_square(double *corner, const double *border, size_t n, size_t m)
{
	size_t i = 0;

	/* Four rows at once, because an element of the corner is read and written for each. */
	for (; i + 4 <= n; i += 4) {
		const double *row = &border[i * m];

		for (size_t p = 0; p < m; p++) {
			double a = row[p], b = row[m + p];
			double c = row[2 * m + p], d = row[3 * m + p];

			for (size_t q = 0; q <= p; q++)
				corner[p * m + q] -= a * row[q] + b * row[m + q] +
						     c * row[2 * m + q] + d * row[3 * m + q];
		}
	}
	for (; i < n; i++) {
		const double *row = &border[i * m];

		for (size_t p = 0; p < m; p++)
			for (size_t q = 0; q <= p; q++)
				corner[p * m + q] -= row[p] * row[q];
	}
}

/*
 * Solve for the Newton step by the Schur complement of the curve's block, whose factor is L. Return
 * twice the decrease predicted by the quadratic model.
 */
static double system_solve(struct system *s, size_t n, size_t m)
{
	band_factor(s->band, n);
	memcpy(s->step, s->rhs, n * sizeof(double));
	band_forward(s->band, s->step, n, 1);
	band_forward(s->band, s->border, n, m);
	for (size_t p = 0; p < m; p++) {
		s->diagonal[p] = s->corner[p * m + p];
		s->step_margin[p] = -s->rhs_margin[p];
	}
	subtract_square(s->corner, s->border, n, m);
	for (size_t p = 0; p < m; p++) {
		double *d = &s->corner[p * m + p];

		/* A margin without constraints does not move. */
		*d = fmax(*d, 1e-9 * s->diagonal[p]) + 1e-300;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t p = 0; p < m; p++)
			s->step_margin[p] += s->border[i * m + p] * s->step[i];
	solve_full(s->corner, s->step_margin, m, s->column, s->diagonal);
	/* curve: -(A^-1 g + A^-1 B dm), where A = L L' */
	for (size_t i = 0; i < n; i++)
		s->step[i] += dot_product(&s->border[i * m], s->step_margin, m);
	band_backward(s->band, s->step, n);
	for (size_t i = 0; i < n; i++)
		s->step[i] = -s->step[i];
	return -dot_product(s->rhs, s->step, n) - dot_product(s->rhs_margin, s->step_margin, m);
}

static double slack_of_constraint(const struct fit *f, const struct soft_constraint *w)
{
	double v = cubic_at(&f->curve.cubic[w->interval], w->u) - w->y;

	return (w->side == ABOVE ? -v : v) - f->margin[w->link];
}

/* ---- Newton's method ---------------------------------------------------- */

struct solver {
	struct system system;
	struct run *run;
	size_t runs;
	double stretch; /* factor of all scales */
	double room;	/* allowed move of curve and margins before far ones matter, ns */
	double size;	/* step before the last choice of near constraints, ns */
	bool cautious;
};

static void solver_free(struct solver *s)
{
	system_free(&s->system);
	free(s->run);
}

/* Make a solver; all constraints are near at first. 0 or -ENOMEM; free it in any case. */
static int solver_new(struct solver *s, struct fit *f, double stretch)
{
	struct soft_constraint *w = f->constraint, *end = w + f->num_constraints;
	size_t runs = 0;
	int ret;

	*s = (struct solver){ .stretch = stretch, .room = HUGE_VAL };
	ret = system_new(&s->system, f->curve.coefs, f->links);
	for (; w < end; runs++)
		w = run_at(w, w + MAX_RUN < end ? w + MAX_RUN : end).end;
	s->run = malloc((runs + 1) * sizeof(*s->run));
	if (ret || !s->run)
		return -ENOMEM;
	for (w = f->constraint; w < end; w = s->run[s->runs++].end)
		s->run[s->runs] = run_at(w, w + MAX_RUN < end ? w + MAX_RUN : end);
	return 0;
}

/* Set @z and @tail of a run's constraints before @end. Return their penalty, less log @product. */
static double run_penalty(const struct fit *f, const struct run *r,
			  const struct soft_constraint *end, double narrow, double *product)
{
	const struct cubic *c = &f->curve.cubic[r->first->interval];
	double sign = r->first->side == ABOVE ? 1 : -1, sum = 0;
	double margin = f->margin[r->first->link];

	for (struct soft_constraint *w = r->first; w < end; w++) {
		double late = sign * (cubic_at(c, w->u) - w->y) + margin;
		double x = late * narrow * w->sharp, ax = fabs(x);

		w->z = x;
		w->tail = ax > NEGLIGIBLE ? 0 : exp(-ax);
		sum += x > 0 ? x : 0;
		*product *= 1 + w->tail;
	}
	return sum;
}

/* Return the sum of log(1 + exp(z)) of near constraints, or of all if @all. */
static double penalty_sum(struct fit *f, const struct solver *s, bool all)
{
	double sum = 0, product = 1;

	spline_set_cubics(&f->curve);
	for (size_t i = 0; i < s->runs; i++) {
		const struct run *r = &s->run[i];

		sum += run_penalty(f, r, all ? r->end : r->near, 1 / s->stretch, &product);
		/* One logarithm for many factors of at most 2: below 2^1024. */
		if (product > 0x1p500) {
			sum += log(product);
			product = 1;
		}
	}
	return sum + log(product);
}

/* Return the objective without the terms that do not depend on curve and margins. */
static double objective_cost(struct fit *f, const struct solver *s, bool all)
{
	double cost = penalty_sum(f, s, all) -
		      dot_product(f->score, f->curve.coef, f->curve.coefs) -
		      dot_product(f->margin_score, f->margin, f->links);

	for (size_t i = 0; i + 2 < f->curve.coefs && !f->straight; i++) {
		struct bend b = bend_at(&f->curve, i);

		if (b.length)
			cost += prior_weight_of_bend(f, &b, i) * b.size * b.size / 2;
	}
	return cost;
}

/* Add the first and second derivatives of the penalties of near constraints. */
static void run_build(struct system *s, const struct fit *f, const struct run *r, double stretch,
		      bool cautious)
{
	struct run_sums sums = { 0 };
	double narrow = 1 / stretch;

	for (const struct soft_constraint *w = r->first; w < r->near; w++) {
		struct softplus_slopes d = softplus_slopes(w->z, w->tail, cautious);
		double sharp = narrow * w->sharp;

		run_add(&sums, w->u, d.second * sharp * sharp, d.first * sharp);
	}
	system_add(s, &f->curve, f->links, r->first, &sums);
}

/* Add the damping for the far constraints of a run to the diagonal of the matrix. */
static void run_build_far(struct system *s, const struct run *r, const struct soft_constraint *from,
			  const struct soft_constraint *end, double stretch)
{
	double *moment = s->far_moment[r->first->interval];
	double narrow = CAUTION / 2 / (stretch * stretch);

	for (const struct soft_constraint *w = from; w < end; w++) {
		double weight = narrow * w->sharp * w->sharp / -w->z;

		s->far_corner[r->first->link] += weight;
		for (size_t i = 0; i < 7; i++, weight *= w->u)
			moment[i] += weight;
	}
}

/* Set the system up at the curve whose cost was computed last. */
static void system_build(const struct fit *f, struct solver *s)
{
	struct system *y = &s->system;
	size_t n = f->curve.coefs, m = f->links;

	system_clear(y, n, m);
	for (size_t i = 0; i < n; i++)
		y->rhs[i] = -f->score[i];
	for (size_t i = 0; i < m; i++) {
		y->rhs_margin[i] = -f->margin_score[i];
		y->corner[i * m + i] = y->far_corner[i];
	}
	memcpy(y->moment, y->far_moment, n * sizeof(*y->moment));
	for (size_t i = 0; i < s->runs; i++)
		if (s->run[i].near > s->run[i].first)
			run_build(y, f, &s->run[i], s->stretch, s->cautious);
	spline_sum_moments(&f->curve, y->moment, y->band);
	spline_sum_forces(&f->curve, y->force, y->rhs);
	system_stiffen(y, f, 1);
}

/* Make all constraints near. */
static void solver_make_all_near(struct fit *f, struct solver *s)
{
	memset(s->system.far_moment, 0, f->curve.coefs * sizeof(*s->system.far_moment));
	memset(s->system.far_corner, 0, f->links * sizeof(double));
	for (size_t i = 0; i < s->runs; i++)
		s->run[i].near = s->run[i].end;
	s->room = HUGE_VAL;
}

/*
 * Keep as near those constraints, whose z are set, that matter after curve and margins have moved
 * by @room.
 */
static void solver_choose_near(struct solver *s, double room)
{
	double far = room / s->stretch;

	for (size_t i = 0; i < s->runs; i++) {
		struct run *r = &s->run[i];
		struct soft_constraint *end = r->near;

		for (struct soft_constraint *w = r->first; w < r->near;) {
			struct soft_constraint last;

			if (w->z > -NEGLIGIBLE - far * w->sharp) {
				w++;
				continue;
			}
			last = *--r->near;
			*r->near = *w;
			*w = last;
		}
		run_build_far(&s->system, r, r->near, end, s->stretch);
	}
	s->room = s->size = room;
}

static double largest_magnitude(const double *v, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(v[i]));
	return most;
}

/* Account for a step of @size, after which the z of @all constraints, or of near ones, are set. */
static void solver_note_move(struct fit *f, struct solver *s, double size, bool all)
{
	if (all)
		solver_make_all_near(f, s);
	else
		s->room -= size;
	if (all || (size < SMALLER * s->size && size < s->room))
		solver_choose_near(s, size);
}

/* Search along the step by halving (Armijo's rule), down to 2^-11 of it. */
static bool solver_take_step(struct fit *f, struct solver *s, double slope, double *cost)
{
	struct system *y = &s->system;
	size_t n = f->curve.coefs, m = f->links;
	double *coef = f->curve.coef, *margin = f->margin, length = 1;
	double size = largest_magnitude(y->step, n) + largest_magnitude(y->step_margin, m);

	memcpy(y->trial, coef, n * sizeof(double));
	memcpy(y->trial_margin, margin, m * sizeof(double));
	for (int tries = 0; tries < 12; tries++, length /= 2) {
		/* Check all constraints if the step is not finite. */
		bool near = length * size < s->room && isfinite(s->room);
		double c;

		for (size_t i = 0; i < n; i++)
			coef[i] = y->trial[i] + length * y->step[i];
		for (size_t i = 0; i < m; i++)
			margin[i] = y->trial_margin[i] + length * y->step_margin[i];
		c = objective_cost(f, s, !near);
		if (c <= *cost - 1e-4 * length * slope) {
			*cost = c;
			solver_note_move(f, s, length * size, !near);
			return true;
		}
	}
	memcpy(coef, y->trial, n * sizeof(double));
	memcpy(margin, y->trial_margin, m * sizeof(double));
	/* Restore z and tail of all constraints. */
	solver_make_all_near(f, s);
	*cost = objective_cost(f, s, true);
	return false;
}

int fit_solve(struct fit *f, double stretch, int max_steps, double *cost)
{
	struct solver s;
	int ret = solver_new(&s, f, stretch);

	if (!ret) {
		solver_make_all_near(f, &s);
		*cost = objective_cost(f, &s, true);
	}
	for (int i = 0; !ret && i < max_steps; i++) {
		double before = *cost, slope;

		system_build(f, &s);
		slope = system_solve(&s.system, f->curve.coefs, f->links);
		if (!solver_take_step(f, &s, slope, cost)) {
			if (s.cautious)
				break;
			s.cautious = true;
			continue;
		}
		if (!s.cautious && before - *cost < ENOUGH)
			break;
		s.cautious = false;
	}
	solver_free(&s);
	return ret;
}

int fit_factor(struct fit *f, double (*factor)[BAND])
{
	size_t n = f->curve.coefs;
	struct solver s;
	int ret = solver_new(&s, f, 1);

	if (!ret) {
		solver_make_all_near(f, &s);
		objective_cost(f, &s, true);
		system_build(f, &s);
		band_factor(s.system.band, n);
		memcpy(factor, s.system.band, n * sizeof(*factor));
	}
	solver_free(&s);
	return ret;
}

int fit_start(struct fit *f, double *residual)
{
	size_t n = f->curve.coefs, m = f->links;
	struct soft_constraint *w, *end = f->constraint + f->num_constraints;
	struct system s;
	double sum = 0, soft = HUGE_VAL;

	if (system_new(&s, n, m))
		return -ENOMEM;
	for (size_t i = 0; i < m; i++)
		soft = fmin(soft, f->scale[i]);
	memset(f->curve.coef, 0, n * sizeof(double));
	memset(f->margin, 0, m * sizeof(double));
	system_clear(&s, n, m);
	memset(s.rhs, 0, n * sizeof(double));
	memset(s.rhs_margin, 0, m * sizeof(double));
	for (w = f->constraint; w < end;) {
		struct run r = run_at(w, end);
		struct run_sums sums = { 0 };

		for (; w < r.end; w++)
			run_add(&sums, w->u, 1, w->side == ABOVE ? -w->y : w->y);
		system_add(&s, &f->curve, m, r.first, &sums);
	}
	spline_sum_moments(&f->curve, s.moment, s.band);
	spline_sum_forces(&f->curve, s.force, s.rhs);
	system_stiffen(&s, f, soft * soft);
	system_solve(&s, n, m);
	memcpy(f->curve.coef, s.step, n * sizeof(double));
	memcpy(f->margin, s.step_margin, m * sizeof(double));
	system_free(&s);
	spline_set_cubics(&f->curve);
	for (w = f->constraint; w < end; w++)
		sum += fabs(slack_of_constraint(f, w));
	*residual = sum / (double)(f->num_constraints ? f->num_constraints : 1);
	return 0;
}

/*
 * Find the most likely margin by Newton's method between two limits. @score: the gradient that
 * drives it against the constraints, 1 / ns. z of a constraint is its slack without the margin, ns.
 */
static double most_likely_margin(const struct soft_constraint *first,
				 const struct soft_constraint *end, double score)
{
	double lo = HUGE_VAL, hi = -HUGE_VAL, margin = HUGE_VAL, step = HUGE_VAL;
	const double enough = 0.01; /* part of the smallest scale; chosen */
	double sharpest = 0;

	for (const struct soft_constraint *w = first; w < end; w++) {
		margin = fmin(margin, w->z);
		lo = fmin(lo, w->z - NEGLIGIBLE / w->sharp);
		hi = fmax(hi, w->z + NEGLIGIBLE / w->sharp);
		sharpest = fmax(sharpest, w->sharp);
	}
	for (int i = 0; i < MARGIN_STEPS && step * sharpest > enough; i++) {
		double press = -score, slope = 0, next;

		for (const struct soft_constraint *w = first; w < end; w++) {
			double z = (margin - w->z) * w->sharp, p;

			if (z < -NEGLIGIBLE)
				continue;
			p = 1 / (1 + exp(-z));
			press += p * w->sharp;
			slope += p * (1 - p) * w->sharp * w->sharp;
		}
		if (press > 0)
			hi = margin;
		else
			lo = margin;
		next = margin - press / slope;
		if (!(next > lo && next < hi))
			next = lo + (hi - lo) / 2;
		step = fabs(next - margin);
		margin = next;
	}
	return margin;
}

void fit_margins(struct fit *f)
{
	struct soft_constraint *w = f->constraint, *end = w + f->num_constraints;

	memset(f->margin, 0, f->links * sizeof(*f->margin));
	while (w < end) {
		struct soft_constraint *first = w;

		for (; w < end && w->link == first->link; w++) {
			double v = cubic_at(&f->curve.cubic[w->interval], w->u) - w->y;

			w->z = w->side == ABOVE ? -v : v;
		}
		f->margin[first->link] = most_likely_margin(first, w, f->margin_score[first->link]);
	}
}
