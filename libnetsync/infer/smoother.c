// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The posterior of one clock, given a normal site at each knot: a Kalman filter, and the
 * disturbance smoother backwards (J. Durbin, S. J. Koopman, "Time series analysis by
 * state space methods", 2nd edition, 2012, sections 4.4-4.5). Marginals are computed from
 * filtered covariances; with predicted covariances, which are wide, all digits would
 * cancel.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/internal.h"
#include "util/number.h"

/*
 * The prior of the first knot is re-centred on the last posterior, with a width of this
 * many of its standard deviations. A wider prior would cancel the messages' information.
 * Chosen.
 */
#define PRIOR_DEVIATIONS 30.0

static void add_noise(double cov[STATES][STATES], const struct chain *c, const struct knot *k)
{
	/* A bend may be anywhere between the knots; half-way is assumed. */
	const double variance[STATES] = {
		k->jump + c->intensity[STATE_PHASE] * k->length +
			k->bend * k->length * k->length / 12,
		k->bend,
		c->intensity[STATE_DRIFT] * k->length,
		c->intensity[STATE_JERK] * k->length,
	};

	for (int s = 0; s < STATES; s++) {
		double g[STATES];

		increment_loading(g, s, k->length);
		for (int i = 0; i <= s; i++)
			for (int j = 0; j <= s; j++)
				cov[i][j] += variance[s] * g[i] * g[j];
	}
}

void filter_predict(struct filtered *f, const struct chain *c, const struct knot *k)
{
	state_shift(f->mean, k->length);
	covariance_shift(f->cov, k->length);
	add_noise(f->cov, c, k);
}

void filter_begin(struct filtered *f, const struct first_state *s)
{
	memcpy(f->mean, s->mean, sizeof(f->mean));
	memset(f->cov, 0, sizeof(f->cov));
	for (int i = 0; i < STATES; i++)
		f->cov[i][i] = s->deviation[i] * s->deviation[i];
}

void filter_update(struct filtered *f, struct natural site)
{
	const double spread = 1 + site.precision * f->cov[0][0];

	f->weight = site.precision / spread;
	f->error = (site.weighted - site.precision * f->mean[0]) / spread;
	for (int i = 0; i < STATES; i++)
		f->gain[i] = f->cov[i][0];
	f->kept = 1 / spread;
	for (int i = 0; i < STATES; i++)
		f->mean[i] += f->gain[i] * f->error;
	/* After a jump, a difference would cancel all digits of the phase's variance. */
	for (int i = 1; i < STATES; i++) {
		for (int j = 1; j < STATES; j++)
			f->cov[i][j] -= f->weight * f->gain[i] * f->gain[j];
		f->cov[i][0] = f->cov[0][i] = f->gain[i] * f->kept;
	}
	f->cov[0][0] = f->gain[0] * f->kept;
}

static void filter_chain(const struct chain *c, struct filtered *f)
{
	for (size_t n = 0; n < c->num; n++) {
		if (n) {
			memcpy(f[n].mean, f[n - 1].mean, sizeof(f[n].mean));
			memcpy(f[n].cov, f[n - 1].cov, sizeof(f[n].cov));
			filter_predict(&f[n], c, &c->knot[n]);
		} else {
			filter_begin(&f[n], &c->first);
		}
		filter_update(&f[n], c->knot[n].site);
	}
}

/* The information of all later messages on a state: score and information. */
struct backward {
	double gradient[STATES];
	double information[STATES][STATES];
};

static double compute_quadratic_form(const struct backward *b, const double v[STATES])
{
	double sum = 0;

	for (int i = 0; i < STATES; i++)
		sum += v[i] * dot(b->information[i], v, STATES);
	return sum;
}

/* The posterior of component @i at a knot. */
static struct moments compute_marginal(const struct filtered *f, const struct backward *b, int i)
{
	return (struct moments){ f->mean[i] + dot(f->cov[i], b->gradient, STATES),
				 f->cov[i][i] - compute_quadratic_form(b, f->cov[i]) };
}

/*
 * Go back through the update by a knot's site: only the first column of its Jacobian
 * differs from the identity.
 */
static double compute_state_before_site(const struct filtered *f, const double v[STATES])
{
	return f->kept * v[0] - f->weight * dot(f->gain + 1, v + 1, STATES - 1);
}

static void add_site(struct backward *b, const struct filtered *f)
{
	double first[STATES];

	b->gradient[0] = compute_state_before_site(f, b->gradient) + f->error;
	for (int j = 0; j < STATES; j++)
		first[j] = compute_state_before_site(f, b->information[j]);
	b->information[0][0] = compute_state_before_site(f, first) + f->weight;
	for (int j = 1; j < STATES; j++)
		b->information[0][j] = b->information[j][0] = first[j];
}

static void score_increments(struct knot *k, const struct backward *b)
{
	for (int s = 0; s < STATES; s++) {
		double g[STATES];

		increment_loading(g, s, k->length);
		k->score[s].gradient = dot(g, b->gradient, STATES);
		k->score[s].information = compute_quadratic_form(b, g);
	}
}

static void smooth_back(struct chain *c, const struct filtered *f)
{
	struct backward b = { 0 };

	for (size_t n = c->num; n-- > 0;) {
		struct knot *k = &c->knot[n];

		for (int i = 0; i < STATES; i++) {
			const struct moments m = compute_marginal(&f[n], &b, i);

			k->state[i] = m.mean;
			if (i == 0 && m.variance > 0)
				k->variance = m.variance;
			if (n)
				continue;
			c->first.mean[i] = m.mean;
			if (m.variance > 0)
				c->first.deviation[i] = fmin(c->first.deviation[i],
							     PRIOR_DEVIATIONS * sqrt(m.variance));
		}
		add_site(&b, &f[n]);
		if (!n)
			break;
		score_increments(k, &b);
		state_shift_back(b.gradient, k->length);
		information_shift_back(b.information, k->length);
	}
}

int smooth_chain(struct chain *c)
{
	struct filtered *f = malloc((c->num + 1) * sizeof(*f));

	if (!f)
		return -ENOMEM;
	filter_chain(c, f);
	smooth_back(c, f);
	free(f);
	return 0;
}
