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
 * Hard constraints would put the curve where single messages touch it. Each is
 * replaced by the logistic penalty log(1 + exp(-s / scale)), where the scale is
 * about as large as the distance of the lowest message of a spline interval
 * from the true edge: mu / n. The minimum is then near the centre of all likely
 * curves and not at their rim, and messages that contradict each other need no
 * special treatment.
 *
 * The skew of an oscillator is a random walk, so that the integral of the
 * square of the curve's second derivative is part of the objective (G. Wahba,
 * "Improper priors, spline smoothing and the problem of guarding against model
 * errors in regression", JRSS B 40(3), 1978). It decides only where messages
 * are few.
 *
 * The objective is convex. Far from the minimum, where Newton's quadratic model
 * would mislead, the quadratic upper bound of T. Jaakkola and M. Jordan
 * ("Bayesian parameter estimation via variational methods", Statistics and
 * Computing 10, 2000) takes its place. The matrix of the curve has bandwidth 4
 * and is bordered by the few margins: the cost of a step is proportional to the
 * number of constraints.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/fit.h"
#include "util/number.h"

/* Diagonals of a cubic spline's normal equations, on and below the main one. */
#define BAND 4
/*
 * Weight of the second differences of coefficients, relative to the mean
 * diagonal element: for a straight line; and to keep the matrix regular where
 * no constraint holds a coefficient. Chosen by the precision of doubles, 1e-16.
 */
#define STRAIGHT 1e8
#define LOOSE 1e-10
/* Least part of the upper bound's curvature that a Newton step uses. Chosen. */
#define CAUTION 0.02
/* A |z| beyond which exp(-|z|) is below 1e-13, and taken as 0. */
#define NEGLIGIBLE 30
/*
 * A pivot below this part of its diagonal element is rounding, of a coefficient
 * that nothing determines; the element itself takes its place, and the step is
 * still one downhill (P. E. Gill, W. Murray, "Newton-type methods for
 * unconstrained and linearly constrained optimization", Mathematical Programming
 * 7, 1974). Chosen by the precision of doubles, 1e-16.
 */
#define LEAST_PIVOT 1e-13
/*
 * The last step is one that gains less than this, in log likelihood: a
 * hundredth of what tells two models apart (3 for a coefficient, see order.c).
 */
#define ENOUGH 0.01

/* The normal equations of n coefficients and m margins. */
struct system {
	double *band;	      /* n x BAND: diagonal and what is left of it */
	double *rhs;	      /* n: gradient */
	double *border;	      /* m x n: between margins and curve */
	double *corner;	      /* m x m */
	double *rhs_margin;   /* m */
	double *step;	      /* n */
	double *step_margin;  /* m */
	double *trial;	      /* n */
	double *trial_margin; /* m */
};

static int system_new(struct system *s, size_t n, size_t m)
{
	s->band = malloc((n * (BAND + 3 + m) + m * (m + 3)) * sizeof(double));
	if (!s->band)
		return -ENOMEM;
	s->rhs = s->band + n * BAND;
	s->step = s->rhs + n;
	s->trial = s->step + n;
	s->border = s->trial + n;
	s->corner = s->border + n * m;
	s->rhs_margin = s->corner + m * m;
	s->step_margin = s->rhs_margin + m;
	s->trial_margin = s->step_margin + m;
	return 0;
}

static void system_clear(struct system *s, size_t n, size_t m)
{
	memset(s->band, 0, n * BAND * sizeof(double));
	memset(s->border, 0, n * m * sizeof(double));
	memset(s->corner, 0, m * m * sizeof(double));
}

/* Add a constraint, by the second and the first derivative of its penalty. */
static void system_add(struct system *s, size_t n, size_t m,
		       const struct soft_constraint *w, double weight,
		       double pull)
{
	double sign = w->side == ABOVE ? -1 : 1;
	size_t first = w->place.first;

	for (size_t k = 0; k < 4; k++) {
		double b = w->place.basis[k];

		s->rhs[first + k] -= sign * pull * b;
		s->border[w->link * n + first + k] -= sign * weight * b;
		for (size_t l = 0; l <= k; l++)
			s->band[(first + k) * BAND + k - l] +=
				weight * b * w->place.basis[l];
	}
	s->rhs_margin[w->link] += pull;
	s->corner[w->link * m + w->link] += weight;
}

/*
 * The place of a coefficient: a spline whose coefficients are a straight line
 * over these places is one itself.
 */
static double abscissa(const struct spline *c, size_t i)
{
	return (c->knot[i + 1] + c->knot[i + 2] + c->knot[i + 3]) / 3;
}

/* Second difference of three coefficients, over their abscissae. */
struct bend {
	double d[3];
	double size;
	double length; /* of time it stands for, ns; 0: a change point */
};

static struct bend bend_at(const struct spline *c, size_t i)
{
	double at = abscissa(c, i + 1);
	double left = at - abscissa(c, i), right = abscissa(c, i + 2) - at;
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

/* The prior's weight of the square of a bend, doubled. */
static double prior(const struct fit *f, const struct bend *b)
{
	double h = b->length;

	return SECOND / (h * h * h * f->skew_walk * f->skew_walk);
}

/* Add the prior, which says nothing of change points. */
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
		stiff = f->straight ? STRAIGHT * mean : scale * prior(f, &b);
		for (size_t k = 0; k < 3; k++) {
			s->rhs[i + k] += stiff * b.d[k] * b.size;
			for (size_t l = 0; l <= k; l++)
				s->band[(i + k) * BAND + k - l] += stiff *
								   b.d[k] *
								   b.d[l];
		}
	}

	for (size_t i = 0; i < c->coefs; i++)
		s->band[i * BAND] += LOOSE * mean;
}

static double pivot(double left, double diagonal)
{
	if (left > LEAST_PIVOT * diagonal)
		return sqrt(left);
	return diagonal > 0 ? sqrt(diagonal) : 1;
}

/* Cholesky factors in place, of a band and of a full matrix. */
static void factor_band(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i < BAND - 1 ? i : BAND - 1; k + 1 > 0; k--) {
			double *x = &a[i * BAND + k], v = *x, all = v;
			size_t j = i - k;

			for (size_t l = 1; l < BAND && l <= j && k + l < BAND;
			     l++)
				v -= a[i * BAND + k + l] * a[j * BAND + l];
			*x = k ? v / a[j * BAND] : pivot(v, all);
		}
	}
}

static void solve_band(const double *a, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 1; k < BAND && k <= i; k++)
			x[i] -= a[i * BAND + k] * x[i - k];
		x[i] /= a[i * BAND];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = 1; k < BAND && i + k < n; k++)
			x[i] -= a[(i + k) * BAND + k] * x[i + k];
		x[i] /= a[i * BAND];
	}
}

static void solve_full(double *a, double *x, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		for (size_t j = 0; j <= i; j++) {
			double all = a[i * m + j], v = all;

			for (size_t k = 0; k < j; k++)
				v -= a[i * m + k] * a[j * m + k];
			a[i * m + j] = i == j ? pivot(v, all)
					      : v / a[j * m + j];
		}
	}
	for (size_t i = 0; i < m; i++) {
		for (size_t k = 0; k < i; k++)
			x[i] -= a[i * m + k] * x[k];
		x[i] /= a[i * m + i];
	}
	for (size_t i = m; i-- > 0;) {
		for (size_t k = i + 1; k < m; k++)
			x[i] -= a[k * m + i] * x[k];
		x[i] /= a[i * m + i];
	}
}

static double dot(const double *a, const double *b, size_t n)
{
	double v = 0;

	for (size_t i = 0; i < n; i++)
		v += a[i] * b[i];
	return v;
}

/*
 * Solve for the Newton step by the Schur complement of the curve's block.
 * Return: twice the decrease that the quadratic model predicts.
 */
static double system_solve(struct system *s, size_t n, size_t m,
			   double *scratch)
{
	factor_band(s->band, n);
	memcpy(s->step, s->rhs, n * sizeof(double));
	solve_band(s->band, s->step, n);
	for (size_t p = 0; p < m; p++) {
		double *b = s->border + p * n, d = s->corner[p * m + p];

		memcpy(scratch, b, n * sizeof(double));
		solve_band(s->band, scratch, n);
		for (size_t q = 0; q <= p; q++)
			s->corner[p * m + q] -= dot(scratch, s->border + q * n,
						    n);
		/* A margin without constraints stays where it is. */
		s->corner[p * m + p] = fmax(s->corner[p * m + p], 1e-9 * d) +
				       1e-300;
		s->step_margin[p] = dot(b, s->step, n) - s->rhs_margin[p];
	}
	solve_full(s->corner, s->step_margin, m);
	/* curve: -(A^-1 g + A^-1 B dm) */
	memcpy(s->step, s->rhs, n * sizeof(double));
	for (size_t p = 0; p < m; p++)
		for (size_t i = 0; i < n; i++)
			s->step[i] += s->border[p * n + i] * s->step_margin[p];
	solve_band(s->band, s->step, n);
	for (size_t i = 0; i < n; i++)
		s->step[i] = -s->step[i];
	return -dot(s->rhs, s->step, n) - dot(s->rhs_margin, s->step_margin, m);
}

static double slack(const struct fit *f, const struct soft_constraint *w)
{
	double y = spline_sum(&f->curve, &w->place);

	return (w->side == ABOVE ? w->y - y : y - w->y) - f->margin[w->link];
}

/* The sum of log(1 + exp(z)) of all constraints. */
static double penalty(struct fit *f, double stretch)
{
	double sum = 0, product = 1;

	for (size_t i = 0; i < f->num_constraints; i++) {
		struct soft_constraint *w = &f->constraint[i];
		double x = -slack(f, w) / (stretch * w->scale), ax = fabs(x);

		w->z = x;
		w->tail = ax > NEGLIGIBLE ? 0 : exp(-ax);
		sum += x > 0 ? x : 0;
		product *= 1 + w->tail;
		/* One logarithm for 512 factors of at most 2: below 2^1024. */
		if (i % 512 == 511) {
			sum += log(product);
			product = 1;
		}
	}
	return sum + log(product);
}

/* The objective, less what does not depend on curve and margins. */
static double cost_of(struct fit *f, double stretch)
{
	double cost = penalty(f, stretch) -
		      dot(f->score, f->curve.coef, f->curve.coefs) -
		      dot(f->margin_score, f->margin, f->links);

	for (size_t i = 0; i + 2 < f->curve.coefs && !f->straight; i++) {
		struct bend b = bend_at(&f->curve, i);

		if (b.length)
			cost += prior(f, &b) * b.size * b.size / 2;
	}
	return cost;
}

/* Set the system up at the curve whose cost_of() was computed last. */
static void build(const struct fit *f, struct system *s, double stretch,
		  bool cautious)
{
	size_t n = f->curve.coefs, m = f->links;

	system_clear(s, n, m);
	for (size_t i = 0; i < n; i++)
		s->rhs[i] = -f->score[i];
	for (size_t i = 0; i < m; i++)
		s->rhs_margin[i] = -f->margin_score[i];
	for (size_t i = 0; i < f->num_constraints; i++) {
		const struct soft_constraint *w = &f->constraint[i];
		double soft = stretch * w->scale;
		double x = w->z, ax = fabs(x), e = w->tail;
		double safe = ax < 1e-3 ? 0.25 : (1 - e) / (1 + e) / (2 * ax);
		double p = (x > 0 ? 1 : e) / (1 + e);
		double weight = cautious || x > 0
					? safe
					: fmax(p * (1 - p), CAUTION * safe);

		system_add(s, n, m, w, weight / (soft * soft), p / soft);
	}
	system_stiffen(s, f, 1);
}

/* Line search by halving (Armijo's rule), at most 2^-11 of the step. */
static bool take_step(struct fit *f, struct system *s, double stretch,
		      double slope, double *cost)
{
	size_t n = f->curve.coefs, m = f->links;
	double *coef = f->curve.coef, *margin = f->margin, length = 1;

	memcpy(s->trial, coef, n * sizeof(double));
	memcpy(s->trial_margin, margin, m * sizeof(double));
	for (int tries = 0; tries < 12; tries++, length /= 2) {
		double c;

		for (size_t i = 0; i < n; i++)
			coef[i] = s->trial[i] + length * s->step[i];
		for (size_t i = 0; i < m; i++)
			margin[i] = s->trial_margin[i] +
				    length * s->step_margin[i];
		c = cost_of(f, stretch);
		if (c <= *cost - 1e-4 * length * slope) {
			*cost = c;
			return true;
		}
	}
	memcpy(coef, s->trial, n * sizeof(double));
	memcpy(margin, s->trial_margin, m * sizeof(double));
	/* Restore z and tail of all constraints, too. */
	*cost = cost_of(f, stretch);
	return false;
}

int fit_solve(struct fit *f, double stretch, int max_steps, double *cost)
{
	size_t n = f->curve.coefs, m = f->links;
	bool cautious = false;
	struct system s;

	if (system_new(&s, n, m))
		return -ENOMEM;
	*cost = cost_of(f, stretch);
	for (int i = 0; i < max_steps; i++) {
		double before = *cost, slope;

		build(f, &s, stretch, cautious);
		slope = system_solve(&s, n, m, s.trial);
		if (!take_step(f, &s, stretch, slope, cost)) {
			if (cautious)
				break;
			cautious = true;
			continue;
		}
		if (!cautious && before - *cost < ENOUGH)
			break;
		cautious = false;
	}
	free(s.band);
	return 0;
}

int fit_start(struct fit *f, double *residual)
{
	size_t n = f->curve.coefs, m = f->links;
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
	for (size_t i = 0; i < f->num_constraints; i++)
		system_add(&s, n, m, &f->constraint[i], 1,
			   -slack(f, &f->constraint[i]));
	system_stiffen(&s, f, soft * soft);
	system_solve(&s, n, m, s.trial);
	memcpy(f->curve.coef, s.step, n * sizeof(double));
	memcpy(f->margin, s.step_margin, m * sizeof(double));
	free(s.band);
	for (size_t i = 0; i < f->num_constraints; i++)
		sum += fabs(slack(f, &f->constraint[i]));
	*residual = sum / (double)(f->num_constraints ? f->num_constraints : 1);
	return 0;
}
