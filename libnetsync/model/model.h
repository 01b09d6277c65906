/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probabilistic model of clocks and messages.
 *
 * A clock is a linear state space model. The state of a clock at a knot is the phase, the
 * frequency, the drift and the rate of the drift of its correction. Between two knots, the state
 * follows its Taylor series, and each component gets an increment half-way between the knots.
 * Increments of drift and of its rate are normal. Increments of phase and frequency are scale
 * mixtures of normals: an oscillator makes many small ones, a daemon that steers the clock makes
 * few large ones. All variances and shares are learned.
 *
 * A message limits the phase difference z of its two hosts, z = minimum delay + phase of
 * the sender - phase of the receiver: z <= u, its observed delay. The excess u - z is
 * exponential.
 *
 * Units: time in s, phase in ns, frequency in ns/s (ppb), and so on.
 */
#ifndef NETSYNC_MODEL_MODEL_H
#define NETSYNC_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* ---- the state of a clock ------------------------------------------------ */

/* The components of the state. Each component has increments. */
enum { STATE_PHASE, STATE_FREQUENCY, STATE_DRIFT, STATE_JERK, STATES };

/* Replace a state by its prediction after @length, by its Taylor series. */
void state_shift(double state[STATES], double length);

/* Apply the transpose of state_shift() to a gradient with respect to the later state. */
void state_shift_back(double gradient[STATES], double length);

/* Replace a covariance by the covariance of the predicted state. */
void covariance_shift(double p[STATES][STATES], double length);

/*
 * Convert second derivatives with respect to the later state to second derivatives with respect
 * to the earlier state.
 */
void information_shift_back(double n[STATES][STATES], double length);

/*
 * Set the effect of a unit increment of one component, half-way between two knots, on the state
 * at the later knot.
 */
void increment_set_loading(double loading[STATES], int component, double length);

/* ---- increments: scale mixtures ------------------------------------------ */

/*
 * Maximum number of scales of a mixture. Chosen. With 21 scales, the largest one of the phase
 * is 6^20 us, which is more than a century.
 */
#define MOST_SCALES 21

/*
 * An increment over a length L is normal with variance @base L. With probability @rate[j] L, the
 * variance is larger by @variance[j].
 */
struct scale_mixture {
	size_t scales;
	double variance[MOST_SCALES]; /* in ascending order */
	double rate[MOST_SCALES];     /* expected increments per second */
	double sum[MOST_SCALES];      /* sum of responsibilities, from which the rate is learned */
};

/* The cavity of an increment: a normal that represents all other information on the increment. */
struct increment_cavity {
	double length; /* s */
	double base;   /* variance of a quiet increment */
	double mean;
	double variance;
};

/*
 * Initialize the mixture for frequency increments. Scales begin at 10 ppb and grow by factors of
 * 4. The random walk explains smaller increments.
 */
void mixture_init_for_frequency(struct scale_mixture *m, double length);

/*
 * Initialize the mixture for phase increments. Scales begin at 1 us and grow by factors of 6, up
 * to three times the @range of the phase, ns.
 */
void mixture_init_for_phase(struct scale_mixture *m, double span, double range);

/*
 * Return the variance of a normal increment that has, with the cavity, the same posterior mean
 * as the mixture. Add the responsibilities to the sums. Set *@quiet to the responsibility of no
 * scale.
 */
double mixture_match_moments(struct scale_mixture *m, const struct increment_cavity *c,
			     double *quiet);

/* Is a variance in addition to the base too small for any scale? */
bool mixture_is_quiet(const struct scale_mixture *m, double variance);

/*
 * Return the log share of increments over a length whose scale has this variance in addition to
 * the base.
 */
double mixture_compute_log_share(const struct scale_mixture *m, double length, double variance);

/* Learn the rates from the sums over @span, in s, and reset the sums. */
void mixture_learn(struct scale_mixture *m, double span);

/* ---- delays of messages -------------------------------------------------- */

/*
 * Number of kinds of delay: the usual kind, and each kind of lift that all messages of a factor
 * may share.
 */
#define DELAY_LIFTS 7
/*
 * Maximum number of lowest messages of a factor that may be wrong. Chosen. If more messages are
 * wrong, all of them are taken to be wrong.
 */
#define LOWEST 3

/* The distribution of delays beyond the minimum delay, for one direction of a link. */
struct delay_law {
	double mean;		  /* mean of the exponential excess, ns */
	double wrong;		  /* share of messages that are wrong */
	double lift[DELAY_LIFTS]; /* share of the factors of each kind */
	double blur;		  /* variance that coarse timestamps add to z, ns^2 */
	/* Expected counts and sums, from which the parameters above are learned. */
	double num_excess, sum_excess, num_all, num_wrong;
	double num_lift[DELAY_LIFTS];
};

/* The messages of a factor: their number, and their lowest observed delays in ascending order. */
struct lowest {
	double messages;
	size_t num;
	double delay[LOWEST]; /* ns */
};

/* A normal distribution, or the moments of another one. */
struct moments {
	double mean;
	double variance;
};

/*
 * Compute the moments of N(0, variance) times exp(rate z), truncated above @limit. Return the
 * logarithm of the integral.
 */
double cut_normal_moments(double limit, double variance, double rate, struct moments *m);

/* Set the initial parameters. */
void delay_law_begin(struct delay_law *d, double mean, double blur);

/*
 * Return the moments of the tilted distribution of z, which is the cavity times the factor of
 * its messages. With @learn, add expected counts to those of @d.
 */
struct moments delay_tilt_cavity(const struct lowest *l, struct delay_law *d, struct moments cavity,
				 bool learn);

/*
 * Return the same moments without learning, and set *@evidence to the logarithm of the integral
 * of the cavity times the factor.
 */
struct moments delay_weigh_cavity(const struct lowest *l, const struct delay_law *d,
				  struct moments cavity, double *evidence);

/*
 * Learn the parameters from the sums, and reset the sums. @least is the lower limit of the mean,
 * ns.
 */
void delay_law_learn(struct delay_law *d, double least);

#endif
