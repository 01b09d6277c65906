// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The likelihood of a factor: the probability of the lowest of n messages of one direction, as a
 * function of z = minimum delay + phase of the sender - phase of the receiver.
 *
 * The likelihood is a mixture. In component (k, j), the k lowest messages are wrong, and the
 * others are of kind j. Messages of kind 0 exceed z by exponential delays with mean mu, so the
 * lowest of m messages exceeds z by an exponential delay with rate m / mu. Messages of kind j >
 * 0 are all lifted together by an exponential delay with mean LIFT[j] mu. The spacings between
 * the lowest messages are distributed as for kind 0.
 */
#include <math.h>

#include "model/model.h"

/* Mean of each kind of lift, in mean excesses. Chosen: a third of 3, 10, 40, 200, 10^3 and 10^4. */
static const double LIFT[DELAY_LIFTS] = { 0, 1, 10.0 / 3, 40.0 / 3, 200.0 / 3, 1e3 / 3, 1e4 / 3 };
/* Range in which a wrong message is uniformly distributed, ns (0.1 s). Chosen. */
#define WRONG_RANGE 1e8
/* Initial and maximum share of wrong messages. Chosen. */
#define FIRST_WRONG 1e-3
#define MOST_WRONG 0.3
/*
 * Exponent of the likelihood of each message beyond the lowest ones, if all messages of a factor
 * are wrong. It is below 1, because such messages are wrong together. Chosen.
 */
#define WRONG_TOGETHER 0.1
/* Initial share of each kind of delay, relative to the share of the previous kind. Chosen. */
#define RARER 0.1
/* Pseudo-counts of wrong messages, of all messages, and of each kind of delay. Chosen. */
#define PRIOR_WRONG 0.01
#define PRIOR_ALL 1.0
#define PRIOR_LIFT 1e-3
/* Minimum share of a kind of delay. Rarer kinds are skipped for speed. */
#define LEAST_SHARE 1e-7
/* Components whose likelihood is less than e^-25 times the largest are skipped for speed. */
#define NEGLIGIBLE 25.0
/* Minimum responsibility of a component that is used for learning, for speed. */
#define LEAST_TAUGHT 1e-6

/* ---- a normal times an exponential, cut off ------------------------------ */

/*
 * Distances from the limit in standard deviations. Above UNCUT, truncation has no effect; below
 * ASYMPTOTIC, the asymptotic series is used.
 */
#define UNCUT 8.0
#define ASYMPTOTIC -12.0
/*
 * Minimum variance of a truncated normal, as a fraction of the normal's variance. Rounding
 * errors could otherwise make the variance zero or negative.
 */
#define LEAST_VARIANCE 1e-9

double cut_normal_moments(double limit, double variance, double rate, struct moments *m)
{
	const double s = sqrt(variance), shift = rate * variance;
	const double x = (limit - shift) / s;
	const double tilt = rate * shift / 2;
	double hazard, part, area;

	if (x > UNCUT) {
		*m = (struct moments){ shift, variance };
		return tilt;
	}
	if (x < ASYMPTOTIC) {
		const double xx = x * x;

		/*
		 * The mean is relative to the limit, and the tilt is part of the exponent. In a
		 * wide normal, differences from the shift would cancel all digits.
		 */
		part = (1 - (6 - 50 / xx) / xx) / xx;
		*m = (struct moments){ limit + s * (1 - 2 / xx) / x, variance * part };
		return rate * limit - limit * limit / (2 * variance) - log(-x * sqrt(2 * M_PI)) -
		       1 / xx;
	}
	area = 0.5 * erfc(-x * M_SQRT1_2);
	hazard = exp(-x * x / 2) / (sqrt(2 * M_PI) * area);
	part = fmax(1 - hazard * (hazard + x), LEAST_VARIANCE);
	*m = (struct moments){ shift - s * hazard, variance * part };
	return tilt + log(area);
}

/* ---- the mixture --------------------------------------------------------- */

struct component {
	double log_weight;
	double share; /* responsibility */
	struct moments z;
	double slack; /* distance from z to the lowest message that is not wrong, ns */
	size_t wrong;
	int kind;
};

struct components {
	struct component c[LOWEST * DELAY_LIFTS + 1];
	size_t num;
	double best; /* largest log weight */
	/* Logarithms that all components share. */
	double log_mean;
	double log_left[LOWEST];      /* number of messages from the i-th lowest upwards */
	double log_kind[DELAY_LIFTS]; /* share of a kind, divided by the mean lift of the kind */
};

static void add_component(struct components *all, const struct component *c)
{
	all->c[all->num++] = *c;
	all->best = fmax(all->best, c->log_weight);
}

static void begin_components(struct components *all, const struct lowest *l,
			     const struct delay_law *d)
{
	all->num = 0;
	all->best = -HUGE_VAL;
	all->log_mean = log(d->mean);
	for (size_t i = 0; i < l->num; i++)
		all->log_left[i] = log(l->messages - (double)i);
	for (int j = 0; j < DELAY_LIFTS; j++)
		if (d->lift[j] >= LEAST_SHARE)
			all->log_kind[j] = log(j ? d->lift[j] / LIFT[j] : d->lift[j]);
}

/*
 * Return the log density of the spacings between the lowest messages, including the number of
 * their orders.
 */
static double compute_log_spacings(const struct components *all, const struct lowest *l,
				   double mean, size_t wrong)
{
	double sum = 0;

	for (size_t i = wrong; i < l->num; i++) {
		sum += all->log_left[i] - all->log_mean;
		if (i > wrong)
			sum -= (l->messages - (double)i) * (l->delay[i] - l->delay[i - 1]) / mean;
	}
	return sum;
}

/*
 * Add the components in which @wrong messages are wrong. @log_wrong is the log probability of
 * these messages.
 */
static void add_kind_components(struct components *all, const struct lowest *l,
				const struct delay_law *d, struct moments cavity, size_t wrong,
				double log_wrong)
{
	const double total = cavity.variance + d->blur, part = cavity.variance / total;
	const double limit = l->delay[wrong] - cavity.mean;
	const double usual = (l->messages - (double)wrong) / d->mean;
	const double common = log_wrong + compute_log_spacings(all, l, d->mean, wrong);

	for (int j = 0; j < DELAY_LIFTS; j++) {
		const double rate = j ? 1 / (LIFT[j] * d->mean) : usual;
		double log_weight;
		struct moments m;

		if (d->lift[j] < LEAST_SHARE)
			continue;
		/* Remove the rate of kind 0, which the spacings include. */
		log_weight = common + all->log_kind[j] - (j ? all->log_left[wrong] : 0) -
			     rate * limit;
		/* The integral without truncation is an upper bound. */
		if (log_weight + rate * rate * total / 2 < all->best - NEGLIGIBLE)
			continue;
		log_weight += cut_normal_moments(limit, total, rate, &m);
		add_component(all,
			      &(struct component){
				      .log_weight = log_weight,
				      .z = { cavity.mean + part * m.mean,
					     cavity.variance - part * part * (total - m.variance) },
				      .slack = limit - m.mean,
				      .wrong = wrong,
				      .kind = j,
			      });
	}
}

static void find_components(struct components *all, const struct lowest *l,
			    const struct delay_law *d, struct moments cavity)
{
	const double log_density = log(d->wrong / WRONG_RANGE);
	double log_wrong = 0;

	begin_components(all, l, d);
	for (size_t k = 0; k < l->num; k++) {
		add_kind_components(all, l, d, cavity, k, log_wrong);
		log_wrong += log_density + all->log_left[k];
	}
	log_wrong += WRONG_TOGETHER * (l->messages - (double)l->num) *
		     (log_density + all->log_mean);
	add_component(all,
		      &(struct component){ .log_weight = log_wrong, .z = cavity, .wrong = l->num });
}

/* Add the expectations of a component, weighted by its responsibility. */
static void add_expectations(struct delay_law *d, const struct lowest *l, const struct component *c)
{
	const double share = c->share;
	double sum, num = 1;

	d->num_all += share * l->messages;
	d->num_wrong += share * (double)c->wrong;
	if (c->wrong == l->num)
		return;
	d->num_lift[c->kind] += share;
	if (c->kind)
		return;
	sum = (l->messages - (double)c->wrong) * c->slack;
	for (size_t i = c->wrong + 1; i < l->num; i++, num++)
		sum += (l->messages - (double)i) * (l->delay[i] - l->delay[i - 1]);
	d->num_excess += share * num;
	d->sum_excess += share * sum;
}

/*
 * Turn the log weights of all components into responsibilities. Return the logarithm of the sum
 * of the weights.
 */
static double normalize_components(struct components *all)
{
	double sum = 0;

	for (size_t i = 0; i < all->num; i++) {
		all->c[i].share = exp(all->c[i].log_weight - all->best);
		sum += all->c[i].share;
	}
	for (size_t i = 0; i < all->num; i++)
		all->c[i].share /= sum;
	/* The largest weight alone contributes 1. */
	return all->best + log(fmax(sum, 1));
}

static struct moments mix_components(const struct components *all)
{
	struct moments m = { 0, 0 };

	for (size_t i = 0; i < all->num; i++)
		m.mean += all->c[i].share * all->c[i].z.mean;
	for (size_t i = 0; i < all->num; i++) {
		const double off = all->c[i].z.mean - m.mean;

		m.variance += all->c[i].share * (all->c[i].z.variance + off * off);
	}
	return m;
}

struct moments delay_weigh_cavity(const struct lowest *l, const struct delay_law *d,
				  struct moments cavity, double *evidence)
{
	struct components all;

	*evidence = 0;
	if (!l->num)
		return cavity;
	find_components(&all, l, d, cavity);
	*evidence = normalize_components(&all);
	return mix_components(&all);
}

struct moments delay_tilt_cavity(const struct lowest *l, struct delay_law *d, struct moments cavity,
				 bool learn)
{
	struct components all;
	struct moments m;

	if (!l->num)
		return cavity;
	find_components(&all, l, d, cavity);
	normalize_components(&all);
	m = mix_components(&all);
	for (size_t i = 0; learn && i < all.num; i++)
		if (all.c[i].share > LEAST_TAUGHT)
			add_expectations(d, l, &all.c[i]);
	return m;
}

/* ---- learning ------------------------------------------------------------ */

void delay_law_begin(struct delay_law *d, double mean, double blur)
{
	double sum = 0, share = 1;

	*d = (struct delay_law){ .mean = mean, .wrong = FIRST_WRONG, .blur = blur };
	for (int j = 0; j < DELAY_LIFTS; j++, share *= RARER)
		sum += d->lift[j] = share;
	for (int j = 0; j < DELAY_LIFTS; j++)
		d->lift[j] /= sum;
}

void delay_law_learn(struct delay_law *d, double least)
{
	double num = 1 + PRIOR_LIFT * (DELAY_LIFTS - 1);

	if (!(d->num_excess > 0))
		return;
	d->mean = fmax(d->sum_excess / d->num_excess, least);
	d->wrong = fmin((d->num_wrong + PRIOR_WRONG) / (d->num_all + PRIOR_ALL), MOST_WRONG);
	for (int j = 0; j < DELAY_LIFTS; j++)
		num += d->num_lift[j];
	for (int j = 0; j < DELAY_LIFTS; j++) {
		d->lift[j] = (d->num_lift[j] + (j ? PRIOR_LIFT : 1)) / num;
		d->num_lift[j] = 0;
	}
	d->num_excess = d->sum_excess = d->num_all = d->num_wrong = 0;
}
