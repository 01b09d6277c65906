// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Converts the posterior to a correction. The curve is a cubic between two knots, with the
 * phases and frequencies at the knots, and has a phase step at each significant jump. The
 * correction also gets the standard deviation at each knot, the rate steps, and the intervals in
 * which the clock may have done something that oscillators do not do.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/internal.h"
#include "util/number.h"

/*
 * Maximum slope of a clock's curve, at a knot or between two knots. Between two knots, a cubic
 * is at most twice as steep. Chosen, because no clock is off by a tenth of this slope.
 */
#define STEEPEST_CLOCK 0.25
/* Minimum phase step and minimum rate step that are reported, in standard deviations. Chosen. */
#define SEEN_STEP 3.0

struct vertices {
	struct spline_vertex *v;
	size_t num;
};

static double compute_phase(const struct knot *k, double t, double *frequency)
{
	double state[STATES];

	memcpy(state, k->state, sizeof(state));
	state_shift(state, t - k->t);
	*frequency = state[1];
	return state[0];
}

static void add_vertex(struct vertices *to, const struct inference *n, const struct correction *c,
		       const struct knot *k, double t)
{
	double frequency, value = compute_phase(k, t, &frequency);

	to->v[to->num++] = (struct spline_vertex){ infer_convert_to_own_time(n, c, t), value,
						   frequency * (1 + c->skew) / SECOND };
}

static bool is_jump_significant(const struct knot *k)
{
	return k->jump > 0 &&
	       fabs(k->jump * k->score[STATE_PHASE].gradient) > SEEN_STEP * sqrt(k->variance);
}

/*
 * Find the vertices of a chain's curve and its phase steps. A step has two vertices with the
 * same time.
 */
static void find_vertices(struct vertices *to, struct change_point *change, size_t *changes,
			  const struct inference *n, const struct chain *chain,
			  const struct correction *c)
{
	for (size_t i = 0; i < chain->num; i++) {
		const struct knot *k = &chain->knot[i];

		if (i && is_jump_significant(k)) {
			const double t = (k[-1].to + k->from) / 2;
			struct change_point *p = &change[(*changes)++];

			add_vertex(to, n, c, k - 1, t);
			add_vertex(to, n, c, k, t);
			*p = (struct change_point){
				.t = infer_convert_to_own_time(n, c, t),
				.uncertainty = (k->from - k[-1].to) / 2 * SECOND,
				.phase_step = true,
				.offset = to->v[to->num - 1].value - to->v[to->num - 2].value,
				.skew = to->v[to->num - 1].slope - to->v[to->num - 2].slope,
			};
		}
		add_vertex(to, n, c, k, k->t);
	}
}

/* Return the value and slope at a time on the line through a vertex. */
static struct spline_vertex extend_line(const struct spline_vertex *v, double t)
{
	return (struct spline_vertex){ t, v->value + v->slope * (t - v->t), v->slope };
}

/* Drop vertices that are outside the span or not ascending. */
static void drop_invalid_vertices(struct vertices *to, double span)
{
	size_t n = 0;

	for (size_t i = 0; i < to->num; i++) {
		const struct spline_vertex *v = &to->v[i];

		if (!(v->t > 0 && v->t < span) || (n && v->t < to->v[n - 1].t))
			continue;
		/* Keep at most two vertices with the same time, which are a step. */
		if (n > 1 && v->t == to->v[n - 2].t)
			n--;
		to->v[n++] = *v;
	}
	to->num = n;
}

/*
 * Could a clock follow this curve? It could not if a value or slope is too large or not a
 * number.
 */
static bool is_possible_clock(const struct vertices *v)
{
	for (size_t i = 0; i < v->num; i++) {
		const double length = i ? v->v[i].t - v->v[i - 1].t : 0;
		const double rise = i ? v->v[i].value - v->v[i - 1].value : v->v[i].value;

		if (!isfinite(rise) || !(fabs(v->v[i].slope) <= STEEPEST_CLOCK) ||
		    (length > 0 && !(fabs(rise) <= STEEPEST_CLOCK * length)))
			return false;
	}
	return true;
}

/* Return the square root of the mean variance, weighted by time. */
static double compute_posterior_deviation(const struct chain *c)
{
	double sum = 0, span = 0;

	for (size_t i = 1; i < c->num; i++) {
		sum += c->knot[i].variance * c->knot[i].length;
		span += c->knot[i].length;
	}
	return sqrt(span > 0 ? sum / span : c->knot[0].variance);
}

/*
 * Return the standard deviation of the phase half-way from the previous knot, relative to the
 * line between the phases at both knots. A jump or white noise may occur anywhere between the
 * knots, hence 1/4 of the variance. The cubic is above the line by 1/8 of the length times the
 * frequency increment, and the phase by up to as much again, depending on the time of the
 * increment. Drift changes the frequency smoothly. The prior variances of increments are upper
 * limits of the posterior ones.
 */
static double compute_deviation_between_knots(const struct chain *c, const struct knot *k)
{
	const double length = k->length;
	const double drift = c->intensity[STATE_DRIFT] * length * length * length / 3;
	double variance = c->intensity[STATE_PHASE] * length / 4 +
			  (2 * k->bend + drift) * length * length / 64;

	/* A significant jump is a step of the curve. */
	if (!is_jump_significant(k))
		variance += fmax(k->jump, 0) / 4;
	return sqrt(variance);
}

/* Set the deviations of a correction at the knots, in ascending order of time. */
static void set_deviations(const struct inference *n, const struct chain *chain,
			   struct correction *c)
{
	for (size_t i = 0; i < chain->num; i++) {
		const struct deviation_knot k = {
			.t = infer_convert_to_own_time(n, c, chain->knot[i].t),
			.deviation = sqrt(chain->knot[i].variance),
			.between = i ? compute_deviation_between_knots(chain, &chain->knot[i]) : 0,
		};

		if (!c->num_known_to || k.t > c->known_to[c->num_known_to - 1].t)
			c->known_to[c->num_known_to++] = k;
	}
}

/* ---- untrusted intervals and rate steps ---------------------------------- */

/* May the interval before a knot contain an increment that is not noise? */
static bool is_interval_noisy(const struct chain *c, size_t i)
{
	return c->knot[i].jump > 0 || !mixture_is_quiet(&c->bends, c->knot[i].bend);
}

/* Do adjacent intervals [from, to) contain a phase step of the curve? */
static bool contain_phase_step(const struct chain *c, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (is_jump_significant(&c->knot[i]))
			return true;
	return false;
}

/*
 * Intervals that may contain an increment that is not noise, and one on either side: the messages do
 * not determine in which of them the clock changed.
 */
struct noisy_intervals {
	size_t from, to; /* indices of knots with increments: [from, to) */
	const struct knot *before, *after;
};

/* Find the next such intervals from @from on. Return false if there are none. */
static bool find_noisy_intervals(const struct chain *c, size_t from, struct noisy_intervals *z)
{
	while (from < c->num && !is_interval_noisy(c, from))
		from++;
	z->from = z->to = from;
	while (z->to < c->num && is_interval_noisy(c, z->to))
		z->to++;
	z->before = &c->knot[from > 1 ? from - 2 : 0];
	z->after = &c->knot[z->to < c->num ? z->to : c->num - 1];
	return from < c->num;
}

/* Add the change of the frequency in noisy intervals as a rate step, if it is large. */
static void add_rate_step(const struct inference *n, const struct chain *chain,
			  const struct noisy_intervals *z, struct correction *c)
{
	const double bend = z->after->state[STATE_FREQUENCY] - z->before->state[STATE_FREQUENCY];
	const double deviation = sqrt(z->before->frequency_variance) +
				 sqrt(z->after->frequency_variance);

	if (fabs(bend) <= SEEN_STEP * deviation || contain_phase_step(chain, z->from, z->to))
		return;
	c->change[c->num_changes++] = (struct change_point){
		.t = infer_convert_to_own_time(n, c, (z->before->t + z->after->t) / 2),
		.uncertainty = (z->after->t - z->before->t) / 2 * SECOND,
		.skew = bend * (1 + c->skew) / SECOND,
	};
}

static int compare_changes_by_time(const void *a, const void *b)
{
	const struct change_point *p = a, *q = b;

	return (p->t > q->t) - (p->t < q->t);
}

/* Set the untrusted intervals and the rate steps of a correction. */
static void set_untrusted_intervals(const struct inference *n, const struct chain *chain,
				    struct correction *c)
{
	struct noisy_intervals z;

	for (size_t i = 1; find_noisy_intervals(chain, i, &z); i = z.to) {
		struct doubt *d = &c->doubt[c->num_doubts++];

		add_rate_step(n, chain, &z, c);
		*d = (struct doubt){
			.from = infer_convert_to_own_time(n, c, z.before->t),
			.to = infer_convert_to_own_time(n, c, z.after->t),
		};
		for (size_t k = z.from; k < z.to; k++)
			d->phase_step = d->phase_step || chain->knot[k].jump > 0;
	}
	qsort(c->change, c->num_changes, sizeof(*c->change), compare_changes_by_time);
}

/* Compute a curve for the whole span. Return 1, 0 if the curve cannot be a clock's, or -ENOMEM. */
static int make_curve(const struct inference *n, const struct chain *chain, struct correction *c,
		      struct vertices *v)
{
	const double span = (double)(c->to - c->from);
	struct spline_vertex first, last;

	find_vertices(v, c->change, &c->num_changes, n, chain, c);
	first = extend_line(v->v, 0);
	last = extend_line(v->v + v->num - 1, span);
	drop_invalid_vertices(v, span);
	memmove(v->v + 1, v->v, v->num * sizeof(*v->v));
	v->v[0] = first;
	v->num++;
	v->v[v->num++] = last;
	if (!is_possible_clock(v))
		return 0;
	return spline_through(&c->curve, v->v, v->num) ? -ENOMEM : 1;
}

int posterior_to_correction(const struct inference *n, size_t host)
{
	const struct chain *chain = &n->chain[host];
	struct correction *c = n->task->host[host].correction;
	struct vertices v = { calloc(3 * chain->num + 2, sizeof(*v.v)), 0 };
	int ret = -ENOMEM;

	c->change = calloc(chain->num + 1, sizeof(*c->change));
	c->known_to = calloc(chain->num + 1, sizeof(*c->known_to));
	c->doubt = calloc(chain->num + 1, sizeof(*c->doubt));
	if (v.v && c->change && c->known_to && c->doubt)
		ret = make_curve(n, chain, c, &v);
	free(v.v);
	if (ret < 0)
		return ret;
	if (!ret) {
		correction_release(c);
		c->no_margin = true;
		return 0;
	}
	spline_compact(&c->curve);
	set_deviations(n, chain, c);
	set_untrusted_intervals(n, chain, c);
	c->intervals = chain->num;
	c->expected_error = compute_posterior_deviation(chain);
	return 0;
}
