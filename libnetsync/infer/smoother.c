// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The posterior of one clock, given a normal site at each knot, by a Kalman filter and a
 * backward disturbance smoother (J. Durbin, S. J. Koopman, "Time series analysis by state space
 * methods", 2nd edition, 2012, sections 4.4-4.5). Marginals are computed from filtered
 * covariances. Predicted covariances are so wide that all digits would cancel.
 *
 * A joint delay is a further unknown, on which all sites depend linearly. The smoother uses the
 * last delay and computes, in the same passes, the derivatives of its means with respect to the
 * delay. The sites then determine the delay, and the means are moved accordingly.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/internal.h"
#include "util/number.h"

/*
 * Width of the prior of the first state, in standard deviations of the last posterior, on which
 * the prior is re-centred. A wider prior would cancel the information of the messages. Chosen.
 */
#define PRIOR_DEVIATIONS 30.0

static void add_process_noise(double cov[STATES][STATES], const struct chain *c,
			      const struct knot *k)
{
	/*
	 * A frequency increment may occur anywhere between the knots. It is assumed half-way,
	 * and the last term of the phase accounts for the difference.
	 */
	const double variance[STATES] = {
		k->jump + c->intensity[STATE_PHASE] * k->length +
			k->bend * k->length * k->length / 12,
		k->bend,
		c->intensity[STATE_DRIFT] * k->length,
		c->intensity[STATE_JERK] * k->length,
	};

	for (int s = 0; s < STATES; s++) {
		double g[STATES];

		increment_set_loading(g, s, k->length);
		for (int i = 0; i <= s; i++)
			for (int j = 0; j <= s; j++)
				cov[i][j] += variance[s] * g[i] * g[j];
	}
}

void filter_predict(struct filtered *f, const struct chain *c, const struct knot *k)
{
	state_shift(f->mean, k->length);
	state_shift(f->response, k->length);
	covariance_shift(f->cov, k->length);
	add_process_noise(f->cov, c, k);
}

void filter_begin(struct filtered *f, const struct first_state *s)
{
	memcpy(f->mean, s->mean, sizeof(f->mean));
	memset(f->response, 0, sizeof(f->response));
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
	/* After a jump, computing the phase's variance as a difference would cancel all digits. */
	for (int i = 1; i < STATES; i++) {
		for (int j = 1; j < STATES; j++)
			f->cov[i][j] -= f->weight * f->gain[i] * f->gain[j];
		f->cov[i][0] = f->cov[0][i] = f->gain[i] * f->kept;
	}
	f->cov[0][0] = f->gain[0] * f->kept;
}

/* Update the response. One ns of delay moves the site's weighted mean by -@opposed. */
static void update_response(struct filtered *f, double precision, double opposed)
{
	f->response_error = (-opposed - precision * f->response[0]) * f->kept;
	for (int i = 0; i < STATES; i++)
		f->response[i] += f->gain[i] * f->response_error;
}

static void filter_chain(const struct chain *c, struct filtered *f)
{
	for (size_t n = 0; n < c->num; n++) {
		if (n) {
			memcpy(f[n].mean, f[n - 1].mean, sizeof(f[n].mean));
			memcpy(f[n].response, f[n - 1].response, sizeof(f[n].response));
			memcpy(f[n].cov, f[n - 1].cov, sizeof(f[n].cov));
			filter_predict(&f[n], c, &c->knot[n]);
		} else {
			filter_begin(&f[n], &c->first);
		}
		filter_update(&f[n], c->knot[n].site);
		if (c->delay)
			update_response(&f[n], c->knot[n].site.precision,
					c->knot[n].opposed.precision);
	}
}

/*
 * The information of all later messages on a state: the score, its derivative with respect to
 * the joint delay, and the information matrix.
 */
struct backward {
	double gradient[STATES];
	double response[STATES];
	double information[STATES][STATES];
};

/* Derivatives of the state and of the scores at a knot with respect to the joint delay. */
struct delay_effect {
	double state[STATES];
	double score[STATES];
};

static double compute_quadratic_form(const struct backward *b, const double v[STATES])
{
	double sum = 0;

	for (int i = 0; i < STATES; i++)
		sum += v[i] * dot_product(b->information[i], v, STATES);
	return sum;
}

/* Return the posterior of component @i at a knot, for the last delay. */
static struct moments compute_marginal(const struct filtered *f, const struct backward *b, int i)
{
	return (struct moments){ f->mean[i] + dot_product(f->cov[i], b->gradient, STATES),
				 f->cov[i][i] - compute_quadratic_form(b, f->cov[i]) };
}

/*
 * Return the phase component of a gradient before the update by a knot's site. Only the first
 * column of the update's Jacobian differs from the identity.
 */
static double compute_state_before_site(const struct filtered *f, const double v[STATES])
{
	return f->kept * v[0] - f->weight * dot_product(f->gain + 1, v + 1, STATES - 1);
}

static void add_site_backward(struct backward *b, const struct filtered *f)
{
	double first[STATES];

	b->gradient[0] = compute_state_before_site(f, b->gradient) + f->error;
	b->response[0] = compute_state_before_site(f, b->response) + f->response_error;
	for (int j = 0; j < STATES; j++)
		first[j] = compute_state_before_site(f, b->information[j]);
	b->information[0][0] = compute_state_before_site(f, first) + f->weight;
	for (int j = 1; j < STATES; j++)
		b->information[0][j] = b->information[j][0] = first[j];
}

static void score_increments(struct knot *k, const struct backward *b, struct delay_effect *effect)
{
	for (int s = 0; s < STATES; s++) {
		double g[STATES];

		increment_set_loading(g, s, k->length);
		k->score[s].gradient = dot_product(g, b->gradient, STATES);
		k->score[s].information = compute_quadratic_form(b, g);
		if (effect)
			effect->score[s] = dot_product(g, b->response, STATES);
	}
}

/*
 * Set the state at a knot and the variances of its phase and frequency. If @first is not NULL, set
 * it to the variances of all components. If @effect is not NULL, set its derivatives of the state.
 */
static void set_marginals(struct knot *k, const struct filtered *f, const struct backward *b,
			  double first[STATES], struct delay_effect *effect)
{
	for (int i = 0; i < STATES; i++) {
		const struct moments m = compute_marginal(f, b, i);

		k->state[i] = m.mean;
		if (i == STATE_PHASE && m.variance > 0)
			k->variance = m.variance;
		if (i == STATE_FREQUENCY)
			k->frequency_variance = fmax(m.variance, 0);
		if (first)
			first[i] = m.variance;
		if (effect)
			effect->state[i] = f->response[i] +
					   dot_product(f->cov[i], b->response, STATES);
	}
}

/*
 * Run the backward pass. Set @first to the variances of the first state. If @effect is not NULL,
 * set the derivatives with respect to the delay at each knot.
 */
static void smooth_chain_backward(struct chain *c, const struct filtered *f, double first[STATES],
				  struct delay_effect *effect)
{
	struct backward b = { 0 };

	for (size_t n = c->num; n-- > 0;) {
		struct knot *k = &c->knot[n];

		set_marginals(k, &f[n], &b, n ? NULL : first, effect ? &effect[n] : NULL);
		add_site_backward(&b, &f[n]);
		if (!n)
			break;
		score_increments(k, &b, effect ? &effect[n] : NULL);
		state_shift_back(b.gradient, k->length);
		state_shift_back(b.response, k->length);
		information_shift_back(b.information, k->length);
	}
}

/* ---- the joint delay ------------------------------------------------------ */

/* Return the posterior of the delay, relative to the last delay. */
static struct moments compute_delay_move(const struct chain *c, const struct delay_effect *effect)
{
	double precision = c->delay_prior.precision;
	double weighted = c->delay_prior.weighted - precision * c->delay->mean;

	for (size_t n = 0; n < c->num; n++) {
		const struct knot *k = &c->knot[n];

		precision += k->site.precision + k->opposed.precision * effect[n].state[0];
		weighted += k->opposed.weighted - k->opposed.precision * k->state[0];
	}
	precision = fmax(precision, c->delay_prior.precision);
	return (struct moments){ weighted / precision, 1 / precision };
}

static void move_delay(struct chain *c, const struct delay_effect *effect, double first[STATES])
{
	const struct moments move = compute_delay_move(c, effect);

	for (size_t n = 0; n < c->num; n++) {
		struct knot *k = &c->knot[n];
		const struct delay_effect *e = &effect[n];

		for (int i = 0; i < STATES; i++)
			k->state[i] += e->state[i] * move.mean;
		/* The sites are relative to the delay, so move them, too. */
		k->site.weighted -= k->opposed.precision * move.mean;
		k->opposed.weighted -= k->site.precision * move.mean;
		k->response = e->state[0];
		k->variance += e->state[0] * e->state[0] * move.variance;
		k->frequency_variance += e->state[1] * e->state[1] * move.variance;
		for (int s = 0; n && s < STATES; s++) {
			struct increment_score *score = &k->score[s];

			score->gradient += e->score[s] * move.mean;
			score->information = fmax(
				score->information - e->score[s] * e->score[s] * move.variance, 0);
		}
	}
	for (int i = 0; c->num && i < STATES; i++)
		first[i] += effect[0].state[i] * effect[0].state[i] * move.variance;
	*c->delay = (struct moments){ c->delay->mean + move.mean, move.variance };
}

/* Re-centre the prior of the first state, except components without deviation. */
static void recentre_first_state(struct chain *c, const double variance[STATES])
{
	for (int i = 0; c->num && i < STATES; i++) {
		if (!(c->first.deviation[i] > 0))
			continue;
		c->first.mean[i] = c->knot[0].state[i];
		if (variance[i] > 0)
			c->first.deviation[i] = fmin(c->first.deviation[i],
						     PRIOR_DEVIATIONS * sqrt(variance[i]));
	}
}

int smooth_chain(struct chain *c)
{
	struct filtered *f = malloc((c->num + 1) * sizeof(*f));
	struct delay_effect *effect = c->delay ? malloc((c->num + 1) * sizeof(*effect)) : NULL;
	double first[STATES] = { 0 };

	if (!f || (c->delay && !effect)) {
		free(f);
		free(effect);
		return -ENOMEM;
	}
	filter_chain(c, f);
	smooth_chain_backward(c, f, first, effect);
	if (effect)
		move_delay(c, effect, first);
	recentre_first_state(c, first);
	free(f);
	free(effect);
	return 0;
}
